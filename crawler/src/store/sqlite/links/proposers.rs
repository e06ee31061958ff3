//! What leads to a URL: pages that link to it, URLs that redirect to it, and sitemaps and feeds that list it.
//!
//! Invariants: of each of them the latest copy counts. An index says the same as a look at all of them, but for those that are not
//! listed: they are counted, and not looked at. So the count may be too high, though it hardly ever is.

use rusqlite::Connection;

use super::{
    Current, Fault, INDEXED, Index, LinksRead, PageLinks, Reader,
    redirects::{self, Redirecting},
};
use crate::{
    candidate::Hop,
    extract::Element,
    store::{ASSET, Proposer, Proposers},
    url::{Canonicalizer, Key, KeyRule, WebUrl},
};

/// A URL, and what is known of it.
pub(in crate::store::sqlite) struct SoughtUrl<'a> {
    /// As it would be fetched.
    pub(in crate::store::sqlite) url: &'a WebUrl,
    pub(in crate::store::sqlite) key: &'a Key,
    /// The leading half of its fingerprint.
    pub(in crate::store::sqlite) link: u64,
    pub(in crate::store::sqlite) rules: &'a Canonicalizer,
    /// Where and how it was found first.
    pub(in crate::store::sqlite) first: Option<(Option<u64>, Hop)>,
}

/// What leads there.
struct Lead {
    id: u64,
    url: String,
    hop: Hop,
    /// Whether that was within the scope when it was read; if not, why it was left out, where that is known.
    is_taken: bool,
    refused: Option<Box<str>>,
}

/// What was found by now.
struct Found<'a> {
    sought: &'a SoughtUrl<'a>,
    leads: Vec<(u64, Proposer)>,
    /// So many are listed.
    room: usize,
    /// That by which it was found first, if it still leads there.
    first: Option<Proposer>,
    rest: Proposers,
}

/// What leads to a URL; so many are listed.
pub(in crate::store::sqlite) fn proposers(
    connection: &Connection,
    current: Current,
    sought: &SoughtUrl<'_>,
    most: usize,
) -> Result<Proposers, Fault> {
    let mut reader = Reader { connection, current, read: LinksRead::default(), indexed: INDEXED };
    let mut found = Found { sought, leads: Vec::new(), room: most, first: None, rest: Proposers::default() };
    let index = Index::of(connection).or_else(|| reader.make_index());
    match index.and_then(|index| index.pages(sought.link)) {
        Some(mut ids) => {
            ids.dedup();
            reader.among(&ids, &mut found)?;
        }
        None => reader.in_all(&mut found)?,
    }
    found.listed(connection, most)
}

impl Reader<'_> {
    /// Looks at these alone. Where enough are found, the others are only counted.
    fn among(&self, ids: &[u64], found: &mut Found<'_>) -> Result<(), Fault> {
        for (place, id) in ids.iter().enumerate() {
            if found.leads.len() == found.room {
                return found.count(self, &ids[place..]);
            }
            found.take(self.lead(*id, found.sought)?);
        }
        Ok(())
    }

    fn in_all(&mut self, found: &mut Found<'_>) -> Result<(), Fault> {
        let (connection, current) = (self.connection, self.current);
        self.each_page("kept.labels", |page| {
            found.take(found.sought.on_page(page));
            Ok(true)
        })?;
        // They may come before all pages.
        found.room += found.leads.len();
        redirects::all(connection, current, |redirect| {
            found.take(found.sought.by_redirect(redirect));
            Ok(())
        })
    }

    /// How that row leads there, if it does.
    fn lead(&self, id: u64, sought: &SoughtUrl<'_>) -> Result<Option<Lead>, Fault> {
        if let Some(page) = self.page(id)? {
            return Ok(sought.on_page(page));
        }
        Ok(redirects::one(self.connection, self.current, id)?.and_then(|redirect| sought.by_redirect(redirect)))
    }
}

impl SoughtUrl<'_> {
    fn on_page(&self, page: PageLinks) -> Option<Lead> {
        let is_taken = page.links.contains(&self.link);
        let (label, refused) = if is_taken {
            (page.label(self.link, page.unpacked().as_ref()), None)
        } else {
            let link = page.refused().into_iter().find(|link| &*link.reason != ASSET && self.is_meant_by(&link.url))?;
            (Some(link.label), Some(link.reason))
        };
        let hop = match label.map(|label| label.element) {
            Some(Element::Sitemap | Element::SitemapIndex) => Hop::Sitemap,
            Some(Element::FeedEntry) => Hop::Feed,
            Some(element) if element.is_part() => Hop::Asset,
            _ => Hop::Link,
        };
        Some(Lead { id: page.id, url: page.url, hop, is_taken, refused })
    }

    fn by_redirect(&self, redirect: Redirecting) -> Option<Lead> {
        let Redirecting { id, url, target, is_taken } = redirect;
        let lead = Lead { id, url, hop: Hop::Redirect, is_taken, refused: None };
        (self.rules.key(&target) == *self.key).then_some(lead)
    }

    /// Whether a link that was left out leads there. Most of them need not be parsed to know that.
    fn is_meant_by(&self, link: &str) -> bool {
        let host = self.url.host();
        let is_near = self.rules.rules().has(KeyRule::Rewrite) || link.contains(host.trim_start_matches("www."));
        is_near && WebUrl::parse(link).is_ok_and(|link| self.rules.key(&link) == *self.key)
    }
}

impl Found<'_> {
    fn take(&mut self, lead: Option<Lead>) {
        let Some(Lead { id, url, hop, is_taken, refused }) = lead else { return };
        let proposer = Proposer { via: Some(url), hop };
        self.rest.count += 1;
        self.rest.is_taken |= is_taken;
        self.rest.refused = self.rest.refused.take().or(refused.map(Into::into));
        if self.sought.first == Some((Some(id), hop)) {
            self.first = Some(proposer);
        } else if self.leads.len() < self.room {
            self.leads.push((id, proposer));
        }
    }

    /// Counts those of an index that are not looked at, but for that by which it was found first.
    fn count(&mut self, reader: &Reader<'_>, ids: &[u64]) -> Result<(), Fault> {
        let first = self.sought.first.and_then(|(via, _)| via).filter(|via| ids.contains(via));
        self.rest.count += ids.len() as u64 - u64::from(first.is_some());
        self.take(first.map(|first| reader.lead(first, self.sought)).transpose()?.flatten());
        Ok(())
    }

    /// That by which it was found first, whether it still leads there or not, and the others in their order.
    fn listed(mut self, connection: &Connection, most: usize) -> Result<Proposers, Fault> {
        self.leads.sort_unstable_by_key(|(id, _)| *id);
        let first = match (self.first, self.sought.first) {
            (None, Some((via, hop))) => {
                self.rest.count += 1;
                let url = |via| connection.query_row("SELECT url FROM url WHERE id = ?", [via], |row| row.get(0));
                Some(Proposer { via: via.map(url).transpose()?, hop })
            }
            (first, _) => first,
        };
        let others = self.leads.into_iter().map(|(_, proposer)| proposer);
        Ok(Proposers { list: first.into_iter().chain(others).take(most).collect(), ..self.rest })
    }
}
