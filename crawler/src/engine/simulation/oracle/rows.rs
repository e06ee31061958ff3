//! Whether the URL table says of each URL what the web says.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::Connection;
use urlcache::Strategy;

use super::{
    super::{
        crawl::{SimulatedCrawl, What},
        web::{Excluded, Permission, SimulatedPage, Without, split},
    },
    complete, late_scope, reported,
};
use crate::{
    config::{AuditRescue, OrderChoice, SweepChoice},
    store::sqlite::Records,
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

type Rows = BTreeMap<String, (String, String)>;

/// Each URL that can be reached has the answer that the web gives it.
pub(super) fn judge(crawl: &SimulatedCrawl) -> Result<(), String> {
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let connection = records.connection();
    let found = read(connection, crawl.sequence).map_err(|error| error.to_string())?;
    let is_broken = |(url, row): &(&String, &(String, String))| row.1 == "broken" && is_a_broken_host(crawl, url);
    let broken: BTreeSet<&str> = found.iter().filter(is_broken).map(|(url, _)| url.as_str()).collect();
    reported::judge(connection)?;
    reported::copies(crawl, connection)?;
    // What only a page leads to that was taken for broken, is not found.
    let without = Without { broken: &broken, loses_sitemaps: loses_for_good(crawl) };
    let reach = crawl.web.reach(&crawl.known, crawl.excluded, without);
    let rescues = crawl.settings.cache.sweep == SweepChoice::Rescue;
    for url in reach.must.iter().filter(|url| !found.contains_key(*url)) {
        if rescues {
            return Err(format!("{url} was not found"));
        }
    }
    let all: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    let stored = found.iter().filter(|(_, row)| row.1 == "stored").map(|(url, _)| url.as_str()).collect();
    complete::judge(crawl, &stored, &all)?;
    if rescues {
        late_scope::judge(crawl, &all)?;
    }
    levels(crawl, connection)?;
    if !rescues {
        each_loss_is_named(crawl, connection, &found)?;
    }
    // A start may lead to a name that never was one.
    let is_of_web = |url: &str| {
        !broken.contains(url) && !url.starts_with("http://elsewhere.test/") && !crawl.web.may_be_an_old_sitemap(url)
    };
    for (url, row) in found.iter().filter(|(url, _)| is_of_web(url)) {
        if crawl.excluded.is_removed() && crawl.excluded.holds(url) {
            return Err(format!("{url} was removed, and has a row"));
        }
        if !reach.may.contains(url) {
            return Err(format!("nobody links to {url}: {row:?}"));
        }
        let expected = expected(crawl, url);
        if !expected.contains(&(&*row.0, &*row.1)) {
            return Err(format!("{url} should be one of {expected:?}, and is {row:?}"));
        }
    }
    Ok(())
}

/// Whether what the URL cache loses is not admitted at once.
fn loses_for_good(crawl: &SimulatedCrawl) -> bool {
    let cache = &crawl.settings.cache;
    cache.strategy != Strategy::Exact && (cache.audit_sample < 1_000 || cache.audit_rescue == AuditRescue::Off)
}

/// With a depth limit, each URL of a web without faults is found over the shortest way, if none was lost on it.
fn levels(crawl: &SimulatedCrawl, connection: &Connection) -> Result<(), String> {
    let limit = &crawl.settings.budget;
    // A page that a limit holds back leads nowhere.
    let by_host = limit.max_pages_per_host.is_some() || crawl.had_host_budget;
    let by_level = crawl.settings.frontier.order != OrderChoice::Depth && !by_host;
    // What was lost may be found once more by a longer way.
    let loses = loses_for_good(crawl);
    // What is known keeps the depth at which it was found first.
    if limit.max_depth.is_none() || !crawl.known.is_empty() || !by_level || loses || !crawl.web.is_sound() {
        return Ok(());
    }
    let (mut runs, without) = (crawl.runs_of_sequence(), crawl.excluded);
    // What was left out meanwhile was on the way, or was not.
    let least = if runs.all(|run| crawl.left_out_in(run) == without) { without } else { Excluded::Nothing };
    let [least, most] = [least, without].map(|excluded| crawl.web.depths(excluded));
    let mut select = connection.prepare("SELECT coalesce(key, url), depth FROM url WHERE admitted_in = ?").unwrap();
    let rows = select.query_map([crawl.sequence], |row| Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?))).unwrap();
    for (url, depth) in rows.map(Result::unwrap) {
        let (Some(least), most) = (least.get(&url), most.get(&url).unwrap_or(&u32::MAX)) else { continue };
        if !(least..=most).contains(&&depth) {
            return Err(format!("{url} is {least} to {most} links from a start, and was found at depth {depth}"));
        }
    }
    Ok(())
}

fn read(connection: &Connection, sequence: u32) -> rusqlite::Result<Rows> {
    let mut select = connection.prepare(
        // A page that was stored may be abandoned when it is due once more.
        "SELECT coalesce(key, url.url), state, coalesce(iif(state = 'abandoned', NULL, visit.outcome), url.reason, '') FROM url
            LEFT JOIN visit ON visit.id = url.visit AND visit.sequence = admitted_in WHERE admitted_in = ?",
    )?;
    select.query_map([sequence], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect()
}

/// Whether nothing was known of the host of a URL but server errors: then it may as well be broken.
fn is_a_broken_host(crawl: &SimulatedCrawl, url: &str) -> bool {
    let (origin, _) = split(url).expect("a URL of the web");
    let requests = || crawl.in_sequence().filter(|request| request.origin == origin && request.purpose.is_of_a_page());
    let may_be = crawl.web.may_be_taken_for_broken(origin);
    // What was not asked for since is as it was judged before.
    let Some(last) = requests().rfind(|request| request.url == url) else { return may_be };
    // A run knows of the one before only pages that were stored.
    let known = requests().find(|request| request.what == What::Final && request.run == last.run);
    may_be && known.is_none_or(|known| last.from <= known.to)
}

/// What may have become of a URL.
fn expected(crawl: &SimulatedCrawl, url: &str) -> Vec<(&'static str, &'static str)> {
    let (origin, path) = split(url).expect("a URL of the web");
    let Some(host) = crawl.web.hosts.get(origin) else { return vec![("abandoned", "no_https")] };
    let finished = match host.pages.get(path) {
        Some(page) if page.links().is_some() => vec![("finished", "stored")],
        Some(SimulatedPage::Grows(..)) => vec![("finished", "stored")],
        // It may have been asked twice.
        Some(SimulatedPage::Once(..)) => ["stored", "broken", "redirected"].map(|outcome| ("finished", outcome)).into(),
        Some(SimulatedPage::Redirect(_) | SimulatedPage::RedirectUntil(..) | SimulatedPage::Endless(_)) => {
            vec![("finished", "redirected")]
        }
        // What fails for ever may have its last attempt in an outage, or outside.
        Some(SimulatedPage::Hangs | SimulatedPage::Panics | SimulatedPage::Broken | SimulatedPage::Crashes(..)) => {
            vec![("finished", "failed"), ("finished", "broken")]
        }
        Some(_) | None => vec![("finished", "broken")],
    };
    let left_out = crawl.excluded.holds(url).then_some(("abandoned", "scope"));
    let finished: Vec<_> = finished.into_iter().chain(left_out).collect();
    match crawl.web.permission(origin, path) {
        Permission::Given => finished,
        Permission::Refused if crawl.excluded.holds(url) => vec![("abandoned", "robots"), ("abandoned", "scope")],
        Permission::Refused => vec![("abandoned", "robots")],
        Permission::Open => [finished, vec![("abandoned", "robots")]].concat(),
    }
}

/// Where lost URLs are reported and not fetched: each link of a page that was read has a row, or is among them.
fn each_loss_is_named(crawl: &SimulatedCrawl, connection: &Connection, found: &Rows) -> Result<(), String> {
    let seed: i64 = connection.query_row("SELECT fingerprint_seed FROM crawl", [], |row| row.get(0)).unwrap();
    let seed = FingerprintSeed::new(seed.cast_unsigned());
    let mut select = connection.prepare("SELECT substr(fingerprint, 1, 8) FROM lost WHERE sequence = ?").unwrap();
    let lost = select.query_map([crawl.sequence], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let lost: HashSet<Vec<u8>> = lost.map(Result::unwrap).collect();
    for url in found.iter().filter(|(_, (_, outcome))| outcome == "stored").map(|(url, _)| url) {
        let (origin, path) = split(url).expect("a URL of the web");
        let page = crawl.web.hosts.get(origin).and_then(|host| host.pages.get(path));
        let Some(links) = page.and_then(SimulatedPage::links) else { continue };
        for link in links.iter().filter(|link| !found.contains_key(*link)) {
            let there = split(link).and_then(|(there, _)| crawl.web.hosts.get(there));
            let print = seed.fingerprint(&Canonicalizer::default().key(&WebUrl::parse(link).unwrap()));
            if there.is_some_and(|host| host.is_given)
                && !crawl.excluded.holds(link)
                && !lost.contains(&print.to_bytes()[..8])
            {
                return Err(format!("{link} on {url} is lost, and not reported"));
            }
        }
    }
    Ok(())
}
