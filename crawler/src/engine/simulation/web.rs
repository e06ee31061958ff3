//! [`Web`]: hosts, pages and links that follow from the seed, and what goes wrong with them when.

use std::collections::{BTreeMap, BTreeSet};

use super::Random;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// What a host does while it does not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    NoName,
    Refused,
    Tls,
    Closed,
    Hangs,
    Status(u16, Option<u64>),
}

/// A time in which a host does not serve, in milliseconds from the beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outage {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) trouble: Trouble,
}

/// What a page is.
#[derive(Debug, Clone)]
pub(super) enum Page {
    /// A page with links.
    Links(Vec<String>),
    /// It leads elsewhere.
    Redirect(String),
    /// It is not there.
    Missing,
    /// It never answers, though its host does.
    Hangs,
    /// Its program is broken.
    Broken,
    /// Its first requests fail so many times, then it has these links.
    Flaky(u32, Vec<String>),
    /// Our own program fails on it.
    Panics,
}

#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) pages: BTreeMap<String, Page>,
    pub(super) robots: Robots,
    pub(super) outages: Vec<Outage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Robots {
    Missing,
    ForbidsPrivate,
    CrawlDelay,
}

/// All hosts by their name.
#[derive(Debug, Clone)]
pub(super) struct Web {
    pub(super) hosts: BTreeMap<String, Host>,
}

impl Web {
    pub(super) fn new(random: &mut Random) -> Self {
        let count = 1 + random.below(4);
        let sizes: Vec<u64> = (0..count).map(|_| 3 + random.below(40)).collect();
        let odd = random.percent(60);
        let mut hosts = BTreeMap::new();
        for (host, &size) in sizes.iter().enumerate() {
            let pages = (0..size).map(|page| (path(page), page_of(host, page, &sizes, odd, random))).collect();
            let robots = random.pick(&[Robots::Missing, Robots::Missing, Robots::ForbidsPrivate, Robots::CrawlDelay]);
            let outages = outages(random);
            hosts.insert(format!("h{host}.test"), Host { pages, robots, outages });
        }
        Self { hosts }
    }

    /// The start URLs: the first page of each host.
    pub(super) fn starts(&self) -> Vec<String> {
        self.hosts.keys().map(|host| format!("http://{host}/0")).collect()
    }

    /// Whether a start may be taken for a page that is broken.
    pub(super) fn may_lose_a_start(&self) -> bool {
        let mut outages = self.hosts.values().flat_map(|host| &host.outages);
        outages.any(|outage| outage.trouble == Trouble::Status(500, None))
    }

    /// The trouble of a host at a moment.
    pub(super) fn trouble(&self, host: &str, at: u64) -> Option<Trouble> {
        let outages = &self.hosts.get(host)?.outages;
        outages.iter().find(|outage| (outage.from..outage.to).contains(&at)).map(|outage| outage.trouble)
    }

    /// URLs that a complete crawl admits, without those that robots.txt forbids.
    pub(super) fn reachable(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut reached, mut forbidden, mut open) = (BTreeSet::new(), BTreeSet::new(), self.starts());
        while let Some(url) = open.pop() {
            let Some((host, path)) = split(&url) else { continue };
            let Some(host) = self.hosts.get(host) else { continue };
            if host.robots == Robots::ForbidsPrivate && path.starts_with("/private") {
                forbidden.insert(url);
                continue;
            }
            if !reached.insert(url.clone()) {
                continue;
            }
            match host.pages.get(path) {
                Some(Page::Links(links) | Page::Flaky(_, links)) => open.extend(links.iter().cloned()),
                Some(Page::Redirect(to)) => open.push(to.clone()),
                _ => {}
            }
        }
        (reached, forbidden)
    }
}

/// Host and path of a URL.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("http://")?;
    Some(rest.split_at(rest.find('/')?))
}

fn path(page: u64) -> String {
    if page % 11 == 7 { format!("/private/{page}") } else { format!("/{page}") }
}

fn page_of(host: usize, page: u64, sizes: &[u64], odd: bool, random: &mut Random) -> Page {
    let mut links: Vec<String> = Vec::new();
    // A chain and a tree, so that every page can be reached.
    for next in [page + 1, 2 * page + 1] {
        if next < sizes[host] {
            links.push(format!("http://h{host}.test{}", path(next)));
        }
    }
    for _ in 0..random.below(6) {
        let to = usize::try_from(random.below(sizes.len() as u64)).expect("an index");
        // Some lead to what is not there.
        links.push(format!("http://h{to}.test{}", path(random.below(sizes[to] + 2))));
    }
    let itself = format!("http://h{host}.test{}", path(page));
    let leads_on = |links: Vec<String>| links.into_iter().find(|link| *link != itself);
    match if odd && page > 0 { random.below(40) } else { 40 } {
        0 => leads_on(links).map_or(Page::Missing, Page::Redirect),
        1 => Page::Missing,
        2 => Page::Hangs,
        3 => Page::Broken,
        4..7 => Page::Flaky(1 + u32::try_from(random.below(2)).expect("small"), links),
        7 => Page::Panics,
        _ => Page::Links(links),
    }
}

fn outages(random: &mut Random) -> Vec<Outage> {
    let mut outages = Vec::new();
    let mut at = random.below(40 * SECOND);
    for _ in 0..random.pick(&[0, 0, 1, 1, 2]) {
        let length = random.pick(&[15 * SECOND, 15 * SECOND, 2 * MINUTE, 10 * MINUTE, 3 * HOUR]);
        let trouble = random.pick(&[
            Trouble::NoName,
            Trouble::Refused,
            Trouble::Tls,
            Trouble::Closed,
            Trouble::Hangs,
            Trouble::Status(503, None),
            Trouble::Status(503, Some(20)),
            Trouble::Status(429, None),
            Trouble::Status(429, Some(90)),
            Trouble::Status(500, None),
        ]);
        outages.push(Outage { from: at, to: at + length, trouble });
        at += length + 5 * SECOND + random.below(2 * MINUTE);
    }
    outages
}
