//! [`Passed`]: candidates by their fingerprints, with their URLs on request.

use std::sync::Arc;

use crate::{
    extract::{RawLinks, listed_lastmod, listed_priority},
    order::ListedPriority,
    time::Moment,
    url::{Canonicalizer, Fingerprint, Key, WebUrl},
};

/// A candidate that passed. That is all there is of most: the URL cache has seen them.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Proposal {
    pub(in crate::engine) fingerprint: Fingerprint,
    /// Which link of its page it is.
    pub(super) number: u32,
    /// It is only something that the page shows or loads.
    pub(in crate::engine) is_asset: bool,
}

/// A candidate with its texts: what a new one needs.
#[derive(Debug)]
pub(in crate::engine) struct Candidate {
    pub(in crate::engine) url: WebUrl,
    pub(in crate::engine) key: Key,
    pub(in crate::engine) fingerprint: Fingerprint,
    /// What the sitemap says of it that lists it.
    pub(in crate::engine) listed: Option<ListedPriority>,
    /// When it was modified last, as that sitemap says.
    pub(in crate::engine) modified: Option<Moment>,
}

/// Candidates that were found in one place.
#[derive(Debug, Default)]
pub(in crate::engine) struct Passed {
    proposals: Vec<Proposal>,
    source: Source,
    rules: Canonicalizer,
}

/// Where their URLs are.
#[derive(Debug, Clone, Default)]
enum Source {
    #[default]
    Nowhere,
    Urls(Arc<[WebUrl]>),
    Page(Arc<RawLinks>),
}

impl Passed {
    /// Links of a page.
    pub(super) fn of_page(proposals: Vec<Proposal>, links: RawLinks, rules: Canonicalizer) -> Self {
        let source = if proposals.is_empty() { Source::Nowhere } else { Source::Page(Arc::new(links)) };
        Self { proposals, source, rules }
    }

    /// URLs that no page links to.
    pub(super) fn of_urls(urls: Vec<(Fingerprint, WebUrl)>, rules: Canonicalizer) -> Self {
        let proposal = |(number, (fingerprint, _)): (u32, &(Fingerprint, WebUrl))| Proposal {
            fingerprint: *fingerprint,
            number,
            is_asset: false,
        };
        let proposals = (0..).zip(&urls).map(proposal).collect();
        Self { proposals, source: Source::Urls(urls.into_iter().map(|(_, url)| url).collect()), rules }
    }

    /// How many there are.
    pub(in crate::engine) fn len(&self) -> usize {
        self.proposals.len()
    }

    /// Whether there are none.
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.proposals.is_empty()
    }

    /// Each of them, in page order.
    pub(in crate::engine) fn iter(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.iter()
    }

    /// What is kept of them with a visit: the leading halves of their fingerprints.
    pub(in crate::engine) fn kept(&self) -> Vec<u64> {
        self.proposals.iter().map(|proposal| proposal.fingerprint.short()).collect()
    }

    /// Drops those that are not wanted.
    pub(in crate::engine) fn retain(&mut self, wanted: impl FnMut(&Proposal) -> bool) {
        self.proposals.retain(wanted);
    }

    /// These in parts of so many, in page order.
    pub(super) fn in_parts(self, size: usize) -> impl Iterator<Item = Self> {
        let Self { proposals, source, rules } = self;
        let mut rest = proposals.into_iter();
        std::iter::from_fn(move || {
            let proposals: Vec<_> = rest.by_ref().take(size).collect();
            (!proposals.is_empty()).then(|| Self { proposals, source: source.clone(), rules: rules.clone() })
        })
    }

    /// One of them with its texts; none if it is another page's.
    pub(in crate::engine) fn candidate(&self, proposal: &Proposal) -> Option<Candidate> {
        let url = match &self.source {
            Source::Nowhere => return None,
            Source::Urls(urls) => urls.get(proposal.number as usize)?.clone(),
            Source::Page(links) => links.url(proposal.number)?.without_credentials(),
        };
        let (listed, modified) = (self.listed(proposal), self.modified(proposal));
        Some(Candidate { key: self.rules.key(&url), url, fingerprint: proposal.fingerprint, listed, modified })
    }

    /// How a sitemap rates one of them; none where no sitemap lists it.
    pub(in crate::engine) fn listed(&self, proposal: &Proposal) -> Option<ListedPriority> {
        ListedPriority::new(listed_priority(self.entry(proposal)?)?)
    }

    /// When one of them was modified last, as a sitemap says.
    pub(in crate::engine) fn modified(&self, proposal: &Proposal) -> Option<Moment> {
        listed_lastmod(self.entry(proposal)?)
    }

    /// All that a sitemap or a feed says of one of them.
    fn entry(&self, proposal: &Proposal) -> Option<&str> {
        let Source::Page(links) = &self.source else { return None };
        links.list().and_then(|_| links.label(proposal.number)).map(|label| label.text)
    }
}
