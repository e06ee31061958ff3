//! `[politeness]` and `[robots]`: what servers may ask of us.

use std::{
    marker::PhantomData,
    num::{NonZeroU32, NonZeroU64},
    time::Duration,
};

use super::{host::authority, schedule::WINDOWS};
use crate::{
    config::{
        reader::KeyReader,
        rules::{Count, DurationRange, Each, OneOf, Parsed, Real, Size, Unless, words},
    },
    politeness::MemberRate,
    schedule::Window,
    url::Origin,
};

/// The shortest pause that follows the response time.
const LEAST_DELAY: Duration = Duration::from_millis(100);

const BANDWIDTH: Unless<Size> = Unless { word: "unlimited", rule: Size(1..=1 << 40) };

words! {
    /// Which hosts share the requests in flight, and the pause, of one.
    ShareChoice {
        /// None: each has its own.
        Host = "host",
        /// Those whose names have an address in common.
        Address = "address",
        /// Those of one registrable domain.
        Domain = "domain",
        /// Either.
        Both = "address+domain",
    }
}

/// How hard a server may be asked.
#[derive(Debug, Clone)]
pub struct PolitenessSettings {
    /// Pause between the end of a request and the next to the same host, at least; a longer Crawl-delay wins.
    pub delay: Duration,
    /// Whether the pause follows the response time of the host.
    pub delay_follows: bool,
    /// Longest pause that Crawl-delay may impose; `delay` itself may be longer.
    pub max_delay: Duration,
    /// Longest pause by Retry-After that is waited for.
    pub max_retry_after: Duration,
    /// Pause after the first failure of a host that gives no answer.
    pub backoff: Duration,
    /// Each further pause is so many times as long.
    pub backoff_factor: f64,
    /// The longest of these pauses.
    pub max_backoff: Duration,
    /// How long a host may be silent before a run in which nothing else is left ends.
    pub give_up: Duration,
    /// Requests in flight to one host.
    pub per_host: NonZeroU32,
    /// What hosts share these and the pause with.
    pub share_by: ShareChoice,
    /// Requests in flight in all.
    pub concurrency: NonZeroU32,
    /// Requests a second in all; `None` is no limit.
    pub max_rate: Option<NonZeroU32>,
    /// Bytes of bodies a second in all, on average; `None` is no limit.
    pub max_bandwidth: Option<NonZeroU64>,
    /// When requests are made: at any time, if it is empty.
    pub hours: Vec<Window>,
}

/// How robots.txt is asked for.
#[derive(Debug, Clone)]
pub struct RobotsSettings {
    /// Hosts whose rules do not count: `host` or `host:port`, as [`crate::url::Origin::authority`] writes them.
    pub ignore: Vec<String>,
    /// A robots.txt older than this is asked for again.
    pub max_age: Duration,
}

impl PolitenessSettings {
    /// A pause that follows the response time is so many times as long: the crawl has a sixth of the host's time at most.
    pub const DELAY_FACTOR: u32 = 5;

    /// The pause after an answer that took so long, where the pause follows that.
    pub fn pause_after(&self, took: Duration) -> Duration {
        took.saturating_mul(Self::DELAY_FACTOR).min(self.max_delay)
    }

    /// What a crawl may have by itself.
    pub fn rate(&self) -> MemberRate {
        MemberRate { requests: self.max_rate, bytes: self.max_bandwidth }
    }

    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let pause = || DurationRange(Duration::ZERO..=Duration::from_hours(24));
        let back_off = DurationRange(Duration::from_millis(1)..=Duration::from_hours(24));
        let up_to = |most| Count(NonZeroU32::MIN..=NonZeroU32::new(most).expect("limits are not zero"));
        let rate = Unless { word: "unlimited", rule: up_to(1_000_000) };
        let delay = reader.read("politeness.delay", &Unless { word: "auto", rule: pause() });
        Self {
            delay: delay.unwrap_or(LEAST_DELAY),
            delay_follows: delay.is_none(),
            max_delay: reader.read("politeness.max_delay", &pause()),
            max_retry_after: reader.read("politeness.max_retry_after", &pause()),
            backoff: reader.read("politeness.backoff", &back_off),
            backoff_factor: reader.read("politeness.backoff_factor", &Real(1.0..=10.0)),
            max_backoff: reader.read("politeness.max_backoff", &back_off),
            give_up: reader.read("politeness.give_up", &pause()),
            per_host: reader.read("politeness.per_host", &up_to(256)),
            share_by: reader.read("politeness.share_by", &OneOf(PhantomData)),
            concurrency: reader.read("politeness.concurrency", &up_to(4096)),
            max_rate: reader.read("politeness.max_rate", &rate),
            max_bandwidth: reader.read("politeness.max_bandwidth", &BANDWIDTH).and_then(NonZeroU64::new),
            hours: reader.read("politeness.hours", &WINDOWS),
        }
    }
}

impl RobotsSettings {
    /// Whether the rules of this host do not count.
    pub fn ignores(&self, origin: &Origin) -> bool {
        let authority = origin.authority();
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        self.ignore.iter().any(|name| name.eq_ignore_ascii_case(authority) || name.eq_ignore_ascii_case(host))
    }

    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let hosts = Each(Parsed { allowed: "HOST or HOST:PORT", parse: authority });
        Self {
            ignore: reader.read("robots.ignore", &hosts),
            max_age: reader
                .read("robots.max_age", &DurationRange(Duration::from_secs(1)..=Duration::from_hours(24 * 30))),
        }
    }
}
