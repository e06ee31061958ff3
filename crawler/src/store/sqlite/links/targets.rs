//! What links lead to: rows of the URL table, and where their redirects end.
//!
//! Invariant: no more targets are in memory than were asked for at once. The URL table of a first sequence has no index on
//! fingerprints, so what links lead to is found by reading it once.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::super::{checked_ends::SECURE, moment::of_one_moment, resume};
use crate::{
    store::{Abandonment, LinkEnd, LinkFound, VisitOutcome},
    url::{Canonicalizer, Fingerprint, WebUrl},
};

/// Redirects in a row that are followed. A crawl follows fewer: what is longer has no end.
const MOST_REDIRECTS: usize = 32;

/// Which targets are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// What is broken or failed, and what redirects to that.
    Broken,
    /// What redirects.
    Redirects,
    /// What does for good: the link is to be changed.
    Moved,
    /// What redirects for now, or is there with https as well.
    Elsewhere,
}

/// Statuses of what has moved for good (RFC 9110 15.4).
const MOVED: [u16; 2] = [301, 308];

/// A row of the URL table.
#[derive(Debug)]
pub(super) struct LinkTarget {
    pub(super) id: u64,
    /// The leading half of its fingerprint.
    pub(super) link: u64,
    pub(super) end: LinkEnd,
    next: Option<Next>,
}

/// A URL of the crawl, whatever leads to it.
#[derive(Debug)]
pub(in crate::store::sqlite) struct NumberedUrl {
    pub(in crate::store::sqlite) end: LinkEnd,
    pub(in crate::store::sqlite) is_html: bool,
    /// The page that it names as the canonical one.
    pub(in crate::store::sqlite) canonical: Option<String>,
}

/// A redirect that is being followed.
struct Way {
    next: Next,
    /// What was passed, by fingerprint and URL: redirects may go round.
    passed: Vec<(u64, String)>,
}

/// Where a redirect leads.
#[derive(Debug, Clone)]
struct Next {
    address: String,
    /// The leading half of its fingerprint, if it is in the scope.
    link: Option<u64>,
}

/// The state of a URL.
const STAND: &str = "SELECT url.id, substr(url.fingerprint, 1, 8), url.url, visit.status,
        CASE url.state WHEN 'finished' THEN
            CASE visit.change WHEN 'gone' THEN 'gone' ELSE coalesce(visit.outcome, 'finished') END ELSE url.state END,
        coalesce(visit.reason, url.reason), iif(visit.outcome = 'redirected', visit.redirect, NULL),
        iif(visit.outcome = 'redirected', substr(visit.links, 1, 8), NULL), visit.html, visit.canonical
    FROM url LEFT JOIN visit ON visit.id = url.visit AND url.state = 'finished'";

impl Which {
    fn condition(self) -> &'static str {
        match self {
            Self::Broken => {
                "(visit.outcome IN ('broken', 'failed', 'redirected') OR (url.state, url.reason) = ('abandoned', 'no_name'))"
            }
            Self::Redirects => "visit.outcome = 'redirected'",
            Self::Moved => "visit.outcome = 'redirected' AND (visit.status = 301 OR visit.status = 308)",
            Self::Elsewhere => "visit.outcome = 'redirected' AND visit.status IS NOT 301 AND visit.status IS NOT 308",
        }
    }

    /// Whether a target is one of these, now that its redirects were followed.
    pub(super) fn takes(self, end: &LinkEnd) -> bool {
        let outcome = end.outcome.as_deref().unwrap_or_default();
        let redirects = outcome == VisitOutcome::Redirected.as_str();
        let is_secure = end.reason.as_deref() == Some(SECURE);
        let has_moved = end.status.is_some_and(|status| MOVED.contains(&status));
        match (self, &end.redirect) {
            (Self::Redirects, _) => redirects || is_secure,
            (Self::Moved, _) => redirects && has_moved,
            (Self::Elsewhere, _) => (redirects && !has_moved) || is_secure,
            (Self::Broken, None) => is_bad(outcome) || end.reason.as_deref() == Some(Abandonment::NoName.as_str()),
            (Self::Broken, Some(found)) => found.outcome.as_deref().is_some_and(is_bad),
        }
    }
}

fn is_bad(outcome: &str) -> bool {
    matches!(outcome, "broken" | "gone" | "failed" | "redirected")
}

/// The targets behind a row, so many at most, in the order of admission, their redirects followed; the last row, if there
/// may be more.
pub(super) fn part(
    connection: &Connection,
    which: Which,
    behind: u64,
    most: usize,
) -> Result<(Vec<LinkTarget>, Option<u64>)> {
    let query = format!("{STAND} WHERE url.id > ? AND {} ORDER BY url.id LIMIT ?", which.condition());
    let mut found =
        connection.prepare(&query)?.query_map(params![behind, most], target)?.collect::<Result<Vec<_>>>()?;
    follow(connection, &mut found)?;
    let last = found.last().map(|target| target.id).filter(|_| found.len() == most);
    Ok((found, last))
}

/// A URL that is asked for.
pub(super) struct AskedTarget {
    pub(super) text: String,
    pub(super) fingerprint: Fingerprint,
    pub(super) target: Option<LinkTarget>,
}

/// What is asked for; `None` before the crawl has begun.
pub(super) fn asked(connection: &Connection, url: &WebUrl) -> Result<Option<AskedTarget>> {
    of_one_moment(connection, || {
        let rules: Option<Canonicalizer> = resume::key_rules(connection)?;
        let Some((rules, seed)) = rules.zip(resume::fingerprint_seed(connection)?) else { return Ok(None) };
        let key = rules.key(&url.clone().without_credentials());
        let fingerprint = seed.fingerprint(&key);
        let target = one(connection, fingerprint)?;
        Ok(Some(AskedTarget { text: key.as_str().to_owned(), fingerprint, target }))
    })
}

/// The row of a fingerprint, its redirects followed.
pub(super) fn one(connection: &Connection, fingerprint: Fingerprint) -> Result<Option<LinkTarget>> {
    let query = format!("{STAND} WHERE url.fingerprint = ?");
    let found = connection.query_row(&query, [fingerprint.to_bytes()], target).optional()?;
    let mut found: Vec<_> = found.into_iter().collect();
    follow(connection, &mut found)?;
    Ok(found.pop())
}

/// The URL of this number, its redirects not followed.
pub(in crate::store::sqlite) fn numbered(connection: &Connection, id: u64) -> Result<Option<NumberedUrl>> {
    let mut select = connection.prepare_cached(&format!("{STAND} WHERE url.id = ?"))?;
    let read = |row: &Row<'_>| {
        let is_html = row.get::<_, Option<bool>>(8)?.unwrap_or(false);
        Ok(NumberedUrl { end: target(row)?.end, is_html, canonical: row.get(9)? })
    };
    select.query_row([id], read).optional()
}

/// What each of these links leads to; `None` where that has no row.
pub(super) fn of_links(connection: &Connection, links: &[u64]) -> Result<Vec<Option<LinkEnd>>> {
    let mut found = rows(connection, links)?.into_values().collect::<Vec<_>>();
    follow(connection, &mut found)?;
    let ends: HashMap<_, _> = found.into_iter().map(|target| (target.link, target.end)).collect();
    Ok(links.iter().map(|link| ends.get(link).cloned()).collect())
}

/// Follows the redirects of all of them, a step of each at a time.
fn follow(connection: &Connection, targets: &mut [LinkTarget]) -> Result<()> {
    // By their places.
    let mut ways: HashMap<usize, Way> = HashMap::new();
    for (place, target) in targets.iter_mut().enumerate() {
        let passed = vec![(target.link, target.end.url.clone().unwrap_or_default())];
        ways.extend(target.next.take().map(|next| (place, Way { next, passed })));
    }
    while !ways.is_empty() {
        let links: Vec<_> = ways.values().filter_map(|way| way.next.link).collect();
        let found = rows(connection, &links)?;
        let mut onward = HashMap::new();
        for (place, mut way) in ways {
            let to = way.next.link.and_then(|link| found.get(&link));
            match to.and_then(|to| to.next.clone().filter(|next| way.goes_on(next)).map(|next| (to, next))) {
                Some((to, next)) => {
                    way.passed.push((to.link, to.end.url.clone().unwrap_or_default()));
                    onward.insert(place, Way { next, ..way });
                }
                None => targets[place].end.redirect = Some(way.end(to)),
            }
        }
        ways = onward;
    }
    Ok(())
}

impl Way {
    /// Whether it comes to where it was not before.
    fn goes_on(&self, next: &Next) -> bool {
        self.place(next).is_none() && self.passed.len() < MOST_REDIRECTS
    }

    /// Where it was there before.
    fn place(&self, next: &Next) -> Option<usize> {
        let link = next.link?;
        self.passed.iter().position(|(passed, _)| *passed == link)
    }

    /// What is at its end.
    fn end(self, to: Option<&LinkTarget>) -> LinkFound {
        let circle = to.map(|to| self.circle(to)).unwrap_or_default();
        let address = self.next.address;
        match to.map(|to| &to.end) {
            Some(end) => {
                let url = end.url.clone().unwrap_or(address);
                LinkFound { url, status: end.status, outcome: end.outcome.clone(), circle }
            }
            None => LinkFound { url: address, ..LinkFound::default() },
        }
    }

    /// The URLs of the circle that is closed by what the last URL redirects to; none where it closes none.
    fn circle(&self, last: &LinkTarget) -> Vec<String> {
        let Some(first) = last.next.as_ref().and_then(|next| self.place(next)) else { return Vec::new() };
        let others = self.passed[first..].iter().filter(|(link, _)| *link != last.link);
        others.map(|(_, url)| url).chain(&last.end.url).cloned().collect()
    }
}

/// The rows that these links lead to, by link.
fn rows(connection: &Connection, links: &[u64]) -> Result<HashMap<u64, LinkTarget>> {
    let mut found: HashMap<u64, Option<LinkTarget>> = links.iter().map(|link| (*link, None)).collect();
    if found.is_empty() {
        return Ok(HashMap::new());
    }
    let mut all = connection.prepare("SELECT id, substr(fingerprint, 1, 8) FROM url")?;
    let mut one = connection.prepare_cached(&format!("{STAND} WHERE url.id = ?"))?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(place) = found.get_mut(&u64::from_be_bytes(row.get(1)?)) {
            *place = Some(one.query_row([row.get::<_, u64>(0)?], target)?);
        }
    }
    Ok(found.into_iter().filter_map(|(link, target)| Some((link, target?))).collect())
}

fn target(row: &Row<'_>) -> Result<LinkTarget> {
    let redirect: Option<String> = row.get(6)?;
    let leads: Option<Vec<u8>> = row.get(7)?;
    let link = leads.and_then(|link| link.try_into().ok()).map(u64::from_be_bytes);
    Ok(LinkTarget {
        id: row.get(0)?,
        link: u64::from_be_bytes(row.get(1)?),
        end: LinkEnd {
            url: row.get(2)?,
            status: row.get(3)?,
            outcome: row.get(4)?,
            reason: row.get(5)?,
            redirect: None,
        },
        next: redirect.map(|address| Next { address, link }),
    })
}
