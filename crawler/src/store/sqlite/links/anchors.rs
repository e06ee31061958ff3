//! Links to names that no element of their page has.
//!
//! Invariant: memory holds the names of so many pages as [`MOST_NAMES`] allows; for more, the links are read again.
//!
//! Does not know: what a page's elements are named where it was not read for that, or is no page of the crawl and was not checked.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Result, Row, params};

use super::{
    super::{
        checked_ends::{CheckedEnds, NameEnd},
        error::Fault,
        moment::of_one_moment,
        resume,
    },
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
                    let Some(end) = pages.missing(&link, &keys, (&ends, is_first))? else { continue };
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
        let mut behind = behind;
        let mut names = 0;
        loop {
            let read = || {
                let mut rows = select.query(params![self.current.sequence, behind, PART])?;
                let mut any = false;
                while names <= MOST_NAMES
                    && found.pages.len() <= MOST_PAGES
                    && let Some(row) = rows.next()?
                {
                    any = true;
                    behind = row.get(0)?;
                    names += found.take(row)?;
                }
                Ok::<bool, rusqlite::Error>(any)
            };
            if !of_one_moment(self.connection, read)? {
                break;
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
    /// Takes a page of which names are known; how many.
    fn take(&mut self, row: &Row<'_>) -> Result<usize> {
        let labels: Option<Vec<u8>> = row.get(3)?;
        let Some(names) = labels.as_deref().and_then(Labels::read).and_then(|labels| labels.names) else {
            return Ok(0);
        };
        let count = names.hashes().len();
        self.places.insert(u64::from_be_bytes(row.get(1)?), self.pages.len());
        self.pages.push(NamedPage { status: row.get(2)?, names });
        Ok(count)
    }

    fn page(&self, url: &WebUrl, keys: &Keys) -> Option<&NamedPage> {
        self.places.get(&keys.short(url)).and_then(|place| self.pages.get(*place))
    }

    /// What is said of a link to a name that is not there. Of pages that were checked it is said once, with the first of these.
    fn missing(
        &self,
        link: &RefusedLink,
        keys: &Keys,
        (ends, is_first): (&CheckedEnds<'_>, bool),
    ) -> Result<Option<LinkEnd>, Fault> {
        let Some(((page, name), url)) = link.url.split_once('#').zip(WebUrl::parse(&link.url).ok()) else {
            return Ok(None);
        };
        let of_page = |page: &NamedPage| (!page.names.have(name)).then_some(page.status);
        let missing = match self.page(&url, keys) {
            Some(page) => of_page(page),
            None => match ends.end_of_name(page)? {
                NameEnd::Page { status, names } if is_first => (!names.have(name)).then_some(status),
                NameEnd::Elsewhere(end) => {
                    WebUrl::parse(&end).ok().and_then(|end| self.page(&end, keys)).and_then(of_page)
                }
                NameEnd::Page { .. } | NameEnd::Unknown => None,
            },
        };
        Ok(missing.map(|status| LinkEnd {
            url: Some(link.url.to_string()),
            status,
            outcome: Some("broken".to_owned()),
            reason: Some(ANCHOR.to_owned()),
            redirect: None,
        }))
    }
}
