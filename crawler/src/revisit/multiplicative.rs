//! [`Multiplicative`]: an interval of its own for each page, shorter after each change and longer without one.

use super::{About, Bounds, Budget, Census, Class, PageState, Plan, RevisitPolicy, SectionPath, Seen};

/// Where a page begins: in the middle, so that there is room both ways.
const FIRST: Class = Class(128);

/// Classes down after a change: an interval of 0.8 times the one before.
const AFTER_CHANGE: i16 = -3;

/// Classes up without one: 1.4 times.
const WITHOUT_CHANGE: i16 = 4;

/// As Apache Nutch's adaptive fetch schedule, with its factors: the class of a page is its interval. All intervals are
/// multiplied by one factor, so that they make up the budget.
#[derive(Debug, Clone, Copy, Default)]
pub struct Multiplicative {
    bounds: Bounds,
}

impl Multiplicative {
    /// With intervals within these bounds.
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds }
    }
}

impl RevisitPolicy for Multiplicative {
    fn admit(&self, _: &About) -> Class {
        FIRST
    }

    fn observe(&mut self, page: &mut PageState, _: &About, seen: Seen) {
        page.add(seen, 1.0);
        page.class = page.class.moved(if seen.changed { AFTER_CHANGE } else { WITHOUT_CHANGE });
    }

    fn forget(&mut self, _: &PageState, _: &SectionPath) {}

    fn recall(&mut self, _: &PageState, _: &SectionPath) {}

    /// As after as many changes and visits without one, from the middle.
    fn classify(&self, page: &PageState, _: &About) -> Class {
        let quiet = page.visits - page.changes;
        FIRST.moved(steps(page.changes, AFTER_CHANGE) + steps(quiet, WITHOUT_CHANGE))
    }

    fn plan(&self, census: &Census, budget: Budget) -> Plan {
        Plan::spend(census, budget, self.bounds, |class, factor| class.seconds() * factor)
    }
}

/// So many times `of`, no farther than there are classes.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the number of classes")]
fn steps(times: f32, of: i16) -> i16 {
    (times * f32::from(of)).clamp(-256.0, 256.0) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_factors_are_those_of_nutch() {
        let factor = |steps| FIRST.moved(steps).seconds() / FIRST.seconds();
        assert!((factor(AFTER_CHANGE) - 0.8).abs() < 0.03 && (factor(WITHOUT_CHANGE) - 1.4).abs() < 0.04);
    }
}
