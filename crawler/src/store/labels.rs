//! [`Labels`]: what the links of a page say of themselves, as bytes that are kept with a visit.
//!
//! Owns: the format. One byte (6, or 7 where links were refused), and a zstd frame without the four bytes that begin each frame. The frame
//! holds two numbers: how many links were kept, and how many refused. Then come the lengths of each link, kept ones first, in page order: a
//! number made of the length of its text, whether it has a `rel`, and whether its element is another one than `a`; the number of that
//! element, and the length of its language; the length of the `rel`, if it has one; for a refused one the lengths of reason and URL. Then,
//! in the same order, rel, language, text, reason and URL of each link. Numbers are LEB128.
//!
//! Invariants: what was written reads back the same; no bytes make reading panic, or take more than [`MOST_BYTES`] of memory.
//!
//! Does not know: where kept links lead; the fingerprints of the visit say that, in the same order.

use super::{
    leb128::{put, take},
    packing::{pack, unpack},
};
use crate::extract::{AnchorNames, Element, Label};

/// The first byte: the version of the format (3, or 4 with the names of elements) times two, and one more where some links were refused.
const NONE_REFUSED: u8 = 6;
const SOME_REFUSED: u8 = 7;
const MOST: u8 = 9;

/// What is added to it where there are names of elements.
const NAMED: u8 = 2;

/// The reason of what a page does not link to, but shows or loads.
pub const ASSET: &str = "asset";

/// The reason of a link to a name on a page.
pub const ANCHOR: &str = "anchor";

/// The elements by their numbers: only ever added to.
const ELEMENTS: [Element; 29] = [
    Element::Anchor,
    Element::Area,
    Element::Frame,
    Element::InlineFrame,
    Element::Refresh,
    Element::Link,
    Element::Feed,
    Element::Form,
    Element::Header,
    Element::HeaderFeed,
    Element::Other,
    Element::Sitemap,
    Element::SitemapIndex,
    Element::FeedEntry,
    Element::Image,
    Element::Source,
    Element::Script,
    Element::StyleSheet,
    Element::Part,
    Element::Object,
    Element::Embed,
    Element::Audio,
    Element::Video,
    Element::Track,
    Element::Input,
    Element::Drawing,
    Element::Use,
    Element::Style,
    Element::ImportedSheet,
];

/// What each zstd frame begins with: a page is small, so these bytes are left out.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How hard it is compressed: more takes time on each page that is fetched.
const COMPRESSION: i32 = 1;

/// The most that is unpacked.
const MOST_BYTES: usize = 256 << 20;

/// Packs the links of one page.
///
/// ```
/// use webloom::internals::{extract::{Element, Label}, store::{LabelPacker, Labels}};
/// let mut packer = LabelPacker::default();
/// packer.keep(Label { element: Element::Anchor, rel: "", text: "next page", language: "" });
/// let labels = Labels::read(&packer.finish()).ok_or("not packed by us")?;
/// assert_eq!(&*labels.kept[0].text, "next page");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Default)]
pub struct LabelPacker {
    kept: Packed,
    refused: Packed,
    names: Option<Vec<u8>>,
}

/// Links of one kind.
#[derive(Debug, Default)]
struct Packed {
    count: u64,
    lengths: Vec<u8>,
    texts: Vec<u8>,
}

/// What the links of a page say of themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Those of the kept links, in their order.
    pub kept: Vec<LinkLabel>,
    /// Those of the links that were refused, in page order.
    pub refused: Vec<RefusedLink>,
    /// The names of the elements, where they are kept.
    pub names: Option<AnchorNames>,
}

/// What a link says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkLabel {
    /// Its element.
    pub element: Element,
    /// Its `rel`, if it has one.
    pub rel: Option<Box<str>>,
    /// Its text.
    pub text: Box<str>,
    /// Its `hreflang`, if it is no `a` and has one.
    pub language: Option<Box<str>>,
}

/// A link that is no candidate of the crawl, something that a page shows or loads, or a link to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedLink {
    /// Where it leads.
    pub url: Box<str>,
    /// Why it was refused: it left the scope, or is not to be followed. Else [`ASSET`] or [`ANCHOR`].
    pub reason: Box<str>,
    /// What it says of itself.
    pub label: LinkLabel,
}

impl LinkLabel {
    /// The same as it is packed.
    pub fn as_label(&self) -> Label<'_> {
        Label {
            element: self.element,
            rel: self.rel.as_deref().unwrap_or_default(),
            text: &self.text,
            language: self.language.as_deref().unwrap_or_default(),
        }
    }
}

impl LabelPacker {
    /// The next link that was kept.
    pub fn keep(&mut self, label: Label<'_>) {
        self.kept.add(label);
        self.kept.texts.extend_from_slice(label.text.as_bytes());
    }

    /// The next link that was refused.
    pub fn refuse(&mut self, url: &str, reason: &str, label: Label<'_>) {
        self.refused.add(label);
        for text in [reason, url] {
            put(&mut self.refused.lengths, text.len() as u64);
        }
        for text in [label.text, reason, url] {
            self.refused.texts.extend_from_slice(text.as_bytes());
        }
    }

    /// The names of the page's elements.
    pub fn name(&mut self, names: &AnchorNames) {
        self.names = Some(pack_names(names));
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        let names = self.names.as_deref().unwrap_or_default();
        let mut whole = Vec::with_capacity(self.kept.size() + self.refused.size() + names.len() + 8);
        whole.extend_from_slice(names);
        put(&mut whole, self.kept.count);
        put(&mut whole, self.refused.count);
        for part in [&self.kept.lengths, &self.refused.lengths, &self.kept.texts, &self.refused.texts] {
            whole.extend_from_slice(part);
        }
        let first = if self.refused.count > 0 { SOME_REFUSED } else { NONE_REFUSED };
        framed(first + if self.names.is_some() { NAMED } else { 0 }, &pack(&whole, COMPRESSION))
    }
}

/// The first byte and a frame without its beginning.
fn framed(first: u8, frame: &[u8]) -> Vec<u8> {
    [&[first], frame.strip_prefix(&MAGIC).unwrap_or_default()].concat()
}

impl Packed {
    /// All but the text.
    fn add(&mut self, label: Label<'_>) {
        let has_rel = u64::from(!label.rel.is_empty());
        let element = ELEMENTS.iter().position(|element| *element == label.element).unwrap_or_default() as u64;
        put(&mut self.lengths, (label.text.len() as u64) << 2 | has_rel << 1 | u64::from(element > 0));
        if element > 0 {
            put(&mut self.lengths, element);
            put(&mut self.lengths, label.language.len() as u64);
        }
        if has_rel == 1 {
            put(&mut self.lengths, label.rel.len() as u64);
        }
        self.texts.extend_from_slice(label.rel.as_bytes());
        if element > 0 {
            self.texts.extend_from_slice(label.language.as_bytes());
        }
        self.count += 1;
    }

    fn size(&self) -> usize {
        self.lengths.len() + self.texts.len()
    }
}

impl Labels {
    /// Reads what a packer made; `None` where it is something else.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (first @ NONE_REFUSED..=MOST, frame) = bytes.split_first()? else { return None };
        let whole = unpack(&[&MAGIC, frame].concat(), MOST_BYTES)?;
        let mut lengths = &whole[..];
        let names = if *first > SOME_REFUSED { Some(take_names(&mut lengths)?) } else { None };
        let counts = [take(&mut lengths)?, take(&mut lengths)?];
        let mut sizes = Vec::new();
        for (count, is_refused) in counts.into_iter().zip([false, true]) {
            for _ in 0..count {
                sizes.push(Sizes::take(&mut lengths, is_refused)?);
            }
        }
        let mut texts = std::str::from_utf8(lengths).ok()?;
        let mut labels = Self { names, ..Self::default() };
        for sizes in sizes {
            let label = sizes.label(&mut texts)?;
            match sizes.refused {
                None => labels.kept.push(label),
                Some([reason, url]) => {
                    let reason = cut(&mut texts, reason)?.into();
                    labels.refused.push(RefusedLink { reason, url: cut(&mut texts, url)?.into(), label });
                }
            }
        }
        let agrees = texts.is_empty() && Self::may_have_refused(bytes) != labels.refused.is_empty();
        agrees.then_some(labels)
    }

    /// Whether there may be links that were refused, without unpacking.
    pub fn may_have_refused(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|first| first % 2 == 1)
    }
}

/// How many there are, and the difference of each to the one before.
pub fn pack_names(names: &AnchorNames) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, names.hashes().len() as u64);
    let mut last = 0;
    for hash in names.hashes() {
        put(&mut bytes, u64::from(hash - last));
        last = *hash;
    }
    bytes
}

/// Takes them off some bytes.
pub fn take_names(from: &mut &[u8]) -> Option<AnchorNames> {
    let count = take(from)?;
    let mut last = 0_u32;
    let mut hashes = Vec::new();
    for _ in 0..count {
        last = last.checked_add(u32::try_from(take(from)?).ok()?)?;
        hashes.push(last);
    }
    Some(AnchorNames::of_hashes(hashes))
}

/// The lengths of a link's texts.
struct Sizes {
    element: Element,
    rel: Option<u64>,
    language: u64,
    text: u64,
    refused: Option<[u64; 2]>,
}

impl Sizes {
    fn take(from: &mut &[u8], is_refused: bool) -> Option<Self> {
        let head = take(from)?;
        let other = if head & 1 == 1 {
            [usize::try_from(take(from)?).ok()?, usize::try_from(take(from)?).ok()?]
        } else {
            [0; 2]
        };
        let rel = if head & 2 == 2 { Some(take(from)?) } else { None };
        let refused = if is_refused { Some([take(from)?, take(from)?]) } else { None };
        Some(Self { element: *ELEMENTS.get(other[0])?, rel, language: other[1] as u64, text: head >> 2, refused })
    }

    fn label(&self, texts: &mut &str) -> Option<LinkLabel> {
        let rel = match self.rel {
            Some(length) => Some(cut(texts, length)?.into()),
            None => None,
        };
        let language = cut(texts, self.language)?;
        let language = (!language.is_empty()).then(|| language.into());
        Some(LinkLabel { element: self.element, rel, text: cut(texts, self.text)?.into(), language })
    }
}

/// The first so many bytes of a text, which are taken off it.
fn cut<'a>(texts: &mut &'a str, length: u64) -> Option<&'a str> {
    let (text, rest) = texts.split_at_checked(usize::try_from(length).ok()?)?;
    *texts = rest;
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Link = (Element, String, [String; 2]);

    fn link() -> impl Strategy<Value = Link> {
        (prop::sample::select(ELEMENTS.to_vec()), "[a-z ]{0,12}", [".{0,40}", "[a-z]{0,3}"])
    }

    fn label((element, rel, [text, language]): &Link) -> Label<'_> {
        let language = if *element == Element::Anchor { "" } else { language };
        Label { element: *element, rel, text, language }
    }

    fn unpacked(link: &Link) -> LinkLabel {
        let Label { element, rel, text, language } = label(link);
        let [rel, language] = [rel, language].map(|word| (!word.is_empty()).then(|| word.into()));
        LinkLabel { element, rel, text: text.into(), language }
    }

    fn packed(kept: &[Link], refused: &[(String, Link)], names: Option<&AnchorNames>) -> Vec<u8> {
        let mut packer = LabelPacker::default();
        if let Some(names) = names {
            packer.name(names);
        }
        for link in kept {
            packer.keep(label(link));
        }
        for (url, link) in refused {
            packer.refuse(url, "scope", label(link));
        }
        packer.finish()
    }

    proptest! {
        #[test]
        fn reads_what_was_written(
            kept in prop::collection::vec(link(), 0..20),
            refused in prop::collection::vec((".{0,30}", link()), 0..5),
            names in prop::option::of(prop::collection::vec(any::<u32>(), 0..9).prop_map(AnchorNames::of_hashes)),
        ) {
            let bytes = packed(&kept, &refused, names.as_ref());
            let labels = Labels::read(&bytes).unwrap();
            prop_assert_eq!(Labels::may_have_refused(&bytes), !refused.is_empty());
            prop_assert_eq!(labels.kept, kept.iter().map(unpacked).collect::<Vec<_>>());
            let expected = refused.iter().map(|(url, link)| RefusedLink {
                url: url.as_str().into(), reason: "scope".into(), label: unpacked(link),
            });
            prop_assert_eq!(labels.refused, expected.collect::<Vec<_>>());
            prop_assert_eq!(labels.names, names);
        }

        #[test]
        fn foreign_bytes_are_refused_or_read(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            inside in prop::collection::vec(any::<u8>(), 0..60),
            kept in prop::collection::vec(link(), 1..4),
            at in any::<prop::sample::Index>(),
        ) {
            Labels::read(&bytes);
            Labels::may_have_refused(&bytes);
            Labels::read(&framed(NONE_REFUSED, &zstd::bulk::compress(&inside, 1).unwrap()));
            let mut damaged = packed(&kept, &[], None);
            let at = at.index(damaged.len());
            damaged[at] ^= 0x55;
            Labels::read(&damaged);
            prop_assert_eq!(Labels::read(&damaged[..at]), None);
        }
    }

    /// Directories that are written today must be read by later versions.
    #[test]
    fn what_is_written_today_is_read_for_ever() {
        let golden = [
            &[7, 0x20, 63, 0xf9, 0x01, 0x00][..],
            &[3, 1, 16, 15, 1, 0, 8, 3, 5, 2, 9, 18, 3, 5, 10],
            b"homenofollowmapalternatedeextawayscopehttp://x/a",
        ];
        let label = |element, rel: Option<&str>, [text, language]: [&str; 2]| LinkLabel {
            element,
            rel: rel.map(Into::into),
            text: text.into(),
            language: (!language.is_empty()).then(|| language.into()),
        };
        let kept = vec![
            label(Element::Anchor, None, ["home", ""]),
            label(Element::Area, Some("nofollow"), ["map", ""]),
            label(Element::Link, Some("alternate"), ["", "de"]),
        ];
        let away = label(Element::Anchor, Some("ext"), ["away", ""]);
        let refused = vec![RefusedLink { url: "http://x/a".into(), reason: "scope".into(), label: away }];
        let links = Labels { kept, refused, names: None };
        assert_eq!(Labels::read(&golden.concat()), Some(links));
        let golden = [8, 0x20, 6, 49, 0, 0, 2, 7, 0xf9, 0x01, 0, 0];
        let names = Some(AnchorNames::of_hashes([7, 256]));
        assert_eq!(Labels::read(&golden), Some(Labels { names, ..Labels::default() }));
    }

    #[test]
    fn what_is_no_label_is_refused() {
        for bytes in [&b""[..], &[1], &[6], &[6, 0, 1], &[10, 0x20, 2, 0x11, 0, 0, 0, 0], &[6, 0x28, 0xb5, 0x2f, 0xfd]]
        {
            assert_eq!(Labels::read(bytes), None);
        }
        // More links than there are lengths, and a text beyond the end.
        for inside in [&[200, 1, 0, 4][..], &[1, 0, 40, b'a'], &[0xff; 12], &[0, 0, 7], &[1, 0, 1, 14]] {
            let bytes = framed(NONE_REFUSED, &zstd::bulk::compress(inside, 1).unwrap());
            assert_eq!(Labels::read(&bytes), None, "{inside:?}");
        }
    }
}
