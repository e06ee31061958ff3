//! Whether depth is the least number of links from a start, over all pages that were read.

use std::collections::{BTreeMap, VecDeque};

use rusqlite::Connection;

use super::super::{
    crawl::{Request, SimulatedCrawl, What},
    web::{SimulatedPage, split},
};
use crate::config::SweepChoice;

/// A URL's row.
struct Row {
    depth: u32,
    is_start: bool,
    /// Whether its page was read: an answer that a killed run had forgotten may have been followed by none.
    is_read: bool,
    is_queued: bool,
}

/// Judges the last sequence, where it has a depth limit and all links were compared.
pub(super) fn judge(crawl: &SimulatedCrawl, connection: &Connection) -> Result<(), String> {
    let settings = &crawl.settings;
    if settings.depth_limit().is_none() {
        return Ok(());
    }
    let rescues = crawl.settings.cache.sweep == SweepChoice::Rescue;
    // What a page has that is another each time is not known here.
    let turns = |page: &SimulatedPage| {
        matches!(page, SimulatedPage::Grows(..) | SimulatedPage::Once(..) | SimulatedPage::RedirectUntil(..))
    };
    let knows = !crawl.web.hosts.values().flat_map(|host| host.pages.values()).any(turns);
    if !rescues || !knows || !is_swept(connection, crawl.sequence) {
        return Ok(());
    }
    let rows = rows(connection, crawl.sequence).map_err(|error| error.to_string())?;
    // A link to a host that joined the scope later was refused where it was read too early, and one to what was left out later,
    // where it was read too late.
    let [least, most_links] = [Doubtful::Count, Doubtful::AreRefused].map(|links| distances(crawl, &rows, links));
    // Links to what was left out later were refused from then on.
    for (url, row) in rows.iter().filter(|(url, _)| !crawl.excluded.holds(url)) {
        let (Some(least), Some(far)) = (least.get(url.as_str()), most_links.get(url.as_str())) else { continue };
        // What was known before may have been nearer then, and what was found through a page that was removed.
        let was_nearer = row.depth < *least && (!crawl.known.is_empty() || crawl.excluded.is_removed());
        if !(*least..=*far).contains(&row.depth) && !was_nearer {
            return Err(format!("{url} is {least} to {far} links from a start, and is said to be {}", row.depth));
        }
        let most = settings.scope.sections.depth_of(url, settings.budget.max_depth).unwrap_or(u32::MAX);
        let has_page_budget = settings.scope.sections.of(url).is_some_and(|(_, section)| section.max_pages.is_some());
        let is_held = settings.budget.max_pages_per_host.is_some() || has_page_budget;
        if row.is_queued && *far <= most && !is_held {
            return Err(format!("{url} is {far} links from a start, within {most}, and was left"));
        }
    }
    Ok(())
}

/// What links are taken for that may have been refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doubtful {
    Count,
    AreRefused,
}

/// How far each URL is from a start, by what the servers have sent.
fn distances<'a>(
    crawl: &'a SimulatedCrawl,
    rows: &'a BTreeMap<String, Row>,
    doubtful: Doubtful,
) -> BTreeMap<&'a str, u32> {
    // To what a page leads, and whether that is one link more.
    let mut leads: BTreeMap<&str, Vec<(&str, u32)>> = BTreeMap::new();
    for request in crawl.requests.iter().filter(|request| request.sequence == crawl.sequence && request.is_heard) {
        let is_read = rows.get(&request.url).is_some_and(|row| row.is_read);
        if request.what != What::Final || !request.is_look() || !is_read {
            continue;
        }
        let links = request.page.iter().filter(|page| page.follows).flat_map(|page| &page.links);
        let to = links.map(|link| (link.as_str(), 1)).chain(request.location.as_deref().map(|to| (to, 0)));
        let counts = |to: &(&str, u32)| doubtful == Doubtful::Count || !may_be_refused(crawl, request, to.0);
        leads.insert(&request.url, to.filter(counts).collect());
    }
    let mut open: VecDeque<_> = rows.iter().filter(|(_, row)| row.is_start).map(|(url, _)| (url.as_str(), 0)).collect();
    let mut least = BTreeMap::new();
    while let Some((url, depth)) = open.pop_front() {
        if least.get(url).is_some_and(|least| *least <= depth) || !rows.contains_key(url) {
            continue;
        }
        least.insert(url, depth);
        for (to, more) in leads.get(url).into_iter().flatten() {
            // The least first.
            if *more == 0 { open.push_front((to, depth)) } else { open.push_back((to, depth + more)) }
        }
    }
    least
}

/// Whether what a page leads to may have been refused when it was read.
fn may_be_refused(crawl: &SimulatedCrawl, request: &Request, to: &str) -> bool {
    let host = split(to).and_then(|(origin, _)| crawl.web.hosts.get(origin));
    let is_given = to.starts_with(&request.origin) || host.is_some_and(|host| host.is_given);
    // A start that leads elsewhere takes the scope with it.
    let widens = request.location.is_some() && crawl.web.is_start(&request.url);
    !(is_given || widens) || crawl.left_out_in(request.run).holds(to)
}

fn rows(connection: &Connection, sequence: u32) -> rusqlite::Result<BTreeMap<String, Row>> {
    let query =
        "SELECT coalesce(key, url.url), depth, hop = 'start' OR (hop = 'sitemap' AND via IS NULL), state = 'queued', coalesce(outcome IN ('stored', 'redirected'), 0)
                 FROM url LEFT JOIN visit ON visit.id = url.visit WHERE admitted_in = ?";
    let mut select = connection.prepare(query)?;
    let row = |row: &rusqlite::Row<'_>| {
        let [is_start, is_queued, is_read] = [row.get(2)?, row.get(3)?, row.get(4)?];
        Ok((row.get(0)?, Row { depth: row.get(1)?, is_start, is_read, is_queued }))
    };
    select.query_map([sequence], row)?.collect()
}

fn is_swept(connection: &Connection, sequence: u32) -> bool {
    let query = "SELECT coalesce(swept = 'rescue', 0) FROM sequence WHERE n = ?";
    connection.query_row(query, [sequence], |row| row.get(0)).unwrap()
}
