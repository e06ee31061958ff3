//! [`Element`]: where on a page a link is.

/// The element that a link was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// `a`
    Anchor,
    /// `area`
    Area,
    /// Any other, in lists that hold no links to pages.
    Other,
}

impl Element {
    /// That of a link to a page, by its tag's name.
    pub(super) fn of_link(name: &[u8]) -> Self {
        if name.len() == 1 { Self::Anchor } else { Self::Area }
    }
}
