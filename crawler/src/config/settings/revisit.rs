//! `[revisit]`.

use std::{marker::PhantomData, ops::RangeInclusive, time::Duration};

use super::pattern::pattern_behind;
use crate::{
    config::{
        RawValue, parse_duration, print_duration,
        reader::KeyReader,
        rules::{Checked, DurationRange, OneOf, Parsed, Real, Rule, words},
    },
    revisit::{
        BadBudget, Bounds, Budget, Fixed, GivenInterval, GivenIntervals, Multiplicative, Optimal, RevisitPolicy,
    },
};

/// The key of the sections.
pub(in crate::config) const SECTIONS: &str = "revisit.sections";

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
    /// Pages that have an interval of their own.
    pub sections: GivenIntervals,
}

/// The times that may lie between two visits.
const INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(24 * 3650);

impl RevisitSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let interval = DurationRange(INTERVALS);
        Self {
            audit_not_modified: reader.read("revisit.audit_not_modified", &Real(0.0..=1.0)),
            adaptive: reader.read("revisit.adaptive", &OneOf(PhantomData)),
            policy: reader.read("revisit.policy", &OneOf(PhantomData)),
            budget: reader.read("revisit.budget", &BUDGETS),
            min_interval: reader.read("revisit.min_interval", &interval),
            max_interval: reader.read("revisit.max_interval", &interval),
            explore: reader.read("revisit.explore", &Real(0.0..=1.0)),
            sections: reader.read(SECTIONS, &SectionIntervals),
        }
    }

    /// Whether pages are visited between sequences.
    pub fn visits_between(&self) -> bool {
        self.adaptive == AdaptiveChoice::On || !self.sections.is_empty()
    }

    /// What decides which class a page has: where it changes, all have another.
    pub fn classed_by(&self) -> String {
        let policy = if self.adaptive == AdaptiveChoice::On { self.policy.as_str() } else { "none" };
        format!("{policy}\n{}", self.sections.patterns())
    }

    /// The policy, which has seen nothing yet.
    pub fn policy(&self) -> Box<dyn RevisitPolicy + Send> {
        let bounds = Bounds::new(self.min_interval, self.max_interval);
        match self.policy {
            // Nothing is divided.
            _ if self.adaptive == AdaptiveChoice::Off => Box::new(Fixed::new(bounds)),
            PolicyChoice::Fixed => Box::new(Fixed::new(bounds)),
            PolicyChoice::Multiplicative => Box::new(Multiplicative::new(bounds)),
            PolicyChoice::Optimal => Box::new(Optimal::new(bounds, self.explore)),
        }
    }
}

/// A list of patterns, each with an interval.
struct SectionIntervals;

/// What an interval of a section is.
const ENTRY_INTERVAL: &str = "with an interval of 1s to 3650d";

impl Rule for SectionIntervals {
    type Value = GivenIntervals;

    fn allowed(&self) -> String {
        format!("a list; each entry is REGEX=INTERVAL, {ENTRY_INTERVAL}")
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<GivenIntervals>, String> {
        let (mut rules, mut canonical) = (Vec::new(), Vec::new());
        for (at, text) in raw.as_list().ok_or_else(|| self.refusal())?.iter().enumerate() {
            let rule = section(&rules, text).map_err(|why| format!("entry {}: {why}", at + 1))?;
            canonical.push(format!("{}={}", rule.pattern, print_duration(rule.interval)));
            rules.push(rule);
        }
        Ok(Checked { value: GivenIntervals::new(rules), canonical: RawValue::List(canonical) })
    }
}

/// An entry, behind others.
fn section(others: &[GivenInterval], text: &str) -> Result<GivenInterval, String> {
    let Some((regex, interval)) = text.trim().rsplit_once('=') else {
        return Err(format!("it has no interval; give REGEX=INTERVAL, {ENTRY_INTERVAL}"));
    };
    let (regex, interval) = (regex.trim(), parse_duration(interval.trim()));
    let pattern = pattern_behind(others.iter().map(|other| &other.pattern), regex)?;
    let interval = interval.filter(|interval| INTERVALS.contains(interval));
    let interval = interval.ok_or_else(|| "give an interval from 1s to 3650d".to_owned())?;
    Ok(GivenInterval { pattern, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entries: &[&str]) -> Result<(Vec<Duration>, String), String> {
        let list = RawValue::List(entries.iter().map(|&entry| entry.to_owned()).collect());
        let checked = SectionIntervals.check(&list)?;
        let intervals = checked.value.rules().iter().map(|rule| rule.interval).collect();
        Ok((intervals, checked.canonical.to_string()))
    }

    #[test]
    fn entries_are_patterns_with_intervals() {
        let found = read(&[" ^https?://[^/]+/news/ = 60m ", "[?]a=b=90"]).unwrap();
        assert_eq!(found.0, [Duration::from_hours(1), Duration::from_secs(90)]);
        assert_eq!(found.1, "[\"^https?://[^/]+/news/=1h\", \"[?]a=b=1m30s\"]");
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        let interval = "entry 2: give an interval from 1s to 3650d";
        for (entry, why) in [
            ("/a/", "entry 2: it has no interval; give REGEX=INTERVAL, with an interval of 1s to 3650d"),
            ("/a/=", interval),
            ("/a/=soon", interval),
            ("/a/=999ms", interval),
            ("/a/=3651d", interval),
            ("(=1h", "entry 2: unclosed group; give a regular expression"),
            ("=1h", "entry 2: the pattern is empty; give a regular expression"),
            ("x=2h", "entry 2: entry 1 has the same pattern and comes first"),
        ] {
            assert_eq!(read(&["x=1h", entry]), Err(why.to_owned()), "{entry}");
        }
    }
}
