//! [`Trouble`]: what is known of a host that has failed.
//!
//! Owns: since when its failures prove to be the URLs' own, the pauses after which it answers, and when it is asked next.
//!
//! Does not know: which URL is to blame ([`super::health`]).

use std::{collections::VecDeque, ops::RangeInclusive, time::Duration};

use super::{BackOffPolicy, WorkItem};
use crate::{
    health::{FailureCause, Wait},
    time::Moment,
};

/// The longest pause by which a host is paused: longer ones are slips.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_hours(30 * 24);

/// How many times as long as the first back-off a penalty may be.
const MOST_PENALTY: u32 = 8;

/// A penalty that is shorter is none.
const LEAST_PENALTY: Duration = Duration::from_millis(10);

/// Times that a URL is refused after a pause which helped others, until it is at fault. Fewer where the host answers at once.
const MOST_TRIALS: u32 = 3;

/// Times of refusals that are remembered. What was refused before may be charged with that where it fails in another way.
const MOST_REFUSALS: usize = 16;

/// Server errors in a row that may not take a host down. With the one after them, two more in flight, and those after four pauses, a
/// host that goes away gets twelve requests in half a minute.
const MOST_TRUST: u32 = 5;

/// A fetch that failed, as far as the host may be to blame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedFetch {
    /// What went wrong.
    pub cause: FailureCause,
    /// The pause that the host asks for.
    pub retry_after: Option<Duration>,
}

/// What is known of a host that has failed.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// When the last request was granted that it answered, since it failed first.
    pub(super) ok: Moment,
    /// When the last request failed.
    pub(super) bad: Moment,
    /// When the last request was granted, whatever came of it.
    pub(super) last: Moment,
    /// No failure up to this moment is held against a URL: the host was away.
    pub(super) excused: Moment,
    pub(super) silence: Option<Silence>,
    /// Failures in a row that do not take it down.
    pub(super) trust: u32,
    pub(super) down: Option<Down>,
    /// Added to its delay.
    pub(super) penalty: Duration,
    /// The pause after which it answered, when it had refused.
    pub(super) helped: Duration,
    /// Times in which nothing but refusals failed, the last [`MOST_REFUSALS`] of them.
    pub(super) refusals: VecDeque<RangeInclusive<Moment>>,
    /// Whether the last failure was a refusal.
    pub(super) refused: bool,
    /// How often in a row it refused a URL after that pause all the same, and answered the next request.
    pub(super) refused_alone: u32,
}

/// Failures since the last answer.
#[derive(Debug, Default)]
pub(super) struct Silence {
    pub(super) failures: u32,
    /// Whether one of them was a refusal.
    pub(super) refused: bool,
    /// Whether one of them was no answer at all, or that of a page which had an answer: the first may have brought the others about.
    pub(super) is_of_host: bool,
    /// The pause before a URL was refused all the same.
    pub(super) trial: Option<Duration>,
    pub(super) outage: Outage,
}

/// Whether failures are those of an outage, and of no page that takes the host down.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Outage {
    /// They began with a URL that had failed before.
    #[default]
    Doubtful,
    /// They did not.
    Possible,
    /// Nor did a page answer that had an answer before.
    Shown,
}

#[derive(Debug)]
pub(super) struct Down {
    pub(super) failures: u32,
    pub(super) since: Moment,
    /// The same, or when this run began.
    pub(super) silent_since: Moment,
    pub(super) cause: FailureCause,
    pub(super) not_before: Moment,
    pub(super) wait: Wait,
    /// Whether the last failure was that of a robots.txt.
    pub(super) by_robots: bool,
    /// Failures in this run.
    pub(super) seen: u32,
    /// The last back-off.
    pub(super) pause: Duration,
    /// The longest pause that it asked for in this run, of those that are waited for.
    pub(super) asked: Duration,
}

impl Trouble {
    /// Whether a failure was the URL's own.
    pub(super) fn was_own(&self, failed: Moment) -> bool {
        failed > self.excused && failed <= self.ok
    }

    /// Whether a failure was a refusal without a doubt.
    pub(super) fn was_refusal(&self, failed: Moment) -> bool {
        self.refusals.iter().any(|refusals| refusals.contains(&failed))
    }

    /// Notes whether a failure is a refusal.
    pub(super) fn note_kind(&mut self, refused: bool, now: Moment) {
        let goes_on = std::mem::replace(&mut self.refused, refused);
        if !refused {
            return;
        }
        let last = if goes_on { self.refusals.pop_back() } else { None };
        let since = last.map_or(now, |refusals| *refusals.start());
        if self.refusals.len() >= MOST_REFUSALS {
            self.refusals.pop_front();
        }
        self.refusals.push_back(since..=now);
    }

    /// Whether the host is up, and has answered since a moment.
    pub(super) fn is_up_since(&self, failed: Moment) -> bool {
        self.down.is_none() && failed <= self.ok
    }

    /// How long before what failed is asked for nothing is.
    pub(super) fn trial_pause(&self) -> Duration {
        if self.refuses_alone() { Duration::ZERO } else { self.helped }
    }

    /// Whether it refuses a URL whatever the pause is, and answers others.
    pub(super) fn refuses_alone(&self) -> bool {
        self.refused_alone >= MOST_TRIALS
    }

    /// The host answered a request, after a pause since the one before.
    pub(super) fn answered(
        &mut self,
        item: &WorkItem,
        granted: Moment,
        pause: Duration,
        policy: &BackOffPolicy,
    ) -> bool {
        let before = self.ok;
        self.ok = before.max(granted);
        if granted < self.bad {
            return false;
        }
        let (silence, down) = (self.silence.take(), self.down.take());
        if let Some(silence) = &silence {
            self.trust = if silence.is_of_host { 0 } else { (2 * self.trust + 1).min(MOST_TRUST) };
            if silence.is_of_host || silence.failures > 1 && !self.refuses_alone() {
                self.refused_alone = 0;
            } else if let Some(trial) = silence.trial {
                // After a pause that is nothing beside the one that did not help: that settles it.
                let at_once = pause < trial / 8;
                self.refused_alone = self.refused_alone.saturating_add(if at_once { MOST_TRIALS } else { 1 });
            }
            if silence.outage == Outage::Shown {
                self.excused = self.bad;
            }
        }
        let again = item.failed.is_some();
        if again {
            self.refused_alone = 0;
        }
        let most = policy.first * MOST_PENALTY;
        if silence.is_some_and(|silence| silence.refused) {
            let pause = granted.since(before).min(2 * self.helped.max(policy.first));
            let asked = down.as_ref().map_or(Duration::ZERO, |down| down.asked);
            self.helped = self.helped.max(pause).max(self.penalty * 3 / 2).min(most).max(asked);
        } else if again && down.is_none() && !self.helped.is_zero() {
            self.penalty = self.penalty.max(self.helped.min(most));
        } else if down.is_none() {
            self.penalty = Some(self.penalty * 3 / 4).filter(|less| *less >= LEAST_PENALTY).unwrap_or_default();
        }
        down.is_some()
    }

    pub(super) fn goes_down(
        &mut self,
        failure: FailedFetch,
        host: u32,
        granted: Moment,
        now: Moment,
        policy: &BackOffPolicy,
    ) {
        let FailedFetch { cause, retry_after } = failure;
        let down = self.down.get_or_insert(Down {
            failures: 0,
            since: now,
            silent_since: now,
            cause,
            not_before: now,
            wait: Wait::BackOff,
            by_robots: false,
            seen: 0,
            pause: Duration::ZERO,
            asked: Duration::ZERO,
        });
        // Requests that were in flight together fail together: that is one failure.
        if granted >= self.bad || down.seen == 0 {
            (down.failures, down.seen) = (down.failures.saturating_add(1), down.seen.saturating_add(1));
            let pause = policy.pause(down.failures, u64::from(host) ^ down.since.millis());
            (down.not_before, down.wait, down.pause) = (down.not_before.max(now + pause), Wait::BackOff, pause);
        }
        // What fails later says nothing of a log-in that has expired.
        if down.wait != Wait::Paused || down.cause != FailureCause::LogIn {
            down.cause = cause;
        }
        let asked = retry_after.map(|asked| asked.min(LONGEST_PAUSE));
        if let Some(asked) = asked.filter(|asked| !asked.is_zero()) {
            // Also where the back-off is longer: that alone would end with a new start.
            if now + asked >= down.not_before || down.wait == Wait::BackOff {
                down.wait = if asked > policy.max_retry_after { Wait::Paused } else { Wait::Asked };
            }
            down.not_before = down.not_before.max(now + asked);
            down.asked = down.asked.max(asked.min(policy.max_retry_after));
        }
    }
}

/// Whether the server says that it is overloaded.
pub(super) fn is_refusal(cause: FailureCause) -> bool {
    matches!(cause, FailureCause::Status(429 | 503))
}
