//! `[check]`: links that lead to what is no page of the crawl.

use std::{marker::PhantomData, num::NonZeroU32, time::Duration};

use crate::config::{
    reader::KeyReader,
    rules::{Count, DurationRange, OneOf, words},
};

/// URLs of one host that may be checked in a sequence.
const MOST_OF_HOST: NonZeroU32 = NonZeroU32::new(1_000_000).expect("it is not zero");

words! {
    /// Whether links are checked.
    CheckChoice {
        /// They are not.
        Off = "off",
        /// They are, once nothing else is left to fetch.
        On = "on",
    }
}

/// How links are checked that lead to what is no page of the crawl.
#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// Whether those are that leave the scope.
    pub external: CheckChoice,
    /// Whether what pages show and load is.
    pub assets: CheckChoice,
    /// Whether the names are that links lead to, on pages of the crawl and on those that are checked.
    pub anchors: CheckChoice,
    /// URLs of one host that are checked in a sequence.
    pub max_per_host: NonZeroU32,
    /// The least pause between requests to a host of no URL of the crawl.
    pub delay: Duration,
}

impl CheckSettings {
    /// Whether anything is asked for.
    pub fn any(&self) -> bool {
        [self.external, self.assets].contains(&CheckChoice::On)
    }

    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let delay = DurationRange(Duration::ZERO..=Duration::from_hours(1));
        let many = Count(NonZeroU32::MIN..=MOST_OF_HOST);
        Self {
            external: reader.read("check.external", &OneOf(PhantomData)),
            assets: reader.read("check.assets", &OneOf(PhantomData)),
            anchors: reader.read("check.anchors", &OneOf(PhantomData)),
            max_per_host: reader.read("check.max_per_host", &many),
            delay: reader.read("check.delay", &delay),
        }
    }
}
