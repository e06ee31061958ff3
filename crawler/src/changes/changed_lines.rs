//! [`ChangedLines`]: the lines that edits removed and added, as hashes, small enough to be kept for many pages.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use super::{
    Boilerplate, Edit,
    line_hash::{END, REMOVED, hash},
};

/// The lines that edits removed and added. Each is the hash of the line, its last bit saying whether it was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedLines {
    edits: Vec<Vec<u64>>,
    /// Whether there were more than are kept.
    cut: bool,
}

/// What is left of edits when what many pages share is taken away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shared {
    /// Whether anything is left that is no boilerplate.
    pub own: bool,
    /// The shared part of each edit that has one, by a hash that is the same for the same part of any page.
    pub parts: Vec<u64>,
}

impl ChangedLines {
    /// Those of edits, so many at most.
    pub fn of(edits: &[Edit<'_>], most: usize) -> Self {
        let mut left = most;
        let mut all = Vec::new();
        for edit in edits {
            let removed = edit.removed.iter().map(|line| hash(line) | REMOVED);
            let added = edit.added.iter().map(|line| hash(line));
            let lines: Vec<_> = removed.chain(added).take(left).collect();
            left -= lines.len();
            all.push(lines);
        }
        let cut = edits.iter().map(|edit| edit.removed.len() + edit.added.len()).sum::<usize>() > most;
        Self { edits: all, cut }
    }

    /// Each line once; none where some are missing.
    pub fn each_once(&self) -> BTreeSet<u64> {
        if self.cut { BTreeSet::new() } else { self.edits.iter().flatten().copied().collect() }
    }

    /// What is left of the edits without the lines that many pages share.
    pub fn without(&self, shared_lines: &BTreeSet<u64>, boilerplate: Option<&Boilerplate>) -> Shared {
        let is_boilerplate = |line: u64| boilerplate.is_some_and(|lines| lines.holds(line & !REMOVED));
        let mut shared = Shared { own: self.cut, parts: Vec::new() };
        for edit in &self.edits {
            let (part, own): (Vec<u64>, Vec<u64>) = edit.iter().partition(|line| shared_lines.contains(line));
            shared.own |= own.iter().any(|line| !is_boilerplate(*line));
            if !part.is_empty() {
                let bytes: Vec<_> = part.iter().flat_map(|line| line.to_le_bytes()).collect();
                shared.parts.push(xxh3_64(&bytes));
            }
        }
        shared
    }

    /// The kept form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let cut = self.cut.then_some(END);
        let edits = self.edits.iter().flat_map(|edit| edit.iter().copied().chain([END]));
        cut.into_iter().chain(edits).flat_map(u64::to_le_bytes).collect()
    }

    /// Reads [`ChangedLines::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut numbers = bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("8 bytes")));
        let numbers: Vec<_> = numbers.by_ref().collect();
        let cut = numbers.first() == Some(&END);
        let edits = numbers[usize::from(cut)..].split_inclusive(|number| *number == END);
        Self { edits: edits.map(|edit| edit.strip_suffix(&[END]).unwrap_or(edit).to_vec()).collect(), cut }
    }
}
