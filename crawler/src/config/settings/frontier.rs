//! `[frontier]`, with the priorities.

use std::marker::PhantomData;

use super::pattern::pattern_behind;
use crate::{
    config::{
        RawValue,
        reader::KeyReader,
        rules::{Checked, Count, OneOf, Rule, words},
    },
    order::{Priority, Weight},
};

/// The fewest rows of all hosts in memory; a simulation makes do with fewer, so that a small web has more.
const LEAST_HEADS: u32 = if cfg!(test) { 10 } else { 100 };

/// The key of the order.
pub(in crate::config) const ORDER: &str = "frontier.order";
/// The key of the priorities.
pub(in crate::config) const PRIORITIES: &str = "frontier.priority";

words! {
    /// What is fetched first.
    OrderChoice {
        /// What is nearest to a start URL.
        Breadth = "breadth",
        /// What is farthest from a start URL.
        Depth = "depth",
        /// What has the greatest weight.
        Best = "best",
    }
}

/// What is fetched next.
#[derive(Debug, Clone)]
pub struct FrontierSettings {
    /// Which URL of a host is first.
    pub order: OrderChoice,
    /// The weights of URLs: the first rule that matches decides.
    pub priority: Vec<Priority>,
    /// Queued URLs of a host kept in memory.
    pub heads_per_host: u32,
    /// The same of all hosts together.
    pub heads: u32,
}

impl FrontierSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self {
            order: reader.read(ORDER, &OneOf(PhantomData)),
            priority: reader.read(PRIORITIES, &Priorities),
            heads_per_host: reader.read("frontier.heads_per_host", &Count(10..=1_000_000)),
            heads: reader.read("frontier.heads", &Count(LEAST_HEADS..=100_000_000)),
        }
    }
}

/// A list of patterns, each with a weight.
struct Priorities;

impl Rule for Priorities {
    type Value = Vec<Priority>;

    fn allowed(&self) -> String {
        format!("a list; each entry is REGEX=WEIGHT, {WEIGHTS}")
    }

    fn check(&self, raw: &RawValue) -> Result<Checked<Vec<Priority>>, String> {
        let mut value = Vec::new();
        let mut canonical = Vec::new();
        for (at, text) in raw.as_list().ok_or_else(|| self.refusal())?.iter().enumerate() {
            let entry = |why| format!("entry {}: {why}", at + 1);
            let form = || entry(format!("it has no weight; give REGEX=WEIGHT, {WEIGHTS}"));
            let (regex, weight) = text.trim().rsplit_once('=').ok_or_else(form)?;
            let number = weight.trim().parse().ok();
            value.push(priority(&value, regex.trim(), number).map_err(|fault| entry(fault.to_string()))?);
            canonical.push(as_entry(value.last().expect("one was just added")));
        }
        Ok(Checked { value, canonical: RawValue::List(canonical) })
    }
}

const WEIGHTS: &str = "with a weight between 0.001 and 1000";

/// What is wrong with a rule.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::config) enum PriorityFault {
    /// With its pattern.
    #[error("{0}")]
    Pattern(String),
    /// With its weight.
    #[error("give a weight between 0.001 and 1000")]
    Weight,
}

/// A rule of this pattern and weight, behind others.
pub(in crate::config) fn priority(
    others: &[Priority],
    regex: &str,
    weight: Option<f64>,
) -> Result<Priority, PriorityFault> {
    let patterns = others.iter().map(|other| &other.pattern);
    let pattern = pattern_behind(patterns, regex).map_err(PriorityFault::Pattern)?;
    let weight = weight.and_then(thousandths).and_then(Weight::of_thousandths).ok_or(PriorityFault::Weight)?;
    Ok(Priority { pattern, weight })
}

/// A rule as an entry of a list; equal weights are written alike.
pub(in crate::config) fn as_entry(rule: &Priority) -> String {
    format!("{}={}", rule.pattern, f64::from(rule.weight.thousandths()) / 1_000.0)
}

fn thousandths(weight: f64) -> Option<u32> {
    // Before it is rounded: 0.0006 is no weight. Then through text: there is no conversion that refuses what is no whole
    // number of 32 bits.
    let allowed = (0.001..=1_000.0).contains(&weight);
    allowed.then(|| format!("{:.0}", weight * 1_000.0).parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entries: &[&str]) -> Result<(Vec<u32>, String), String> {
        let list = RawValue::List(entries.iter().map(|&entry| entry.to_owned()).collect());
        let checked = Priorities.check(&list)?;
        let weights = checked.value.iter().map(|rule| rule.weight.thousandths()).collect();
        Ok((weights, checked.canonical.to_string()))
    }

    #[test]
    fn entries_are_patterns_with_weights() {
        let text = "[\"/docs/=10\", \"[?]a=b=0.5\", \"x=0.001\", \"y=1000\"]";
        let entries = [" /docs/ = 10.0 ", "[?]a=b=.5", "x=0.001", "y=1e3"];
        assert_eq!(read(&entries), Ok((vec![10_000, 500, 1, 1_000_000], text.to_owned())));
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for (entry, why) in [
            ("/docs/", "entry 2: it has no weight; give REGEX=WEIGHT, with a weight between 0.001 and 1000"),
            ("/docs/=", "entry 2: give a weight between 0.001 and 1000"),
            ("a=0", "entry 2: give a weight between 0.001 and 1000"),
            ("a=-1", "entry 2: give a weight between 0.001 and 1000"),
            ("a=0.0006", "entry 2: give a weight between 0.001 and 1000"),
            ("a=1000.0004", "entry 2: give a weight between 0.001 and 1000"),
            ("a=1001", "entry 2: give a weight between 0.001 and 1000"),
            ("a=NaN", "entry 2: give a weight between 0.001 and 1000"),
            ("a=inf", "entry 2: give a weight between 0.001 and 1000"),
            ("(=1", "entry 2: unclosed group; give a regular expression"),
            ("=1", "entry 2: the pattern is empty; give a regular expression"),
            ("x=2", "entry 2: entry 1 has the same pattern and comes first"),
        ] {
            assert_eq!(read(&["x=1", entry]), Err(why.to_owned()), "{entry}");
        }
    }
}
