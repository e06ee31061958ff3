//! What is known to be wrong, each case with a simulation that shows it. Whoever mends one takes it off the list.

use std::collections::BTreeMap;

use super::{
    Random,
    crawl::{Crawl, NextRun},
    faults::HOUR,
    months::queue_due,
    settings::Stage,
    web::{Given, Host, Page, Robots, Web},
};
use crate::engine::End;

/// A case: what ought to be, and what is found instead.
type Case = (&'static str, fn() -> Result<(), String>);

const CASES: [Case; 2] = [
    ("pages are visited between sequences, however the last one ended", pages_of_a_limited_sequence_are_due),
    ("a page that is due costs a visit, and not a start", one_due_page_reads_no_table),
];

#[test]
fn what_is_known_to_be_wrong_is_so() {
    let mended: Vec<_> = CASES.iter().filter(|(_, case)| case().is_ok()).map(|(name, _)| name).collect();
    assert!(mended.is_empty(), "these are mended: take them off the list: {mended:?}");
}

/// A crawl of a chain of pages, of which a copy is ten minutes old.
fn crawled(settings: &str) -> Result<(Crawl, Option<End>), String> {
    let origin = "http://h0.test";
    let path = |page: u64| format!("/{page}");
    let pages = (0..10).map(|page| (path(page), Page::Links(vec![origin.to_owned() + &path(page + 1)]))).collect();
    let (outages, robots_outages) = Default::default();
    let host = Host { pages, robots: Robots::Missing, outages, robots_outages, strain: None, is_given: true };
    let starts = vec![Given { url: origin.to_owned() + "/0", guessed: false, is_added: false }];
    let web = Web { hosts: BTreeMap::from([(origin.to_owned(), host)]), starts };
    let settings = format!("[politeness]\ndelay = 0\n[revisit]\nadaptive = \"on\"\n{settings}");
    let mut crawl = Crawl::new(web, vec![Stage::new(&settings)], Random::new(1));
    let end = crawl.run()?;
    crawl.runs += 1;
    crawl.now += 48 * HOUR;
    Ok((crawl, end))
}

fn pages_of_a_limited_sequence_are_due() -> Result<(), String> {
    let (crawl, end) = crawled("[budget]\nmax_depth = 3\n")?;
    assert_eq!(end, Some(End::Budget), "it has more pages than the limit lets in");
    let due = queue_due(&crawl, 5, 0, 1e6);
    if due.queued > 0 { Ok(()) } else { Err("no page is due after two days".to_owned()) }
}

fn one_due_page_reads_no_table() -> Result<(), String> {
    let (mut crawl, _) = crawled("")?;
    let before = crawl.fillings();
    assert_eq!(queue_due(&crawl, 1, 0, 1e6).queued, 1, "one visit is allowed");
    crawl.next = NextRun::OnceMore;
    crawl.run()?;
    let filled = crawl.fillings() - before;
    if filled == 0 { Ok(()) } else { Err(format!("the URL cache was filled {filled} times for one page")) }
}
