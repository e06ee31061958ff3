//! What real sites lose to URL caches made ten times too small: as much as foretold, as much as the audit measures, and in
//! the end nothing.
//!
//! `SITES=all` takes the second site too.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;
use urlcache::{Layout, LossBudget, Plan};
use webloom_tests::{
    debian::{self, Site},
    nginx::Nginx,
    webloom::{REDISCOVER, Webloom, assert_clean, pages},
};

use crate::whole::oracle;

/// Sequences of the temporal crawl.
const SEQUENCES: u32 = 5;

/// A site that is served, and what is there.
struct Served {
    site: Site,
    nginx: Nginx,
    /// Paths of everything reachable.
    reachable: BTreeSet<String>,
    folder: TempDir,
}

impl Served {
    /// `None` after saying `skipped: …`.
    fn of(package: &str) -> Result<Option<Self>> {
        let Some(site) = debian::site(package)? else { return Ok(None) };
        let Some(oracle) = oracle(&site)? else { return Ok(None) };
        let Some(nginx) = Nginx::serve(&site.root)? else { return Ok(None) };
        let reachable = oracle.entries.into_iter().map(|entry| entry.path).collect();
        Ok(Some(Self { site, nginx, reachable, folder: tempfile::tempdir()? }))
    }

    fn each(task: impl Fn(&Self) -> Result<()>) -> Result<()> {
        let all = std::env::var_os("SITES").is_some_and(|sites| sites == "all");
        let packages = ["openjdk-17-doc", "libboost1.74-doc"];
        for package in &packages[..if all { 2 } else { 1 }] {
            let Some(served) = Self::of(package)? else { return Ok(()) };
            task(&served).with_context(|| (*package).to_owned())?;
        }
        Ok(())
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Crawls with a cache made for a tenth of what is there, that is never reset.
    fn crawl(&self, name: &str, arguments: &[&str]) -> Result<Value> {
        let start = format!("{}{}", self.nginx.url(), self.site.start.trim_start_matches('/'));
        let small = (self.reachable.len() / 10).to_string();
        let fixed = ["--delay", "0", "--per-host", "16", "--reset", "none", "--expected-urls", &small];
        let run = Webloom::crawl(&self.dir(name), &start).args(fixed).args(arguments).run().expect(0);
        let summary = run.json();
        ensure!(summary["end"] == "drained", "{summary}");
        assert_clean(&self.dir(name));
        Ok(summary)
    }

    /// The rates at which so many URLs are offered to a classic filter for a tenth of what is there.
    fn rates(&self, offered: f64) -> Result<impl Iterator<Item = f64>> {
        let plan = Plan::for_budget(Layout::Classic, 0..self.reachable.len() as u64 / 10, &LossBudget::default())?;
        Ok((0_u64..).take_while(move |offer| (*offer as f64) < offered).map(move |offer| plan.rate_at(offer)))
    }

    /// Of so many URLs offered in each visit, those lost each time: the mean rate to the power of the visits if each visit
    /// offers them in an order of its own, the mean of the powers if all do in the same order. Visits are in between: near
    /// the start the order is the pages', later that of the answers.
    fn lost_in_each(&self, offered: f64, visits: u32) -> Result<(f64, f64)> {
        let power = visits.cast_signed();
        let mean = self.rates(offered)?.sum::<f64>() / offered;
        Ok((offered * mean.powi(power), self.rates(offered)?.map(|rate| rate.powi(power)).sum()))
    }

    /// Paths with a final answer.
    fn fetched(&self, name: &str) -> BTreeSet<String> {
        let rows = pages(&self.dir(name)).into_values().filter(|row| row["outcome"] != "lost");
        rows.filter_map(|row| Some(row["url"].as_str()?.replace(self.nginx.url().trim_end_matches('/'), ""))).collect()
    }
}

fn database(dir: &Path) -> Result<Connection> {
    Ok(Connection::open_with_flags(dir.join("webloom.sqlite"), OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

/// Distinct links of the pages of a crawl of one sequence that have no row, counted here and not by the program.
fn directly_lost(dir: &Path) -> Result<usize> {
    let connection = database(dir)?;
    let mut rows = connection.prepare("SELECT substr(fingerprint, 1, 8) FROM url")?;
    let rows = rows.query_map([], |row| row.get::<_, Vec<u8>>(0))?.collect::<rusqlite::Result<BTreeSet<_>>>()?;
    let mut visits = connection.prepare("SELECT links FROM visit")?;
    let visits = visits.query_map([], |row| row.get::<_, Vec<u8>>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let links: BTreeSet<Vec<u8>> = visits.iter().flat_map(|links| links.chunks(8).map(<[u8]>::to_vec)).collect();
    Ok(links.difference(&rows).count())
}

fn number(summary: &Value, path: &str) -> Result<f64> {
    summary.pointer(path).and_then(Value::as_f64).with_context(|| format!("{path}: {summary}"))
}

#[test]
fn as_many_urls_are_lost_as_foretold_and_the_audit_measures_it() -> Result<()> {
    Served::each(|served| {
        // Offered are fewer than the reachable ones: what only a lost page links to is not. An eighth of those fits.
        let unaudited = ["--audit-sample", "0", "--audit-rescue", "off", "--sweep", "off", "--cache-layout", "classic"];
        let summary = served.crawl("unaudited", &unaudited)?;
        let (lost, expected) =
            (directly_lost(&served.dir("unaudited"))? as f64, number(&summary, "/cache/expected_lost")?);
        let offered = lost + number(&summary, "/urls/admitted")?;
        println!("{}: {lost} of {offered} URLs offered are lost, {expected:.1} foretold", served.site.package);
        // An answer *new* is charged what is lost before it on average; that has the variance p/(1-p)^2, and a part 1-p of
        // the offers has such an answer.
        let variance: f64 = served.rates(offered)?.map(|rate| rate / (1.0 - rate)).sum();
        ensure!(lost > 50.0 && (lost - expected).abs() < 4.0 * variance.sqrt(), "{lost} lost, {expected} expected");
        ensure!(variance.sqrt() < 0.2 * expected, "{expected} +- {} says nothing", variance.sqrt());
        let sample = format!("{:.0}", offered / 8.0 * 1.4);
        let audited = ["--audit-sample", &sample, "--audit-rescue", "off", "--sweep", "off"];
        let summary = served.crawl("audited", &audited)?;
        let lost = directly_lost(&served.dir("audited"))? as f64;
        let offered = lost + number(&summary, "/urls/admitted")? - 1.0;
        ensure!(number(&summary, "/cache/audit/share")? - 0.125 == 0.0, "{}", summary["cache"]["audit"]);
        let [low, high] = ["low", "high"].map(|end| number(&summary, &format!("/cache/audit/{end}")));
        let low = low?;
        let high = high?;
        let truth = lost / offered;
        println!("{}: the audit says {low:.4} to {high:.4}, the truth is {truth:.4}", served.site.package);
        // An interval of 95 % widened by half its width on both sides holds the truth in all but one of 10,000 runs.
        let slack = (high - low) / 2.0;
        ensure!((low - slack..high + slack).contains(&truth), "{truth} is not within {low} to {high}");
        ensure!(high - low < 0.1, "an interval of {low} to {high} says nothing");
        Ok(())
    })
}

#[test]
fn the_sweep_makes_a_crawl_complete() -> Result<()> {
    Served::each(|served| {
        let summary = served.crawl("rescued", &["--audit-sample", "0", "--sweep", "rescue"])?;
        let fetched = served.fetched("rescued");
        let missing: Vec<_> = served.reachable.difference(&fetched).take(5).collect();
        ensure!(missing.is_empty(), "{} of {}: {missing:?}", fetched.len(), served.reachable.len());
        let sweep = &summary["cache"]["sweep"];
        ensure!(sweep["lost"] == sweep["rescued"] && number(&summary, "/cache/sweep/lost")? > 50.0, "{sweep}");
        let dir = served.dir("rescued");
        let lost = Webloom::new(["pages", "--lost", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
        ensure!(sweep["lost"] == lost.len(), "{} lines: {sweep}", lost.len());
        ensure!(lost.iter().all(|line| line["found_by"] == "sweep" && line["fetched_at"].is_string()), "{sweep}");
        println!("{}: {sweep}", served.site.package);
        Ok(())
    })
}

#[test]
fn what_a_temporal_cache_loses_in_every_sequence_falls_as_the_power() -> Result<()> {
    Served::each(|served| {
        let quiet = ["--audit-sample", "0", "--sweep", "report", "--cache-layout", "classic", "--max-lost-urls", "0.5"];
        let temporal = [&quiet[..], &["--cache", "temporal"]].concat();
        let mut losses = Vec::new();
        for sequence in 0..SEQUENCES {
            let next: &[&str] = if sequence == 0 { &[] } else { &REDISCOVER };
            let summary = served.crawl("temporal", &[&temporal[..], next].concat())?;
            ensure!(summary["sequence"] == sequence && summary["cache"]["strategy"] == "temporal", "{summary}");
            losses.push((number(&summary, "/cache/sweep/lost")?, number(&summary, "/cache/items")?));
        }
        let (observed, seen) = (lost_in_all(&served.dir("temporal"))?, served.fetched("temporal"));
        println!("visits  lost in every one of them  p^r, in another order each time  in the same order");
        let offered = losses.iter().map(|(lost, items)| lost + items).sum::<f64>() / losses.len() as f64;
        for visits in 1..=SEQUENCES {
            let (found, (low, high)) = (observed[&visits], served.lost_in_each(offered, visits)?);
            println!("{visits:>6}  {found:>25}  {low:>31.0}  {high:>17.0}");
            let found = found as f64;
            ensure!(
                found > 0.8 * low && found < 1.1 * high,
                "{visits} visits: {found} lost, {low:.0} to {high:.0} expected"
            );
        }
        ensure!(observed[&SEQUENCES] * 4 < observed[&1] * 3, "{observed:?}");
        let missed = served.reachable.difference(&seen).count();
        println!("after {SEQUENCES} visits {missed} of {} pages were never seen", served.reachable.len());
        recovered(served, "temporal")
    })
}

/// URLs lost in each of the first r sequences, by r.
fn lost_in_all(dir: &Path) -> Result<BTreeMap<u32, usize>> {
    let connection = database(dir)?;
    let query = "SELECT count(*) FROM (SELECT 1 FROM lost WHERE sequence < ?1
                 GROUP BY substr(fingerprint, 1, 8) HAVING count(DISTINCT sequence) = ?1)";
    let mut select = connection.prepare(query)?;
    let of = |visits| Ok((visits, select.query_row([visits], |row| row.get(0))?));
    (1..=SEQUENCES).map(of).collect()
}

/// What is listed as recovered was lost in one sequence and fetched in a later one.
fn recovered(served: &Served, name: &str) -> Result<()> {
    let dir = served.dir(name);
    let list = Webloom::new(["pages", "--recovered", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
    let fetched = served.fetched(name);
    ensure!(list.len() > 50, "{} URLs recovered", list.len());
    for line in &list {
        let path = line["url"].as_str().context("a URL")?.replace(served.nginx.url().trim_end_matches('/'), "");
        ensure!(fetched.contains(&path), "{line}");
    }
    println!("{}: {} URLs lost in one sequence were found in a later one", served.site.package, list.len());
    Ok(())
}
