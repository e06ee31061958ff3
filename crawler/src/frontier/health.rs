//! [`Health`]: whether a host answers, and whose fault it is when a fetch fails.
//!
//! A host that gives no answer backs off: it is asked again after pauses that grow, one request at a time, and is well
//! again after its first answer. Meanwhile nothing is held against its URLs.
//!
//! A URL is to blame where it fails while others of its host succeed. So one that fails once more, after the host has
//! answered since its last failure, is charged with an attempt. To find out whether the host answers, a URL that had an
//! answer before is asked for now and then (a *check*): else the last URLs of a crawl, which all hang, would look like a
//! host that is down.

use std::time::Duration;

use super::{HostHealth, Purpose, WorkItem};
use crate::{
    candidate::Ticket,
    health::{Cause, HealthRow, Wait},
    time::Moment,
    url::WebUrl,
};

/// The longest pause by which a host is paused: longer ones are slips.
const LONGEST_PAUSE: Duration = Duration::from_hours(30 * 24);

/// How long hosts are left alone.
#[derive(Debug, Clone)]
pub struct BackOffPolicy {
    /// The pause after the first failure in a row.
    pub first: Duration,
    /// Each further pause is so many times as long,
    pub factor: f64,
    /// up to this; a part of it may be added, so that hosts that failed together are not asked together.
    pub longest: Duration,
    /// The longest pause that is waited for when a host asks for one.
    pub max_retry_after: Duration,
    /// A host that is silent for so long is unreachable.
    pub give_up: Duration,
    /// The same for one that never answered.
    pub give_up_unknown: Duration,
}

/// A fetch that failed, as far as the host may be to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// What went wrong.
    pub cause: Cause,
    /// The pause that the host asks for.
    pub retry_after: Option<Duration>,
}

/// Who is to blame for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The host: the URL waits until it is well again.
    Host,
    /// The URL: it has one attempt less.
    Url,
}

/// A host's health.
#[derive(Debug, Default)]
pub(super) struct Health {
    ailment: Option<Box<Ailment>>,
    /// Its last answer in this run.
    answered_at: Option<Moment>,
    /// Whether it has answered in this crawl.
    pub(super) answers: bool,
    /// The URL that got a server error (500 and more), when nothing else was answered since.
    server_error: Option<Ticket>,
    /// URLs that had an answer: the first and the last, because one may fail by itself since.
    known_good: Vec<WebUrl>,
}

#[derive(Debug)]
struct Ailment {
    failures: u32,
    since: Moment,
    /// The same, or when this run began.
    silent_since: Moment,
    last: Moment,
    cause: Cause,
    not_before: Moment,
    wait: Wait,
    /// Whether the last failure was that of a robots.txt.
    by_robots: bool,
}

impl Health {
    /// The health of a host as it was stored, at the start of a run: back-offs are over, what the host asked for is not.
    pub(super) fn resume(known: &HostHealth, longest_wait: Duration, now: Moment) -> Self {
        let stored = known.stored.as_ref();
        let ailment = stored.map(|row| {
            let not_before = match row.wait {
                Wait::BackOff => Moment::EPOCH,
                // Where the clock was ahead when it was written, nothing is waited for longer than it ever is.
                Wait::Asked => row.not_before.min(now + longest_wait),
                Wait::Paused => row.not_before.min(now + LONGEST_PAUSE),
            };
            let &HealthRow { failures, since, cause, .. } = row;
            // What was too long to be waited for may be so no longer.
            let wait =
                if row.wait == Wait::Paused && not_before <= now + longest_wait { Wait::Asked } else { row.wait };
            let (silent_since, last, by_robots) = (now, Moment::EPOCH, false);
            Box::new(Ailment { failures, since, silent_since, last, cause, not_before, wait, by_robots })
        });
        let good = [known.known_good.as_deref(), stored.and_then(|row| row.known_good.as_deref())];
        let mut known_good: Vec<_> = good.into_iter().flatten().filter_map(|url| WebUrl::parse(url).ok()).collect();
        known_good.dedup();
        known_good.shrink_to_fit();
        Self { ailment, answers: known.answers, known_good, ..Self::default() }
    }

    /// Whether it is not well.
    pub(super) fn is_ailing(&self) -> bool {
        self.ailment.is_some()
    }

    /// The moment before which it is not asked; the epoch when it is well.
    pub(super) fn not_before(&self) -> Moment {
        self.ailment.as_ref().map_or(Moment::EPOCH, |ailment| ailment.not_before)
    }

    /// It gave an answer. Whether it was ailing before.
    pub(super) fn answered(&mut self, item: &WorkItem, now: Moment) -> bool {
        // A robots.txt that lies there as a file says nothing of a program that is overloaded.
        let robots = matches!(item.purpose, Purpose::Robots { .. });
        let busy = |ailment: &Ailment| matches!(ailment.cause, Cause::Status(_)) && !ailment.by_robots;
        if robots && self.ailment.as_deref().is_some_and(busy) {
            return false;
        }
        (self.answered_at, self.answers, self.server_error) = (Some(now), true, None);
        if item.purpose.is_counted() && self.known_good.first() != Some(&item.url) {
            self.known_good.truncate(1);
            // There may be very many hosts: no room is kept for more than two.
            self.known_good.reserve_exact(1);
            self.known_good.push(item.url.clone());
        }
        self.ailment.take().is_some()
    }

    /// A fetch of `item`, granted at `granted`, failed. `salt` spreads the pauses of hosts that fail together.
    pub(super) fn failed(
        &mut self,
        item: &WorkItem,
        failure: Failure,
        (granted, now): (Moment, Moment),
        policy: &BackOffPolicy,
    ) -> Fault {
        if !matches!(item.purpose, Purpose::Robots { .. } | Purpose::Check) && self.is_its_own(item, failure.cause) {
            return Fault::Url;
        }
        let charged = self.has_answered_since(item);
        // Too many requests, or too much to do: the host is to be left alone whoever is to blame.
        let busy = matches!(failure.cause, Cause::Status(429 | 503));
        if !charged || busy || self.is_ailing() {
            self.ail(failure, item.host.0, (granted, now), policy);
            if let Some(ailment) = &mut self.ailment {
                ailment.by_robots = matches!(item.purpose, Purpose::Robots { .. });
            }
        }
        if charged { Fault::Url } else { Fault::Host }
    }

    /// Whether a server error (500 and more, but not 503) is likely the URL's own: the first one in a row, or one more of the
    /// same URL where nothing could tell it from the host's.
    fn is_its_own(&mut self, item: &WorkItem, cause: Cause) -> bool {
        if !matches!(cause, Cause::Status(500..=502 | 504..)) || self.is_ailing() {
            return false;
        }
        let another = self.server_error.replace(item.id).is_some_and(|other| other != item.id);
        let untold = item.failed.is_some() && !self.has_answered_since(item) && !self.known_good.is_empty();
        !another && !untold
    }

    /// Drops a URL that may not be asked for any more.
    pub(super) fn forget_good(&mut self, url: &WebUrl) {
        self.known_good.retain(|good| good != url);
    }

    /// Whether the host has answered since this URL failed last.
    fn has_answered_since(&self, item: &WorkItem) -> bool {
        item.failed.zip(self.answered_at).is_some_and(|(failed, answered)| answered >= failed)
    }

    pub(super) fn ail(
        &mut self,
        failure: Failure,
        host: u32,
        (granted, now): (Moment, Moment),
        policy: &BackOffPolicy,
    ) {
        let Failure { cause, retry_after } = failure;
        let fresh = || Ailment {
            failures: 0,
            since: now,
            silent_since: now,
            last: Moment::EPOCH,
            cause,
            not_before: now,
            wait: Wait::BackOff,
            by_robots: false,
        };
        let ailment = self.ailment.get_or_insert_with(|| Box::new(fresh()));
        // Requests that were in flight together fail together: that is one failure.
        if granted >= ailment.last {
            ailment.failures = ailment.failures.saturating_add(1);
            let pause = policy.pause(ailment.failures, u64::from(host) ^ ailment.since.millis());
            (ailment.not_before, ailment.wait) = (ailment.not_before.max(now + pause), Wait::BackOff);
        }
        (ailment.last, ailment.cause) = (now, cause);
        let asked = retry_after.map(|asked| asked.min(LONGEST_PAUSE));
        if let Some(asked) = asked.filter(|asked| now + *asked >= ailment.not_before) {
            ailment.not_before = now + asked;
            ailment.wait = if asked > policy.max_retry_after { Wait::Paused } else { Wait::Asked };
        }
    }

    /// The URL to ask for, where it is the turn of one that is known to be good and not of the queue's next, to find out
    /// whether the host is well again. Both have their turn, since either may be at fault by itself; `others` says whether
    /// one that has not failed yet is queued: that goes first.
    pub(super) fn check(&self, others: bool) -> Option<&WebUrl> {
        let ailment = self.ailment.as_ref()?;
        let its_turn = others == ailment.failures.is_multiple_of(2);
        // Each of them has its turn.
        let turn = ailment.failures as usize / 2 % self.known_good.len().max(1);
        self.known_good.get(turn).filter(|_| its_turn)
    }

    /// When the host is unreachable, if it does not answer until then; `None` when it is well.
    pub(super) fn gives_up(&self, policy: &BackOffPolicy) -> Option<Moment> {
        let ailment = self.ailment.as_ref()?;
        let patience = match () {
            () if ailment.wait == Wait::Paused => Duration::ZERO,
            () if self.answers => policy.give_up,
            () => policy.give_up_unknown,
        };
        let silent = ailment.silent_since + patience;
        Some(if ailment.wait == Wait::Asked { silent.max(ailment.not_before) } else { silent })
    }

    /// What is stored of it; `None` when it is well.
    pub(super) fn row(&self) -> Option<HealthRow> {
        let ailment = self.ailment.as_ref()?;
        let &Ailment { failures, since, cause, not_before, wait, .. } = &**ailment;
        let known_good = self.known_good.last().map(|url| url.as_str().into());
        Some(HealthRow { failures, since, cause, not_before, wait, known_good })
    }
}

impl BackOffPolicy {
    /// The pause after so many failures in a row: exponential, with up to a quarter added that depends on `salt`.
    fn pause(&self, failures: u32, salt: u64) -> Duration {
        let times = self.factor.powi(i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX));
        let longest = self.longest.as_secs_f64();
        let pause = (self.first.as_secs_f64() * times).min(longest);
        Duration::from_secs_f64(pause * (1.0 + mixed(salt.wrapping_add(u64::from(failures))) / 4.0))
    }
}

impl Default for BackOffPolicy {
    /// As `default.toml` has it.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            factor: 2.0,
            longest: Duration::from_mins(1),
            max_retry_after: Duration::from_hours(1),
            give_up: Duration::from_mins(10),
            give_up_unknown: Duration::from_secs(15),
        }
    }
}

/// A number from 0 to 1 that follows from `seed` (the finaliser of `SplitMix64`).
fn mixed(seed: u64) -> f64 {
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 40) as f64 / (1_u64 << 24) as f64
}
