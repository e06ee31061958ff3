//! Pages that are gone at one address and new at another, with the same text or nearly.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{
    Finder, standings,
    texts::{self, Sections},
};
use crate::{
    changes::{Boilerplate, SimHash, Standing, digest},
    text::Text,
};

/// Words that a text must have to be known again.
const FEWEST_WORDS: usize = 3;

/// Bits by which near hashes are looked up: with at most three that differ, one of four parts is equal.
const PART: u32 = 16;

/// Notes which new pages are likely to be others that are not found, or were redirected there: they are not told as new before
/// it is known what became of these.
pub(super) fn find(finder: &Finder<'_>, sections: &Sections) -> Result<()> {
    let new = pages(finder, NEW)?;
    if new.is_empty() {
        return Ok(());
    }
    redirected(finder.connection)?;
    // What stands on many pages makes no two of them one, wherever they lie.
    let mut boilerplate = Boilerplate::default();
    for section in sections.values() {
        boilerplate.add(section);
    }
    let text = |visit| text(finder, &boilerplate, visit);
    let mut missing = Missing::default();
    for (url, visit) in pages(finder, MISSING)? {
        let text = text(visit)?;
        if let Some(text) = text.filter(is_known_again) {
            missing.add(url, &text);
        }
    }
    for (url, visit) in new {
        let taken = "SELECT 1 FROM standing WHERE url = ? AND moved_from IS NOT NULL";
        if finder.connection.prepare_cached(taken)?.exists([url])? {
            continue;
        }
        let text = text(visit)?;
        if let Some(from) = text.filter(is_known_again).and_then(|text| missing.take(&text)) {
            note(finder.connection, from, url)?;
        }
    }
    Ok(())
}

/// Pages that are there for the first time.
const NEW: &str = "SELECT look.url, look.visit FROM temp.look LEFT JOIN standing ON standing.url = look.url
    JOIN visit ON visit.id = look.visit
    WHERE found = 'there' AND standing.good IS NULL AND visit.before IS NULL ORDER BY look.visit";

/// Pages that are not found, with their last good copy.
const MISSING: &str = "SELECT look.url, coalesce(standing.good, visit.before) FROM temp.look
    JOIN visit ON visit.id = look.visit LEFT JOIN standing ON standing.url = look.url
    WHERE found IN ('missing', 'gone') AND standing.moved_to IS NULL
      AND coalesce(standing.condition, 'there') NOT IN ('gone', 'moved')";

fn pages(finder: &Finder<'_>, query: &str) -> Result<Vec<(i64, Option<i64>)>> {
    let mut select = finder.connection.prepare(query)?;
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// New pages that others are redirected to.
fn redirected(connection: &Connection) -> Result<()> {
    let mut select = connection.prepare(&format!(
        "SELECT old.url, fresh.url FROM temp.look AS old
             JOIN (SELECT new.url, url.url AS address FROM ({NEW}) AS new JOIN url ON url.id = new.url) AS fresh
               ON fresh.address = old.moved_to
         WHERE old.found = 'redirected' AND old.good_mark IS NOT NULL"
    ))?;
    let pairs: Vec<(i64, i64)> = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_>>()?;
    let mut seen = HashSet::new();
    pairs.into_iter().filter(|(_, to)| seen.insert(*to)).try_for_each(|(from, to)| note(connection, from, to))
}

/// Notes that a page is likely to have moved.
fn note(connection: &Connection, from: i64, to: i64) -> Result<()> {
    for url in [from, to] {
        if standings::load(connection, url)?.is_none() {
            let before = "SELECT before FROM visit WHERE id = (SELECT max(visit) FROM temp.look WHERE url = ?)";
            let good = connection.prepare_cached(before)?.query_row([url], |row| row.get(0)).optional()?.flatten();
            standings::put(connection, url, &Standing::of(good))?;
        }
    }
    let mut update = connection.prepare_cached("UPDATE standing SET moved_to = ? WHERE url = ?")?;
    update.execute([to, from])?;
    let mut update = connection.prepare_cached("UPDATE standing SET moved_from = ? WHERE url = ?")?;
    update.execute([from, to]).map(|_| ())
}

/// What is compared of the text of a visit, but for boilerplate.
fn text(finder: &Finder<'_>, boilerplate: &Boilerplate, visit: Option<i64>) -> Result<Option<Text>> {
    let select = "SELECT text FROM visit WHERE id = ?";
    let kept = finder.connection.prepare_cached(select)?.query_row(params![visit], |row| row.get(0)).optional()?;
    let loaded = texts::load(finder.connection, kept.flatten())?;
    Ok(loaded.map(|(_, text)| boilerplate.main(&finder.rules.ignore.apply(&text))))
}

fn is_known_again(text: &Text) -> bool {
    text.words() >= FEWEST_WORDS
}

/// Texts of pages that are not found.
#[derive(Default)]
struct Missing {
    same: HashMap<[u8; 32], Vec<i64>>,
    near: HashMap<(u32, u64), Vec<(SimHash, i64)>>,
    taken: HashSet<i64>,
}

impl Missing {
    fn add(&mut self, url: i64, text: &Text) {
        self.same.entry(digest(text)).or_default().push(url);
        let hash = SimHash::of(text);
        for part in parts(hash) {
            self.near.entry(part).or_default().push((hash, url));
        }
    }

    /// One with this text, or nearly; each once.
    fn take(&mut self, text: &Text) -> Option<i64> {
        let hash = SimHash::of(text);
        let same = self.same.get(&digest(text)).into_iter().flatten().copied();
        let near = parts(hash).into_iter().flat_map(|part| self.near.get(&part).into_iter().flatten());
        let near = near.filter(|(other, _)| other.is_near(hash)).map(|(_, url)| *url);
        let found = same.chain(near).find(|url| !self.taken.contains(url));
        self.taken.extend(found);
        found
    }
}

fn parts(hash: SimHash) -> [(u32, u64); 4] {
    [0, 1, 2, 3].map(|part| (part, (hash.bits() >> (part * PART)) & ((1 << PART) - 1)))
}
