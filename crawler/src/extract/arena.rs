//! [`RawLinks`]: the links of a page as written, in one piece of memory.
//!
//! Owns: their texts, one after the other; how each one was marked; the base they are resolved against.
//!
//! A link becomes a URL only on request ([`RawLinks::url`]). A caller that has seen its [`ReferenceHash`] before already knows where it
//! leads.

use super::{
    anchors::PageAnchors,
    base::{Base, BaseHashes},
    element::Element,
    header::HeaderLink,
    labels::Label,
    parts::PagePart,
    references::{LinkLimits, Marks, ReferenceSeed, References, trailing_half},
    sitemap::SourceKind,
};
use crate::url::WebUrl;

/// What tells where a link leads without resolving it: links with one hash, be they on different pages, lead to one URL.
/// (It is a hash of 128 bits under a secret seed.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReferenceHash(u128);

/// One link of a page: all occurrences of one reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawLink {
    /// By which [`RawLinks::url`] and [`RawLinks::text`] know it.
    pub number: u32,
    /// None where it must be resolved.
    pub hash: Option<ReferenceHash>,
    /// Of its first occurrence.
    pub element: Element,
    /// Every occurrence carries `rel=nofollow`.
    pub nofollow: bool,
    /// It is something that the page shows or loads.
    pub is_asset: bool,
}

/// The links of a page, each reference once, in document order.
#[derive(Debug)]
pub struct RawLinks {
    references: References,
    base: Base,
    hashes: Option<BaseHashes>,
    /// What lists them, where that is no page.
    list: Option<SourceKind>,
    /// The first of those that are shown or loaded: they come last.
    assets_from: Option<u32>,
    /// What the page shows and loads, where that is asked for.
    pub parts: Vec<PagePart>,
    /// Its names and its links to names, where they are wanted.
    pub anchors: Option<PageAnchors>,
}

impl RawLinks {
    pub(super) fn new(mut references: References, base: Base) -> Self {
        references.close();
        Self {
            hashes: base.hashes(references.seed().value()),
            references,
            base,
            list: None,
            assets_from: None,
            parts: Vec::new(),
            anchors: None,
        }
    }

    /// None yet, of a page there.
    pub fn none(page: &WebUrl, limits: LinkLimits, seed: ReferenceSeed, labels: bool) -> Self {
        let references = References::within(limits, seed);
        let references = if labels { references.labelled() } else { references };
        Self::new(references, Base { url: page.clone(), off_web: false })
    }

    /// One more.
    pub fn add(&mut self, url: &WebUrl) {
        self.references.offer(Some(url.as_str().as_bytes()), Element::Anchor, false);
    }

    /// Those in the header of the answer, which come last.
    pub fn add_header(&mut self, links: &[HeaderLink]) {
        for HeaderLink { url, rel, element, language } in links {
            let number = self.references.offer_page(Some(url.as_str().as_bytes()), *element, Some(rel));
            if let (Some(number), Some(language)) = (number, language) {
                self.references.put_language(number, language);
            }
        }
    }

    /// The canonical page that the page names.
    pub fn add_canonical(&mut self, url: &str) {
        self.references.offer_page(Some(url.as_bytes()), Element::Link, Some(b"canonical"));
    }

    /// What the page shows or loads, as candidates. No link may come after it.
    pub fn add_assets(&mut self, parts: &[PagePart]) {
        self.assets_from = u32::try_from(self.len()).ok();
        for PagePart { url, element } in parts {
            self.references.offer(Some(url.as_str().as_bytes()), *element, false);
        }
    }

    /// The same, of a sitemap or a feed.
    pub(super) fn listed_by(self, list: SourceKind) -> Self {
        Self { list: Some(list), ..self }
    }

    /// One entry of it.
    pub(super) fn add_entry(&mut self, url: &WebUrl, element: Element, note: &str) {
        if let Some(number) = self.references.offer(Some(url.as_str().as_bytes()), element, false) {
            self.references.put_label(number, None, note);
        }
    }

    /// So many more are not here.
    pub(super) fn leave_out(&mut self, links: u64) {
        self.references.beyond += links;
    }

    /// What lists them; none where a page links to them.
    pub fn list(&self) -> Option<SourceKind> {
        self.list
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.references.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Links beyond the limits: how often there was one.
    pub fn beyond(&self) -> u64 {
        self.references.beyond
    }

    /// How many bytes their URLs may have together.
    pub fn most_bytes(&self) -> usize {
        self.references.most_bytes()
    }

    /// Each link.
    pub fn iter(&self) -> impl Iterator<Item = RawLink> {
        self.references.iter().map(|reference| {
            let hashes = self.hashes.as_ref();
            let hash = hashes.map(|base| ReferenceHash(reference.hash ^ base.needed_by(reference.text)));
            let number = reference.number;
            let element = reference.element;
            let nofollow = !reference.marks.some_follow;
            let is_asset = self.assets_from.is_some_and(|first| number >= first);
            RawLink { number, hash, element, nofollow, is_asset }
        })
    }

    /// The link as it is written, trimmed and without its fragment; empty if there is none of that number.
    pub fn text(&self, number: u32) -> &[u8] {
        self.references.get(number)
    }

    /// Where the link leads, if that is on the web.
    pub fn url(&self, number: u32) -> Option<WebUrl> {
        self.base.join(self.text(number))
    }

    /// Whether it is known what the links say of themselves.
    pub fn are_labelled(&self) -> bool {
        self.references.is_labelled()
    }

    /// What the link says of itself; none if that was not asked for ([`Reading::labels`](super::Reading::labels)).
    pub fn label(&self, number: u32) -> Option<Label<'_>> {
        self.references.label(number)
    }

    pub(super) fn base(&self) -> &Base {
        &self.base
    }

    /// As [`RawLinks::iter`], with all marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = (u32, Marks)> {
        self.references.iter().map(|reference| (reference.number, reference.marks))
    }
}

impl ReferenceHash {
    /// Two hashes that are independent of each other.
    pub fn halves(self) -> [u64; 2] {
        [(self.0 >> 64) as u64, trailing_half(self.0)]
    }
}
