//! Links to what is none of the crawl and was checked.

use std::{cell::RefCell, collections::HashMap};

use rusqlite::Connection;

use super::{
    super::{current::Current, error::Fault, moment::of_one_moment},
    targets,
};
use crate::{
    extract::Element,
    store::{
        LinkEnd, LinkLabel, LinkLine, RefusedLink,
        sqlite::checked_ends::{CheckedEnds, SheetLine},
    },
    url::WebUrl,
};

/// URLs whose answers are remembered: those in the frame of a site are on each of its pages.
const REMEMBERED: usize = 16_384;

/// Knows where links lead that were refused.
pub(super) struct CheckedLinks<'c> {
    connection: &'c Connection,
    ends: CheckedEnds<'c>,
    known: RefCell<HashMap<Box<str>, Option<LinkEnd>>>,
}

impl<'c> CheckedLinks<'c> {
    /// Those of a sequence.
    pub(super) fn of(connection: &'c Connection, current: Current) -> Result<Self, Fault> {
        Ok(Self { connection, ends: CheckedEnds::of(connection, current.sequence)?, known: RefCell::default() })
    }

    /// Whether any URL redirects, or leads nowhere.
    pub(super) fn any_to_show(&self) -> Result<bool, Fault> {
        Ok(self.ends.any_to_show()?)
    }

    /// What came of a URL, if it was checked.
    pub(super) fn end(&self, url: &str) -> Result<Option<LinkEnd>, Fault> {
        if let Some(known) = self.known.borrow().get(url) {
            return Ok(known.clone());
        }
        let of_crawl = |url: &str| {
            let Ok(url) = WebUrl::parse(url) else { return Ok(None) };
            Ok(targets::asked(self.connection, &url)?.and_then(|asked| asked.target).map(|target| target.end))
        };
        let end = self.ends.end(url, of_crawl)?;
        let mut known = self.known.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(url.into(), end.clone());
        Ok(end)
    }

    /// Shows what style sheets load to `each` until it answers `false`; whether more can be shown.
    pub(super) fn each_of_sheets(&self, mut each: impl FnMut(LinkLine) -> bool) -> Result<bool, Fault> {
        let mut last = None;
        loop {
            let parts = of_one_moment(self.connection, || self.ends.sheet_parts(last.as_ref(), REMEMBERED))?;
            for SheetLine { sheet, part, is_sheet, .. } in &parts {
                let Some(to) = self.end(part)? else { continue };
                let element = if *is_sheet { Element::ImportedSheet } else { Element::Style };
                let label = LinkLabel { element, rel: None, text: "".into(), language: None };
                if !each(LinkLine { from: sheet.clone(), to, label: Some(label) }) {
                    return Ok(false);
                }
            }
            match parts.into_iter().next_back() {
                Some(part) => last = Some(part),
                None => return Ok(true),
            }
        }
    }

    /// A link that was refused.
    pub(super) fn line(&self, page: &str, link: RefusedLink) -> Result<LinkLine, Fault> {
        let outside =
            || LinkEnd { url: Some(link.url.to_string()), reason: Some(link.reason.to_string()), ..LinkEnd::default() };
        let to = self.end(&link.url)?.unwrap_or_else(outside);
        Ok(LinkLine { from: page.to_owned(), to, label: Some(link.label) })
    }
}
