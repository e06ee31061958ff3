//! `[retry]`, `[extract]` and `[store]`.

use std::{marker::PhantomData, num::NonZeroU32, time::Duration};

use crate::config::{
    reader::KeyReader,
    rules::{Count, DurationRange, OneOf, Unless, words},
};

/// More sequences than anybody keeps.
const MOST_SEQUENCES: NonZeroU32 = NonZeroU32::new(1_000_000).expect("it is not zero");

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
            links: reader.read("store.links", &OneOf(PhantomData)),
        }
    }
}
