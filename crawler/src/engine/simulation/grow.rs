//! Generates a web from a seed.

use std::collections::BTreeMap;

use super::{
    Random,
    faults::{MINUTE, SECOND, outages, storm},
    outside,
    strain::{crash, strain},
    web::{Given, Host, Later, MOST_REDIRECTS, NAMED, SimulatedPage, SimulatedRobots, USUAL, Web, endless},
};

/// How a web is made.
#[derive(Debug, Clone)]
pub(super) struct WebPlan {
    starts: Vec<StartKind>,
    /// A crawl may know them from the sequence before.
    robots: Vec<SimulatedRobots>,
    /// Pages that fail, lead elsewhere, or are slow.
    odd: bool,
    /// The first host has two pages with very many links, which its robots.txt forbids.
    crowd: bool,
    /// Nothing goes wrong with it.
    calm: bool,
    /// The start that is given in a later run.
    added: Option<usize>,
    spellings: Spellings,
    /// Of so many pages one has other links later, and one is another when it is asked for again.
    turns: Option<u64>,
    sitemaps: Sitemaps,
    outside: Outside,
}

/// Whether hosts have sitemaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sitemaps {
    None,
    Some,
}

/// Whether pages link to hosts out of the scope, which are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outside {
    None,
    Checked,
}

/// How each link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spellings {
    One,
    Several,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartKind {
    Plain,
    /// Given without a scheme, and not there with `https`.
    Guessed,
    /// At an address that leads to the host.
    Moved,
    /// At an address that leads to the host from some moment on, and to the first host before.
    Moving,
}

impl WebPlan {
    pub(super) fn new(random: &mut Random) -> Self {
        let calm = random.percent(12);
        let odd = random.percent(60) && !calm;
        let kinds = [StartKind::Plain, StartKind::Guessed, StartKind::Moved, StartKind::Moving];
        let others = random.percent(30) && !calm;
        let kind = |number: u64, random: &mut Random| match (number, others) {
            (0, _) | (_, false) => StartKind::Plain,
            _ => random.pick(&kinds),
        };
        let mut starts: Vec<_> = (0..=random.below(4)).map(|number| kind(number, random)).collect();
        let crowd = random.percent(1);
        let mut robots: Vec<_> = (0..starts.len()).map(|number| robots(number, random)).collect();
        if crowd {
            robots[0] = SimulatedRobots::ForbidsPrivate;
        }
        let added = (starts.len() > 1 && random.percent(20)).then(|| starts.len() - 1);
        let turns = random.percent(if crowd { 60 } else { 15 }).then_some(8);
        // Draws of their own, so that a seed without it stays what it was.
        let mut separate = Random::new(random.clone().next() ^ 1);
        if let Some(last) = added.filter(|_| !calm && separate.percent(60)) {
            starts[last] = StartKind::Moved;
        }
        let spells = Random::new(random.clone().next() ^ 2).percent(25);
        let spellings = if spells { Spellings::Several } else { Spellings::One };
        let has_sitemaps = Random::new(random.clone().next() ^ 5).percent(30);
        let sitemaps = if has_sitemaps { Sitemaps::Some } else { Sitemaps::None };
        let checks = Random::new(random.clone().next() ^ 6).percent(20);
        let outside = if checks { Outside::Checked } else { Outside::None };
        Self { starts, robots, odd, crowd, calm, added, spellings, turns, sitemaps, outside }
    }

    /// Whether links are written in several spellings.
    pub(super) fn spells(&self) -> bool {
        self.spellings == Spellings::Several
    }

    /// Whether a start is given in a later run.
    pub(super) fn adds(&self) -> bool {
        self.added.is_some()
    }

    /// The host to which such a start redirects, while others are crawled that link there.
    pub(super) fn joins_late(&self) -> Option<usize> {
        self.added.filter(|added| self.starts[*added] == StartKind::Moved)
    }

    /// Whether there are so many links that a small URL cache loses thousands of them at once.
    pub(super) fn has_crowd(&self) -> bool {
        self.crowd
    }

    /// Whether hosts may have sitemaps.
    pub(super) fn has_sitemaps(&self) -> bool {
        self.sitemaps == Sitemaps::Some
    }

    /// Whether links that leave the scope are checked.
    pub(super) fn checks_links(&self) -> bool {
        self.outside == Outside::Checked
    }

    /// A web with these starts at a moment. One that is made later is another.
    pub(super) fn web(&self, at: u64, random: &mut Random) -> Web {
        let large = random.percent(4);
        let most = if large { 150 } else { 40 };
        let sizes: Vec<u64> = self.starts.iter().map(|_| 3 + random.below(most)).collect();
        let mut web = Web { hosts: BTreeMap::new(), starts: Vec::new(), is_later: at > 0 };
        for (number, kind) in self.starts.iter().enumerate() {
            let mut made = self.host(number, at, &sizes, random);
            if !self.calm {
                made.outages = outages(at, random);
                made.strain = random.percent(12).then(|| strain(random));
            }
            if random.percent(8) && !self.calm {
                made.robots_outages = outages(at, random);
            }
            made.is_given = *kind == StartKind::Plain && !self.is_added(number);
            web.hosts.insert(origin(number), made);
            self.give(number, at, &mut web, random);
        }
        if let Some(number) = self.joins_late() {
            islands(number, &mut web);
        }
        if self.has_sitemaps() {
            let mut separate = Random::new(random.clone().next() ^ 3);
            web.hosts.iter_mut().for_each(|(origin, host)| list_pages(origin, host, &mut separate));
        }
        if self.checks_links() {
            let mut separate = Random::new(random.clone().next() ^ 4);
            outside::link(&mut web, at, self.calm, &mut separate);
        }
        if random.percent(10) && !self.calm {
            let storm = storm(at, random);
            for host in web.hosts.values_mut() {
                if host.outages.iter().all(|outage| outage.from > storm.to) {
                    host.outages.insert(0, storm);
                }
            }
        }
        web
    }

    /// The start by which a host is found.
    fn give(&self, number: usize, at: u64, web: &mut Web, random: &mut Random) {
        let is_added = self.is_added(number);
        let (first, moved) = (format!("{}/0", origin(number)), format!("http://old{number}.test/"));
        let page = match self.starts[number] {
            StartKind::Plain => return web.starts.push(Given { url: first, guessed: false, is_added }),
            StartKind::Guessed => {
                return web.starts.push(Given { url: first.replace("http:", "https:"), guessed: true, is_added });
            }
            StartKind::Moved => SimulatedPage::Redirect(first),
            StartKind::Moving => {
                SimulatedPage::RedirectUntil(at + random.below(MINUTE), format!("{}/0", origin(0)), first)
            }
        };
        let host = Host {
            pages: BTreeMap::from([("/".to_owned(), page)]),
            robots: SimulatedRobots::Missing,
            outages: outages(at, random),
            robots_outages: Vec::new(),
            sitemap: None,
            strain: None,
            is_given: !is_added,
        };
        web.hosts.insert(format!("http://old{number}.test"), host);
        web.starts.push(Given { url: moved, guessed: false, is_added });
    }

    fn is_added(&self, number: usize) -> bool {
        self.added == Some(number)
    }

    fn host(&self, number: usize, at: u64, sizes: &[u64], random: &mut Random) -> Host {
        let odd = self.odd;
        let mut pages = BTreeMap::new();
        for page in 0..sizes[number] {
            pages.insert(path(page), page_of(number, page, sizes, odd && page > 0, random));
        }
        if let Some(share) = self.turns {
            turn(&mut pages, at, share, random);
        }
        if self.crowd && number == 0 {
            let most = 1_000 + random.below(2_500);
            for part in ["a", "b"] {
                let links = (0..most).map(|page| format!("{}/private/{part}{page}", origin(0)));
                pages.insert(format!("/{part}"), SimulatedPage::Links(links.collect()));
                if let Some(SimulatedPage::Links(links)) = pages.get_mut("/0") {
                    links.push(format!("{}/{part}", origin(0)));
                }
            }
        }
        for hop in 0..=MOST_REDIRECTS {
            pages.insert(format!("/endless/{hop}"), SimulatedPage::Endless(hop));
        }
        let robots = self.robots[number].clone();
        Host {
            pages,
            robots,
            outages: Vec::new(),
            robots_outages: Vec::new(),
            sitemap: None,
            strain: None,
            is_given: true,
        }
    }
}

/// A host may get a sitemap, of some of its pages and of others that nothing else leads to.
fn list_pages(origin: &str, host: &mut Host, random: &mut Random) {
    if matches!(host.robots, SimulatedRobots::At(_)) || !host.pages.contains_key("/0") || random.percent(20) {
        return;
    }
    let lists: u64 = random.pick(&[1, 1, 2, 3]);
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for list in 0..lists {
        let mut listed: Vec<String> =
            host.pages.keys().filter(|path| !path.starts_with("/endless") && random.percent(30)).cloned().collect();
        for page in 0..random.below(8) {
            let path = format!("/listed/{list}/{page}");
            host.pages.insert(path.clone(), SimulatedPage::Links(vec![origin.to_owned() + "/0"]));
            listed.push(path);
        }
        // Some lead to what is not there.
        listed.extend((0..random.below(2)).map(|page| format!("/not-there/{list}/{page}")));
        places.push((format!("/maps/{list}.xml"), listed.into_iter().map(|path| origin.to_owned() + &path).collect()));
    }
    let is_usual = random.percent(50);
    let whole = if is_usual { USUAL.to_owned() } else { NAMED.to_owned() };
    let page = match &places[..] {
        [(_, listed)] => SimulatedPage::Sitemap(listed.clone()),
        _ => SimulatedPage::SitemapIndex(places.iter().map(|(path, _)| origin.to_owned() + path).collect()),
    };
    if places.len() > 1 {
        host.pages.extend(places.into_iter().map(|(path, listed)| (path, SimulatedPage::Sitemap(listed))));
    }
    host.pages.insert(whole.clone(), page);
    host.sitemap = (!is_usual).then(|| origin.to_owned() + &whole);
}

/// A host gets pages that one page elsewhere links to, each of them.
fn islands(number: usize, web: &mut Web) {
    let mut islands = BTreeMap::new();
    for (_, host) in web.hosts.iter_mut().filter(|(name, _)| **name != origin(number)) {
        for links in host.pages.values_mut().filter_map(links_of).step_by(2) {
            let path = format!("/island/{}", islands.len());
            links.push(origin(number) + &path);
            islands.insert(path, SimulatedPage::Links(Vec::new()));
        }
    }
    if let Some(host) = web.hosts.get_mut(&origin(number)) {
        host.pages.append(&mut islands);
    }
}

pub(super) fn links_of(page: &mut SimulatedPage) -> Option<&mut Vec<String>> {
    if let SimulatedPage::Links(links) = page { Some(links) } else { None }
}

/// Some pages have other links at another moment, or when they are asked for again.
fn turn(pages: &mut BTreeMap<String, SimulatedPage>, at: u64, share: u64, random: &mut Random) {
    for page in pages.values_mut() {
        let SimulatedPage::Links(links) = page else { continue };
        let mut links = links.clone();
        match random.below(share) {
            0 => {
                // One that it loses, or has from some moment on.
                let other = links.split_off(links.len() - links.len().min(1));
                let both = [&links[..], &other].concat();
                let (one, other) = if random.percent(50) { (links, both) } else { (both, links) };
                *page = SimulatedPage::Grows(at + random.below(MINUTE), one, other);
            }
            1 => {
                let later = [Later::Bare, Later::Missing, Later::Empty, Later::LogIn, Later::NoFollow, Later::Image];
                *page = SimulatedPage::Once(links, random.pick(&later));
            }
            _ => {}
        }
    }
}

fn robots(number: usize, random: &mut Random) -> SimulatedRobots {
    match random.below(20) {
        0..5 => SimulatedRobots::ForbidsPrivate,
        5..8 => SimulatedRobots::CrawlDelay(2),
        // Longer than is waited for.
        8 => SimulatedRobots::CrawlDelay(1_000_000),
        9 => SimulatedRobots::Changes,
        // That of the first host is at itself: an endless redirect.
        10 => SimulatedRobots::At(origin(number.saturating_sub(1))),
        _ => SimulatedRobots::Missing,
    }
}

fn origin(number: usize) -> String {
    format!("http://h{number}.test")
}

fn path(page: u64) -> String {
    if page % 11 == 7 { format!("/private/{page}") } else { format!("/{page}") }
}

fn page_of(host: usize, page: u64, sizes: &[u64], odd: bool, random: &mut Random) -> SimulatedPage {
    let mut links: Vec<String> = Vec::new();
    // A chain and a tree, so that every page can be reached.
    for next in [page + 1, 2 * page + 1] {
        if next < sizes[host] {
            links.push(origin(host) + &path(next));
        }
    }
    for _ in 0..random.below(6) {
        let to = usize::try_from(random.below(sizes.len() as u64)).expect("an index");
        // Some lead to what is not there.
        links.push(origin(to) + &path(random.below(sizes[to] + 2)));
    }
    let itself = origin(host) + &path(page);
    let leads_on = |links: Vec<String>| links.into_iter().find(|link| *link != itself);
    match if odd { random.below(50) } else { 50 } {
        0 => leads_on(links).map_or(SimulatedPage::Missing, SimulatedPage::Redirect),
        1 => SimulatedPage::Missing,
        2 => SimulatedPage::Hangs,
        3 => SimulatedPage::Broken,
        4..7 => SimulatedPage::Flaky(1 + u32::try_from(random.below(2)).expect("small"), links),
        7 => SimulatedPage::Panics,
        8 | 9 => SimulatedPage::Slow(SECOND + random.below(25 * SECOND), links),
        10 => SimulatedPage::RedirectToItself,
        11 => {
            links.push(endless(&origin(host), 0));
            SimulatedPage::Links(links)
        }
        12 | 13 => SimulatedPage::Cut(random.pick(&[1, 2]), links),
        15 => SimulatedPage::Crashes(crash(random), links),
        // Out of the scope.
        14 => SimulatedPage::Redirect("http://elsewhere.test/".into()),
        _ => SimulatedPage::Links(links),
    }
}
