//! What a summary says of freshness and age: measured between the looks of its sequence, and expected until the next one.
//!
//! Does not know: what these are (the pure core does), and how looks are summed up (the store does).

use serde_json::{Value, json};

use crate::{
    config::{AdaptiveChoice, Layers, Settings},
    revisit::Span,
    store::StoredSummary,
};

/// The figures of a sequence; each is `None` where there is none.
#[derive(Debug, Default)]
pub(super) struct FreshnessFigures {
    /// The share of the looks that found the page as its copy had it.
    at_looks: Option<f64>,
    /// The times before the looks.
    measured: Option<Span>,
    /// The time until the next sequence.
    expected: Option<Span>,
}

impl FreshnessFigures {
    /// Those of the last sequence.
    pub(super) fn of(summary: &StoredSummary) -> Self {
        let (looks, kept) = (&summary.counters.looks, &summary.kept_looks);
        let total = looks.total();
        Self {
            at_looks: (total.looks > 0).then(|| (total.looks - total.changed) as f64 / total.looks as f64),
            measured: (total.looks > 0).then(|| looks.measured(kept)),
            expected: expected(summary),
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.measured.is_none() && self.expected.is_none()
    }

    /// Two members of a document.
    pub(super) fn document(&self) -> [(String, Value); 2] {
        let freshness = |span: Option<Span>| span.and_then(|span| span.freshness());
        let age = |span: Option<Span>| span.and_then(|span| span.mean_age());
        let Self { at_looks, measured, expected } = *self;
        [
            (
                "freshness".to_owned(),
                json!({"expected": freshness(expected), "measured": freshness(measured), "at_looks": at_looks}),
            ),
            ("age".to_owned(), json!({"expected_seconds": age(expected), "measured_seconds": age(measured)})),
        ]
    }

    /// A line for people; none where there is no figure.
    pub(super) fn line(&self) -> String {
        let measured = self.measured.and_then(words).map(|words| {
            let found = self.at_looks.map(|share| format!(" ({} when visited)", percent(share)));
            format!("measured {words}{}", found.unwrap_or_default())
        });
        let expected = self.expected.and_then(words).map(|words| format!("expected until the next sequence {words}"));
        let parts: Vec<_> = measured.into_iter().chain(expected).collect();
        if parts.is_empty() { String::new() } else { format!("fresh       {}\n", parts.join("; ")) }
    }
}

/// What the schedule gives until the next sequence, if pages go on to change as they did. Where there is no schedule, the next is
/// taken to come after as long as the last came.
fn expected(summary: &StoredSummary) -> Option<Span> {
    let looks = &summary.counters.looks;
    let settings = summary.settings.as_deref().and_then(|text| Layers::new().stored(text).resolve().ok())?.settings;
    let round = match settings.schedule.schedule("") {
        Ok(schedule) => schedule.next_after(summary.began_at).since(summary.began_at).as_secs_f64(),
        Err(_) => looks.total().mean_interval()?,
    };
    if let Some(span) = between(summary, &settings, round) {
        return Some(span);
    }
    let known = if looks.is_empty() { &summary.kept_looks } else { looks };
    (!known.is_empty()).then(|| known.expected(&summary.kept_looks, round))
}

/// The same where single pages are visited in between.
fn between(summary: &StoredSummary, settings: &Settings, round: f64) -> Option<Span> {
    let is_adaptive = settings.revisit.adaptive == AdaptiveChoice::On;
    let rates = Some(&summary.page_rates).filter(|rates| is_adaptive && !rates.is_empty())?;
    let plan = settings.revisit.policy().plan(&rates.census(), settings.revisit.budget);
    Some(rates.expected(&plan, std::time::Duration::try_from_secs_f64(round).ok()?))
}

fn words(span: Span) -> Option<String> {
    Some(format!("{}, age {}", percent(span.freshness()?), age(span.mean_age()?)))
}

/// A share as people read it.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A time as people read it, in the largest unit of which there is one.
pub fn age(seconds: f64) -> String {
    let units = [(86_400.0, "d"), (3600.0, "h"), (60.0, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length);
    let (length, name) = unit.unwrap_or((1.0, "s"));
    format!("{:.1} {name}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_does_not_exist_is_null_and_has_no_words() {
        let none = FreshnessFigures::default();
        assert!(none.is_empty() && none.line().is_empty());
        let [freshness, times] = none.document().map(|(_, value)| value);
        assert_eq!(freshness, json!({"expected": null, "measured": null, "at_looks": null}));
        assert_eq!(times, json!({"expected_seconds": null, "measured_seconds": null}));
        let measured = Some(Span { seconds: 100.0, fresh: 97.5, age: 12_000.0 });
        let line = FreshnessFigures { at_looks: Some(0.9), measured, expected: None }.line();
        assert_eq!(line, "fresh       measured 97.5 %, age 2.0 min (90.0 % when visited)\n");
    }

    #[test]
    fn ages_have_the_unit_that_fits() {
        assert_eq!([0.04, 59.0, 60.0, 5400.0, 1e6].map(age), ["0.0 s", "59.0 s", "1.0 min", "1.5 h", "11.6 d"]);
    }
}
