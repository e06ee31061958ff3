//! `links`: which pages link to what, and what the links say of themselves.
//!
//! Owns: which pages count (those of the last sequence, with their latest copies), and the order of the lines.
//!
//! Invariants: memory grows neither with the links of the crawl nor with its URLs. Targets are taken in parts, and each part is looked for
//! in the index, or in the kept links of all pages, one page at a time; what is found is sorted in a temporary file. No transaction is open
//! while a line is shown, so the lines of a running crawl may be of different moments.
//!
//! Does not know: how lines are shown.

mod anchors;
mod checked;
mod index;
mod orphans;
mod proposers;
mod redirects;
mod targets;

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Result, Row, Rows, params};

use self::{
    checked::CheckedLinks,
    index::{Builder, Index, LinkCounts},
    targets::{LinkTarget, Which},
};
use super::{
    current::Current,
    error::Fault,
    moment::of_one_moment,
    resume,
    runs::{self, Sorter},
    summary,
};
use crate::{
    store::{ANCHOR, ASSET, Labels, LinkEnd, LinkLabel, LinkLine, LinkQuery, LinksRead, RefusedLink},
    url::WebUrl,
};

/// Memory for one sort.
const MEMORY: usize = 4 << 20;

/// Targets that are looked for at once.
const PART: usize = 1 << 12;

/// Of a crawl with so many URLs an index is made by the first question that wants it: to look at all pages takes long.
const INDEXED: u64 = 5_000;

/// Bytes of pages with their links that are read at once, and one page more.
const BATCH: usize = 1 << 20;

/// What is left of a number for the page, beside the place of a target in its part.
const PAGE_BITS: u32 = 48;

/// The reason of links that left no scope.
const NOFOLLOW: &str = "nofollow";

pub(super) use proposers::{SoughtUrl, proposers};
pub(super) use targets::{NumberedUrl, numbered};

/// Reads the links of one crawl.
struct Reader<'c> {
    connection: &'c Connection,
    current: Current,
    read: LinksRead,
    /// Of a crawl with so many URLs an index is made.
    indexed: u64,
}

/// A page with its latest copy.
struct PageLinks {
    id: u64,
    url: String,
    /// Leading halves of fingerprints.
    links: Vec<u64>,
    labels: Option<Vec<u8>>,
    html: bool,
}

/// The pages that count, with their copies. What failed has the copy before it; what is gone, or redirected, has none.
pub(super) const KEPT_PAGES: &str = "FROM url JOIN visit ON visit.id = url.visit
         JOIN visit AS kept ON kept.id = coalesce(url.copy, visit.same, visit.id) AND kept.outcome = 'stored'
    WHERE visit.outcome IN ('stored', 'failed') AND url.state <> 'abandoned'";

/// Shows every link that was refused, of the pages of a sequence, to `each`. What was written before is committed.
pub(super) fn each_refused(
    connection: &Connection,
    current: Current,
    mut each: impl FnMut(RefusedLink) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut reader = Reader { connection, current, read: LinksRead::default(), indexed: INDEXED };
    reader.each_page("kept.labels", |page| {
        page.all_refused().into_iter().try_for_each(&mut each)?;
        Ok(true)
    })
}

/// Shows every link that is asked for to `each` until it answers `false`.
pub(super) fn links(
    connection: &Connection,
    query: &LinkQuery,
    mut each: impl FnMut(LinkLine) -> bool,
) -> Result<LinksRead, Fault> {
    let current = of_one_moment(connection, || {
        let sequence = summary::last_sequence(connection)?;
        sequence.map(|sequence| Current::of(connection, sequence)).transpose()
    })?;
    let Some(current) = current else { return Ok(LinksRead::default()) };
    let mut reader = Reader { connection, current, read: LinksRead::default(), indexed: INDEXED };
    match query {
        LinkQuery::To(url) => reader.to(url, &mut each)?,
        LinkQuery::From(url) => reader.from(url, &mut each)?,
        LinkQuery::Broken => {
            if reader.of_all_targets(Which::Broken, &mut each)? {
                reader.missing_anchors(&mut each)?;
            }
        }
        // Those that are to be changed come first.
        LinkQuery::Redirects => {
            if reader.of_all_targets(Which::Moved, &mut each)? {
                reader.read = LinksRead::default();
                reader.of_all_targets(Which::Elsewhere, &mut each)?;
            }
        }
        LinkQuery::External => reader.external(&mut each)?,
        LinkQuery::Orphans => reader.orphans(&mut each)?,
    }
    Ok(reader.read)
}

impl Reader<'_> {
    /// Shows the links to each target of the crawl, then those to each that was checked; whether more can be shown.
    fn of_all_targets(&mut self, which: Which, each: &mut impl FnMut(LinkLine) -> bool) -> Result<bool, Fault> {
        Ok(self.of_targets(which, each)? && self.of_checked(which, each)?)
    }

    /// Shows the links to each target, in the order of their admission, pages in that of theirs; whether more can be shown.
    fn of_targets(&mut self, which: Which, each: &mut impl FnMut(LinkLine) -> bool) -> Result<bool, Fault> {
        let index = Index::of(self.connection);
        let mut last = 0;
        loop {
            let (mut part, end) = of_one_moment(self.connection, || targets::part(self.connection, which, last, PART))?;
            part.retain(|target| which.takes(&target.end));
            if !part.is_empty() && !self.of_part(&part, index.as_ref(), each)? {
                return Ok(false);
            }
            match end {
                Some(end) => last = end,
                None => return Ok(true),
            }
        }
    }

    /// Whether more can be shown.
    fn of_part(
        &mut self,
        part: &[LinkTarget],
        index: Option<&Index>,
        each: &mut impl FnMut(LinkLine) -> bool,
    ) -> Result<bool, Fault> {
        let found = index.and_then(|index| self.looked_up(part, index).transpose());
        let mut found = found.unwrap_or_else(|| self.looked_for(part))?.sorted()?;
        while let Some(pair) = found.next()? {
            let target = usize::try_from(pair >> PAGE_BITS).ok().and_then(|place| part.get(place));
            let page = self.page(pair & ((1 << PAGE_BITS) - 1))?;
            let Some((target, page)) = target.zip(page).filter(|(target, page)| page.links.contains(&target.link))
            else {
                continue;
            };
            let label = page.label(target.link, page.unpacked().as_ref());
            if !each(LinkLine { from: page.url, to: target.end.clone(), label }) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Shows the links to what was checked, by their pages; whether more can be shown.
    fn of_checked(&mut self, which: Which, each: &mut impl FnMut(LinkLine) -> bool) -> Result<bool, Fault> {
        let checked = CheckedLinks::of(self.connection, self.current)?;
        if !checked.any_to_show()? {
            return Ok(true);
        }
        self.read = LinksRead::default();
        let mut goes_on = true;
        self.each_page("kept.labels", |page: PageLinks| {
            for link in page.refused() {
                let end = checked.end(&link.url)?;
                if end.is_some_and(|end| which.takes(&end)) && !each(checked.line(&page.url, link)?) {
                    goes_on = false;
                    break;
                }
            }
            Ok(goes_on)
        })?;
        if !goes_on {
            return Ok(false);
        }
        checked.each_of_sheets(|line| !which.takes(&line.to) || each(line))
    }

    /// The pages that may link to each target, by its place; `None` where the index cannot be read.
    fn looked_up(&self, part: &[LinkTarget], index: &Index) -> Result<Option<Sorter>, Fault> {
        let mut found = self.sorter();
        for (place, target) in (0..).zip(part) {
            let Some(pages) = index.pages(target.link) else { return Ok(None) };
            pages.into_iter().try_for_each(|page| found.push(pair(place, page)))?;
        }
        Ok(Some(found))
    }

    /// The pages that link to each target, by its place.
    fn looked_for(&mut self, part: &[LinkTarget]) -> Result<Sorter, Fault> {
        let places: HashMap<u64, u64> = (0..).zip(part).map(|(place, target)| (target.link, place)).collect();
        let mut found = self.sorter();
        self.each_page("x''", |page| {
            for place in page.links.iter().filter_map(|link| places.get(link)) {
                found.push(pair(*place, page.id))?;
            }
            Ok(true)
        })?;
        Ok(found)
    }

    fn sorter(&self) -> Sorter {
        let folders = runs::folders(self.connection);
        Sorter::new(&folders.iter().map(|folder| &**folder).collect::<Vec<_>>(), MEMORY)
    }

    /// Shows the links to a URL, whether that is in the scope or not.
    fn to(&mut self, url: &WebUrl, each: &mut impl FnMut(LinkLine) -> bool) -> Result<(), Fault> {
        let Some(asked) = targets::asked(self.connection, url)? else { return Ok(()) };
        let checked = CheckedLinks::of(self.connection, self.current)?;
        let end = match asked.target.as_ref().map(|target| target.end.clone()) {
            None => checked.end(url.as_str())?,
            end => end,
        };
        let mut is_known = end.is_some();
        let lost = LinkEnd { url: Some(asked.text.clone()), outcome: Some("lost".to_owned()), ..LinkEnd::default() };
        self.each_page_with(asked.fingerprint.short(), |page| {
            let (to, label) = if page.links.contains(&asked.fingerprint.short()) {
                (
                    end.clone().unwrap_or_else(|| lost.clone()),
                    page.label(asked.fingerprint.short(), page.unpacked().as_ref()),
                )
            } else {
                let Some(link) = page.refused().into_iter().find(|link| *link.url == *asked.text) else {
                    return Ok(true);
                };
                let shown = checked.line(&page.url, link)?;
                (end.clone().unwrap_or(shown.to), shown.label)
            };
            is_known = true;
            Ok(each(LinkLine { from: page.url, to, label }))
        })?;
        self.read.is_known = is_known;
        Ok(())
    }

    /// Shows the links of a page: those within the scope in their order, then the others.
    fn from(&mut self, url: &WebUrl, each: &mut impl FnMut(LinkLine) -> bool) -> Result<(), Fault> {
        let Some(target) = targets::asked(self.connection, url)?.and_then(|asked| asked.target) else { return Ok(()) };
        self.read.is_known = true;
        let Some(page) = self.page(target.id)? else { return Ok(()) };
        self.count(&page);
        let labels = page.unpacked();
        for links in page.links.chunks(PART) {
            let ends = of_one_moment(self.connection, || targets::of_links(self.connection, links))?;
            for (link, end) in links.iter().zip(ends) {
                let lost = || LinkEnd { outcome: Some("lost".to_owned()), ..LinkEnd::default() };
                let to = end.unwrap_or_else(lost);
                if !each(LinkLine { from: page.url.clone(), to, label: page.label(*link, labels.as_ref()) }) {
                    return Ok(());
                }
            }
        }
        let checked = CheckedLinks::of(self.connection, self.current)?;
        for link in page.refused() {
            if !each(checked.line(&page.url, link)?) {
                break;
            }
        }
        Ok(())
    }

    /// Shows the links that left the scope, by their pages.
    fn external(&mut self, each: &mut impl FnMut(LinkLine) -> bool) -> Result<(), Fault> {
        self.read.is_known = true;
        let checked = CheckedLinks::of(self.connection, self.current)?;
        self.each_page("kept.labels", |page| {
            for link in page.refused().into_iter().filter(|link| ![NOFOLLOW, ASSET].contains(&&*link.reason)) {
                if !each(checked.line(&page.url, link)?) {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Shows every page that may have a link to `each` until it answers `false`.
    fn each_page_with(
        &mut self,
        link: u64,
        mut each: impl FnMut(PageLinks) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let index = Index::of(self.connection).or_else(|| self.make_index());
        let Some((counts, pages)) = index.and_then(|index| Some((index.counts, index.pages(link)?))) else {
            return self.each_page("kept.labels", each);
        };
        (self.read.pages, self.read.unlabelled) = (counts.pages, counts.unlabelled);
        for id in pages {
            if let Some(page) = self.page(id)?
                && !each(page)?
            {
                break;
            }
        }
        Ok(())
    }

    /// An index of a crawl that is large, and does not run. Where it cannot be made, the pages are looked at.
    fn make_index(&mut self) -> Option<Index> {
        let query = "SELECT coalesce(max(url.id), 0) >= ? AND (SELECT end FROM sequence ORDER BY n DESC LIMIT 1) IS NOT NULL FROM url";
        let read = || self.connection.query_row(query, [self.indexed], |row| row.get(0));
        let wanted = of_one_moment(self.connection, read);
        if !wanted.unwrap_or(false) {
            return None;
        }
        let made = of_one_moment(self.connection, || self.write_index());
        self.read = LinksRead::default();
        made.inspect_err(|fault| tracing::debug!(%fault, "no index of the links can be made")).ok()?;
        Index::of(self.connection)
    }

    fn write_index(&mut self) -> Result<(), Fault> {
        let Some(mut builder) = Builder::new(self.connection) else { return Ok(()) };
        let Some((rules, seed)) = resume::key_rules(self.connection)?.zip(resume::fingerprint_seed(self.connection)?)
        else {
            return Ok(());
        };
        self.each_page("kept.labels", |page| {
            let refused = page.refused();
            let outside = refused.iter().filter_map(|link| WebUrl::parse(&link.url).ok());
            let outside = outside.map(|url| rules.fingerprint(&url, seed).short());
            page.links.iter().copied().chain(outside).try_for_each(|link| builder.add(page.id, link))?;
            Ok(true)
        })?;
        redirects::all(self.connection, self.current, |redirect| {
            let link = rules.fingerprint(&redirect.target, seed).short();
            Ok::<_, Fault>(builder.add(redirect.id, link)?)
        })?;
        builder.finish(LinkCounts { pages: self.read.pages, unlabelled: self.read.unlabelled })
    }

    /// Shows every page to `each` until it answers `false`, with its labels if that column is asked for.
    fn each_page(&mut self, labels: &str, mut each: impl FnMut(PageLinks) -> Result<bool, Fault>) -> Result<(), Fault> {
        // Whether there are labels is asked without reading them.
        let query = format!(
            "SELECT url.id, url.url, kept.links, iif(kept.labels IS NULL, NULL, {labels}), kept.html {KEPT_PAGES} AND {} AND url.id > ?2
             ORDER BY url.id",
            self.current.rows()
        );
        let mut select = self.connection.prepare(&query)?;
        let mut behind = 0;
        loop {
            let read = || some_pages(select.query([u64::from(self.current.sequence), behind])?);
            let pages = of_one_moment(self.connection, read)?;
            let Some(last) = pages.last() else { return Ok(()) };
            behind = last.id;
            for page in pages {
                self.count(&page);
                if !each(page)? {
                    return Ok(());
                }
            }
        }
    }

    fn count(&mut self, page: &PageLinks) {
        self.read.pages += 1;
        self.read.unlabelled += u64::from(page.html && page.labels.is_none());
    }

    /// A page that counts.
    fn page(&self, id: u64) -> Result<Option<PageLinks>, Fault> {
        let query = format!(
            "SELECT url.id, url.url, kept.links, kept.labels, kept.html {KEPT_PAGES} AND {} AND url.id = ?2",
            self.current.rows()
        );
        of_one_moment(self.connection, || {
            let mut select: CachedStatement<'_> = self.connection.prepare_cached(&query)?;
            Ok(select.query_row(params![self.current.sequence, id], page).optional()?)
        })
    }
}

impl PageLinks {
    fn unpacked(&self) -> Option<Labels> {
        self.labels.as_deref().and_then(Labels::read)
    }

    /// What a kept link says of itself.
    fn label(&self, link: u64, labels: Option<&Labels>) -> Option<LinkLabel> {
        let place = self.links.iter().position(|kept| *kept == link)?;
        labels?.kept.get(place).cloned()
    }

    /// The links that were refused, as far as they are kept.
    fn refused(&self) -> Vec<RefusedLink> {
        let mut refused = self.all_refused();
        refused.retain(|link| &*link.reason != ANCHOR);
        refused
    }

    /// The same with those that lead to names.
    fn all_refused(&self) -> Vec<RefusedLink> {
        let packed = self.labels.as_deref().filter(|labels| Labels::may_have_refused(labels));
        packed.and_then(Labels::read).map(|labels| labels.refused).unwrap_or_default()
    }
}

/// The first of these pages, as many as may be in memory; none where there are none.
fn some_pages(mut rows: Rows<'_>) -> Result<Vec<PageLinks>> {
    let (mut pages, mut bytes) = (Vec::new(), 0);
    while bytes < BATCH
        && let Some(row) = rows.next()?
    {
        let page = page(row)?;
        bytes += size_of::<PageLinks>() + page.url.len() + page.links.len() * size_of::<u64>();
        bytes += page.labels.as_ref().map_or(0, Vec::len);
        pages.push(page);
    }
    Ok(pages)
}

fn page(row: &Row<'_>) -> Result<PageLinks> {
    let links = row.get_ref(2)?.as_blob()?.chunks_exact(8);
    let links = links.map(|link| u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes"))).collect();
    Ok(PageLinks { id: row.get(0)?, url: row.get(1)?, links, labels: row.get(3)?, html: row.get(4)? })
}

/// A target's place with a page, as one number.
fn pair(place: u64, page: u64) -> u64 {
    place << PAGE_BITS | (page & ((1 << PAGE_BITS) - 1))
}

#[cfg(test)]
mod tests;
