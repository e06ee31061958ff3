//! Hosts out of the scope, to which pages link.

use std::collections::BTreeMap;

use super::{
    Random,
    faults::outages,
    grow::links_of,
    strain::strain,
    web::{Host, MOST_REDIRECTS, OUTSIDE, SimulatedPage, SimulatedRobots, Web, endless, is_outside},
};

/// How many there are.
const HOSTS: u64 = 3;

/// Their pages that may be linked to.
const PAGES: u64 = 11;

/// Adds them, and links to them.
pub(super) fn link(web: &mut Web, at: u64, calm: bool, random: &mut Random) {
    for host in web.hosts.values_mut() {
        for links in host.pages.values_mut().filter_map(links_of) {
            for _ in 0..random.pick(&[0, 0, 1, 3]) {
                // The last one may be withheld.
                links.insert(0, url(random.below(HOSTS), random.below(PAGES)));
            }
        }
    }
    for number in 0..HOSTS {
        let made = host(number, at, calm, random);
        web.hosts.insert(origin(number), made);
    }
    debug_assert!(is_outside(&origin(0)));
}

fn origin(number: u64) -> String {
    format!("{OUTSIDE}{number}.test")
}

fn url(host: u64, page: u64) -> String {
    match page {
        4 => format!("{}/private/4", origin(host)),
        10 => endless(&origin(host), 0),
        _ => format!("{}/{page}", origin(host)),
    }
}

fn host(number: u64, at: u64, calm: bool, random: &mut Random) -> Host {
    let other = (number + 1) % HOSTS;
    // One on which nothing fails is never given up.
    let calm = calm || random.percent(40);
    let fails = !random.percent(50);
    let page = |page: u64| match page {
        // One is not there, one is an endless row of redirects, and one leads into the crawl.
        1 | 10 => None,
        2 => Some(SimulatedPage::Redirect(url(other, 0))),
        3 => Some(SimulatedPage::Redirect("http://h0.test/0".to_owned())),
        5 if fails => Some(SimulatedPage::Broken),
        6 if fails && !calm => Some(SimulatedPage::Hangs),
        7 => Some(SimulatedPage::Redirect(url(number, 8))),
        8 => Some(SimulatedPage::Redirect(url(number, 7))),
        9 if fails && !calm => Some(SimulatedPage::Flaky(1, Vec::new())),
        _ => Some(SimulatedPage::Links(Vec::new())),
    };
    let path = |page: u64| url(number, page)[origin(number).len()..].to_owned();
    let mut pages: BTreeMap<_, _> = (0..PAGES).filter_map(|number| Some((path(number), page(number)?))).collect();
    pages.extend((0..=MOST_REDIRECTS + 1).map(|hop| (format!("/endless/{hop}"), SimulatedPage::Endless(hop))));
    // A crawl may know it from the sequence before.
    let robots = match number {
        0 => SimulatedRobots::Missing,
        1 => SimulatedRobots::ForbidsPrivate,
        _ => SimulatedRobots::CrawlDelay(2),
    };
    Host {
        pages,
        robots,
        outages: if calm { Vec::new() } else { outages(at, random) },
        robots_outages: if calm || random.percent(80) { Vec::new() } else { outages(at, random) },
        sitemap: None,
        strain: (random.percent(12) && !calm).then(|| strain(random)),
        is_given: false,
    }
}
