//! [`About`]: what is known of a page, beside its visits.

use super::{Hint, Importance, SectionPath};

/// What a policy knows of a page.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The sections that it belongs to.
    pub path: SectionPath,
    /// How much it matters.
    pub importance: Importance,
    /// What its server says of it.
    pub hint: Option<Hint>,
}

impl About {
    /// A page of which only its place is known.
    pub fn at(path: SectionPath) -> Self {
        Self { path, importance: Importance::default(), hint: None }
    }

    /// The rate to be expected of it, where those of its section have this one and it was visited so often.
    pub(super) fn rate(&self, section: f64, visits: f32) -> f64 {
        self.hint.map_or(section, |hint| hint.rate(section, f64::from(visits)))
    }
}
