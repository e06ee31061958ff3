//! [`SiteChanges`]: what differs between two versions of the site.

use std::collections::BTreeSet;

use super::PracticeSite;

/// What a complete crawl finds changed between two versions, by path and query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteChanges {
    /// Stored in both, with another body.
    pub changed: BTreeSet<String>,
    /// Stored in the earlier version, and broken in the later one.
    pub gone: BTreeSet<String>,
    /// Stored in the later version alone.
    pub new: BTreeSet<String>,
}

impl PracticeSite {
    /// What a complete crawl finds changed since a complete crawl of `before`, which is an earlier version of this site.
    ///
    /// ```
    /// use webloom_practice::{PracticeSite, Shape};
    /// let first = PracticeSite::new(Shape::demo());
    /// let second = first.clone().in_version(2);
    /// assert!(second.changes_since(&first).new.contains("/news/"));
    /// ```
    pub fn changes_since(&self, before: &Self) -> SiteChanges {
        compare(before, self)
    }
}

fn compare(before: &PracticeSite, after: &PracticeSite) -> SiteChanges {
    let earlier = before.truth();
    let later = after.truth();
    let mut changes = SiteChanges::default();
    for path in later.stored.into_keys() {
        if !earlier.stored.contains_key(&path) {
            changes.new.insert(path);
        } else if before.answer(&path).body != after.answer(&path).body {
            changes.changed.insert(path);
        }
    }
    changes.gone = earlier.stored.into_keys().filter(|path| later.broken.contains_key(path)).collect();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn a_version_edits_removes_and_adds_and_the_rest_stays() {
        let first = PracticeSite::new(Shape::demo());
        let second = first.clone().in_version(2);
        let changes = second.changes_since(&first);
        assert!((5..=25).contains(&changes.changed.len()), "{changes:?}");
        assert!((3..=20).contains(&changes.gone.len()), "{changes:?}");
        assert_eq!(changes.new.len(), 6, "five stories and the page that lists them");
        let stored = first.truth().stored.len() - changes.gone.len() + changes.new.len();
        assert_eq!(second.truth().stored.len(), stored, "nothing else has become unreachable");
        assert!(changes.gone.iter().all(|path| second.answer(path).status == 410));
        assert_eq!(first.changes_since(&first), SiteChanges::default());
    }
}
