//! Whether links were judged by a scope that could still grow: a page must wait while a start's redirect is awaited.

use std::collections::BTreeSet;

use super::super::{
    crawl::{Request, SimulatedCrawl, What},
    faults::SECOND,
    web::{SimulatedPage, split},
};

/// For so long a start holds pages back, and so many of them.
const LONGEST: u64 = 9 * SECOND;
const MOST_PAGES: usize = 60;

/// Judges the last sequence.
pub(super) fn judge(crawl: &SimulatedCrawl, found: &BTreeSet<&str>) -> Result<(), String> {
    for start in &crawl.web.starts {
        let Some((origin, path)) = split(&start.url) else { continue };
        let page = crawl.web.hosts.get(origin).and_then(|host| host.pages.get(path));
        let Some(SimulatedPage::Redirect(target)) = page else { continue };
        let Some(answer) = answer(crawl, &start.url) else { continue };
        let began = crawl.past[usize::try_from(answer.run - 1).expect("few runs")].began;
        // What is found in pages that are due after the sequence is compared in the next one.
        let pages = || {
            let all = crawl.requests.iter().filter(|request| !request.purpose.is_due());
            all.filter(|request| is_page(crawl, request, answer.run))
        };
        let meanwhile = pages().filter(|page| page.run == answer.run && page.from < answer.to).count();
        if answer.to > began + LONGEST || meanwhile > MOST_PAGES {
            continue;
        }
        let (host, _) = split(target).expect("a URL of the web");
        for page in pages() {
            let links = page.page.iter().flat_map(|sent| &sent.links);
            let mut theirs = links.filter(|link| split(link).is_some_and(|(origin, _)| origin == host));
            let missing = theirs.find(|link| !found.contains(link.as_str()) && !crawl.excluded.holds(link));
            if let Some(link) = missing {
                return Err(format!(
                    "{} was fetched while {} was awaited, and its link {link} is not there",
                    page.url, start.url
                ));
            }
        }
    }
    Ok(())
}

/// The first request for a start, if it had its answer in a run that was not broken off.
fn answer<'a>(crawl: &'a SimulatedCrawl, start: &str) -> Option<&'a Request> {
    let mut all = crawl.requests.iter().filter(|request| request.url == start && request.sequence == crawl.sequence);
    all.next().filter(|first| first.what == What::Final && is_whole(crawl, first.run))
}

/// Whether a request brought a page of a run from this one on, whose links count.
fn is_page(crawl: &SimulatedCrawl, request: &Request, from: u64) -> bool {
    request.run >= from
        && request.sequence == crawl.sequence
        && request.purpose.is_counted()
        && request.what == What::Final
        && is_whole(crawl, request.run)
        && request.is_heard
        && stays(crawl, &request.url)
        && request.page.as_ref().is_some_and(|sent| sent.digest.is_some())
}

/// Whether a page has the same links whenever it is asked for.
fn stays(crawl: &SimulatedCrawl, url: &str) -> bool {
    let page = split(url).and_then(|(origin, path)| crawl.web.hosts.get(origin)?.pages.get(path));
    page.is_some_and(|page| page.links().is_some())
}

fn is_whole(crawl: &SimulatedCrawl, run: u64) -> bool {
    crawl.past[usize::try_from(run - 1).expect("few runs")].end.is_some()
}
