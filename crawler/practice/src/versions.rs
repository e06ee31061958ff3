//! Versions of the site: which pages are edited, removed or new in each.
//!
//! Invariants: what a version changes is a pure function of shape and version; what was removed stays removed; a removed page
//! was the only way to nothing, so all other pages stay reachable.
//!
//! Does not know: how a page is written, or served.

use std::collections::BTreeSet;

use super::{PracticeSite, articles, spelling::mix};

/// New pages of a version.
const NEW_STORIES: u32 = 5;

/// One page in so many is edited for a version.
const EDITED_OF: u32 = 30;

/// Of the pages that may be removed, one in so many is removed with a version.
const REMOVED_OF: u32 = 25;

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

/// The pages `/news/1` to `/news/N` that this version has.
pub(super) fn stories(site: &PracticeSite) -> u32 {
    site.version.saturating_sub(1).saturating_mul(NEW_STORIES)
}

/// How often an ordinary page was edited, up to this version.
pub(super) fn edits(site: &PracticeSite, number: u32) -> u32 {
    let edited = |version: &u32| mix(site.shape.seed, number, 20_000 + version).is_multiple_of(EDITED_OF);
    (2..=site.version).filter(edited).count().try_into().unwrap_or(u32::MAX)
}

/// Whether an ordinary page was removed in this version or before. Only a page without children in the tree, and without a
/// link that no other page has, can be.
pub(super) fn is_removed(site: &PracticeSite, number: u32) -> bool {
    let removed = |version: u32| mix(site.shape.seed, number, 30_000 + version).is_multiple_of(REMOVED_OF);
    let is_leaf = number.checked_mul(articles::FAN_OUT).is_none_or(|child| child >= site.shape.pages);
    is_leaf && (2..=site.version).any(removed) && articles::sights(site, number).is_empty()
}

/// What differs between complete crawls of two versions.
pub(super) fn compare(before: &PracticeSite, after: &PracticeSite) -> SiteChanges {
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

    #[test]
    fn what_is_removed_stays_removed() {
        let site = |version| PracticeSite::new(Shape::default()).in_version(version);
        for number in 0..3000 {
            assert!(!is_removed(&site(1), number) && edits(&site(1), number) == 0);
            assert!(!is_removed(&site(2), number) || is_removed(&site(3), number));
        }
        assert_eq!(site(0).version(), 1);
    }
}
