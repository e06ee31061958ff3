//! [`Sums`]: how much text is in each part of a page, and how much of it is links.

use super::{
    tags::{Attr, Tag},
    tree::Id,
    view::View,
};

/// The lengths of texts in bytes, without spaces, for each node and all in it that is not left out.
#[derive(Debug)]
pub(super) struct Sums {
    /// All text.
    pub(super) length: Vec<usize>,
    /// Text in links.
    pub(super) linked: Vec<usize>,
}

impl Sums {
    /// Those of a page.
    pub(super) fn of(view: &View<'_>) -> Self {
        let tree = view.tree;
        let count = tree.nodes.len();
        let mut sums = Self { length: vec![0; count], linked: vec![0; count] };
        let mut link_end = 0;
        for id in view.seen(0) {
            if tree.tag(id) == Tag::A && tree.attr(id, Attr::Href).is_some_and(|href| !href.starts_with('#')) {
                link_end = tree.nodes[id].end.max(link_end);
            }
            sums.length[id] = tree.nodes[id].text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
            sums.linked[id] = if id < link_end { sums.length[id] } else { 0 };
        }
        for id in (1..count).rev() {
            let parent = tree.nodes[id].parent;
            sums.length[parent] += sums.length[id];
            sums.linked[parent] += sums.linked[id];
        }
        sums
    }

    /// Text that is no link.
    pub(super) fn prose(&self, id: Id) -> usize {
        self.length[id] - self.linked[id]
    }

    /// Whether `part` holds at least so many hundredths of the text of `all`.
    pub(super) fn holds(&self, part: Id, hundredths: usize, all: Id) -> bool {
        self.length[part] * 100 >= self.length[all] * hundredths
    }

    /// Whether at least so many hundredths of the text are links.
    pub(super) fn is_linked(&self, id: Id, hundredths: usize) -> bool {
        self.linked[id] * 100 >= self.length[id] * hundredths
    }
}
