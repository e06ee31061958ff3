//! Versions of the site: which pages are edited, removed or new in each.
//!
//! Invariants: shape and version alone decide what a version changes; a removed page stays removed; a removed page was never the only way
//! to another page, so all others stay reachable.
//!
//! Does not know: how pages are written or served.

use super::{PracticeSite, articles, spelling::mix};

/// New pages of a version.
const NEW_STORIES: u32 = 5;

/// One page in so many is edited for a version.
const EDITED_OF: u32 = 30;

/// Of the pages that may be removed, one in so many is removed with a version.
const REMOVED_OF: u32 = 25;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

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
