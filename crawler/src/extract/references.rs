//! A list of raw references, each once: what an `href` says before it is parsed.

use std::fmt;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{
    attributes::is_nofollow,
    element::Element,
    labels::{Label, ReferenceLabels},
};

/// How the occurrences of one reference were marked. Where none is marked, the reference is left out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    /// One at least carried `rel=nofollow`.
    pub(super) some_nofollow: bool,
    /// One at least did not.
    pub(super) some_follow: bool,
}

impl Marks {
    /// Both sets of occurrences together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            some_nofollow: self.some_nofollow || other.some_nofollow,
            some_follow: self.some_follow || other.some_follow,
        }
    }
}

/// How much is kept of what a page refers to. Beyond it references are only counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkLimits {
    /// Different references of one kind.
    pub links: usize,
    /// Their bytes together: as they are written, and once more as absolute URLs.
    pub bytes: usize,
}

impl LinkLimits {
    /// Everything is kept.
    pub const NONE: Self = Self { links: usize::MAX, bytes: usize::MAX };

    /// So many links, of 160 bytes each on average. Few may be as long as they like.
    pub fn of(links: usize) -> Self {
        const BYTES_EACH: usize = 160;
        const BYTES_OF_FEW: usize = 1 << 20;
        Self { links, bytes: links.saturating_mul(BYTES_EACH).max(BYTES_OF_FEW) }
    }
}

/// The secret under which links are hashed: hashes of different seeds say nothing of each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReferenceSeed(u64);

/// A reference as it was first seen.
#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u128,
    end: u32,
    element: Element,
    marks: Marks,
}

/// One reference with what is known of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reference<'a> {
    pub(super) number: u32,
    pub(super) text: &'a [u8],
    /// Of the text, under the list's seed.
    pub(super) hash: u128,
    pub(super) element: Element,
    pub(super) marks: Marks,
}

/// References of one kind (links, frames, …) as written, without fragments, in order of first appearance, none twice.
/// The hash is keyed: a page cannot choose references that collide.
pub(super) struct References {
    text: Vec<u8>,
    entries: Vec<Entry>,
    table: HashTable<u32>,
    seed: ReferenceSeed,
    limits: LinkLimits,
    /// What each says of itself, where that is asked for.
    labels: Option<ReferenceLabels>,
    /// Occurrences of references that there was no room for.
    pub(super) beyond: u64,
}

impl fmt::Debug for References {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.iter().map(|one| (String::from_utf8_lossy(one.text), one.element, one.marks));
        f.debug_list().entries(all).finish()
    }
}

impl Default for References {
    fn default() -> Self {
        Self::within(LinkLimits::NONE, ReferenceSeed::random())
    }
}

impl References {
    /// Empty, and never more than this.
    pub(super) fn within(limits: LinkLimits, seed: ReferenceSeed) -> Self {
        // Numbers and ends have 32 bits. No body is that long.
        let limits = LinkLimits { links: limits.links.min(MOST), bytes: limits.bytes.min(MOST) };
        Self { text: Vec::new(), entries: Vec::new(), table: HashTable::new(), seed, limits, labels: None, beyond: 0 }
    }

    /// The same with what each says of itself; that has as many bytes as they have.
    pub(super) fn labelled(self) -> Self {
        Self { labels: Some(ReferenceLabels::within(self.limits.bytes)), ..self }
    }

    /// Takes an attribute's value, unless it cannot name a web page (`mailto:`, `javascript:`, …); its number, if it is kept.
    pub(super) fn offer(&mut self, value: Option<&[u8]>, element: Element, nofollow: bool) -> Option<u32> {
        let reference = value.map(trim).filter(|value| !has_other_scheme(value))?;
        let marks = Marks { some_nofollow: nofollow, some_follow: !nofollow };
        self.add(without_fragment(reference), element, marks)
    }

    /// Takes the value of an attribute that loads something: an empty one loads nothing.
    pub(super) fn offer_loaded(&mut self, value: Option<&[u8]>) {
        self.offer(value.filter(|value| !trim(value).is_empty()), Element::Other, false);
    }

    /// The same of one that is to be checked; a part of the page itself is none.
    pub(super) fn offer_part(&mut self, value: Option<&[u8]>, element: Element) {
        self.offer(value.filter(|value| !matches!(trim(value).first(), None | Some(b'#'))), element, false);
    }

    /// Takes the value of an attribute that leads to a page, of an element without a text of its own; its number, if it is kept. An
    /// empty one leads nowhere.
    pub(super) fn offer_page(&mut self, value: Option<&[u8]>, element: Element, rel: Option<&[u8]>) -> Option<u32> {
        let value = value.filter(|value| !trim(value).is_empty());
        let number = self.offer(value, element, rel.is_some_and(is_nofollow));
        if let Some(number) = number.filter(|number| self.wants_label(*number)) {
            self.put_label(number, rel, "");
        }
        number
    }

    /// Takes the language that an occurrence of this one says its target has.
    pub(super) fn put_language(&mut self, number: u32, language: &[u8]) {
        if let Some(labels) = &mut self.labels {
            labels.put_language(number, language);
        }
    }

    /// Leaves out each one that is first found in a refresh, and that `leads_back`.
    pub(super) fn leave_out_refreshes(&mut self, leads_back: impl Fn(&[u8]) -> bool) {
        for number in 0..self.entries.len() {
            if self.entries[number].element == Element::Refresh && leads_back(self.get(narrow(number))) {
                self.entries[number].marks = Marks::default();
            }
        }
    }

    /// The element of each, where it was first found.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element> {
        self.entries.iter().map(|entry| entry.element)
    }

    /// Whether it is asked for what this one says of itself, and not known yet.
    pub(super) fn wants_label(&self, number: u32) -> bool {
        self.labels.as_ref().is_some_and(|labels| labels.wants(number))
    }

    /// Whether labels are asked for.
    pub(super) fn is_labelled(&self) -> bool {
        self.labels.is_some()
    }

    /// Takes what an occurrence of this one says of itself.
    pub(super) fn put_label(&mut self, number: u32, rel: Option<&[u8]>, text: &str) {
        if let Some(labels) = &mut self.labels {
            labels.put(number, rel, text);
        }
    }

    /// What this one says of itself, where that was asked for.
    pub(super) fn label(&self, number: u32) -> Option<Label<'_>> {
        let [rel, text, language] = self.labels.as_ref()?.get(number);
        let element = self.entries.get(number as usize)?.element;
        Some(Label { element, rel, text, language })
    }

    fn add(&mut self, reference: &[u8], element: Element, marks: Marks) -> Option<u32> {
        let hash = xxh3_128_with_seed(reference, self.seed.value());
        let same = |number: &u32| self.entries[*number as usize].hash == hash && self.get(*number) == reference;
        if let Some(&number) = self.table.find(trailing_half(hash), same) {
            let entry = &mut self.entries[number as usize];
            entry.marks = entry.marks.and(marks);
            Some(number)
        } else if self.len() >= self.limits.links || self.text.len() + reference.len() > self.limits.bytes {
            self.beyond += 1;
            None
        } else {
            let number = narrow(self.entries.len());
            self.text.extend_from_slice(reference);
            self.entries.push(Entry { hash, end: narrow(self.text.len()), element, marks });
            let entries = &self.entries;
            self.table
                .insert_unique(trailing_half(hash), number, |number| trailing_half(entries[*number as usize].hash));
            Some(number)
        }
    }

    /// No more are added: gives back the memory that only adding needs.
    pub(super) fn close(&mut self) {
        self.table = HashTable::new();
        self.text.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    /// Each reference that is not left out, once, in document order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Reference<'_>> {
        let kept = (0..).zip(&self.entries).filter(|(_, entry)| entry.marks != Marks::default());
        kept.map(|(number, entry)| {
            let Entry { hash, element, marks, .. } = *entry;
            Reference { number, text: self.get(number), hash, element, marks }
        })
    }

    /// The text of the reference with this number; empty if there is none.
    pub(super) fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).and_then(|last| self.entries.get(last)).map_or(0, |last| last.end as usize);
        self.entries.get(number).map_or(&[], |entry| &self.text[start..entry.end as usize])
    }

    /// How many different references there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn seed(&self) -> ReferenceSeed {
        self.seed
    }

    pub(super) fn most_bytes(&self) -> usize {
        self.limits.bytes
    }
}

impl ReferenceSeed {
    /// One that nobody can know.
    pub fn random() -> Self {
        use std::hash::BuildHasher;
        Self(std::collections::hash_map::RandomState::new().hash_one(0))
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for ReferenceSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReferenceSeed(secret)")
    }
}

/// The trailing 64 bits.
pub(super) fn trailing_half(hash: u128) -> u64 {
    (hash << 64 >> 64) as u64
}

/// The largest number and end there may be.
const MOST: usize = u32::MAX as usize;

/// A number or end, which is never larger.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Without the C0 controls and spaces that the URL parser removes from both ends.
fn trim(value: &[u8]) -> &[u8] {
    let start = value.iter().position(|byte| *byte > b' ').unwrap_or(value.len());
    let end = value.iter().rposition(|byte| *byte > b' ').map_or(start, |last| last + 1);
    &value[start..end]
}

/// Cut at the first `#`. A space before it would belong to the path, but be trimmed at the end of a shorter string:
/// then the `#` stays.
fn without_fragment(reference: &[u8]) -> &[u8] {
    match memchr::memchr(b'#', reference) {
        Some(at) if at > 0 && reference[at - 1] <= b' ' => &reference[..=at],
        Some(at) => &reference[..at],
        None => reference,
    }
}

/// Whether a trimmed reference certainly starts with a scheme other than http and https. (A scheme with tabs or line
/// ends in it, which the URL parser would remove, is left to the parser.)
fn has_other_scheme(reference: &[u8]) -> bool {
    if !reference.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let part_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let Some(end) = reference.iter().position(|byte| !part_of_scheme(byte)) else { return false };
    let scheme = &reference[..end];
    reference[end] == b':' && !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(values: &[&str]) -> Vec<String> {
        let mut references = References::default();
        for value in values {
            references.offer(Some(value.as_bytes()), Element::Anchor, false);
        }
        references.iter().map(|one| String::from_utf8_lossy(one.text).into_owned()).collect()
    }

    #[test]
    fn each_reference_is_kept_once_without_its_fragment() {
        assert_eq!(listed(&["b", "a#x", " a ", "a#y", "b"]), ["b", "a"]);
        assert_eq!(listed(&["#x", "", "#"]), [""]);
    }

    #[test]
    fn a_space_before_the_fragment_is_part_of_the_path() {
        assert_eq!(listed(&["a #x "]), ["a #"]);
    }

    #[test]
    fn other_schemes_are_dropped_and_web_ones_kept() {
        assert_eq!(listed(&["javascript:a", "MAILTO:x", "data:,y", " tel:1"]), [""; 0]);
        let kept = ["http:a", "HTTPS://h", "a/b:c", "?a:b", "1a:b", "java\nscript:x", "a"];
        assert_eq!(listed(&kept), kept);
    }

    #[test]
    fn what_is_beyond_the_limits_is_counted() {
        let mut references = References::within(LinkLimits { links: 2, bytes: 10 }, ReferenceSeed::random());
        for value in ["a", "b", "c", "a", "c", "d"] {
            references.offer(Some(value.as_bytes()), Element::Anchor, false);
        }
        assert_eq!((references.len(), references.beyond), (2, 3));
        let mut long = References::within(LinkLimits { links: 9, bytes: 10 }, ReferenceSeed::random());
        for value in ["seven c", "four", "two", "seven c"] {
            long.offer(Some(value.as_bytes()), Element::Anchor, false);
        }
        assert_eq!((long.len(), long.beyond), (2, 1));
    }

    #[test]
    fn marks_tell_whether_all_or_some_said_nofollow() {
        let mut references = References::default();
        for nofollow in [true, false] {
            references.offer(Some(b"a"), Element::Anchor, nofollow);
            references.offer(Some(b"b"), Element::Anchor, true);
        }
        let marks: Vec<_> = references.iter().map(|one| (one.marks.some_nofollow, one.marks.some_follow)).collect();
        assert_eq!(marks, [(true, true), (true, false)]);
    }
}
