//! Visits between sequences, in a process that goes on after each.

use std::collections::BTreeMap;

use super::{
    Random,
    crawl::SimulatedCrawl,
    faults::{HOUR, MINUTE, SECOND},
    settings::Stage,
    web::{Given, Host, SimulatedPage, SimulatedRobots, Web},
};
use crate::engine::RunEnd;

const ORIGIN: &str = "http://h0.test";

/// A crawl of a chain of ten pages that goes on for so long after its sequence, with these settings of revisits and others.
fn crawled(between: u64, revisit: &str, settings: &str) -> (SimulatedCrawl, Option<RunEnd>) {
    let path = |page: u64| format!("/{page}");
    let pages =
        (0..10).map(|page| (path(page), SimulatedPage::Links(vec![ORIGIN.to_owned() + &path(page + 1)]))).collect();
    let (outages, robots_outages) = Default::default();
    let host = Host {
        pages,
        robots: SimulatedRobots::Missing,
        outages,
        robots_outages,
        sitemap: None,
        strain: None,
        is_given: true,
    };
    let starts = vec![Given { url: ORIGIN.to_owned() + "/0", guessed: false, is_added: false }];
    let web = Web { hosts: BTreeMap::from([(ORIGIN.to_owned(), host)]), starts, is_later: false };
    let settings = format!("[politeness]\ndelay = 0\n[revisit]\naudit_not_modified = 0\n{revisit}{settings}");
    let mut crawl = SimulatedCrawl::new(web, vec![Stage::new(&settings)], Random::new(1));
    crawl.between = Some((between, String::new()));
    let end = crawl.run().expect("it ends");
    crawl.runs += 1;
    (crawl, end)
}

/// How often each page was visited after its sequence.
fn visits(crawl: &SimulatedCrawl) -> BTreeMap<&str, usize> {
    let mut visits = BTreeMap::new();
    for request in crawl.requests.iter().filter(|request| request.purpose.is_due()) {
        *visits.entry(&request.url[ORIGIN.len()..]).or_default() += 1;
    }
    visits
}

const HOURLY: &str = "sections = [\"/=1h\"]\n";

#[test]
fn pages_are_visited_after_a_sequence_however_it_ended() {
    for (limit, pages) in [("", 10), ("[budget]\nmax_depth = 3\n", 4), ("[budget]\nmax_pages = 5\n", 5)] {
        let (crawl, end) = crawled(5 * HOUR + MINUTE, HOURLY, limit);
        assert_eq!(end == Some(RunEnd::Drained), pages == 10, "{limit}: {end:?}");
        let visits = visits(&crawl);
        assert!(visits.len() == pages && visits.values().all(|times| *times == 5), "{limit}: {visits:?}");
    }
}

#[test]
fn a_page_that_is_due_costs_a_visit_and_no_start() {
    let (crawl, _) = crawled(6 * MINUTE, "sections = [\"/3$=5s\"]\n", "");
    assert_eq!(visits(&crawl), BTreeMap::from([("/3", 71)]));
    assert_eq!(crawl.fillings(), 0);
}

#[test]
fn a_crawl_of_which_nothing_is_due_for_long_is_taken_up_again() {
    let (crawl, _) = crawled(3 * HOUR + MINUTE, HOURLY, "");
    assert_eq!(visits(&crawl).values().sum::<usize>(), 30);
    assert_eq!(crawl.fillings(), 3, "it is not kept for an hour, and taken up when a page is due");
    assert!(crawl.now >= 3 * HOUR + SECOND);
}
