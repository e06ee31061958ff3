//! A list of raw references, each once: what an `href` says before anybody parses it.

use std::{borrow::Cow, collections::hash_map::RandomState, fmt, hash::BuildHasher};

use hashbrown::HashTable;

/// Byte strings in order of first appearance, none twice. The hash is keyed at random: a page cannot choose strings
/// that collide.
#[derive(Default)]
pub(super) struct Once {
    text: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<(u64, usize)>,
    hasher: RandomState,
}

impl Once {
    /// The number of this string: the next one if it is new, none if it is new and there is no room for it.
    fn number(&mut self, string: &[u8], limits: LinkLimits) -> Option<usize> {
        let hash = self.hasher.hash_one(string);
        let found = self.table.find(hash, |(other, number)| *other == hash && self.get(*number) == string);
        match found {
            Some((_, number)) => Some(*number),
            None if self.len() >= limits.links || self.text.len() + string.len() > limits.bytes => None,
            None => Some(self.add(hash, string)),
        }
    }

    fn add(&mut self, hash: u64, string: &[u8]) -> usize {
        let number = self.ends.len();
        self.text.extend_from_slice(string);
        self.ends.push(self.text.len());
        self.table.insert_unique(hash, (hash, number), |(hash, _)| *hash);
        number
    }

    /// The string with this number.
    pub(super) fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.len()).map(|number| String::from_utf8_lossy(self.get(number)))).finish()
    }
}

/// How the occurrences of one reference were marked.
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

/// References of one kind (links, frames, …) as written, without fragments.
#[derive(Debug)]
pub(super) struct References {
    once: Once,
    marks: Vec<Marks>,
    limits: LinkLimits,
    /// Occurrences of references that there was no room for.
    pub(super) beyond: u64,
}

impl Default for References {
    fn default() -> Self {
        Self::within(LinkLimits::NONE)
    }
}

impl References {
    /// Empty, and never more than this.
    pub(super) fn within(limits: LinkLimits) -> Self {
        Self { once: Once::default(), marks: Vec::new(), limits, beyond: 0 }
    }

    /// Takes an attribute's value, unless it cannot name a web page (`mailto:`, `javascript:`, …).
    pub(super) fn offer(&mut self, value: Option<&[u8]>, nofollow: bool) {
        let Some(reference) = value.map(trim).filter(|value| !has_other_scheme(value)) else { return };
        let Some(number) = self.once.number(without_fragment(reference), self.limits) else {
            self.beyond += 1;
            return;
        };
        if number == self.marks.len() {
            self.marks.push(Marks::default());
        }
        let mark = Marks { some_nofollow: nofollow, some_follow: !nofollow };
        self.marks[number] = self.marks[number].and(mark);
    }

    /// Takes the value of an attribute that loads something: an empty one loads nothing.
    pub(super) fn offer_loaded(&mut self, value: Option<&[u8]>) {
        self.offer(value.filter(|value| !trim(value).is_empty()), false);
    }

    /// Each reference once, in document order. Bytes that are not UTF-8 are replaced.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, Marks)> {
        self.marks.iter().enumerate().map(|(number, marks)| (String::from_utf8_lossy(self.once.get(number)), *marks))
    }

    /// How many different references there are.
    pub(super) fn len(&self) -> usize {
        self.once.len()
    }
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
            references.offer(Some(value.as_bytes()), false);
        }
        references.iter().map(|(reference, _)| reference.into_owned()).collect()
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
        let mut references = References::within(LinkLimits { links: 2, bytes: 10 });
        for value in ["a", "b", "c", "a", "c", "d"] {
            references.offer(Some(value.as_bytes()), false);
        }
        assert_eq!((references.len(), references.beyond), (2, 3));
        let mut long = References::within(LinkLimits { links: 9, bytes: 10 });
        for value in ["seven c", "four", "two", "seven c"] {
            long.offer(Some(value.as_bytes()), false);
        }
        assert_eq!((long.len(), long.beyond), (2, 1));
    }

    #[test]
    fn marks_tell_whether_all_or_some_said_nofollow() {
        let mut references = References::default();
        for nofollow in [true, false] {
            references.offer(Some(b"a"), nofollow);
            references.offer(Some(b"b"), true);
        }
        let marks: Vec<_> = references.iter().map(|(_, marks)| (marks.some_nofollow, marks.some_follow)).collect();
        assert_eq!(marks, [(true, true), (true, false)]);
    }
}
