//! [`Fixed`]: every page at the same interval, the one that the budget allows.

use super::{About, Bounds, Budget, Census, Class, PageState, Plan, RevisitPolicy, SectionPath, Seen};

/// Every page in turn. What is learnt of a page is kept, and not used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fixed {
    bounds: Bounds,
}

impl Fixed {
    /// With an interval within these bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds }
    }
}

impl RevisitPolicy for Fixed {
    fn admit(&self, _: &About) -> Class {
        Class::default()
    }

    fn observe(&mut self, page: &mut PageState, _: &About, seen: Seen) {
        page.add(seen, 1.0);
        page.class = Class::default();
    }

    fn forget(&mut self, _: &PageState, _: &SectionPath) {}

    fn recall(&mut self, _: &PageState, _: &SectionPath) {}

    fn classify(&self, _: &PageState, _: &About) -> Class {
        Class::default()
    }

    fn plan(&self, census: &Census, budget: Budget) -> Plan {
        Plan::spend(census, budget, self.bounds, |_, interval| interval)
    }
}
