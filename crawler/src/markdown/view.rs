//! [`View`]: a page of which some nodes are left out.

use url::Url;

use super::{
    tags::{Attr, Tag},
    tree::{Id, Tree},
};

/// A page, and what of it is looked at.
#[derive(Debug)]
pub(super) struct View<'t> {
    /// All of the page.
    pub(super) tree: &'t Tree,
    /// For each node, whether it is left out, with all that is in it.
    pub(super) omitted: Vec<bool>,
    /// For each node, whether a block is in it.
    pub(super) has_block: Vec<bool>,
    /// For each node, the level of the uppermost heading in it; 7 if it has none.
    pub(super) uppermost: Vec<u8>,
    /// For each node, whether code is in it.
    pub(super) has_code: Vec<bool>,
    /// What its links are relative to.
    pub(super) base: Url,
}

impl<'t> View<'t> {
    /// All of a page.
    pub(super) fn new(tree: &'t Tree, url: &Url) -> Self {
        let count = tree.nodes.len();
        let mut has_block = vec![false; count];
        let mut has_code = vec![false; count];
        let mut uppermost = vec![7; count];
        for id in (1..count).rev() {
            let parent = tree.nodes[id].parent;
            uppermost[parent] = tree.tag(id).heading().unwrap_or(7).min(uppermost[id]).min(uppermost[parent]);
            has_code[parent] |= has_code[id] || tree.tag(id) == Tag::Pre;
            has_block[parent] |= has_block[id] || tree.tag(id).is_block();
        }
        let base = tree
            .first(Tag::Base)
            .and_then(|base| tree.attr(base, Attr::Href))
            .and_then(|href| url.join(href.trim()).ok());
        let base = base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| url.clone());
        Self { tree, omitted: vec![false; count], has_block, uppermost, has_code, base }
    }

    /// What is directly in a node and is not left out.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        self.tree.children(id).filter(|child| !self.omitted[*child])
    }

    /// The nodes in a node that are not left out, the node itself with them.
    pub(super) fn seen(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.tree.nodes[id].end;
        let skip = move |mut at: Id| {
            while at < end && self.omitted[at] {
                at = self.tree.nodes[at].end;
            }
            Some(at).filter(|at| *at < end)
        };
        std::iter::successors(skip(id), move |at| skip(at + 1))
    }

    /// Whether a node is read as a part of a line.
    pub(super) fn is_inline(&self, id: Id) -> bool {
        !self.has_block[id] && !self.tree.tag(id).is_block()
    }

    /// The absolute URL that an attribute names, if Markdown may link to it.
    pub(super) fn url(&self, reference: &str) -> Option<Url> {
        let url = self.base.join(reference.trim()).ok()?;
        matches!(url.scheme(), "http" | "https" | "mailto").then_some(url)
    }
}
