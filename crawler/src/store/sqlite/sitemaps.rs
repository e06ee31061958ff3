//! `sitemap`: what the sitemaps of a crawl list, beside what its pages link to.
//!
//! Owns: which URLs count, and what is found of each.
//!
//! Invariants: memory grows neither with the links of the crawl nor with its sitemaps: what is listed, what is linked and the rows are
//! sorted in temporary files, and read side by side. What a sitemap says of an entry is the label that was kept with it.
//!
//! Does not know: how sitemaps are read, and how lines are shown.

use rusqlite::{Connection, Row};

use super::{
    current::Current,
    error::Fault,
    links::{self, KEPT_PAGES, NumberedUrl},
    moment::of_one_moment,
    resume,
    runs::{self, Sorted, Sorter},
    summary,
};
use crate::{
    extract::{Element, listed_lastmod},
    store::{Labels, LinkEnd, SitemapFinding, SitemapLine},
    time::Moment,
    url::{Canonicalizer, WebUrl},
};

/// Memory for one sort.
const MEMORY: usize = 4 << 20;

/// What is kept of a listed or a known URL beside its number: flags, and seconds of a date above them.
const IN_SITEMAP: u64 = 1;
const LINKED: u64 = 2;
const FLAGS: u32 = 2;

/// Shows what sitemaps list, and then the pages that they do not list, to `each` until it answers `false`; whether any sitemap was read.
pub(super) fn lines(connection: &Connection, mut each: impl FnMut(SitemapLine) -> bool) -> Result<bool, Fault> {
    let current = of_one_moment(connection, || {
        let sequence = summary::last_sequence(connection)?;
        sequence.map(|sequence| Current::of(connection, sequence)).transpose()
    })?;
    let Some(current) = current else { return Ok(false) };
    let rules = resume::key_rules(connection)?.unwrap_or_default();
    let comparison = Comparison { connection, current, rules };
    let Found { links, listed, refused, sitemaps } = comparison.read()?;
    let mut known = comparison.joined(links, listed)?;
    while let Some(number) = known.next()? {
        let Some(line) = comparison.line(number)? else { continue };
        if !each(line) {
            return Ok(sitemaps > 0);
        }
    }
    for line in refused {
        if !each(line) {
            break;
        }
    }
    Ok(sitemaps > 0)
}

struct Comparison<'c> {
    connection: &'c Connection,
    current: Current,
    rules: Canonicalizer,
}

/// What the latest copies lead to.
struct Found {
    /// Leading halves of fingerprints that pages and redirects lead to.
    links: Sorter<u64>,
    /// The same of what sitemaps list, with the seconds of its date below.
    listed: Sorter<u128>,
    /// What sitemaps list and the crawl leaves out, as far as memory may hold it.
    refused: Vec<SitemapLine>,
    sitemaps: u64,
}

/// Lines that are kept of what the crawl leaves out.
const MOST_REFUSED: usize = 100_000;

impl Comparison<'_> {
    fn sorter<N: runs::Number>(&self) -> Sorter<N> {
        let folders = runs::folders(self.connection);
        Sorter::new(&folders.iter().map(|folder| &**folder).collect::<Vec<_>>(), MEMORY)
    }

    fn read(&self) -> Result<Found, Fault> {
        let mut found = Found { links: self.sorter(), listed: self.sorter(), refused: Vec::new(), sitemaps: 0 };
        let query = format!(
            "SELECT url.id, kept.links, iif(kept.html, NULL, kept.labels) {KEPT_PAGES} AND {} AND url.id > ?2
             ORDER BY url.id LIMIT 500",
            self.current.rows()
        );
        let mut select = self.connection.prepare(&query)?;
        let mut behind = 0_u64;
        loop {
            let read = || {
                let rows = select.query_map([u64::from(self.current.sequence), behind], copy)?;
                Ok::<_, Fault>(rows.collect::<Result<Vec<_>, _>>()?)
            };
            let copies = of_one_moment(self.connection, read)?;
            let Some((last, ..)) = copies.last() else { return Ok(found) };
            behind = *last;
            for (_, links, labels) in copies {
                found.take(&links, labels.as_deref().and_then(Labels::read))?;
            }
        }
    }

    /// Whether the canonical page of a URL is another one, by their keys.
    fn is_another(&self, canonical: Option<&str>, url: Option<&str>) -> bool {
        let key = |text: &str| WebUrl::parse(text).ok().map(|url| self.rules.key(&url));
        canonical.and_then(key) != url.filter(|_| canonical.is_some()).and_then(key)
    }

    /// The rows that a sitemap lists, or that pages lead to: the number of the row above what is known of it.
    fn joined(&self, links: Sorter<u64>, listed: Sorter<u128>) -> Result<Sorted<u128>, Fault> {
        let (mut rows, mut known): (Sorter<u128>, _) = (self.sorter(), self.sorter());
        let query =
            format!("SELECT substr(fingerprint, 1, 8), id, hop = 'start' FROM url WHERE {}", self.current.rows());
        of_one_moment(self.connection, || {
            let mut select = self.connection.prepare(&query)?;
            let mut all = select.query([self.current.sequence])?;
            while let Some(row) = all.next()? {
                let link = u64::from_be_bytes(row.get(0)?);
                let (id, is_start): (u64, bool) = (row.get(1)?, row.get(2)?);
                rows.push(pair(link, id << 1 | u64::from(is_start)))?;
            }
            Ok::<_, Fault>(())
        })?;
        let mut rows = rows.sorted()?;
        let (mut links, mut listed) = (Cursor::of(links.sorted()?)?, Cursor::of(listed.sorted()?)?);
        while let Some(row) = rows.next()? {
            let (link, low) = parts(row);
            let is_linked = links.seek(link, |next| next)?.is_some() || low & 1 == 1;
            // Of several dates the latest is the last.
            let mut lastmod = None;
            while let Some(entry) = listed.seek(link, |next| parts(next).0)? {
                lastmod = Some(parts(entry).1);
                listed.step()?;
            }
            let flags = (u64::from(lastmod.is_some()) * IN_SITEMAP) | (u64::from(is_linked) * LINKED);
            if flags != 0 {
                known.push(pair(low >> 1, lastmod.unwrap_or(0) << FLAGS | flags))?;
            }
        }
        Ok(known.sorted()?)
    }

    /// A URL's line, if it has one: what no sitemap lists has one only if it is a page.
    fn line(&self, known: u128) -> Result<Option<SitemapLine>, Fault> {
        let (id, low) = parts(known);
        let (in_sitemap, linked) = (low & IN_SITEMAP != 0, low & LINKED != 0);
        let read = || links::numbered(self.connection, id);
        let Some(NumberedUrl { end, is_html, canonical }) = of_one_moment(self.connection, read)? else {
            return Ok(None);
        };
        let is_stored = end.outcome.as_deref() == Some("stored");
        let is_page = is_html && is_stored;
        let is_canonical = !is_stored || !self.is_another(canonical.as_deref(), end.url.as_deref());
        let finding = finding(&end, is_canonical, [in_sitemap, linked]);
        let Some(url) = end.url.filter(|_| in_sitemap || is_page) else { return Ok(None) };
        let lastmod = Some(low >> FLAGS).filter(|seconds| *seconds > 0);
        let lastmod = lastmod.map(|seconds| Moment::from_millis(seconds * 1_000));
        Ok(Some(SitemapLine { url, in_sitemap, linked, status: end.status, outcome: end.outcome, lastmod, finding }))
    }
}

/// What does not fit together of a URL. What names another page as the canonical one belongs in no sitemap.
fn finding(end: &LinkEnd, is_canonical: bool, [in_sitemap, linked]: [bool; 2]) -> Option<SitemapFinding> {
    match (end.outcome.as_deref(), end.reason.as_deref()) {
        _ if !in_sitemap => is_canonical.then_some(SitemapFinding::NotInSitemap),
        (Some("abandoned"), Some("robots")) => Some(SitemapFinding::Forbidden),
        (Some("broken" | "gone" | "failed"), _) | (Some("abandoned"), Some("no_name")) => Some(SitemapFinding::Broken),
        (Some("redirected"), _) => Some(SitemapFinding::Redirected),
        _ if !is_canonical => Some(SitemapFinding::NotCanonical),
        _ if !linked => Some(SitemapFinding::NotLinked),
        _ => None,
    }
}

impl Found {
    /// Takes a copy in; those that are no HTML come with their labels.
    fn take(&mut self, links: &[u64], labels: Option<Labels>) -> Result<(), Fault> {
        let lists = |element| matches!(element, Element::Sitemap | Element::SitemapIndex | Element::FeedEntry);
        let Some(labels) = labels.filter(|labels| {
            let first = labels.kept.iter().chain(labels.refused.iter().map(|link| &link.label)).next();
            first.is_some_and(|label| lists(label.element))
        }) else {
            return links.iter().try_for_each(|link| Ok(self.links.push(*link)?));
        };
        for (link, label) in links.iter().zip(&labels.kept) {
            self.sitemaps += u64::from(label.element != Element::FeedEntry);
            if label.element == Element::Sitemap {
                self.listed.push(pair(*link, listed_lastmod(&label.text).map_or(0, seconds)))?;
            }
        }
        for link in labels.refused.into_iter().filter(|link| link.label.element == Element::Sitemap) {
            self.sitemaps += 1;
            if self.refused.len() < MOST_REFUSED {
                let lastmod = listed_lastmod(&link.label.text);
                let (url, outcome) = (link.url.into_string(), Some("refused".to_owned()));
                let line =
                    SitemapLine { url, in_sitemap: true, linked: false, status: None, outcome, lastmod, finding: None };
                self.refused.push(line);
            }
        }
        Ok(())
    }
}

/// A sorted list that is read beside another.
struct Cursor<N> {
    rest: Sorted<N>,
    next: Option<N>,
}

impl<N: runs::Number> Cursor<N> {
    fn of(mut rest: Sorted<N>) -> Result<Self, Fault> {
        let next = rest.next()?;
        Ok(Self { rest, next })
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.next = self.rest.next()?;
        Ok(())
    }

    /// The next number with this key, past those with lesser ones.
    fn seek(&mut self, key: u64, key_of: impl Fn(N) -> u64) -> Result<Option<N>, Fault> {
        while self.next.is_some_and(|next| key_of(next) < key) {
            self.step()?;
        }
        Ok(self.next.filter(|next| key_of(*next) == key))
    }
}

fn copy(row: &Row<'_>) -> rusqlite::Result<(u64, Vec<u64>, Option<Vec<u8>>)> {
    let links = row.get_ref(1)?.as_blob()?.chunks_exact(8);
    let links = links.map(|link| u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes"))).collect();
    Ok((row.get(0)?, links, row.get(2)?))
}

fn seconds(moment: Moment) -> u64 {
    moment.millis() / 1_000
}

fn pair(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

#[expect(clippy::cast_possible_truncation, reason = "both parts are what they were made from")]
fn parts(pair: u128) -> (u64, u64) {
    ((pair >> 64) as u64, pair as u64)
}
