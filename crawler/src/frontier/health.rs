//! [`Health`]: whether a host answers, and whose fault a failed fetch is.
//!
//! There is one kind of evidence: the host answered a request that was granted after the failure. Then the failure was the URL's
//! own, and it is charged when the URL fails once more. So an outage, however long, charges nobody. Where a page that had an
//! answer failed too, or the host refused, nothing but the first failure is held against its URL: the others met the same outage.
//!
//! A host that fails is *down*: it is asked one request at a time, after pauses that grow, in turn for its next URL and for one
//! that had an answer before (a *check*). Failures that were shown to be the URLs' own do not take it down at once: the more of
//! them there were in a row, the fewer checks are made for the next.
//!
//! A host that refuses (429, 503) and answers after a pause may allow few requests, or a URL may always be refused. What failed is
//! asked for after the same pause: where that helps, the pause is added to the delay (a *penalty*), and given up by quarters.

use std::time::Duration;

use super::{HostHealth, Purpose, WorkItem};
use crate::{
    health::{Cause, HealthRow, Wait},
    time::Moment,
    url::WebUrl,
};

/// The longest pause by which a host is paused: longer ones are slips.
const LONGEST_PAUSE: Duration = Duration::from_hours(30 * 24);

/// URLs that had an answer, of a host that is well; three times as many of one that has failed.
const GOOD: usize = 4;

/// How many times as long as the first back-off a penalty may be.
const MOST_PENALTY: u32 = 8;

/// A penalty that is shorter is none.
const LEAST_PENALTY: Duration = Duration::from_millis(10);

/// Failures in a row that may not take a host down. With those before the first pause a host that is down gets twelve requests
/// in half a minute.
const MOST_TRUST: u32 = 7;

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
    /// The host: another URL failed before, and it has not answered since. Nothing is held against the URL.
    Host,
    /// Not known yet. Where the host answers, it was the URL's.
    Unknown,
    /// The URL: its failure before was its own. It has one attempt less.
    Url,
}

/// A host's health. There may be very many hosts, and most never fail: what those have that did is on the heap.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Whether it has answered in this crawl.
    pub(super) answers: bool,
    /// URLs that had an answer; the next to be asked for is the first.
    good: Vec<Box<str>>,
    trouble: Option<Box<Trouble>>,
}

/// What is known of a host that has failed.
#[derive(Debug, Default)]
struct Trouble {
    /// When the last request was granted that it answered, since it failed first.
    ok: Moment,
    /// When the last request failed.
    bad: Moment,
    silence: Option<Silence>,
    /// Failures in a row that do not take it down.
    trust: u32,
    down: Option<Down>,
    /// Added to its delay.
    penalty: Duration,
    /// The pause after which it answered, when it had refused.
    helped: Duration,
    /// Whether it refused such a URL all the same, and answered the next request at once: then the pause is not what helps.
    refuses_alone: bool,
}

/// Failures since the last answer.
#[derive(Debug, Default)]
struct Silence {
    failures: u32,
    /// Whether one of them was no answer at all, or that of a page which had an answer: the first may have brought the others about.
    is_of_host: bool,
    /// Whether it began with a URL that was refused although it had a fair trial.
    by_trial: bool,
}

#[derive(Debug)]
struct Down {
    failures: u32,
    since: Moment,
    /// The same, or when this run began.
    silent_since: Moment,
    cause: Cause,
    not_before: Moment,
    wait: Wait,
    /// Whether the last failure was that of a robots.txt.
    by_robots: bool,
    /// Failures in this run.
    seen: u32,
    /// Whether it has refused in this run.
    refused: bool,
}

impl Health {
    /// The health of a host as it was stored, at the start of a run: back-offs are over, what the host asked for is not.
    pub(super) fn resume(known: HostHealth, policy: &BackOffPolicy, now: Moment) -> Self {
        let HostHealth { answers, stored, known_good, needs_robots } = known;
        let mut good: Vec<_> = known_good.into_iter().collect();
        let Some(row) = stored else { return Self { answers, good, trouble: None } };
        let not_before = match row.wait {
            Wait::BackOff => Moment::EPOCH,
            // Where the clock was ahead when it was written, nothing is waited for longer than it ever is.
            Wait::Asked => row.not_before.min(now + policy.max_retry_after),
            Wait::Paused => row.not_before.min(now + LONGEST_PAUSE),
        };
        // What was too long to be waited for may be so no longer.
        let is_short = row.wait == Wait::Paused && not_before <= now + policy.max_retry_after;
        let down = Down {
            failures: row.failures,
            since: row.since,
            silent_since: now,
            cause: row.cause,
            not_before,
            wait: if is_short { Wait::Asked } else { row.wait },
            // Nothing but its robots.txt is asked for before that is known.
            by_robots: needs_robots,
            seen: 0,
            refused: false,
        };
        good.extend(row.known_good.filter(|other| !good.contains(other)));
        Self { answers, good, trouble: Some(Box::new(Trouble { down: Some(down), ..Trouble::default() })) }
    }

    fn down(&self) -> Option<&Down> {
        self.trouble.as_ref()?.down.as_ref()
    }

    /// Whether it fails, and is left alone for growing pauses.
    pub(super) fn is_down(&self) -> bool {
        self.down().is_some()
    }

    /// Whether it is to have one request at a time: else nobody could tell which of them was at fault, or one too many.
    pub(super) fn asks_singly(&self) -> bool {
        let one = |trouble: &Trouble| trouble.down.is_some() || trouble.silence.is_some() || !trouble.penalty.is_zero();
        self.trouble.as_ref().is_some_and(|trouble| one(trouble))
    }

    /// The moment before which it is not asked; the epoch when it is well.
    pub(super) fn not_before(&self) -> Moment {
        self.down().map_or(Moment::EPOCH, |down| down.not_before)
    }

    /// How much longer than its delay it is left alone after a request.
    pub(super) fn penalty(&self) -> Duration {
        self.trouble.as_ref().map_or(Duration::ZERO, |trouble| trouble.penalty)
    }

    /// Whether a URL that failed at a moment is to be tried before those that did not, to see whether a pause helps.
    pub(super) fn tries(&self, failed: Moment) -> bool {
        let tries = |trouble: &Trouble| trouble.is_up_since(failed) && trouble.trial_pause() > trouble.penalty;
        self.trouble.as_ref().is_some_and(|trouble| tries(trouble))
    }

    /// When it may be asked for what failed: a server that allows few requests has a fair trial after the pause that helped.
    pub(super) fn trial_at(&self, failed: Moment) -> Moment {
        let trouble = self.trouble.as_ref().filter(|trouble| trouble.is_up_since(failed));
        trouble.map_or(Moment::EPOCH, |trouble| trouble.ok.max(trouble.bad) + trouble.trial_pause())
    }

    /// Whether a good URL is to be asked for before the next of the queue, which failed at a moment, or did not.
    pub(super) fn wants_check(&self, failed: Option<Moment>) -> bool {
        let Some(trouble) = self.trouble.as_ref().filter(|_| !self.good.is_empty()) else { return false };
        let is_tried = |silence: &Silence| silence.by_trial && !trouble.refuses_alone;
        match (&trouble.down, failed) {
            (Some(down), None) => down.failures.is_multiple_of(2),
            // A good one may be bad since: so now and then another goes.
            (Some(down), Some(_)) => down.failures % 4 != 3,
            (None, failed) => {
                trouble.silence.as_ref().is_some_and(is_tried) || failed.is_some_and(|failed| failed > trouble.ok)
            }
        }
    }

    /// The good URL to ask for. They take turns.
    pub(super) fn take_check(&mut self) -> Option<WebUrl> {
        let url = WebUrl::parse(self.good.first()?).ok();
        self.good.rotate_left(1);
        url
    }

    /// Drops a URL that tells nothing of the host any more.
    pub(super) fn forget_good(&mut self, url: &WebUrl) {
        self.good.retain(|good| **good != *url.as_str());
    }

    fn had_answer(&mut self, url: &WebUrl) {
        let most = if self.trouble.is_some() { 3 * GOOD } else { GOOD };
        if self.good.len() < most && !self.good.iter().any(|good| **good == *url.as_str()) {
            self.good.reserve_exact(1);
            self.good.insert(0, url.as_str().into());
        }
    }

    /// It gave an answer to a request granted at `granted`. Whether it was down, and is up again: what was asked for before its
    /// last failure does not show that, and ends no pause that it asked for since.
    pub(super) fn answered(&mut self, item: &WorkItem, granted: Moment, policy: &BackOffPolicy) -> bool {
        self.answers = true;
        if item.purpose.is_counted() {
            self.had_answer(&item.url);
        }
        let Some(trouble) = &mut self.trouble else { return false };
        // A robots.txt that lies there as a file says nothing of a program that is overloaded.
        let by_file = |down: &Down| down.by_robots || !matches!(down.cause, Cause::Status(_));
        if matches!(item.purpose, Purpose::Robots { .. }) && !trouble.down.as_ref().is_some_and(by_file) {
            return false;
        }
        trouble.answered(item, granted, policy)
    }

    /// A fetch of `item`, granted at `granted`, failed.
    pub(super) fn failed(
        &mut self,
        item: &WorkItem,
        failure: Failure,
        granted: Moment,
        now: Moment,
        policy: &BackOffPolicy,
    ) -> Fault {
        let of_page = item.purpose.is_of_a_page();
        let trouble = self.trouble.get_or_insert_default();
        let errs = of_page && matches!(failure.cause, Cause::Status(500..=502 | 504..));
        let refused = is_refusal(failure.cause);
        // Where no URL had an answer yet, nothing can tell a page with a server error from a host with one.
        let own = of_page && item.held().is_some_and(|held| held <= trouble.ok || (errs && self.good.is_empty()));
        let charged = own && (!refused || trouble.refuses_alone);
        let most = match () {
            () if charged && (errs || refused) => 2 * trouble.trust + 1,
            () if errs => trouble.trust.max(1),
            () => u32::from(own),
        };
        let is_first = trouble.silence.is_none();
        let silence = trouble.silence.get_or_insert_default();
        silence.failures += 1;
        silence.by_trial |= own && refused;
        silence.is_of_host |= item.purpose == Purpose::Check || !matches!(failure.cause, Cause::Status(_));
        let held = is_first || item.attempts > 0 || !silence.is_of_host;
        let asks = failure.retry_after.is_some_and(|pause| !pause.is_zero());
        if silence.failures > most || asks || trouble.down.is_some() {
            trouble.goes_down(failure, item.host.0, granted, now, policy);
            if let Some(down) = &mut trouble.down {
                down.by_robots = matches!(item.purpose, Purpose::Robots { .. });
            }
        }
        trouble.bad = now;
        match (charged, held) {
            (true, _) => Fault::Url,
            (false, true) => Fault::Unknown,
            (false, false) => Fault::Host,
        }
    }

    /// What it needs from another host could not be had.
    pub(super) fn failed_elsewhere(&mut self, host: u32, failure: Failure, at: [Moment; 2], policy: &BackOffPolicy) {
        let trouble = self.trouble.get_or_insert_default();
        trouble.goes_down(failure, host, at[0], at[1], policy);
        trouble.bad = at[1];
    }

    /// When the host is unreachable, if it does not answer until then; `None` when it is well, or is yet to be asked in this
    /// run whether it still fails.
    pub(super) fn gives_up(&self, policy: &BackOffPolicy) -> Option<Moment> {
        let down = self.down()?;
        let patience = match () {
            () if down.wait == Wait::Paused => Duration::ZERO,
            () if down.seen == 0 || (down.seen == 1 && down.failures == 1) => return None,
            () if self.answers => policy.give_up,
            () => policy.give_up_unknown,
        };
        let silent = down.silent_since + patience;
        Some(if down.wait == Wait::Asked { silent.max(down.not_before) } else { silent })
    }

    /// What is stored of it; `None` when it is well.
    pub(super) fn row(&self) -> Option<HealthRow> {
        let &Down { failures, since, cause, not_before, wait, .. } = self.down()?;
        let known_good = self.good.first().cloned();
        Some(HealthRow { failures, since, cause, not_before, wait, known_good })
    }
}

impl Trouble {
    /// Whether the host is up, and has answered since a moment.
    fn is_up_since(&self, failed: Moment) -> bool {
        self.down.is_none() && failed <= self.ok
    }

    /// How long before what failed is asked for nothing is.
    fn trial_pause(&self) -> Duration {
        if self.refuses_alone { Duration::ZERO } else { self.helped }
    }

    fn answered(&mut self, item: &WorkItem, granted: Moment, policy: &BackOffPolicy) -> bool {
        let before = self.ok;
        self.ok = before.max(granted);
        if granted < self.bad {
            return false;
        }
        if let Some(silence) = self.silence.take() {
            self.trust = if silence.is_of_host { 0 } else { (2 * self.trust + 1).min(MOST_TRUST) };
            let alone = self.refuses_alone || (silence.by_trial && silence.failures == 1);
            self.refuses_alone = alone && !silence.is_of_host;
        }
        let down = self.down.take();
        self.refuses_alone &= item.failed.is_none();
        match &down {
            Some(down) if down.refused => {
                let pause = granted.since(before);
                let most = 2 * self.helped.max(policy.first);
                let helped = self.helped.max(pause.min(most)).max(self.penalty * 3 / 2);
                self.helped = helped.min(policy.first * MOST_PENALTY);
            }
            Some(_) => {}
            None if item.failed.is_some() && !self.helped.is_zero() => self.penalty = self.penalty.max(self.helped),
            None => self.penalty = Some(self.penalty * 3 / 4).filter(|less| *less >= LEAST_PENALTY).unwrap_or_default(),
        }
        down.is_some()
    }

    fn goes_down(&mut self, failure: Failure, host: u32, granted: Moment, now: Moment, policy: &BackOffPolicy) {
        let Failure { cause, retry_after } = failure;
        let down = self.down.get_or_insert(Down {
            failures: 0,
            since: now,
            silent_since: now,
            cause,
            not_before: now,
            wait: Wait::BackOff,
            by_robots: false,
            seen: 0,
            refused: false,
        });
        // Requests that were in flight together fail together: that is one failure.
        if granted >= self.bad || down.seen == 0 {
            (down.failures, down.seen) = (down.failures.saturating_add(1), down.seen.saturating_add(1));
            let pause = policy.pause(down.failures, u64::from(host) ^ down.since.millis());
            (down.not_before, down.wait) = (down.not_before.max(now + pause), Wait::BackOff);
        }
        down.cause = cause;
        down.refused |= is_refusal(cause);
        let asked = retry_after.map(|asked| asked.min(LONGEST_PAUSE));
        if let Some(asked) = asked.filter(|asked| !asked.is_zero()) {
            // Also where the back-off is longer: that alone would end with a new start.
            if now + asked >= down.not_before || down.wait == Wait::BackOff {
                down.wait = if asked > policy.max_retry_after { Wait::Paused } else { Wait::Asked };
            }
            down.not_before = down.not_before.max(now + asked);
        }
    }
}

/// Whether the server says that it is overloaded.
fn is_refusal(cause: Cause) -> bool {
    matches!(cause, Cause::Status(429 | 503))
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
