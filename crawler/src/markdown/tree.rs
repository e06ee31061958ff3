//! [`Tree`]: the elements and texts of a page, in the order of the page.
//!
//! A node is before its children, and all that is in it before what follows it. So a subtree is a range of numbers, sums over subtrees
//! are one pass backwards, and nothing recurses.

use std::ops::Range;

use super::{
    tags::{Attr, Tag},
    tokens::TagAttributes,
};

/// The number of a node.
pub(super) type Id = usize;

/// An element or a text.
#[derive(Debug)]
pub(super) struct Node {
    /// Its name.
    pub(super) tag: Tag,
    /// Its attributes.
    pub(super) attributes: TagAttributes,
    /// What a text says.
    pub(super) text: String,
    /// What it is in.
    pub(super) parent: Id,
    /// The number after the last node in it.
    pub(super) end: Id,
}

/// The nodes of a page. The first is the page itself.
#[derive(Debug)]
pub(super) struct Tree {
    /// In the order of the page.
    pub(super) nodes: Vec<Node>,
}

impl Tree {
    /// The name of a node.
    pub(super) fn tag(&self, id: Id) -> Tag {
        self.nodes[id].tag
    }

    /// An attribute of a node.
    pub(super) fn attr(&self, id: Id, attr: Attr) -> Option<&str> {
        self.nodes[id].attributes.iter().find(|(name, _)| *name == attr).map(|(_, value)| &**value)
    }

    /// The node and all that is in it.
    pub(super) fn subtree(&self, id: Id) -> Range<Id> {
        id..self.nodes[id].end
    }

    /// What is directly in a node.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.nodes[id].end;
        let first = Some(id + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| Some(self.nodes[*child].end).filter(|next| *next < end))
    }

    /// What a node is in, from the nearest on.
    pub(super) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(id), |id| (*id > 0).then(|| self.nodes[*id].parent)).skip(1)
    }

    /// The first node of a kind in the page.
    pub(super) fn first(&self, tag: Tag) -> Option<Id> {
        self.nodes.iter().position(|node| node.tag == tag)
    }

    /// All nodes of a kind in a node.
    pub(super) fn all(&self, id: Id, wanted: impl Fn(Tag) -> bool) -> impl Iterator<Item = Id> {
        self.subtree(id).filter(move |id| wanted(self.tag(*id)))
    }

    /// The text in a node, as it is in the page.
    pub(super) fn text(&self, id: Id) -> String {
        self.subtree(id).map(|id| self.nodes[id].text.as_str()).collect()
    }
}
