//! Whether a sequence that is called complete is complete: each link that its servers sent has a row, or its page was sent again without
//! it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    crawl::{Request, SimulatedCrawl, What},
    web::split,
};
use crate::{
    engine::RunEnd,
    purpose::Purpose,
    store::{ReadSide, sqlite::Records},
};

/// Judges the last sequence, if it says so of itself.
pub(super) fn judge(crawl: &SimulatedCrawl, stored: &BTreeSet<&str>, found: &BTreeSet<&str>) -> Result<(), String> {
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let summary = records.summary().map_err(|_| "the summary cannot be read")?.ok_or("there is no summary")?;
    if !summary.is_proved() {
        return Ok(());
    }
    for (page, links) in sent(crawl).into_iter().filter(|(page, _)| stored.contains(page)) {
        let missing = links.iter().find(|link| belongs(crawl, link) && !found.contains(link.as_str()));
        if let Some(link) = missing {
            return Err(format!("complete, and {link} on {page} has no row"));
        }
    }
    Ok(())
}

/// The links of each page as it was sent last, as far as that says anything: an answer that is no page, or one whose links are not
/// to be followed, says nothing of links that were there before.
fn sent(crawl: &SimulatedCrawl) -> BTreeMap<&str, &[String]> {
    let is_heard = |request: &&Request| {
        let end = crawl.past[usize::try_from(request.run - 1).expect("few runs")].end;
        let was_dropped = end == Some(RunEnd::Loss) && was_asked_for_again(crawl, request);
        request.sequence == crawl.sequence && end.is_some() && request.is_heard && !was_dropped
    };
    let mut pages: BTreeMap<&str, &[String]> = BTreeMap::new();
    for request in crawl.requests.iter().filter(is_heard).filter(|request| request.what == What::Final) {
        let Some(sent) = &request.page else { continue };
        // A page that was found again may have links that nobody admits: it is fetched for those that were lost.
        let is_look = request.is_look() || request.purpose == Purpose::Rescue;
        if !is_look || sent.digest.is_none() || !sent.follows {
            continue;
        }
        let links = sent.links.as_slice();
        pages
            .entry(&request.url)
            .and_modify(|known| *known = if request.purpose == Purpose::Rescue { fewer(known, links) } else { links })
            .or_insert(links);
    }
    pages
}

/// Whether the URL of a request was fetched in a later run as if it had not been: there was no room for its links.
fn was_asked_for_again(crawl: &SimulatedCrawl, request: &Request) -> bool {
    let later = crawl.requests.iter().filter(|later| later.run > request.run && later.sequence == request.sequence);
    let is_first = |later: &Request| matches!(later.purpose, Purpose::Discover | Purpose::Retry);
    later.filter(|later| later.url == request.url).any(is_first)
}

/// What a page had that was fetched again for lost links: new ones on it are no links of the sequence.
fn fewer<'a>(known: &'a [String], now: &'a [String]) -> &'a [String] {
    if now.iter().all(|link| known.contains(link)) { now } else { known }
}

fn belongs(crawl: &SimulatedCrawl, link: &str) -> bool {
    let host = split(link).and_then(|(origin, _)| crawl.web.hosts.get(origin));
    host.is_some_and(|host| host.is_given) && !crawl.excluded.holds(link)
}
