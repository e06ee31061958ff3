//! [`Key`]: the canonical form of a URL.

use std::fmt;

/// What identifies a page: equal keys are one page.
///
/// It is made by a [`Canonicalizer`](super::Canonicalizer).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Box<str>);

impl Key {
    /// The only constructor: a canonical text, as the [`Canonicalizer`](super::Canonicalizer) writes it.
    pub(super) fn of(text: &str) -> Self {
        Self(text.into())
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.0)
    }
}
