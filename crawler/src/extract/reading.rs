//! [`Reading`]: what a page is read for.

use std::sync::Arc;

use super::{LinkKinds, LinkLimits, Omitted, ReferenceSeed};

/// What a page is read for. Its links always, its text if somebody wants it: that takes longer, because text is passed
/// over otherwise.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What counts as a link.
    pub kinds: LinkKinds,
    /// Whether the canonical page that a page names is one of its links.
    pub follows_canonical: bool,
    /// How many links are kept.
    pub limits: LinkLimits,
    /// Under which secret they are hashed.
    pub seed: ReferenceSeed,
    /// The text is wanted, but for this.
    pub text: Option<Arc<Omitted>>,
    /// What is wanted beside its links.
    pub beside: BesideLinks,
}

/// What becomes of what a page shows and loads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PartsWanted {
    /// It is not looked for.
    #[default]
    No,
    /// It is named beside the links ([`RawLinks::parts`](super::RawLinks::parts)).
    Named,
    /// It is among the candidates ([`RawLinks::add_assets`](super::RawLinks::add_assets)).
    Candidates,
}

/// What is wanted of a page beside its links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BesideLinks {
    /// What each link says of itself ([`RawLinks::label`](super::RawLinks::label)).
    pub labels: bool,
    /// What the page shows and loads: that takes a second pass.
    pub parts: PartsWanted,
    /// The names of the page's elements, and its links to names ([`RawLinks::anchors`](super::RawLinks::anchors)): that takes another pass.
    pub anchors: bool,
}

impl Reading {
    /// For its links to pages, but for forms.
    pub fn links(limits: LinkLimits, seed: ReferenceSeed) -> Self {
        Self {
            kinds: LinkKinds::Pages,
            follows_canonical: false,
            limits,
            seed,
            text: None,
            beside: BesideLinks::default(),
        }
    }

    /// For its text as well.
    #[must_use]
    pub fn with_text(self, omitted: Arc<Omitted>) -> Self {
        Self { text: Some(omitted), ..self }
    }

    /// For what its links say of themselves as well.
    #[must_use]
    pub fn with_labels(self) -> Self {
        Self { beside: BesideLinks { labels: true, ..self.beside }, ..self }
    }
}
