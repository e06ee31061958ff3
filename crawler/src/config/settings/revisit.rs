//! `[revisit]`.

use std::{marker::PhantomData, time::Duration};

use crate::{
    config::{
        reader::KeyReader,
        rules::{OneOf, Parsed, Real, Span, words},
    },
    revisit::{BadBudget, Bounds, Budget, Fixed, Multiplicative, Optimal, RevisitPolicy},
};

const BUDGETS: Parsed<Budget> = Parsed {
    allowed: "visits a day or an hour, such as \"1000/day\"",
    parse: |text| text.trim().parse().map_err(|error: BadBudget| error.to_string()),
};

words! {
    /// Whether single pages are visited between the sequences of a crawl that is watched.
    AdaptiveChoice {
        /// They are.
        On = "on",
        /// They are not.
        Off = "off",
    }
}

words! {
    /// How visits are divided among pages.
    PolicyChoice {
        /// Each page in turn.
        Fixed = "fixed",
        /// By an interval that grows and shrinks.
        Multiplicative = "multiplicative",
        /// For the greatest expected freshness.
        Optimal = "optimal",
    }
}

/// Pages that are asked for once more.
#[derive(Debug, Clone)]
pub struct RevisitSettings {
    /// Share of the answers "not modified" that are checked by fetching the page whole, 0 to 1.
    pub audit_not_modified: f64,
    /// Whether single pages are visited between the sequences of a crawl that is watched.
    pub adaptive: AdaptiveChoice,
    /// How these visits are divided among the pages.
    pub policy: PolicyChoice,
    /// How many there may be.
    pub budget: Budget,
    /// The shortest time between two of them at one page.
    pub min_interval: Duration,
    /// The longest, where the budget allows it.
    pub max_interval: Duration,
    /// Share of them for the pages longest unvisited, 0 to 1.
    pub explore: f64,
}

impl RevisitSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let interval = Span(Duration::from_secs(1)..=Duration::from_hours(24 * 3650));
        Self {
            audit_not_modified: reader.read("revisit.audit_not_modified", &Real(0.0..=1.0)),
            adaptive: reader.read("revisit.adaptive", &OneOf(PhantomData)),
            policy: reader.read("revisit.policy", &OneOf(PhantomData)),
            budget: reader.read("revisit.budget", &BUDGETS),
            min_interval: reader.read("revisit.min_interval", &interval),
            max_interval: reader.read("revisit.max_interval", &interval),
            explore: reader.read("revisit.explore", &Real(0.0..=1.0)),
        }
    }

    /// The policy, which has seen nothing yet.
    pub fn policy(&self) -> Box<dyn RevisitPolicy + Send> {
        let bounds = Bounds::new(self.min_interval, self.max_interval);
        match self.policy {
            PolicyChoice::Fixed => Box::new(Fixed::new(bounds)),
            PolicyChoice::Multiplicative => Box::new(Multiplicative::new(bounds)),
            PolicyChoice::Optimal => Box::new(Optimal::new(bounds, self.explore)),
        }
    }
}
