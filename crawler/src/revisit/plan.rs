//! [`Plan`]: the interval of each class, divided from a budget.

use std::time::Duration;

use super::{Budget, Class};
use crate::time::Moment;

/// Halvings of the range in which a multiplier is looked for.
const HALVINGS: u32 = 50;

/// How many pages there are of each class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    pages: Vec<u64>,
}

/// Between which bounds an interval may lie. A budget that is too small for the longest wins over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    min: Duration,
    max: Duration,
}

/// How often each class is due, and which share of the visits goes to the pages longest unvisited whatever their class.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// In seconds, all above 0.
    intervals: Vec<f64>,
    explore: f64,
}

impl Census {
    /// One page more of this class.
    pub fn add(&mut self, class: Class) {
        self.pages[class.index()] += 1;
    }

    /// So many pages more of this class.
    pub fn add_pages(&mut self, class: Class, pages: u64) {
        self.pages[class.index()] += pages;
    }

    /// The classes that have pages, ascending.
    pub fn classes(&self) -> impl Iterator<Item = Class> {
        self.occupied().map(|(class, _)| class)
    }

    /// One page less of this class.
    pub fn remove(&mut self, class: Class) {
        self.pages[class.index()] = self.pages[class.index()].saturating_sub(1);
    }

    /// Pages of all classes.
    pub fn total(&self) -> u64 {
        self.pages.iter().sum()
    }

    fn occupied(&self) -> impl Iterator<Item = (Class, f64)> {
        Class::all().zip(&self.pages).filter(|(_, pages)| **pages > 0).map(|(class, pages)| (class, *pages as f64))
    }
}

impl Default for Census {
    fn default() -> Self {
        Self { pages: vec![0; Class::COUNT] }
    }
}

impl FromIterator<Class> for Census {
    fn from_iter<T: IntoIterator<Item = Class>>(classes: T) -> Self {
        let mut census = Self::default();
        classes.into_iter().for_each(|class| census.add(class));
        census
    }
}

impl Bounds {
    /// From `min` to `max`, the shorter first; at least a second.
    pub fn new(min: Duration, max: Duration) -> Self {
        let min = min.max(Duration::from_secs(1));
        Self { min, max: max.max(min) }
    }

    fn clamp(self, seconds: f64) -> f64 {
        seconds.clamp(self.min.as_secs_f64(), self.max.as_secs_f64())
    }
}

impl Default for Bounds {
    /// A minute to thirty years.
    fn default() -> Self {
        Self::new(Duration::from_mins(1), Duration::from_hours(30 * 365 * 24))
    }
}

impl Plan {
    /// The plan that spends the budget: `interval(class, multiplier)`, in seconds, must not fall as the multiplier grows.
    ///
    /// The multiplier is found by bisection, so that all visits together are the budget; where the bounds do not
    /// allow that they are less, or the intervals of all classes become longer than the bounds.
    pub(super) fn spend(census: &Census, budget: Budget, bounds: Bounds, interval: impl Fn(Class, f64) -> f64) -> Self {
        let within = |class, multiplier| bounds.clamp(interval(class, multiplier));
        let demand = |multiplier: f64| -> f64 {
            census.occupied().map(|(class, pages)| pages / within(class, multiplier)).sum()
        };
        let [mut low, mut high] = [1e-9_f64, 1e18].map(f64::ln);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if demand(middle.exp()) > budget.per_second() { low = middle } else { high = middle }
        }
        let multiplier = high.exp();
        let over = (demand(multiplier) / budget.per_second()).max(1.0);
        Self { intervals: Class::all().map(|class| within(class, multiplier) * over).collect(), explore: 0.0 }
    }

    /// The same, with a share of all visits going to the pages longest unvisited.
    pub(super) fn exploring(self, share: f64) -> Self {
        Self { explore: share, ..self }
    }

    /// How long after its last visit a page of this class is due.
    pub fn interval(&self, class: Class) -> Duration {
        Duration::try_from_secs_f64(self.intervals[class.index()]).unwrap_or(Duration::MAX)
    }

    /// The share of all visits, 0 to 1, that goes to the pages longest unvisited.
    pub fn explore(&self) -> f64 {
        self.explore
    }

    /// Visits a second that the intervals ask for, those that explore left out.
    pub fn visits_per_second(&self, census: &Census) -> f64 {
        census.occupied().map(|(class, pages)| pages / self.intervals[class.index()]).sum()
    }

    /// How many of its intervals have passed since the last visit of a page of this class; it is due from 1 on.
    pub fn overdue(&self, class: Class, last_visit: Moment, now: Moment) -> f64 {
        now.since(last_visit).as_secs_f64() / self.intervals[class.index()]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::revisit::{Fixed, Multiplicative, Optimal, RevisitPolicy};

    fn policies(bounds: Bounds) -> [Box<dyn RevisitPolicy>; 3] {
        [
            Box::new(Fixed::new(bounds)),
            Box::new(Multiplicative::new(bounds)),
            Box::new(Optimal::new(bounds, Optimal::EXPLORE)),
        ]
    }

    proptest! {
        #[test]
        fn plans_spend_the_budget_and_no_more(
            classes in prop::collection::vec(any::<u8>(), 1..500), per_day in 0.1..1e5_f64, longest in 1..2000_u64,
        ) {
            let census: Census = classes.iter().copied().map(Class).collect();
            let budget = Budget::per_day(per_day).unwrap();
            for policy in policies(Bounds::default()) {
                let plan = policy.plan(&census, budget);
                let spent = plan.visits_per_second(&census) / budget.per_second() + plan.explore();
                prop_assert!(spent <= 1.0 + 1e-9, "{spent}");
                let shortest = classes.iter().map(|class| plan.interval(Class(*class))).min().unwrap();
                prop_assert!(spent > 0.99 || shortest <= Duration::from_secs(61), "{spent} {shortest:?}");
            }
            for policy in policies(Bounds::new(Duration::from_hours(1), Duration::from_hours(longest))) {
                let plan = policy.plan(&census, budget);
                prop_assert!(plan.visits_per_second(&census) <= budget.per_second() * (1.0 + 1e-9));
                prop_assert!(classes.iter().all(|class| plan.interval(Class(*class)) >= Duration::from_mins(59)));
            }
        }
    }

    #[test]
    fn a_site_without_pages_has_a_plan_too() {
        for policy in policies(Bounds::default()) {
            let plan = policy.plan(&Census::default(), Budget::per_day(1.0).unwrap());
            assert!(plan.interval(Class(9)) >= Duration::from_mins(1));
        }
    }
}
