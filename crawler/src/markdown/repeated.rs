//! [`Repeated`]: the blocks that recur over the pages of a section, and the keys that they are known by.

use std::collections::HashSet;

use xxhash_rust::xxh3::Xxh3;

use super::{
    tags::Tag,
    tree::{Id, Tree},
    view::View,
};

/// A block is known by its text only if that is so long, in bytes: shorter ones (`Returns:`) recur in content too.
const SHORTEST: usize = 12;

/// A block that recurs is chrome by itself if it is so long; a shorter one only beside another.
const LONG: usize = 60;

/// Blocks that recur: chrome that other pages of a section have too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repeated {
    keys: HashSet<u64>,
}

impl Repeated {
    /// Those that occur in at least `least` pages, of the number of pages that each key occurs in.
    pub fn from_counts(counts: impl IntoIterator<Item = (u64, usize)>, least: usize) -> Self {
        Self { keys: counts.into_iter().filter(|(_, pages)| *pages >= least.max(2)).map(|(key, _)| key).collect() }
    }

    /// Whether a block is one of them.
    pub fn contains(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The blocks of a page that are among them. No heading is, and nothing in code or tables.
    pub(super) fn find(&self, view: &View<'_>) -> Vec<Id> {
        if self.is_empty() {
            return Vec::new();
        }
        let blocks = keyed(view);
        let recurs: Vec<bool> = blocks.iter().map(|block| self.contains(block.key)).collect();
        let neighbour = |at: usize| recurs.get(at).copied().unwrap_or(false);
        let is_chrome =
            |at: usize| recurs[at] && (blocks[at].length >= LONG || neighbour(at.wrapping_sub(1)) || neighbour(at + 1));
        (0..blocks.len()).filter(|at| is_chrome(*at)).map(|at| blocks[at].id).collect()
    }
}

/// A block and its key.
#[derive(Debug)]
pub(super) struct Keyed {
    id: Id,
    /// Of its text.
    pub(super) key: u64,
    length: usize,
}

/// The blocks of a page that are known by keys: the innermost, with enough text.
pub(super) fn keyed(view: &View<'_>) -> Vec<Keyed> {
    let is_leaf = |id: &Id| {
        let tag = view.tree.tag(*id);
        tag.is_block() && !view.has_block[*id] && tag.heading().is_none() && !is_kept(tag)
    };
    view.seen(0).filter(is_leaf).filter_map(|id| keyed_block(view.tree, id)).collect()
}

fn is_kept(tag: Tag) -> bool {
    matches!(tag, Tag::Pre | Tag::Td | Tag::Th | Tag::Dt | Tag::Caption)
}

/// A block with the key of its words, if it is long enough.
fn keyed_block(tree: &Tree, id: Id) -> Option<Keyed> {
    let mut hash = Xxh3::new();
    let mut length = 0;
    for word in tree.subtree(id).flat_map(|id| tree.nodes[id].text.split_whitespace()) {
        hash.update(word.as_bytes());
        length += word.len();
    }
    (length >= SHORTEST).then(|| Keyed { id, key: hash.digest(), length })
}
