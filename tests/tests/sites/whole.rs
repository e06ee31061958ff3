//! Whole documentation sites: every reachable page is stored, once, and none is invented.
//!
//! `SITES=all` crawls each site in every case.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use webloom_tests::{
    debian::{self, Site},
    nginx::{Access, Nginx},
    oracle::{Entry, Kind, Oracle},
    walk::{Habits, walk},
    webloom::{Webloom, assert_clean, pages},
};

/// One crawl of a site.
#[derive(Debug, Clone, Copy)]
struct Case {
    cache: &'static str,
    levels: Levels,
}

/// How depths come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Levels {
    /// Under a depth limit, each level ends before the next: a depth is the fewest links from the start.
    Strict,
    /// Without one, a depth is that of the link found first, which may be larger.
    Loose,
}

const CASES: [Case; 4] = [
    Case { cache: "single", levels: Levels::Strict },
    Case { cache: "single", levels: Levels::Loose },
    Case { cache: "exact", levels: Levels::Strict },
    Case { cache: "exact", levels: Levels::Loose },
];

#[test]
fn postgresql_is_covered() -> Result<()> {
    covered("postgresql-doc-15", &CASES)
}

#[test]
fn libboost_is_covered() -> Result<()> {
    covered("libboost1.74-doc", &CASES[..1])
}

#[test]
fn openjdk_is_covered() -> Result<()> {
    covered("openjdk-17-doc", &CASES[1..2])
}

/// In these cases, or in all of them.
fn covered(package: &str, cases: &[Case]) -> Result<()> {
    let all = std::env::var_os("SITES").is_some_and(|sites| sites == "all");
    let Some(site) = debian::site(package)? else { return Ok(()) };
    let Some(oracle) = oracle(&site)? else { return Ok(()) };
    for case in if all { &CASES } else { cases } {
        let Some(nginx) = Nginx::serve(&site.root)? else { return Ok(()) };
        covers(&site, &nginx, &oracle, *case).with_context(|| format!("{package}, {case:?}"))?;
    }
    Ok(())
}

/// A walk over the files as the server answers; of the listed version, a walk with the habits of the lists must give
/// the list first. The lists know of `a` and `area` alone; the walk of the other links that a crawl follows too (`link rel=next` and the
/// like), so that it finds no less, some of it on a shorter way.
pub(crate) fn oracle(site: &Site) -> Result<Option<Oracle>> {
    let Some(list) = Oracle::of(&site.package)? else { return Ok(None) };
    let Some(as_served) = walk(site, Habits::Server)? else { return Ok(None) };
    let (listed, served) = (addresses(&list), addresses(&as_served));
    if site.is_as_listed() {
        let Some(as_listed) = walk(site, Habits::Lists)? else { return Ok(None) };
        differ(&addresses(&as_listed), &listed, "the walk", "the list")?;
    } else {
        println!("{}: the oracle is a walk over the files of {}", site.package, site.version);
    }
    let paths: BTreeSet<_> = listed.keys().chain(served.keys()).collect();
    let kind = |found: &Found| found.kind;
    for path in paths.into_iter().filter(|path| listed.get(*path).map(kind) != served.get(*path).map(kind)) {
        println!("{}: {path}: {:?} in the list, {:?} as served", site.package, listed.get(path), served.get(path));
    }
    let nearer = served.iter().filter(|(path, found)| listed.get(*path).is_some_and(|it| it.depth > found.depth));
    println!("{}: {} addresses are fewer links away than in the list", site.package, nearer.count());
    Ok(Some(as_served))
}

/// What a crawl and the oracle must agree on of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    depth: u32,
    kind: Kind,
    /// Of a stored file; 0 for a broken link, whose error page is the server's own.
    bytes: u64,
}

type Addresses = BTreeMap<String, Found>;

fn covers(site: &Site, nginx: &Nginx, oracle: &Oracle, case: Case) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("crawl");
    let start = format!("{}{}", nginx.url(), site.start.trim_start_matches('/'));
    let summary = Webloom::crawl(&dir, &start).args(case.flags()).run().expect(0).json();
    let log = nginx.log()?;
    let rows: Vec<_> = pages(&dir).into_values().collect();
    let mut found = found(&rows, &nginx.url())?;
    let expected = addresses(oracle);
    if case.levels == Levels::Loose {
        not_less_deep(&mut found, &expected)?;
    }
    differ(&found, &expected, "the crawl", "the oracle")?;
    asked_once(&log, &rows, &found)?;
    ensure!(summary["end"] == "drained", "{summary}");
    ensure!(summary["requests"]["sent"] == log.len(), "{} lines in the log: {summary}", log.len());
    ensure!(summary["pages"]["html"] == oracle.paths(Kind::Page).len(), "{summary}");
    ensure!(summary["pages"]["broken"] == oracle.paths(Kind::Broken).len(), "{summary}");
    let checked = assert_clean(&dir);
    ensure!(checked["counts"]["finished"] == oracle.entries.len(), "{checked}");
    println!("{}, {case:?}: {} addresses as the oracle says", site.package, found.len());
    Ok(())
}

impl Case {
    fn flags(self) -> Vec<&'static str> {
        let limit: &[_] = if self.levels == Levels::Strict { &["--max-depth", "1000"] } else { &[] };
        [&["--delay", "0", "--per-host", "16", "--cache", self.cache], limit].concat()
    }
}

/// Takes the oracle's depths over where those found are no less.
fn not_less_deep(found: &mut Addresses, expected: &Addresses) -> Result<()> {
    for (path, found) in found {
        let least = expected.get(path).map_or(0, |expected| expected.depth);
        ensure!(found.depth >= least, "{path} is {least} links away, not {}", found.depth);
        found.depth = least;
    }
    Ok(())
}

/// Rows of the crawl by path, each path once.
fn found(rows: &[Value], root: &str) -> Result<Addresses> {
    let mut found = Addresses::new();
    for row in rows {
        let url = row["url"].as_str().context("a row has a url")?;
        let path = url.strip_prefix(root).with_context(|| format!("{url} is not of this site"))?;
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let html = text("content_type").starts_with("text/html");
        let kind = match text("outcome") {
            "stored" if html => Kind::Page,
            "stored" => Kind::Other,
            "broken" => Kind::Broken,
            outcome => anyhow::bail!("{url} is {outcome:?}"),
        };
        let depth = row["depth"].as_u64().and_then(|depth| u32::try_from(depth).ok()).context("a row has a depth")?;
        let bytes = if kind == Kind::Broken { 0 } else { row["bytes"].as_u64().context("a row has its bytes")? };
        let twice = found.insert(format!("/{path}"), Found { depth, kind, bytes });
        ensure!(twice.is_none(), "{url} has two rows");
    }
    Ok(found)
}

fn addresses(oracle: &Oracle) -> Addresses {
    let found = |entry: &Entry| Found { depth: entry.depth, kind: entry.kind, bytes: entry.bytes };
    oracle.entries.iter().map(|entry| (entry.path.clone(), found(entry))).collect()
}

/// Fails with the first addresses that two sides say different things of.
fn differ(one: &Addresses, other: &Addresses, name: &str, other_name: &str) -> Result<()> {
    let paths: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let unequal: Vec<_> = paths.into_iter().filter(|path| one.get(*path) != other.get(*path)).collect();
    let line = |path: &&String| format!("{path}: {:?} and {:?}", one.get(*path), other.get(*path));
    let shown: Vec<_> = unequal.iter().take(20).map(line).collect();
    ensure!(unequal.is_empty(), "{name} and {other_name} differ in {}: {shown:#?}", unequal.len());
    Ok(())
}

/// The server was asked for each address once, and for robots.txt, and for nothing else. nginx does not log the address
/// of a request that it cannot read.
fn asked_once(log: &[Access], rows: &[Value], found: &Addresses) -> Result<()> {
    let unread = rows.iter().filter(|row| row["status"] == 400).count();
    ensure!(log.iter().filter(|line| line.status == 400).count() == unread, "{unread} rows say 400");
    let asked: Vec<_> = log.iter().filter(|line| line.status != 400).map(|line| line.uri.as_str()).collect();
    let once: BTreeSet<_> = asked.iter().copied().collect();
    ensure!(once.len() == asked.len(), "{} requests for {} addresses", asked.len(), once.len());
    ensure!(asked.len() + unread == found.len() + 1, "{} requests for {} addresses", asked.len(), found.len());
    let stray = once.iter().find(|path| **path != "/robots.txt" && !found.contains_key(**path));
    ensure!(stray.is_none(), "the server was asked for {stray:?}");
    ensure!(once.contains("/robots.txt"), "robots.txt is asked for");
    Ok(())
}
