//! Links to names that no element of their page has.
//!
//! Invariant: memory holds the names of so many pages as [`MOST_NAMES`] allows; for more, the links are read again.
//!
//! Does not know: what a page's elements are named where it was not read for that, or is no page of the crawl and was not checked.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Result, Row, params};

use super::{
    super::{checked_ends::CheckedEnds, error::Fault, moment::of_one_moment, resume},
    KEPT_PAGES, LinkTarget, Reader, Which, targets,
};
use crate::{
    extract::AnchorNames,
    store::{ANCHOR, Labels, LinkEnd, LinkLine, LinksRead, RefusedLink},
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// Names that are in memory at once, and those of one page more.
const MOST_NAMES: usize = 4 << 20;

/// Pages whose names are in memory at once.
const MOST_PAGES: usize = 1 << 16;

/// Redirects that are followed at once.
const PART: usize = 1 << 12;

/// A page and what its elements are named.
struct NamedPage {
    status: Option<u16>,
    names: AnchorNames,
}

/// Pages, and what redirects to them, by the leading halves of their fingerprints.
#[derive(Default)]
struct NamedPages {
    pages: Vec<NamedPage>,
    places: HashMap<u64, usize>,
    /// The last row that was looked at; `None` where there are no more.
    last: Option<u64>,
}

/// What makes fingerprints of URLs.
struct Keys {
    rules: Canonicalizer,
    seed: FingerprintSeed,
}

impl Keys {
    fn short(&self, url: &WebUrl) -> u64 {
        self.rules.fingerprint(url, self.seed).short()
    }
}

impl Reader<'_> {
    /// Shows the links to names that are not there, by their pages.
    pub(super) fn missing_anchors(&mut self, each: &mut impl FnMut(LinkLine) -> bool) -> Result<(), Fault> {
        let wanted = "SELECT json_extract(settings, '$.check.anchors') = 'on' FROM crawl";
        let wanted: Option<Option<bool>> = self.connection.query_row(wanted, [], |row| row.get(0)).optional()?;
        let keys = resume::key_rules(self.connection)?.zip(resume::fingerprint_seed(self.connection)?);
        let Some((rules, seed)) = keys.filter(|_| wanted.flatten().unwrap_or(false)) else { return Ok(()) };
        let keys = Keys { rules, seed };
        let ends = CheckedEnds::of(self.connection, self.current.sequence)?;
        let mut behind = Some(0);
        let mut is_first = true;
        while let Some(last) = behind {
            let pages = self.named_pages(last, &keys)?;
            self.read = LinksRead::default();
            let mut goes_on = true;
            self.each_page("kept.labels", |page| {
                for link in page.all_refused().into_iter().filter(|link| &*link.reason == ANCHOR) {
                    let Some(end) = pages.missing(&link, &keys, is_first.then_some(&ends))? else { continue };
                    goes_on &= each(LinkLine { from: page.url.clone(), to: end, label: Some(link.label) });
                    if !goes_on {
                        break;
                    }
                }
                Ok(goes_on)
            })?;
            behind = pages.last.filter(|_| goes_on);
            is_first = false;
        }
        Ok(())
    }

    /// The pages behind a row whose names are known, as many as may be in memory.
    fn named_pages(&self, behind: u64, keys: &Keys) -> Result<NamedPages, Fault> {
        let mut found = NamedPages::default();
        let query = format!(
            "SELECT url.id, substr(url.fingerprint, 1, 8), kept.status, kept.labels {KEPT_PAGES} AND {} AND url.id > ?2
             ORDER BY url.id LIMIT ?3",
            self.current.rows()
        );
        let mut select = self.connection.prepare(&query)?;
        let mut names = 0;
        let mut behind = behind;
        loop {
            let read = || {
                let rows = select.query_map(params![self.current.sequence, behind, PART], named)?;
                rows.collect::<Result<Vec<_>>>()
            };
            let rows = of_one_moment(self.connection, read)?;
            let Some((last, ..)) = rows.last() else { break };
            behind = *last;
            for (_, link, status, labels) in rows {
                let Some(page) = labels.as_deref().and_then(Labels::read).and_then(|labels| labels.names) else {
                    continue;
                };
                names += page.hashes().len();
                found.places.insert(link, found.pages.len());
                found.pages.push(NamedPage { status, names: page });
            }
            if names > MOST_NAMES || found.pages.len() > MOST_PAGES {
                found.last = Some(behind);
                break;
            }
        }
        self.add_redirects(&mut found, keys)?;
        Ok(found)
    }

    /// Adds what redirects to these pages.
    fn add_redirects(&self, found: &mut NamedPages, keys: &Keys) -> Result<(), Fault> {
        let mut last = Some(0);
        while let Some(behind) = last {
            let part: (Vec<LinkTarget>, _) =
                of_one_moment(self.connection, || targets::part(self.connection, Which::Redirects, behind, PART))?;
            for target in part.0 {
                let end = target.end.redirect.and_then(|end| WebUrl::parse(&end.url).ok());
                if let Some(place) = end.and_then(|end| found.places.get(&keys.short(&end)).copied()) {
                    found.places.insert(target.link, place);
                }
            }
            last = part.1;
        }
        Ok(())
    }
}

impl NamedPages {
    /// What is said of a link to a name that is not there. With `ends`, of other pages that were checked as well.
    fn missing(
        &self,
        link: &RefusedLink,
        keys: &Keys,
        ends: Option<&CheckedEnds<'_>>,
    ) -> Result<Option<LinkEnd>, Fault> {
        let Some(((page, name), url)) = link.url.split_once('#').zip(WebUrl::parse(&link.url).ok()) else {
            return Ok(None);
        };
        let known = self.places.get(&keys.short(&url)).and_then(|place| self.pages.get(*place));
        let (has_it, status) = match known {
            Some(page) => (page.names.have(name), page.status),
            None => match ends.map(|ends| ends.read_page(page)).transpose()?.flatten() {
                Some(read) => (read.names.have(name), read.status),
                None => return Ok(None),
            },
        };
        let end = || LinkEnd {
            url: Some(link.url.to_string()),
            status,
            outcome: Some("broken".to_owned()),
            reason: Some(ANCHOR.to_owned()),
            redirect: None,
        };
        Ok((!has_it).then(end))
    }
}

/// Number, leading half of the fingerprint, status and labels.
type PageRow = (u64, u64, Option<u16>, Option<Vec<u8>>);

fn named(row: &Row<'_>) -> Result<PageRow> {
    let link: [u8; 8] = row.get(1)?;
    Ok((row.get(0)?, u64::from_be_bytes(link), row.get(2)?, row.get(3)?))
}
