//! [`FirstLook`]: what a look at a site has found.

use std::{collections::BTreeMap, path::Path, time::Duration};

use crate::{
    candidate::Hop,
    cli::{CommandFailure, directory},
    store::{PageFilter, PageLine, PageOutcome, ReadSide, RobotsRow},
    url::WebUrl,
};

/// What was found.
#[derive(Debug)]
pub(super) struct FirstLook {
    /// The page to which the start leads.
    pub(super) start: PageLine,
    /// The answer to the request for the robots.txt of its host, if there was any.
    pub(super) robots: Option<RobotsRow>,
    /// Sitemaps that were read.
    pub(super) sitemaps: u64,
    /// URLs in the scope to which the start page leads.
    pub(super) linked: u64,
    /// Others, which sitemaps list.
    pub(super) listed: u64,
    /// All of these, and the start, by their origins.
    pub(super) hosts: BTreeMap<String, u64>,
    /// Whether there was no time to read all sitemaps.
    pub(super) is_cut: bool,
    /// Requests, and the seconds they took with the pauses between.
    pub(super) requests: u64,
    pub(super) seconds: f64,
}

impl FirstLook {
    /// What a crawl directory holds of it; `None` if the start gave no page.
    pub(super) fn of(dir: &Path) -> Result<Option<Self>, CommandFailure> {
        let (records, summary) = (directory::records(dir)?, directory::summary(dir)?);
        let (mut start, mut hosts) = (None, BTreeMap::<String, u64>::new());
        let [mut sitemaps, mut listed, mut linked, mut unread] = [0; 4];
        records.pages(&PageFilter::default(), |line| {
            let url = line.url.as_deref().and_then(|text| WebUrl::parse(text).ok());
            let is_of_sitemaps = line.hop == Some(Hop::Sitemap);
            match line.outcome {
                PageOutcome::Stored if is_of_sitemaps => {
                    sitemaps += 1;
                    return true;
                }
                PageOutcome::Stored => drop(start.get_or_insert(line)),
                PageOutcome::Queued if is_of_sitemaps && waits_to_be_read(&line) => {
                    unread += 1;
                    return true;
                }
                PageOutcome::Queued if is_of_sitemaps => listed += 1,
                PageOutcome::Queued => linked += 1,
                _ => return true,
            }
            if let Some(url) = url {
                *hosts.entry(url.origin().as_str().to_owned()).or_default() += 1;
            }
            true
        })?;
        let Some(start) = start else { return Ok(None) };
        let url = start.url.as_deref().and_then(|text| WebUrl::parse(text).ok());
        let facts = url.map(|url| records.facts(&url, 0)).transpose()?.flatten();
        let robots = facts.and_then(|facts| facts.host).and_then(|host| host.robots);
        let (requests, seconds) = (summary.counters.requests, summary.seconds);
        Ok(Some(Self { start, robots, sitemaps, linked, listed, hosts, is_cut: unread > 0, requests, seconds }))
    }

    /// URLs that are known by now.
    pub(super) fn known(&self) -> u64 {
        self.hosts.values().sum()
    }

    /// The pause that the robots.txt asks for.
    pub(super) fn crawl_delay(&self) -> Option<Duration> {
        self.robots.as_ref()?.crawl_delay_millis.map(Duration::from_millis)
    }
}

/// Whether a URL is a sitemap for which there was no time: it is held by no limit, and named by robots.txt, or as an index names its parts.
fn waits_to_be_read(line: &PageLine) -> bool {
    let is_list = |url: &str| [".xml", ".gz", ".txt"].iter().any(|end| url.ends_with(end));
    let is_part = || line.depth <= Some(1) && line.url.as_deref().is_some_and(is_list);
    line.reason.is_none() && (line.depth == Some(0) || is_part())
}
