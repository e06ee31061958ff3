//! What must hold of a crawl, judged by the web and by what its servers saw.

use std::collections::BTreeMap;

use super::{
    run::{Crawl, Request},
    web::{Page, split},
};
use crate::{queue::Purpose, store::sqlite::Records};

const MINUTE: u64 = 60_000;

pub(super) fn judge(crawl: &Crawl) -> Result<(), String> {
    rows(crawl)?;
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let report = records.check().map_err(|_| "check cannot read it".to_owned())?;
    if !report.findings.is_empty() {
        return Err(format!("check finds {:?}", report.findings));
    }
    let mut hosts: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in &crawl.requests {
        hosts.entry(&request.host).or_default().push(request);
    }
    hosts.iter().try_for_each(|(host, requests)| polite(crawl, host, requests))
}

/// Each page that can be reached has the answer that the web gives it.
fn rows(crawl: &Crawl) -> Result<(), String> {
    let (reached, forbidden) = crawl.web.reachable();
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let connection = records.connection();
    let mut select = connection
        .prepare("SELECT url.url, state, coalesce(visit.outcome, url.reason, '') FROM url LEFT JOIN visit ON visit.id = url.visit")
        .map_err(|error| error.to_string())?;
    let found = select.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
    let found: Result<BTreeMap<String, (String, String)>, _> = found.map_err(|error| error.to_string())?.collect();
    let mut found = found.map_err(|error| error.to_string())?;
    for url in &forbidden {
        let row = found.remove(url);
        if row.as_ref().is_none_or(|(state, why)| (&**state, &**why) != ("abandoned", "robots")) {
            return Err(format!("{url} is forbidden, and is {row:?}"));
        }
    }
    for url in &reached {
        let (host, path) = split(url).expect("a URL of the web");
        let expected = match crawl.web.hosts[host].pages.get(path) {
            Some(Page::Links(_) | Page::Flaky(..)) => "stored",
            Some(Page::Redirect(_)) => "redirected",
            Some(Page::Hangs | Page::Panics | Page::Broken) => "failed",
            Some(Page::Missing) | None => "broken",
        };
        let row = found.remove(url);
        // What fails for ever may have its last attempt in an outage, or outside.
        let is_expected = |outcome: &str| outcome == expected || (expected == "failed" && outcome == "broken");
        if path == "/0" && crawl.web.may_lose_a_start() && row.as_ref().is_some_and(|(_, outcome)| outcome == "broken")
        {
            return Ok(());
        }
        if row.as_ref().is_none_or(|(state, outcome)| state != "finished" || !is_expected(outcome)) {
            return Err(format!("{url} should be {expected}, and is {row:?}"));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(format!("nobody links to {found:?}")) }
}

/// No host is asked too soon, by too many at a time, or much while it does not serve.
fn polite(crawl: &Crawl, host: &str, requests: &[&Request]) -> Result<(), String> {
    let polite = &crawl.settings.politeness;
    let (delay, slots) = (u64::try_from(polite.delay.as_millis()).unwrap(), polite.per_host.get() as usize);
    for (index, request) in requests.iter().enumerate() {
        let before = || requests[..index].iter().filter(|other| other.run == request.run);
        let flying = before().filter(|other| other.to > request.from).count();
        if flying >= slots {
            return Err(format!("{request:?} is one too many at a time"));
        }
        // What ends at the same moment beside it may not be known to have ended.
        let is_known = |to: &u64| *to < request.from || (*to == request.from && slots == 1);
        let last = before().map(|other| other.to).filter(is_known).max();
        if last.is_some_and(|last| request.from < last + delay) {
            return Err(format!("{request:?} comes too soon after {last:?}"));
        }
        // The pause holds after a new start too, as far as the run before could say that the host was asked.
        let mut earlier =
            requests[..index].iter().rev().filter(|other| other.run < request.run).map(|other| (other.run, other.to));
        if let Some((run, to)) = earlier.next()
            && !(run..request.run).any(|run| crawl.killed.contains(&run))
            && request.from < to + delay
        {
            return Err(format!("{request:?} comes too soon after a new start"));
        }
        let twice = before().any(|other| other.to > request.from && other.url == request.url);
        if twice && !matches!(request.purpose, Purpose::Check) {
            return Err(format!("{request:?} is asked for twice at a time"));
        }
    }
    for outage in &crawl.web.hosts[host].outages {
        let within = |from: u64, to: u64| {
            requests.iter().filter(move |request| (from.max(outage.from)..to.min(outage.to)).contains(&request.from))
        };
        let runs =
            requests.iter().filter(|request| request.from < outage.to).map(|request| request.run).max().unwrap_or(1);
        let first = within(outage.from, outage.from + MINUTE / 2).count() as u64;
        if first > 12 + 2 * runs {
            return Err(format!("{host} is asked {first} times in the first half minute of {outage:?}"));
        }
        // It takes a request to know of it.
        let known = within(outage.from, outage.to).map(|request| request.from).next().unwrap_or(outage.to);
        let late: Vec<_> = within(known + 60 * MINUTE, outage.to).collect();
        if let Some(pair) =
            late.windows(2).find(|pair| pair[0].run == pair[1].run && pair[1].from < pair[0].from + MINUTE)
        {
            return Err(format!("{host} is asked twice a minute after an hour: {pair:?}"));
        }
    }
    Ok(())
}
