//! `[retry]`, `[extract]` and `[store]`.

use std::{marker::PhantomData, num::NonZeroU32, time::Duration};

use crate::config::{
    reader::KeyReader,
    rules::{Count, DurationRange, OneOf, Parsed, Unless, words},
};
use crate::store::KeptHistory;

/// More sequences than anybody keeps.
const MOST_SEQUENCES: NonZeroU32 = NonZeroU32::new(1_000_000).expect("it is not zero");

const KEEP: Parsed<KeptHistory> = Parsed { allowed: "\"30 sequences\", \"90 days\" or \"all\"", parse: history };

words! {
    /// What is kept of the links of a page.
    LinksChoice {
        /// Where they lead.
        Fingerprints = "fingerprints",
        /// Also their element, relation and text, and those that left the scope.
        Full = "full",
    }
}

/// A fetch that failed and may succeed later.
#[derive(Debug, Clone)]
pub struct RetrySettings {
    /// Failures by a URL's own fault, at least 1.
    pub attempts: u32,
    /// Pause before the second attempt; doubles.
    pub backoff: Duration,
    /// Longest pause.
    pub max_backoff: Duration,
}

/// The database.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// Time between two commits while there is something to commit.
    pub commit_every: Duration,
    /// Visits after which a commit does not wait for its time; at most 200.
    pub commit_visits: u32,
    /// Time between two copies of the log into the database file.
    pub checkpoint_every: Duration,
    /// Sequences that are kept whole; `None` is all.
    pub keep_sequences: Option<NonZeroU32>,
    /// How much history is kept.
    pub keep: KeptHistory,
    /// What is kept of the links of a page.
    pub links: LinksChoice,
}

impl RetrySettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let pause = DurationRange(Duration::ZERO..=Duration::from_hours(24));
        Self {
            attempts: reader.read("retry.attempts", &Count(1..=20)),
            backoff: reader.read("retry.backoff", &pause),
            max_backoff: reader.read("retry.max_backoff", &pause),
        }
    }
}

impl StoreSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self {
            commit_every: reader
                .read("store.commit_every", &DurationRange(Duration::from_millis(1)..=Duration::from_secs(10))),
            commit_visits: reader.read("store.commit_visits", &Count(1..=197)),
            checkpoint_every: reader
                .read("store.checkpoint_every", &DurationRange(Duration::from_millis(10)..=Duration::from_hours(1))),
            keep_sequences: reader
                .read("store.keep_sequences", &Unless { word: "all", rule: Count(NonZeroU32::MIN..=MOST_SEQUENCES) }),
            keep: reader.read("store.keep", &KEEP),
            links: reader.read("store.links", &OneOf(PhantomData)),
        }
    }
}

/// A number of sequences or days, or all.
fn history(text: &str) -> Result<KeptHistory, String> {
    if text == "all" {
        return Ok(KeptHistory::All);
    }
    let wrong = || "it is no number of sequences or days".to_owned();
    let (number, unit) = text.split_once(' ').ok_or_else(wrong)?;
    let number = number.parse().ok().filter(|number| *number <= MOST_SEQUENCES).ok_or_else(wrong)?;
    match unit.trim() {
        "sequence" | "sequences" => Ok(KeptHistory::Sequences(number)),
        "day" | "days" => Ok(KeptHistory::Days(number)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_counted_in_sequences_or_days() {
        let three = NonZeroU32::new(3).unwrap();
        assert_eq!(history("3 sequences"), Ok(KeptHistory::Sequences(three)));
        assert_eq!(history("3 days"), Ok(KeptHistory::Days(three)));
        assert_eq!(history("1 day"), Ok(KeptHistory::Days(NonZeroU32::MIN)));
        assert_eq!(history("all"), Ok(KeptHistory::All));
        for wrong in ["", "3", "3d", "0 days", "-1 days", "3 weeks", "three days", "1000001 days", "all days"] {
            assert!(history(wrong).is_err(), "{wrong}");
        }
    }
}
