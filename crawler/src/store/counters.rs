//! [`Counters`]: sums that cannot be counted from rows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::revisit::SiteLooks;

/// The reason under which links are counted that the URL cache was too full to judge, before a restart.
pub const UNJUDGED: &str = "restart";

/// Sums over a sequence, or what one step adds to them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// URLs proposed to admission.
    pub candidates: u64,
    /// Those the URL cache said it had seen.
    pub duplicate: u64,
    /// Those refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Those whose key a rule changed, by rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rewritten: BTreeMap<String, u64>,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Body bytes received, as sent.
    pub bytes_in: u64,
    /// Responses by status.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests that got no response, by reason.
    pub errors: BTreeMap<String, u64>,
    /// Pages stored.
    pub stored: u64,
    /// Visits that stored a page after the sequence had come to its end.
    pub stored_again: u64,
    /// Expected losses of the URL cache over all its generations, in URLs.
    pub expected_lost: f64,
    /// Times the URL cache was rebuilt by its reset policy.
    pub rebuilds: u64,
    /// Times it was enlarged where it stood.
    pub growths: u64,
    /// Times it dropped its oldest URLs.
    pub rotations: u64,
    /// URLs that it had forgotten and called new again: duplicates, as the URL table knew.
    pub forgotten: u64,
    /// Filters the URL cache has had: one a run, one more a rebuild.
    pub generations: u32,
    /// Pages fetched again for lost URLs.
    pub rescue_fetches: u64,
    /// Pages that were fetched once more to see what of them moves by itself.
    #[serde(skip_serializing_if = "is_none")]
    pub second_looks: u64,
    /// Looks at pages that were known, by the number of their host. The writer adds them at the end of a run.
    #[serde(skip_serializing_if = "SiteLooks::is_empty")]
    pub looks: SiteLooks,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Counters {
    /// Adds what a step counted. `expected_lost` is a level, not a sum: the later one counts.
    pub fn add(&mut self, step: &Self) {
        self.candidates += step.candidates;
        self.duplicate += step.duplicate;
        self.requests += step.requests;
        self.bytes_in += step.bytes_in;
        self.stored += step.stored;
        self.stored_again += step.stored_again;
        self.rebuilds += step.rebuilds;
        self.growths += step.growths;
        self.rotations += step.rotations;
        self.forgotten += step.forgotten;
        self.generations += step.generations;
        self.rescue_fetches += step.rescue_fetches;
        self.second_looks += step.second_looks;
        if step.expected_lost > 0.0 {
            self.expected_lost = step.expected_lost;
        }
        add_all(&mut self.refused, &step.refused);
        add_all(&mut self.rewritten, &step.rewritten);
        add_all(&mut self.by_status, &step.by_status);
        add_all(&mut self.errors, &step.errors);
    }

    /// Candidates that were neither seen nor refused.
    pub fn admitted(&self) -> u64 {
        self.candidates.saturating_sub(self.duplicate + self.refused.values().sum::<u64>())
    }

    /// Links that were left to the next sequence.
    pub fn unjudged(&self) -> u64 {
        self.refused.get(UNJUDGED).copied().unwrap_or(0)
    }

    /// What so many URLs add that were proposed as new, and are known.
    pub fn of_forgotten(urls: usize) -> Self {
        let urls = urls as u64;
        Self { duplicate: urls, forgotten: urls, ..Self::default() }
    }
}

fn add_all<K: Ord + Clone>(sums: &mut BTreeMap<K, u64>, step: &BTreeMap<K, u64>) {
    for (name, count) in step {
        if let Some(sum) = sums.get_mut(name) {
            *sum += count;
        } else {
            sums.insert(name.clone(), *count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_and_keeps_the_later_level() {
        let mut sum = Counters { requests: 1, expected_lost: 0.1, ..Counters::default() };
        let mut step = Counters { requests: 2, expected_lost: 0.2, ..Counters::default() };
        step.refused.insert("scope".to_owned(), 1);
        step.rewritten.insert("www".to_owned(), 3);
        step.by_status.insert(200, 2);
        sum.add(&step);
        sum.add(&step);
        let proposed = Counters { candidates: 20, duplicate: 7, ..sum.clone() };
        assert_eq!((proposed.admitted(), sum.admitted()), (11, 0));
        assert_eq!((sum.requests, sum.expected_lost), (5, 0.2));
        assert_eq!((sum.refused["scope"], sum.rewritten["www"], sum.by_status[&200]), (2, 6, 4));
    }
}
