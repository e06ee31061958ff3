//! [`Optimal`]: visits divided so that one more adds the same freshness wherever it is made.

use super::{
    Bounds, Budget, Census, Class, Importance, PageState, Plan, RevisitPolicy, SectionPath, Seen, freshness,
    section::Sections,
};

/// What old evidence weighs after each further visit: 100 visits are remembered, so that a page may change its habits.
const MEMORY: f64 = 0.99;

/// Expected freshness, weighted by importance, at its greatest.
///
/// The class of a page is its importance and its rate of change, as estimated at its last visit with the mean of its section
/// for a prior; that of a page not visited yet is the section's. The plan gives each class the interval after which a visit
/// adds equally much, found by bisection.
#[derive(Debug, Clone, Default)]
pub struct Optimal {
    bounds: Bounds,
    explore: f64,
    sections: Sections,
}

impl Optimal {
    /// The usual share of visits that go to the pages longest unvisited.
    pub const EXPLORE: f64 = 0.05;

    /// With intervals within these bounds, and this share of the visits (0 to 1) for the pages longest unvisited. Without
    /// these a page once taken for one that changes too fast would hardly be asked again whether it still does.
    pub fn new(bounds: Bounds, explore: f64) -> Self {
        Self { bounds, explore: explore.clamp(0.0, 1.0), sections: Sections::default() }
    }
}

impl RevisitPolicy for Optimal {
    fn admit(&self, path: &SectionPath, importance: Importance) -> Class {
        Class::of_rate(self.sections.rate(path), importance)
    }

    fn observe(&mut self, page: &mut PageState, path: &SectionPath, importance: Importance, seen: Seen) {
        self.forget(page, path);
        page.add(seen, MEMORY);
        page.class = Class::of_rate(page.rate_in(self.sections.rate(path)), importance);
        self.recall(page, path);
    }

    fn forget(&mut self, page: &PageState, path: &SectionPath) {
        if page.visits > 0.0 {
            self.sections.add(path, -1.0, -page.class.rate());
        }
    }

    fn recall(&mut self, page: &PageState, path: &SectionPath) {
        if page.visits > 0.0 {
            // By its class, because that is what will be taken away again.
            self.sections.add(path, 1.0, page.class.rate());
        }
    }

    fn plan(&self, census: &Census, budget: Budget) -> Plan {
        let plan = Plan::spend(census, budget.times(1.0 - self.explore), self.bounds, |class, gain| {
            freshness::interval(class.rate(), gain / class.importance().weight())
        });
        plan.exploring(self.explore)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Moment;

    #[test]
    fn importance_shortens_the_interval_and_a_section_lends_its_rate() {
        let mut policy = Optimal::new(Bounds::default(), 0.0);
        let path = SectionPath::of("/news/a");
        let before = policy.admit(&path, Importance::default());
        for visit in 1..=40 {
            let mut page = PageState::new(Moment::EPOCH, before);
            let seen = Seen { at: Moment::from_millis(visit * 60_000), changed: true };
            policy.observe(&mut page, &path, Importance::default(), seen);
        }
        assert!(policy.admit(&SectionPath::of("/news/b"), Importance::default()) < before);
        let [low, high] = [1, 1000].map(|links| policy.admit(&path, Importance::of_links(links)));
        let census = [low, high].into_iter().collect();
        let plan = policy.plan(&census, Budget::per_day(1.0).expect("above 0"));
        assert!(plan.interval(high) < plan.interval(low));
    }
}
