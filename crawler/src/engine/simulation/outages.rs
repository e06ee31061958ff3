//! Outages one by one: how long, of what kind, in mid-crawl or across a restart, of one host or of one among many.

use std::collections::BTreeMap;

use super::{
    Random,
    crawl::SimulatedCrawl,
    faults::{HOUR, MINUTE, Outage, Pause, SECOND, Trouble},
    process::Interruption,
    settings::Stage,
    web::{Given, Host, SimulatedPage, SimulatedRobots, Web},
};
use crate::store::sqlite::Records;

const TROUBLES: [(&str, Trouble); 9] = [
    ("refused", Trouble::Refused),
    ("reset", Trouble::Closed),
    ("hanging", Trouble::Hangs),
    ("503", Trouble::Status(503, Pause::Unsaid)),
    ("503 with Retry-After", Trouble::Status(503, Pause::Seconds(30))),
    ("429", Trouble::Status(429, Pause::Unsaid)),
    ("429 with Retry-After", Trouble::Status(429, Pause::Seconds(30))),
    ("name gone", Trouble::NoName),
    ("certificate", Trouble::Tls),
];

/// When it begins: the crawl has some pages by then, and not all.
const BEGINS: u64 = 8 * SECOND;

/// Pages of each host.
const PAGES: u64 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restart {
    No,
    /// The run is killed while the host is away.
    Killed,
    /// It is asked to end then.
    Stopped,
}

/// Hosts with so many pages each, of which the first is away for a while.
fn web(hosts: usize, outage: Outage) -> Web {
    let origins = (0..hosts).map(|host| format!("http://h{host}.test"));
    let host = |(number, origin): (usize, String)| {
        let links = |page: u64| {
            let next = [2 * page + 1, 2 * page + 2].into_iter().filter(|next| *next < PAGES);
            next.map(|next| format!("{origin}/{next}")).collect()
        };
        let pages = (0..PAGES).map(|page| (format!("/{page}"), SimulatedPage::Links(links(page))));
        let outages = if number == 0 { vec![outage] } else { Vec::new() };
        let (pages, robots_outages) = (pages.collect(), Vec::new());
        (
            origin,
            Host {
                pages,
                robots: SimulatedRobots::Missing,
                outages,
                robots_outages,
                sitemap: None,
                strain: None,
                is_given: true,
            },
        )
    };
    let hosts: BTreeMap<_, _> = origins.enumerate().map(host).collect();
    let starts =
        hosts.keys().map(|origin| Given { url: format!("{origin}/0"), guessed: false, is_added: false }).collect();
    Web { hosts, starts, is_later: false }
}

/// Crawls through an outage; what is not as it should be, if anything.
fn crawl(trouble: Trouble, length: u64, restart: Restart, (hosts, slots): (usize, u32)) -> Result<(), String> {
    let outage = Outage { from: BEGINS, to: BEGINS + length, trouble };
    let settings = Stage::new(&format!("[politeness]\ndelay = \"500ms\"\nper_host = {slots}\n"));
    let mut crawl = SimulatedCrawl::new(web(hosts, outage), vec![settings], Random::new(length));
    let middle = BEGINS + (length / 2).min(9 * MINUTE);
    crawl.interruptions = match restart {
        Restart::No => Vec::new(),
        Restart::Killed => vec![Interruption::Kill(middle)],
        Restart::Stopped => vec![Interruption::Signal(middle)],
    };
    crawl.interrupts_always = true;
    crawl.go_on_to_the_end()?;
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let connection = records.connection();
    let costs = "SELECT count(*) FROM url WHERE state <> 'finished' OR attempts > 0";
    let costs: u64 = connection.query_row(costs, [], |row| row.get(0)).map_err(|error| error.to_string())?;
    // What nobody could wait for in one run ends it, and the next goes on.
    let runs = crawl.past.len();
    match (costs, length, restart) {
        (1.., ..) => Err(format!("{costs} URLs were charged or left")),
        (_, ..HOUR, Restart::No) if length < 10 * MINUTE && runs > 1 => Err(format!("it took {runs} runs")),
        _ => Ok(()),
    }
}

#[test]
fn a_host_that_is_away_costs_no_page_and_is_asked_little() {
    let mut problems = Vec::new();
    for (name, trouble) in TROUBLES {
        for length in [15 * SECOND, 10 * MINUTE, 3 * HOUR] {
            for restart in [Restart::No, Restart::Killed, Restart::Stopped] {
                for (hosts, slots) in [(1, 1), (1, 2), (4, 1)] {
                    let ended = crawl(trouble, length, restart, (hosts, slots));
                    if let Err(problem) = ended {
                        let minutes = length / SECOND;
                        problems.push(format!(
                            "{name} for {minutes} s, restart {restart:?}, {hosts} hosts, {slots} slots: {problem}"
                        ));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}
