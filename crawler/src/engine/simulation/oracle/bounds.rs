//! Whether each URL was requested no more often than it may be.
//!
//! Requests to a host that is away have a rule of their own (`requests`). Here are requests that a server saw, requests that it refused,
//! and requests that came while a page had taken it down: each kind is bounded by its cause.

use std::collections::BTreeMap;

use super::super::{
    crawl::{Arrival, Request, SimulatedCrawl, What},
    web::{Host, SimulatedPage, SimulatedRobots, is_outside},
};
use crate::purpose::Purpose;

/// Requests for a URL that reach its server, in a run: its attempts, and what is excused before they are counted.
const MOST_SERVED: usize = 14;

/// The same for each page of its host that takes the server down, and where that allows few requests: URLs are asked for to see
/// whether it is up again.
const MOST_SERVED_UNDER_STRAIN: usize = 20;

/// Requests while a server is down, for each failure: the pauses between them grow.
const MOST_WHILE_DOWN: usize = 8;

/// Requests that a server refuses, for each that it does not.
const MOST_REFUSED: usize = 3;

/// Requests that it refuses before the crawl has learned what it allows.
const MOST_REFUSED_AT_FIRST: usize = 16;

/// Redirects of a robots.txt, with the first request.
const MOST_OF_A_ROBOTS: usize = 6;

/// Judges the requests of the last sequence.
pub(super) fn judge(crawl: &SimulatedCrawl) -> Result<(), String> {
    let mut runs: BTreeMap<u64, Vec<&Request>> = BTreeMap::new();
    for request in crawl.in_sequence() {
        runs.entry(request.run).or_default().push(request);
    }
    for requests in runs.values() {
        robots(crawl, requests)?;
        // Where hosts of links alone fail, another shows whether the machine is online.
        let silent =
            requests.iter().filter(|request| is_outside(&request.origin) && request.what == What::Trouble).count();
        for (origin, host) in &crawl.web.hosts {
            let requests: Vec<_> = requests.iter().copied().filter(|request| request.origin == *origin).collect();
            each_url(host, &requests)?;
            of_a_host(crawl, origin, &requests, silent)?;
        }
    }
    Ok(())
}

/// No URL is asked for without end, whatever its host does.
fn each_url(host: &Host, requests: &[&Request]) -> Result<(), String> {
    let crashes = |page: &&SimulatedPage| matches!(page, SimulatedPage::Crashes(..));
    let strains = host.pages.values().filter(crashes).count() + usize::from(host.strain.is_some());
    let most = MOST_SERVED + MOST_SERVED_UNDER_STRAIN * strains;
    let mut urls: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for request in requests.iter().filter(|request| request.reach == Arrival::Served) {
        if request.purpose.is_counted() || request.purpose == Purpose::Rescue {
            *urls.entry((&request.url, request.purpose.is_counted())).or_default() += 1;
        }
    }
    match urls.iter().find(|(_, times)| **times > most) {
        Some(((url, _), times)) => Err(format!("{url} was asked for {times} times, not {most}")),
        None => Ok(()),
    }
}

/// What a server refuses, what finds it down, and what asks whether it is well, follows from failures.
fn of_a_host(crawl: &SimulatedCrawl, origin: &str, requests: &[&Request], silent: usize) -> Result<(), String> {
    let count = |of: &dyn Fn(&Request) -> bool| requests.iter().filter(|request| of(request)).count();
    let served = count(&|request| request.reach == Arrival::Served);
    let refused = count(&|request| request.reach == Arrival::Refused);
    if refused > MOST_REFUSED * served + MOST_REFUSED_AT_FIRST {
        return Err(format!("{origin} refused {refused} requests, and served {served}"));
    }
    let down = count(&|request| request.reach == Arrival::Away && !crawl.is_away(origin, request.from));
    let crashed = count(&|request| request.reach == Arrival::Served && request.what == What::Trouble);
    if down > MOST_WHILE_DOWN * (crashed + 1) {
        return Err(format!("{origin} was asked {down} times while it was down, after {crashed} failures"));
    }
    let checks = count(&|request| request.purpose == Purpose::Check);
    let failures = count(&|request| request.what == What::Trouble);
    // A run may begin with a host that was not well, and a robots.txt may fail elsewhere.
    let elsewhere = matches!(crawl.web.hosts[origin].robots, SimulatedRobots::At(_));
    if checks > failures + silent + 1 && !elsewhere {
        return Err(format!("{origin} was checked {checks} times after {failures} failures"));
    }
    Ok(())
}

/// A robots.txt that was read is good for a request at least.
fn robots(crawl: &SimulatedCrawl, requests: &[&Request]) -> Result<(), String> {
    let is_robots = |request: &Request| request.purpose == Purpose::Robots;
    let pages = requests.iter().filter(|request| !is_robots(request)).count();
    let read = requests.iter().filter(|request| is_robots(request) && request.what == What::Final).count();
    let failed = requests.iter().filter(|request| is_robots(request) && request.what != What::Final).count();
    let most = MOST_OF_A_ROBOTS * (pages + failed + crawl.web.hosts.len() + 1);
    if read > most { Err(format!("robots.txt was read {read} times for {pages} requests")) } else { Ok(()) }
}
