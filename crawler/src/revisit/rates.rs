//! [`PageRates`]: how often the pages of a crawl change, and what a plan of visits is expected to make of it.

use std::{collections::BTreeMap, time::Duration};

use super::{Census, Class, PageState, Plan, Span};

/// Groups of rates that differ by a factor of two.
const GROUPS: f64 = 4.0;

/// The pages of each class, by how often they change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageRates {
    /// Of each class and group of rates: how many pages, and the sum of their rates.
    groups: BTreeMap<(Class, i16), (u64, f64)>,
}

impl PageRates {
    /// Adds a page, where a page of which nothing is known changes `prior` times a second (above 0).
    #[expect(clippy::cast_possible_truncation, reason = "few doublings")]
    pub fn add(&mut self, page: &PageState, prior: f64) {
        let rate = page.rate_in(prior);
        let group = self.groups.entry((page.class, (rate.log2() * GROUPS).floor() as i16)).or_default();
        *group = (group.0 + 1, group.1 + rate);
    }

    /// Whether there is no page.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many pages there are of each class.
    pub fn census(&self) -> Census {
        let mut census = Census::default();
        self.groups.iter().for_each(|((class, _), (pages, _))| census.add_pages(*class, *pages));
        census
    }

    /// What is expected from one round over all pages to the next, if each page is visited in between as the plan says. The
    /// visits that explore are left out: they come to what would be visited last.
    pub fn expected(&self, plan: &Plan, round: Duration) -> Span {
        let mut sum = Span::default();
        for ((class, _), (pages, rates)) in &self.groups {
            let pages = *pages as f64;
            sum += one(rates / pages, plan.interval(*class).as_secs_f64(), round.as_secs_f64()).times(pages);
        }
        sum
    }
}

/// A page that is visited after each interval, until a round ends.
fn one(rate: f64, interval: f64, round: f64) -> Span {
    let visits = (round / interval).floor().max(0.0);
    let mut span = Span::expected(rate, interval).times(visits);
    span += Span::expected(rate, (round - visits * interval).max(0.0));
    span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::{Bounds, Budget, Fixed, RevisitPolicy};

    #[test]
    fn visits_in_between_make_a_site_fresher() {
        let mut pages = PageRates::default();
        for number in 1..=100_u8 {
            let seconds = f32::from(number) * 600.0;
            let page = PageState { visits: 20.0, changes: 10.0, with_change: 10.0 * seconds, ..PageState::default() };
            pages.add(&PageState { without_change: page.with_change, ..page }, 1e-4);
        }
        assert_eq!(pages.census().total(), 100);
        let expected = |per_day: f64| {
            let plan = Fixed::new(Bounds::default()).plan(&pages.census(), Budget::per_day(per_day).unwrap());
            pages.expected(&plan, Duration::from_hours(24))
        };
        let [few, many] = [1.0, 100_000.0].map(expected);
        assert!((few.seconds - 100.0 * 86_400.0).abs() < 1.0 && (many.seconds - few.seconds).abs() < 1.0);
        assert!(few.freshness() < Some(0.4) && many.freshness() > Some(0.95), "{few:?} {many:?}");
        assert!(few.mean_age() > many.mean_age());
    }

    #[test]
    fn a_round_is_the_interval_where_no_visit_comes_before_it() {
        assert_eq!(one(1e-3, 1e9, 500.0), Span::expected(1e-3, 500.0));
        let two = one(1e-3, 250.0, 500.0);
        assert!((two.fresh - 2.0 * Span::expected(1e-3, 250.0).fresh).abs() < 1e-9);
    }
}
