//! URLs that pages link to or show and that are none of the crawl: which are to be checked, and what came of it.
//!
//! Owns: the table of these URLs. The pages of a sequence are looked through once nothing is left to fetch, and again in each run that
//! comes so far.
//!
//! Invariants: each URL is asked for once a sequence, also over kills: it has its answer in the step that brings it. Repeating a look changes
//! nothing.
//!
//! Does not know: how a URL is asked for, and what its links say of themselves.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::{
    checked_ends::{LIMIT, with_https},
    current::Current,
    error::Fault,
    links, resume, schema,
};
use crate::{
    extract::{Element, SheetPart},
    store::{
        ANCHOR, ASSET, CheckedContent, CheckedLink, LinkCheckOutcome, LinkCheckRequest, LinkToCheck, LinksToCheck,
        LinksWanted, RefusedLink, pack_names,
    },
    url::{Origin, WebUrl},
};

/// The reason of links that left the scope.
const SCOPE: &str = "scope";

/// URLs that are remembered, so that each page of a site need not ask for those in its frame.
const REMEMBERED: usize = 65_536;

/// Reads what is to be checked, after a look through the pages if that is asked for. What was written before is committed.
pub(super) fn to_check(
    connection: &Connection,
    request: LinkCheckRequest,
    current: Current,
) -> std::result::Result<LinksToCheck, Fault> {
    let LinkCheckRequest { collects, wanted, behind, most } = request;
    if collects || behind == 0 {
        let transaction = connection.unchecked_transaction()?;
        if collects {
            Collector { connection: &transaction, wanted, current, seen: HashSet::new() }.collect()?;
        }
        want_sheet_parts(&transaction, current)?;
        if wanted.assets {
            take_over(&transaction, current)?;
        }
        want_returns(&transaction, current)?;
        leave_out_removed(&transaction, current)?;
        limit(&transaction, wanted.most_of_host, current)?;
        transaction.commit()?;
    }
    let mut select = connection.prepare_cached(
        "SELECT id, url, redirects, reads, guessed FROM link_check
         WHERE id > ?1 AND wanted_in = ?2 AND (checked_in IS NULL OR checked_in <> ?2) ORDER BY id LIMIT ?3",
    )?;
    let mut rows = select.query(params![behind, current.sequence, most])?;
    let mut found = LinksToCheck::default();
    let mut read = 0;
    while let Some(row) = rows.next()? {
        read += 1;
        let Ok(url) = WebUrl::parse(row.get_ref(1)?.as_str().unwrap_or_default()) else { continue };
        found.links.push(LinkToCheck {
            number: row.get(0)?,
            url,
            redirects: row.get(2)?,
            reads: row.get(3)?,
            is_guess: row.get(4)?,
        });
    }
    found.are_all = read < most;
    Ok(found)
}

/// Leaves out what was removed: it is not asked for again.
fn leave_out_removed(connection: &Connection, current: Current) -> Result<()> {
    if !schema::has_removed(connection)? {
        return Ok(());
    }
    let Some((rules, seed)) = resume::key_rules(connection)?.zip(resume::fingerprint_seed(connection)?) else {
        return Ok(());
    };
    let mut removed = connection.prepare("SELECT 1 FROM removed_url WHERE fingerprint = ?")?;
    let mut delete = connection.prepare("DELETE FROM link_check WHERE id = ?")?;
    let mut select = connection.prepare("SELECT id, url FROM link_check WHERE wanted_in = ?")?;
    let mut rows = select.query([current.sequence])?;
    while let Some(row) = rows.next()? {
        let Ok(url) = WebUrl::parse(row.get_ref(1)?.as_str()?) else { continue };
        if removed.exists([rules.fingerprint(&url, seed).to_bytes()])? {
            delete.execute([row.get::<_, i64>(0)?])?;
        }
    }
    Ok(())
}

/// Writes what came of a URL. Where it redirects is to be checked too; whether that is a URL of the crawl is found out for all of them at
/// once.
pub(super) fn write(connection: &Connection, checked: &CheckedLink, current: Current) -> Result<()> {
    let CheckedLink { number, at, outcome, status, reason, target, returns, inside } = checked;
    let mut update = connection.prepare_cached(
        "UPDATE link_check SET checked_in = ?1, checked_at = ?2, outcome = ?3, status = ?4, reason = ?5, target = ?6, names = ?7
         WHERE id = ?8 RETURNING redirects, reads, guessed, url",
    )?;
    let text = target.as_ref().map(WebUrl::as_str);
    let names = if let CheckedContent::Page(names) = inside { Some(pack_names(names)) } else { None };
    let values = params![current.sequence, at.millis(), outcome.as_str(), status, reason, text, names, number];
    let row = |row: &Row<'_>| {
        Ok(CheckedRow { redirects: row.get(0)?, reads: row.get(1)?, is_guess: row.get(2)?, url: row.get(3)? })
    };
    let row = update.query_row(values, row).optional()?;
    debug_assert!(row.is_some(), "what was checked has a row");
    let Some(CheckedRow { redirects, reads, is_guess, url }) = row else { return Ok(()) };
    if is_guess {
        return Ok(());
    }
    if let CheckedContent::Sheet(parts) = inside {
        write_parts(connection, *number, parts)?;
    }
    let is_there = *outcome == LinkCheckOutcome::Good && *inside == CheckedContent::NotAsked;
    if is_there && reads {
        // While it was asked for, it turned out that it is to be read.
        ask_again(connection, *number)?;
    }
    match target {
        Some(target) if !returns => {
            want(connection, target.as_str(), redirects + 1, current)?;
            if reads { read(connection, target.as_str(), current) } else { Ok(()) }
        }
        None if *outcome == LinkCheckOutcome::Good => want_secure(connection, &url, current),
        _ => Ok(()),
    }
}

/// What is to be known of a URL that was checked.
struct CheckedRow {
    redirects: u32,
    reads: bool,
    is_guess: bool,
    url: String,
}

/// Has the same URL be checked with https, to which nothing may lead. It counts for no limit: there is one for each with http.
fn want_secure(connection: &Connection, url: &str, current: Current) -> Result<()> {
    let Some(secure) = WebUrl::parse(url).ok().and_then(|url| with_https(&url)) else { return Ok(()) };
    let mut insert = connection.prepare_cached(
        "INSERT INTO link_check (url, redirects, wanted_in, guessed) VALUES (?1, 1, ?2, 1)
         ON CONFLICT (url) DO UPDATE SET redirects = 1, reads = 0, guessed = 1, wanted_in = ?2 WHERE wanted_in <> ?2",
    )?;
    insert.execute(params![secure.as_str(), current.sequence]).map(|_| ())
}

/// Has a URL be checked in this sequence. One that is linked to is no end of a redirect alone.
fn want(connection: &Connection, url: &str, redirects: u32, current: Current) -> Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO link_check (url, redirects, wanted_in) VALUES (?1, ?2, ?3)
         ON CONFLICT (url) DO UPDATE SET redirects = ?2, reads = iif(wanted_in = ?3, reads, 0), wanted_in = ?3, guessed = 0
             WHERE wanted_in <> ?3 OR redirects > ?2 OR guessed",
    )?;
    // What came of a guess proves nothing, unless that is there.
    let forget = "UPDATE link_check SET checked_in = NULL, checked_at = NULL, outcome = NULL, status = NULL, reason = NULL, target = NULL
         WHERE url = ?1 AND guessed AND checked_in = ?2 AND outcome <> 'checked'";
    connection.prepare_cached(forget)?.execute(params![url, current.sequence])?;
    insert.execute(params![url, redirects, current.sequence]).map(|_| ())
}

/// Has a URL be asked for again that has its answer.
fn ask_again(connection: &Connection, number: u64) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE link_check SET checked_in = NULL, checked_at = NULL, outcome = NULL, status = NULL WHERE id = ?",
    )?;
    update.execute([number]).map(|_| ())
}

/// Writes what a style sheet loads.
fn write_parts(connection: &Connection, sheet: u64, parts: &[SheetPart]) -> Result<()> {
    connection.prepare_cached("DELETE FROM sheet_part WHERE sheet = ?")?.execute([sheet])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO sheet_part (sheet, url, is_sheet) VALUES (?1, ?2, ?3)
         ON CONFLICT (sheet, url) DO UPDATE SET is_sheet = max(is_sheet, excluded.is_sheet)",
    )?;
    for SheetPart { url, is_sheet } in parts {
        insert.execute(params![sheet, url.as_str(), is_sheet])?;
    }
    Ok(())
}

/// Has what style sheets load be checked, and the style sheets among that be read.
fn want_sheet_parts(connection: &Connection, current: Current) -> Result<()> {
    let mut select = connection.prepare(
        "SELECT part.url, max(part.is_sheet) FROM sheet_part AS part JOIN link_check AS sheet ON sheet.id = part.sheet
         LEFT JOIN link_check AS known ON known.url = part.url AND known.wanted_in = ?1
         WHERE sheet.checked_in = ?1 AND sheet.outcome = 'checked' AND (known.id IS NULL OR part.is_sheet > known.reads)
         GROUP BY part.url ORDER BY part.sheet, part.url",
    )?;
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    // What is read must not change meanwhile.
    let parts: Vec<(String, bool)> = select.query_map([current.sequence], row)?.collect::<Result<_>>()?;
    for (url, is_sheet) in parts {
        want(connection, &url, 0, current)?;
        if is_sheet {
            read(connection, &url, current)?;
        }
    }
    Ok(())
}

/// Has the page be read that a URL leads to, if that is to be checked: one that was asked for without its page is asked for again.
fn read(connection: &Connection, url: &str, current: Current) -> Result<()> {
    let mut update = connection.prepare_cached(
        "UPDATE link_check SET reads = 1 WHERE url = ?1 AND wanted_in = ?2 AND NOT reads
         RETURNING iif(checked_in = ?2 AND outcome = 'checked', id, NULL), iif(checked_in = ?2, target, NULL)",
    )?;
    let mut next = Some(url.to_owned());
    while let Some(url) = next {
        let row = update.query_row(params![url, current.sequence], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (without_page, target): (Option<u64>, Option<String>) = row.unwrap_or_default();
        if let Some(number) = without_page {
            ask_again(connection, number)?;
        }
        next = target;
    }
    Ok(())
}

/// Has those ends of redirects be checked that are within the scope, unless they are URLs of the crawl.
fn want_returns(connection: &Connection, current: Current) -> Result<()> {
    let want = "INSERT INTO link_check (url, redirects, wanted_in)
        SELECT target, min(redirects) + 1, ?1 FROM link_check WHERE checked_in = ?1 AND target IS NOT NULL AND NOT guessed
            AND NOT EXISTS (SELECT 1 FROM link_check AS there WHERE there.url = link_check.target AND there.wanted_in = ?1)
        GROUP BY target
        ON CONFLICT (url) DO UPDATE SET redirects = excluded.redirects, wanted_in = excluded.wanted_in, guessed = 0";
    while connection.execute(want, [current.sequence])? > 0 {
        take_over(connection, current)?;
    }
    Ok(())
}

/// What came of URLs of the crawl is known: they are not asked for once more. All URLs are looked at, for the first sequence has no index
/// of them.
fn take_over(connection: &Connection, current: Current) -> Result<()> {
    let Some((rules, seed)) = resume::key_rules(connection)?.zip(resume::fingerprint_seed(connection)?) else {
        return Ok(());
    };
    let mut select = connection.prepare(
        "SELECT id, url FROM link_check WHERE wanted_in = ?1 AND checked_in IS NOT ?1 AND id > ?2 ORDER BY id LIMIT ?3",
    )?;
    let mut behind = 0;
    loop {
        let mut open = HashMap::<[u8; 16], Vec<u64>>::new();
        let mut rows = select.query(params![current.sequence, behind, REMEMBERED])?;
        while let Some(row) = rows.next()? {
            behind = row.get(0)?;
            if let Ok(url) = WebUrl::parse(row.get_ref(1)?.as_str()?) {
                open.entry(rules.fingerprint(&url, seed).to_bytes()).or_default().push(behind);
            }
        }
        if open.is_empty() {
            return Ok(());
        }
        answer(connection, &open, current)?;
    }
}

/// Gives these the answers of the URLs of the crawl that have their fingerprints.
fn answer(connection: &Connection, open: &HashMap<[u8; 16], Vec<u64>>, current: Current) -> Result<()> {
    let mut select = connection.prepare_cached(
        "SELECT fingerprint, visit.id FROM url JOIN visit ON visit.id = url.visit WHERE url.state = 'finished'",
    )?;
    let mut update = connection.prepare_cached(
        "UPDATE link_check SET names = NULL, (checked_in, checked_at, outcome, status, reason, target) = (
             SELECT ?1, fetched_at, iif(outcome = 'stored', 'checked', outcome), status, reason, iif(outcome = 'redirected', redirect, NULL)
             FROM visit WHERE visit.id = ?2) WHERE id = ?3",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let Some(ids) = open.get(&row.get::<_, [u8; 16]>(0)?) else { continue };
        let visit: i64 = row.get(1)?;
        for id in ids {
            update.execute(params![current.sequence, visit, id])?;
        }
    }
    Ok(())
}

/// Looks through the pages.
struct Collector<'c> {
    connection: &'c Connection,
    wanted: LinksWanted,
    current: Current,
    seen: HashSet<(Box<str>, bool)>,
}

impl Collector<'_> {
    fn collect(mut self) -> std::result::Result<(), Fault> {
        let (connection, current) = (self.connection, self.current);
        links::each_refused(connection, current, |link| Ok(self.take(&link)?))?;
        Ok(())
    }

    fn take(&mut self, link: &RefusedLink) -> Result<()> {
        let LinksWanted { external, assets, anchors, .. } = self.wanted;
        let is_wanted = match &*link.reason {
            SCOPE => external,
            ASSET => assets,
            ANCHOR => anchors,
            _ => false,
        };
        let Ok(url) = WebUrl::parse(&link.url) else { return Ok(()) };
        let is_sheet = matches!(link.label.element, Element::StyleSheet | Element::ImportedSheet);
        let key = (link.url.clone(), is_sheet);
        if !is_wanted || self.seen.contains(&key) {
            return Ok(());
        }
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        self.seen.insert(key);
        if &*link.reason == ANCHOR {
            // The link itself comes before it, if it is to be checked.
            return read(self.connection, url.as_str(), self.current);
        }
        want(self.connection, &link.url, 0, self.current)?;
        if is_sheet { read(self.connection, &link.url, self.current) } else { Ok(()) }
    }
}

/// Of each host that has no URL of the crawl, the first URLs are asked for, so many; what redirects lead to is not counted.
fn limit(connection: &Connection, most: u32, current: Current) -> Result<()> {
    let own = "SELECT origin FROM host WHERE id IN (SELECT DISTINCT host FROM url)";
    let own = connection.prepare(own)?.query_map([], |row| row.get(0))?.collect::<Result<HashSet<String>>>()?;
    let mut hosts = HashMap::<Origin, u32>::new();
    let mut select = connection.prepare(
        "SELECT id, url, checked_in IS ?1, reason IS ?2 FROM link_check WHERE wanted_in = ?1 AND redirects = 0 ORDER BY id",
    )?;
    let mut update = connection.prepare(
        "UPDATE link_check SET checked_in = ?1, checked_at = NULL, outcome = ?2, status = NULL, reason = ?3, target = NULL, names = NULL
         WHERE id = ?4",
    )?;
    let mut rows = select.query(params![current.sequence, LIMIT])?;
    while let Some(row) = rows.next()? {
        let Ok(url) = WebUrl::parse(row.get_ref(1)?.as_str()?) else { continue };
        let of_host = hosts.entry(url.origin()).or_default();
        *of_host += 1;
        let (is_done, is_left_out): (bool, bool) = (row.get(2)?, row.get(3)?);
        let left_out = LinkCheckOutcome::LeftOut.as_str();
        let is_beyond = *of_host > most && !own.contains(url.origin().as_str());
        match (is_beyond, is_done && is_left_out) {
            (true, false) if !is_done => {
                update.execute(params![current.sequence, left_out, LIMIT, row.get::<_, i64>(0)?])?
            }
            // It was beyond a limit that was raised.
            (false, true) => update.execute(params![None::<u32>, None::<&str>, None::<&str>, row.get::<_, i64>(0)?])?,
            _ => 0,
        };
    }
    Ok(())
}
