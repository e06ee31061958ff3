//! [`Optimal`]: visits divided so that one more adds the same freshness wherever it is made.

use super::{
    About, Bounds, Budget, Census, Class, Importance, PageState, Plan, RevisitPolicy, SectionPath, Sections, Seen,
    freshness,
};

/// What old evidence weighs after each further visit: 100 visits are remembered, so that a page may change its habits.
const MEMORY: f64 = 0.99;

/// Expected freshness, weighted by importance, at its greatest.
///
/// The class of a page is its importance and its rate of change, as estimated at its last visit with the mean of its section
/// for a prior; that of a page not visited yet is the section's. What a server says of a page counts for a part of the prior. The plan gives each class the interval after which a visit
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
    fn admit(&self, about: &About) -> Class {
        self.classify(&PageState::default(), about)
    }

    fn observe(&mut self, page: &mut PageState, about: &About, seen: Seen) {
        self.forget(page, &about.path);
        page.add(seen, MEMORY);
        page.class = self.classify(page, about);
        self.recall(page, &about.path);
    }

    fn forget(&mut self, page: &PageState, path: &SectionPath) {
        if page.visits > 0.0 {
            self.sections.remove(path, page.class.rate());
        }
    }

    fn recall(&mut self, page: &PageState, path: &SectionPath) {
        if page.visits > 0.0 {
            // By its class, because that is what will be taken away again.
            self.sections.add(path, page.class.rate());
        }
    }

    fn classify(&self, page: &PageState, about: &About) -> Class {
        let expected = about.rate(self.sections.rate(&about.path), page.visits);
        let rate = if page.visits > 0.0 { page.rate_in(expected) } else { expected };
        Class::of_rate(rate, about.importance)
    }

    fn weigh(&self, class: Class, importance: Importance) -> Option<Class> {
        Some(class.with_importance(importance))
    }

    fn sections(&mut self) -> Option<&mut Sections> {
        Some(&mut self.sections)
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
    use std::time::Duration;

    use super::*;
    use crate::{revisit::Hint, time::Moment};

    const HOUR: u64 = 3_600_000;

    fn admitted(policy: &Optimal, path: &str, importance: Importance, hint: u32) -> Class {
        let path = SectionPath::of(path);
        policy.admit(&About { path, importance, hint: Hint::of_seconds(hint) })
    }

    #[test]
    fn a_section_lends_its_rate() {
        let mut policy = Optimal::new(Bounds::default(), 0.0);
        let about = About::at(SectionPath::of("/news/a"));
        let before = policy.admit(&about);
        for visit in 1..=40 {
            let mut page = PageState::new(Moment::EPOCH, before);
            let seen = Seen { at: Moment::from_millis(visit * HOUR), changed: true };
            policy.observe(&mut page, &about, seen);
        }
        assert!(admitted(&policy, "/news/b", Importance::default(), 0) < before);
    }

    #[test]
    fn what_more_pages_link_to_is_visited_more_often() {
        let policy = Optimal::new(Bounds::default(), 0.0);
        let budget = Budget::per_day(1.0).expect("above 0");
        let class = |links| admitted(&policy, "/a", Importance::of_links(links), 0);
        let plan = policy.plan(&[1, 3, 15, 255].map(class).into_iter().collect(), budget);
        let intervals = [1, 3, 15, 255].map(|links| plan.interval(class(links)));
        assert!(intervals.is_sorted_by(|one, next| next < one), "{intervals:?}");
        // Where all weigh the same, the weight is of no account.
        for links in [1, 255] {
            let interval = policy.plan(&[class(links); 3].into_iter().collect(), budget).interval(class(links));
            assert!((interval.as_secs_f64() / 86_400.0 - 3.0).abs() < 1e-6, "{interval:?}");
        }
        let other = |links| Class::of_rate(1e-4, Importance::of_links(links));
        let intervals = [1, 255].map(|links| {
            let plan = policy.plan(&[class(links), other(links)].into_iter().collect(), budget);
            [plan.interval(class(links)), plan.interval(other(links))].map(|interval| interval.as_secs_f64())
        });
        assert!(intervals[0].iter().zip(intervals[1]).all(|(one, other)| (one / other - 1.0).abs() < 1e-6));
    }

    #[test]
    fn a_hint_counts_until_visits_tell_more() {
        let mut policy = Optimal::new(Bounds::new(Duration::from_hours(1), Duration::from_hours(24 * 365)), 0.0);
        let hints = [3600, 0, 315_360_000];
        let class = |policy: &Optimal, hint| admitted(policy, "/a", Importance::default(), hint);
        let classes = hints.map(|hint| class(&policy, hint));
        assert!(classes[0] < classes[1] && classes[1] < classes[2], "{classes:?}");
        let plan = policy.plan(&classes.into_iter().collect(), Budget::per_day(1e4).expect("above 0"));
        assert!(classes.iter().all(|class| plan.interval(*class) >= Duration::from_hours(1)));
        // Pages that change every day, whatever is said of them.
        let rates = hints.map(|hint| {
            let about = About { hint: Hint::of_seconds(hint), ..About::at(SectionPath::of("/a")) };
            let mut page = PageState::new(Moment::EPOCH, policy.admit(&about));
            for day in 1..=20 {
                let seen = Seen { at: Moment::from_millis(day * 24 * HOUR), changed: day % 2 == 0 };
                policy.observe(&mut page, &about, seen);
            }
            page.class.rate()
        });
        assert!(rates[0] / rates[2] < 1.5, "{rates:?}");
    }
}
