//! [`Web`]: hosts, pages and links, and what a complete crawl of them finds.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    faults::{MINUTE, Outage, Trouble},
    noisy::NoisyPage,
    strain::{Crash, Strain},
};

/// Where a host has a sitemap that its robots.txt does not name.
pub(super) const USUAL: &str = "/sitemap.xml";

/// And where it has one that its robots.txt names.
pub(super) const NAMED: &str = "/maps/all.xml";

/// How the origin of a host begins that is out of the scope.
pub(super) const OUTSIDE: &str = "http://out";

/// Redirects in a row that a crawl of such a web follows.
pub(super) const MOST_REDIRECTS: u32 = 4;

/// What a page is.
#[derive(Debug, Clone)]
pub(super) enum SimulatedPage {
    /// A page with links.
    Links(Vec<String>),
    /// The same, after so many milliseconds.
    Slow(u64, Vec<String>),
    /// It leads elsewhere.
    Redirect(String),
    /// It leads to the first until this moment, then to the second.
    RedirectUntil(u64, String, String),
    /// It leads to itself.
    RedirectToItself,
    /// It leads to the next of an endless row.
    Endless(u32),
    /// It is not there.
    Missing,
    /// It never answers, though its host does.
    Hangs,
    /// Its program is broken.
    Broken,
    /// Its first requests fail so many times, then it has these links.
    Flaky(u32, Vec<String>),
    /// Its first answers are cut short so many times, in the middle of these links.
    Cut(u32, Vec<String>),
    /// It takes its server down when it is asked for; where that ends, it has these links.
    Crashes(Crash, Vec<String>),
    /// Our own program fails on it.
    Panics,
    /// It is another after each of these moments, and keeps its links.
    Living(Arc<[u64]>, Vec<String>),
    /// It is edited at known moments, and moves by itself at each look.
    Noisy(Arc<NoisyPage>),
    /// It has the first links until this moment, and the second from then on.
    Grows(u64, Vec<String>, Vec<String>),
    /// It has these links when it is asked for the first time, and is something else after that.
    Once(Vec<String>, Later),
    /// A sitemap that lists these pages.
    Sitemap(Vec<String>),
    /// An index of these sitemaps.
    SitemapIndex(Vec<String>),
}

/// What a page is when it is asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Later {
    /// A page without links.
    Bare,
    /// It is not there.
    Missing,
    /// A body without a byte.
    Empty,
    /// It leads to a log-in.
    LogIn,
    /// The same page, whose links are not to be followed.
    NoFollow,
    /// Something that is no page.
    Image,
}

impl SimulatedPage {
    /// The links that it has once it is there, whenever that is; `None` where it never is a page, or has no links that are sure.
    pub(super) fn links(&self) -> Option<&[String]> {
        match self {
            Self::Links(links)
            | Self::Slow(_, links)
            | Self::Living(_, links)
            | Self::Flaky(_, links)
            | Self::Cut(_, links)
            | Self::Sitemap(links)
            | Self::SitemapIndex(links) => Some(links),
            Self::Noisy(page) => Some(&page.links),
            Self::Crashes(crash, links) => (crash.times < u32::MAX).then_some(links),
            _ => None,
        }
    }

    /// Each link that it may have.
    pub(super) fn all_links(&self) -> Vec<&String> {
        self.links().map(|links| links.iter().collect()).or_else(|| self.links_at_times()).unwrap_or_default()
    }

    /// The same of one that has other links at other times.
    fn links_at_times(&self) -> Option<Vec<&String>> {
        match self {
            Self::Grows(_, one, other) => Some(one.iter().chain(other).collect()),
            Self::Once(links, _) => Some(links.iter().collect()),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) pages: BTreeMap<String, SimulatedPage>,
    pub(super) robots: SimulatedRobots,
    pub(super) outages: Vec<Outage>,
    /// Outages of its robots.txt alone.
    pub(super) robots_outages: Vec<Outage>,
    /// The sitemap that its robots.txt names; it may have one beside it at the usual place.
    pub(super) sitemap: Option<String>,
    /// What its server does not bear.
    pub(super) strain: Option<Strain>,
    /// Whether it is in the scope from the beginning: one that a start leads to is so later.
    pub(super) is_given: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SimulatedRobots {
    Missing,
    ForbidsPrivate,
    CrawlDelay(u64),
    /// Every minute it forbids what is private, or does not.
    Changes,
    /// It is at another host.
    At(String),
}

impl SimulatedRobots {
    /// Whether one that changes forbids what is private at a moment.
    pub(super) fn forbids_at(at: u64) -> bool {
        (at / MINUTE).is_multiple_of(2)
    }
}

/// A start as the user gives it.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) url: String,
    /// Without a scheme.
    pub(super) guessed: bool,
    /// In a later run.
    pub(super) is_added: bool,
}

/// All hosts by their origin.
#[derive(Debug, Clone)]
pub(super) struct Web {
    pub(super) hosts: BTreeMap<String, Host>,
    pub(super) starts: Vec<Given>,
    /// It has taken the place of another: a robots.txt that is still good may name the sitemaps of that one.
    pub(super) is_later: bool,
}

/// What a crawl may not find.
#[derive(Debug, Clone, Copy)]
pub(super) struct Without<'a> {
    /// Pages that are taken for broken.
    pub(super) broken: &'a BTreeSet<&'a str>,
    /// The URL cache may lose a sitemap that is named, which no page leads to.
    pub(super) loses_sitemaps: bool,
}

/// What a crawl finds.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// In any case.
    pub(super) must: BTreeSet<String>,
    /// Depending on when it looks.
    pub(super) may: BTreeSet<String>,
}

/// What robots.txt says of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    Given,
    Refused,
    /// It depends on the moment.
    Open,
}

impl Web {
    /// What is wrong with a host at a moment.
    pub(super) fn trouble(&self, origin: &str, at: u64) -> Option<Trouble> {
        let outages = &self.hosts.get(origin)?.outages;
        outages.iter().find(|outage| outage.holds(at)).map(|outage| outage.trouble)
    }

    /// Whether a URL may be taken for a page that is broken: nothing else of its host is known, and that has an outage of
    /// server errors.
    pub(super) fn may_be_taken_for_broken(&self, origin: &str) -> bool {
        let errs = |outage: &Outage| matches!(outage.trouble, Trouble::Status(500 | 502, _));
        self.hosts.get(origin).is_some_and(|host| host.outages.iter().any(errs))
    }

    pub(super) fn permission(&self, origin: &str, path: &str) -> Permission {
        let Some(host) = self.hosts.get(origin).filter(|_| path.starts_with("/private")) else {
            return Permission::Given;
        };
        match &host.robots {
            SimulatedRobots::ForbidsPrivate => Permission::Refused,
            SimulatedRobots::Changes => Permission::Open,
            SimulatedRobots::At(there) if there != origin => self.permission(there, path),
            _ => Permission::Given,
        }
    }

    /// The pause that a host asks for in its robots.txt, in seconds.
    pub(super) fn crawl_delay(&self, origin: &str) -> u64 {
        match self.hosts.get(origin).map(|host| &host.robots) {
            Some(SimulatedRobots::CrawlDelay(seconds)) => *seconds,
            Some(SimulatedRobots::At(there)) if there != origin => self.crawl_delay(there),
            _ => 0,
        }
    }

    /// URLs that a complete crawl admits which begins with the starts and what is `known`, and leaves out what is `excluded`. What is
    /// `broken` leads nowhere.
    pub(super) fn reach(&self, known: &BTreeSet<String>, excluded: Excluded, without: Without<'_>) -> Reach {
        let starts = || self.starts.iter().map(|start| start.url.clone()).chain(known.iter().cloned());
        let by_http = || starts().map(|url| url.replace("https:", "http:"));
        Reach {
            must: self.closure(starts().collect(), Some((excluded, without))),
            may: self.closure(starts().chain(by_http()).collect(), None),
        }
    }

    /// What is found in any case, where something may be `excluded`; else all that may be found.
    fn closure(&self, mut open: Vec<String>, without: Option<(Excluded, Without<'_>)>) -> BTreeSet<String> {
        let surely = without.is_some();
        let mut reached = BTreeSet::new();
        while let Some(url) = open.pop() {
            let (origin, path) = split(&url).expect("a URL of the web");
            let Some(host) = self.hosts.get(origin) else {
                // A start that was a guess.
                reached.insert(url);
                continue;
            };
            let is_excluded = without.is_some_and(|(excluded, _)| excluded.holds(&url));
            if is_excluded
                || !reached.insert(url.clone())
                || without.is_some_and(|(_, without)| without.broken.contains(&*url))
            {
                continue;
            }
            // Its robots.txt is read before anything of it is fetched.
            let may_be_lost = without.is_some_and(|(_, without)| without.loses_sitemaps);
            open.extend(self.sitemap_of(origin).filter(|_| !(surely && self.is_later || may_be_lost)));
            match self.permission(origin, path) {
                Permission::Refused => continue,
                Permission::Open if surely => continue,
                _ => {}
            }
            let in_scope = |to: &&String| {
                let there = split(to).and_then(|(there, _)| Some((there, self.hosts.get(there)?)));
                let there = there.filter(|(there, _)| !is_outside(there));
                // What was judged before a start led there was refused.
                there.is_some_and(|(there, host)| host.is_given || there == origin || !surely)
            };
            match host.pages.get(path) {
                Some(page) if page.links().is_some() => {
                    open.extend(page.links().into_iter().flatten().filter(in_scope).cloned());
                }
                Some(SimulatedPage::Grows(_, one, other)) if surely => {
                    open.extend(one.iter().filter(|link| other.contains(link)).filter(in_scope).cloned());
                }
                Some(page) if !surely && page.links_at_times().is_some() => {
                    open.extend(page.links_at_times().into_iter().flatten().filter(in_scope).cloned());
                }
                // A start takes the scope with it.
                Some(SimulatedPage::Redirect(to)) => {
                    open.extend(Some(to).filter(|to| in_scope(to) || self.is_start(&url)).cloned());
                }
                Some(SimulatedPage::RedirectUntil(_, one, other)) if !surely => {
                    open.extend([one.clone(), other.clone()]);
                }
                Some(SimulatedPage::Endless(number)) if *number < MOST_REDIRECTS => {
                    open.push(endless(origin, number + 1));
                }
                _ => {}
            }
        }
        reached
    }

    /// Whether a URL may be looked for without a link, as a sitemap that was there before.
    pub(super) fn may_be_an_old_sitemap(&self, url: &str) -> bool {
        self.is_later && (url.ends_with(USUAL) || url.ends_with(NAMED))
    }

    /// Where a host has its sitemap, if it has one.
    fn sitemap_of(&self, origin: &str) -> Option<String> {
        let host = self.hosts.get(origin)?;
        host.sitemap.clone().or_else(|| host.pages.contains_key(USUAL).then(|| origin.to_owned() + USUAL))
    }

    /// Whether nothing goes wrong with any of its hosts, each of which is given, and each page that is there has its links at once.
    pub(super) fn is_sound(&self) -> bool {
        let sound = |host: &Host| {
            host.is_given
                && host.outages.is_empty()
                && host.robots_outages.is_empty()
                && host.strain.is_none()
                && !matches!(host.robots, SimulatedRobots::Changes | SimulatedRobots::At(_))
                && host.pages.values().all(|page| matches!(page, SimulatedPage::Links(_) | SimulatedPage::Endless(_)))
        };
        let mut hosts = self.hosts.iter().filter(|(origin, _)| !is_outside(origin));
        hosts.all(|(_, host)| sound(host)) && self.starts.iter().all(|start| !start.guessed)
    }

    /// How many links each URL is away from a start, over none that is left out, in a web that [is sound](Self::is_sound).
    pub(super) fn depths(&self, excluded: Excluded) -> BTreeMap<String, u32> {
        let mut depths: BTreeMap<String, u32> = BTreeMap::new();
        let mut level: Vec<String> = self.starts.iter().map(|start| start.url.clone()).collect();
        for depth in 0.. {
            level.retain(|url| !depths.contains_key(url) && !excluded.holds(url));
            if level.is_empty() {
                break;
            }
            depths.extend(level.iter().map(|url| (url.clone(), depth)));
            let next = level.iter().filter_map(|url| {
                let (origin, path) = split(url)?;
                let permitted = self.permission(origin, path) == Permission::Given;
                self.hosts.get(origin)?.pages.get(path)?.links().filter(|_| permitted)
            });
            level = next.flatten().cloned().collect();
        }
        depths
    }

    pub(super) fn is_start(&self, url: &str) -> bool {
        self.starts.iter().any(|start| start.url == url)
    }
}

/// Whether a host is out of the scope, whatever leads there.
pub(super) fn is_outside(origin: &str) -> bool {
    origin.starts_with(OUTSIDE)
}

/// What the settings leave out of the crawl from some run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excluded {
    Nothing,
    /// Pages whose number begins with a 3.
    Threes,
    /// What was removed for good. The settings know nothing of it.
    Removed(&'static BTreeSet<String>),
}

impl Excluded {
    /// The settings that say so.
    pub(super) fn settings(self) -> &'static str {
        match self {
            Self::Nothing | Self::Removed(_) => "",
            Self::Threes => "[scope]\nexclude = ['/3\\d*$']\n",
        }
    }

    pub(super) fn is_removed(self) -> bool {
        matches!(self, Self::Removed(_))
    }

    pub(super) fn holds(self, url: &str) -> bool {
        let last = url.rsplit('/').next().unwrap_or_default();
        match self {
            Self::Nothing => false,
            Self::Threes => last.starts_with('3') && last.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Removed(urls) => urls.contains(url),
        }
    }
}

/// A page of an endless row of redirects.
pub(super) fn endless(origin: &str, number: u32) -> String {
    format!("{origin}/endless/{number}")
}

/// Origin and path of a URL.
pub(super) fn split(url: &str) -> Option<(&str, &str)> {
    let rest = url.find("://")? + 3;
    Some(url.split_at(rest + url[rest..].find('/')?))
}
