//! [`Health`]: whether a host answers, and whose fault it is when a fetch fails.
//!
//! A host that gives no answer backs off: it is asked again after pauses that grow, one request at a time, and is well
//! again after its first answer. Meanwhile nothing is held against its URLs.
//!
//! Who is to blame for a failure is seen by what comes next. Where the host answers the next request for another URL, the
//! URL is to blame. Where another URL fails first, the host is, and neither is charged; only URLs that had failed before
//! acquit nobody, because they may well fail together. What was shown of a failure is charged when the URL fails once more.
//! Where one silence after the other begins with the same URL, or with URLs that had failed before, that URL is to blame
//! whatever else fails in them: asking for it may be what brings the server down. So what failed before is asked for alone. Where a server says that it is
//! overloaded, it is asked more slowly first, and nothing is held against a URL as long as others that were refused get their
//! answers. To find out whether the host answers, a URL that had an answer before is asked for (a *check*): else the last URLs of a
//! crawl, which all hang, would look like a host that is down.

use std::time::Duration;

use super::{HostHealth, Purpose, WorkItem, known_good::KnownGood, trouble::Trouble};
use crate::{
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
    /// The host, as far as is known: the URL waits until it is well again.
    Host,
    /// Nobody yet: a server error, the first one. The URL is asked for again after a pause, its host goes on.
    Nobody,
    /// The URL: it has failed before, and that was its own fault. It has one attempt less.
    Url,
}

/// Silences that may begin with a URL that had failed before, or in a row with several such URLs, until the next such URL is to
/// blame for the next.
const MOST_EXCUSED: u32 = 3;

/// The same where the host answers with server errors.
const MOST_EXCUSED_BY_STATUS: u32 = 8;

/// Requests for URLs that had failed before, and are refused in a row because the host is overloaded, until they are to blame:
/// first it is asked more slowly.
const MOST_REFUSED: u32 = 3;

/// How many times as long as the first back-off the caution after a server error may be.
const MOST_CAUTION: u32 = 16;

/// A caution that is shorter is none.
const LEAST_CAUTION: Duration = Duration::from_millis(10);

/// A host's health.
#[derive(Debug, Default)]
pub(super) struct Health {
    ailment: Option<Box<Ailment>>,
    trouble: Option<Box<Trouble>>,
    /// When the last request began that it answered, in this run.
    well: Moment,
    /// No failure up to this moment is held against a URL: the host was to blame, or it was in an earlier run.
    excused: Moment,
    /// Whether it has answered in this crawl.
    pub(super) answers: bool,
    known_good: KnownGood,
}

#[derive(Debug)]
struct Ailment {
    failures: u32,
    since: Moment,
    /// The same, or when this run began.
    silent_since: Moment,
    last: Moment,
    /// The last back-off.
    pause: Duration,
    /// The longest that is added to the delay of a host that was overloaded.
    most_caution: Duration,
    cause: Cause,
    not_before: Moment,
    wait: Wait,
    /// Whether the last failure was that of a robots.txt.
    by_robots: bool,
    /// Failures in this run.
    heard: u32,
    /// Whether one of them was a server error.
    was_overloaded: bool,
}

impl Health {
    /// The health of a host as it was stored, at the start of a run: back-offs are over, what the host asked for is not.
    pub(super) fn resume(known: HostHealth, policy: &BackOffPolicy, now: Moment) -> Self {
        let longest_wait = policy.max_retry_after;
        let HostHealth { answers, stored, known_good, needs_robots } = known;
        let ailment = stored.as_ref().map(|row| {
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
            Box::new(Ailment {
                failures,
                since,
                silent_since: now,
                last: Moment::EPOCH,
                pause: policy.pause(failures, 0),
                most_caution: policy.first * MOST_CAUTION,
                cause,
                not_before,
                wait,
                // Nothing but its robots.txt is asked for before that is known.
                by_robots: needs_robots,
                heard: 0,
                was_overloaded: false,
            })
        });
        let known_good = KnownGood::new(known_good, stored.and_then(|row| row.known_good));
        Self { ailment, answers, known_good, excused: now, ..Self::default() }
    }

    /// Whether it is not well.
    pub(super) fn is_ailing(&self) -> bool {
        self.ailment.is_some()
    }

    /// The moment before which it is not asked; the epoch when it is well.
    pub(super) fn not_before(&self) -> Moment {
        self.ailment.as_ref().map_or(Moment::EPOCH, |ailment| ailment.not_before)
    }

    /// It gave an answer to a request granted at `granted`. Whether it was ailing, and is well again: what was asked for
    /// before its last failure does not show that, and ends no pause that it asked for since.
    pub(super) fn answered(&mut self, item: &WorkItem, granted: Moment) -> bool {
        // A robots.txt that lies there as a file says nothing of a program that is overloaded.
        let robots = matches!(item.purpose, Purpose::Robots { .. });
        self.answers = true;
        let busy = |ailment: &Ailment| is_status(ailment.cause) && !ailment.by_robots;
        if robots && self.ailment.as_deref().is_some_and(busy) {
            return false;
        }
        if let Some(excused) = self.trouble.as_mut().and_then(|trouble| trouble.answered(item, granted)) {
            self.excused = self.excused.max(excused);
        }
        self.well = self.well.max(granted);
        if item.purpose == Purpose::Check {
            self.known_good.prefer(&item.url);
        } else if item.purpose.is_counted() {
            self.known_good.answered(&item.url);
        }
        let over = self.ailment.take_if(|ailment| ailment.last <= granted);
        let before = self.trouble().caution;
        // A server that allows one request every few seconds is well after each pause, and refuses the next: so the pause is
        // kept for a while, and given up by halves.
        let caution = match &over {
            // Where some of it was left, it was too little.
            Some(ailment) if ailment.was_overloaded => ailment.pause.max(2 * before).min(ailment.most_caution),
            // What else was wrong says nothing of how much it allows, and neither does a file.
            Some(_) => before,
            None if robots => before,
            None => Some(before / 2).filter(|caution| *caution >= LEAST_CAUTION).unwrap_or_default(),
        };
        if caution != before {
            self.trouble.get_or_insert_with(|| Box::new(Trouble::NONE)).caution = caution;
        }
        over.is_some()
    }

    fn trouble(&self) -> &Trouble {
        static NONE: Trouble = Trouble::NONE;
        self.trouble.as_deref().unwrap_or(&NONE)
    }

    /// How much longer than its delay it is left alone after a request that ends now.
    pub(super) fn caution(&self, now: Moment) -> Duration {
        // What was neither an answer nor a failure (a robots.txt that is elsewhere) leaves the next request as it is: one that
        // the pause made possible.
        let ailing = self.ailment.as_ref().filter(|ailment| ailment.not_before <= now);
        self.trouble().caution.max(ailing.map_or(Duration::ZERO, |ailment| ailment.pause.min(ailment.most_caution)))
    }

    /// Whether it is to have one request at a time: else nobody could tell which of them was at fault, or one too many.
    pub(super) fn is_frail(&self) -> bool {
        self.is_ailing() || !self.trouble().caution.is_zero()
    }

    /// A fetch of `item`, granted at `granted`, failed. `salt` spreads the pauses of hosts that fail together.
    pub(super) fn failed(
        &mut self,
        item: &WorkItem,
        failure: Failure,
        granted: Moment,
        now: Moment,
        policy: &BackOffPolicy,
    ) -> Fault {
        let passed_over = self.is_passed_over(item, failure.cause);
        // Where no URL had an answer yet, nothing can tell a page with a server error from a host with one.
        let charged = self.is_to_blame(item, failure.cause) || (passed_over && self.known_good.is_empty());
        let trouble = self.trouble.get_or_insert_with(|| Box::new(Trouble::NONE));
        trouble.failed(item, is_refusal(failure.cause), now);
        if !passed_over {
            self.ail(failure, item.host.0, granted, now, policy);
            if let Some(ailment) = &mut self.ailment {
                ailment.by_robots = matches!(item.purpose, Purpose::Robots { .. });
            }
        }
        match (charged, passed_over) {
            (true, _) => Fault::Url,
            (false, true) => Fault::Nobody,
            (false, false) => Fault::Host,
        }
    }

    /// Whether a failure is that of the URL.
    fn is_to_blame(&self, item: &WorkItem, cause: Cause) -> bool {
        let begins = !self.trouble().is_silent() && item.failed.is_some();
        let most = if is_status(cause) { MOST_EXCUSED_BY_STATUS } else { MOST_EXCUSED };
        if is_refusal(cause) {
            // A server that allows few requests refuses one URL as well as another.
            return self.trouble().refused >= MOST_REFUSED && (begins || self.has_failed_by_itself(item));
        }
        self.has_failed_by_itself(item) || (begins && self.trouble().begun_by(item.id) >= most)
    }

    /// Whether the last failure of a URL was its own fault: since then the host has answered a request that began later, and
    /// no other URL failed between.
    fn has_failed_by_itself(&self, item: &WorkItem) -> bool {
        item.failed.is_some_and(|failed| failed > self.excused && failed <= self.well)
    }

    /// Whether the host goes on after a server error (500 and more, but not 503): it is the first one in a row, and the next
    /// URL will tell. One more of the same URL has it checked, because nothing else may be left to ask for.
    fn is_passed_over(&self, item: &WorkItem, cause: Cause) -> bool {
        let errs = matches!(cause, Cause::Status(500..=502 | 504..)) && item.purpose.is_of_a_page();
        let another = self.trouble().is_silent_by_another(&item.url);
        let untold = item.failed.is_some_and(|failed| failed > self.well) && !self.known_good.is_empty();
        errs && !self.is_ailing() && !another && !untold
    }

    /// Drops a URL that may not be asked for any more.
    pub(super) fn forget_good(&mut self, url: &WebUrl) {
        self.known_good.forget(url);
    }

    pub(super) fn ail(&mut self, failure: Failure, host: u32, granted: Moment, now: Moment, policy: &BackOffPolicy) {
        let Failure { cause, retry_after } = failure;
        let fresh = || Ailment {
            failures: 0,
            since: now,
            silent_since: now,
            last: Moment::EPOCH,
            pause: Duration::ZERO,
            most_caution: policy.first * MOST_CAUTION,
            cause,
            not_before: now,
            wait: Wait::BackOff,
            by_robots: false,
            heard: 0,
            was_overloaded: false,
        };
        let ailment = self.ailment.get_or_insert_with(|| Box::new(fresh()));
        // Requests that were in flight together fail together: that is one failure.
        if granted >= ailment.last {
            ailment.failures = ailment.failures.saturating_add(1);
            ailment.heard = ailment.heard.saturating_add(1);
            let pause = policy.pause(ailment.failures, u64::from(host) ^ ailment.since.millis());
            (ailment.not_before, ailment.wait) = (ailment.not_before.max(now + pause), Wait::BackOff);
            ailment.pause = pause;
        }
        (ailment.last, ailment.cause) = (now, cause);
        ailment.was_overloaded |= is_status(cause);
        let asked = retry_after.map(|asked| asked.min(LONGEST_PAUSE));
        if let Some(asked) = asked.filter(|asked| !asked.is_zero()) {
            // Also where the back-off is longer: that alone would end with a new start.
            if now + asked >= ailment.not_before || ailment.wait == Wait::BackOff {
                ailment.wait = if asked > policy.max_retry_after { Wait::Paused } else { Wait::Asked };
            }
            ailment.not_before = ailment.not_before.max(now + asked);
            // What the host asked for is what helps, if it does.
            ailment.pause = ailment.pause.max(asked);
        }
    }

    /// The URL to ask for, where it is the turn of one that is known to be good and not of the queue's next, to find out
    /// whether the host is well again. Both have their turn, since either may be at fault by itself; `fresh` says whether the
    /// queue's next has not failed yet. That tells more, and goes first, but not where a URL failed once more: it would be asked
    /// for again with each new one that fails too.
    pub(super) fn check(&self, fresh: bool) -> Option<WebUrl> {
        let ailment = self.ailment.as_ref()?;
        let queue_first = fresh && !self.trouble().is_silent_once_more();
        let its_turn = queue_first == ailment.failures.is_multiple_of(2);
        self.known_good.turn(ailment.failures.saturating_sub(1) / 2).filter(|_| its_turn)
    }

    /// When the host is unreachable, if it does not answer until then; `None` when it is well, or is yet to be asked in this
    /// run whether it still fails.
    pub(super) fn gives_up(&self, policy: &BackOffPolicy) -> Option<Moment> {
        let ailment = self.ailment.as_ref()?;
        let patience = match () {
            () if ailment.wait == Wait::Paused => Duration::ZERO,
            () if ailment.heard == 0 || (ailment.heard == 1 && ailment.failures == 1) => return None,
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
        let known_good = self.known_good.last().map(Into::into);
        Some(HealthRow { failures, since, cause, not_before, wait, known_good })
    }
}

/// Whether a cause is an answer that is a server error, or asks for fewer requests.
fn is_status(cause: Cause) -> bool {
    matches!(cause, Cause::Status(_))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{Hop, HostId, Ticket};

    /// A host with a page that had an answer, and URLs of it.
    struct Host {
        health: Health,
        now: Moment,
        failed: [Option<Moment>; 9],
    }

    impl Host {
        fn new() -> Self {
            let now = Moment::from_millis(1_000);
            let mut host = Self {
                health: Health::resume(HostHealth::default(), &BackOffPolicy::default(), now),
                now,
                failed: [None; 9],
            };
            host.answers(8);
            host
        }

        fn item(&self, number: usize) -> WorkItem {
            let url = WebUrl::parse(&format!("http://h/{number}")).unwrap();
            let item = WorkItem::discover(Ticket(number as u64), HostId(0), url, Hop::Link);
            WorkItem { failed: self.failed[number], ..item }
        }

        /// A request that takes a second.
        fn asks(&mut self) -> Moment {
            let granted = self.now + Duration::from_secs(1);
            self.now = granted + Duration::from_secs(1);
            granted
        }

        fn answers(&mut self, number: usize) {
            let (item, granted) = (self.item(number), self.asks());
            self.health.answered(&item, granted);
        }

        fn fails(&mut self, number: usize, cause: Cause) -> Fault {
            let (item, granted) = (self.item(number), self.asks());
            self.fails_at(&item, granted, cause)
        }

        fn fails_at(&mut self, item: &WorkItem, granted: Moment, cause: Cause) -> Fault {
            let failure = Failure { cause, retry_after: None };
            self.failed[usize::try_from(item.id.0).unwrap()] = Some(self.now);
            self.health.failed(item, failure, granted, self.now, &BackOffPolicy::default())
        }
    }

    #[test]
    fn a_url_that_fails_alone_is_charged_when_it_fails_once_more() {
        for cause in [Cause::Closed, Cause::TimedOut] {
            let mut host = Host::new();
            assert_eq!(host.fails(1, cause), Fault::Host);
            assert_eq!(host.fails(1, cause), Fault::Host, "the host has not answered since");
            host.answers(8);
            assert_eq!(host.fails(1, cause), Fault::Url);
            host.answers(8);
            assert_eq!(host.fails(1, cause), Fault::Url);
        }
    }

    #[test]
    fn what_fails_with_another_url_is_nobodys_fault_but_the_hosts() {
        let mut host = Host::new();
        for number in [1, 2] {
            assert_eq!(host.fails(number, Cause::Refused), Fault::Host);
        }
        host.answers(8);
        for number in [1, 2] {
            assert_eq!(host.fails(number, Cause::Refused), Fault::Host);
            host.answers(8);
        }
        // Each of these failed alone since.
        assert_eq!([1, 2].map(|number| host.fails(number, Cause::Refused)), [Fault::Url; 2]);
    }

    #[test]
    fn urls_that_fail_again_acquit_nobody_but_a_page_that_was_good_does() {
        let mut host = Host::new();
        for number in [1, 2] {
            host.fails(number, Cause::TimedOut);
            host.answers(8);
        }
        assert_eq!([1, 2].map(|number| host.fails(number, Cause::TimedOut)), [Fault::Url; 2]);
        host.answers(8);
        assert_eq!([1, 2].map(|number| host.fails(number, Cause::TimedOut)), [Fault::Url; 2], "they failed together");
        let check = WorkItem { purpose: Purpose::Check, ..host.item(8) };
        let granted = host.asks();
        host.fails_at(&check, granted, Cause::TimedOut);
        host.answers(8);
        assert_eq!([1, 2].map(|number| host.fails(number, Cause::TimedOut)), [Fault::Host; 2]);
    }

    #[test]
    fn a_url_that_begins_one_silence_after_the_other_is_charged_whatever_else_fails() {
        let mut host = Host::new();
        let mut faults = Vec::new();
        for _ in 0..6 {
            faults.push(host.fails(1, Cause::Closed));
            // The server is down because of it.
            let check = WorkItem { purpose: Purpose::Check, failed: None, ..host.item(8) };
            let granted = host.asks();
            host.fails_at(&check, granted, Cause::Refused);
            host.answers(8);
        }
        assert_eq!(faults, [Fault::Host, Fault::Host, Fault::Host, Fault::Host, Fault::Url, Fault::Url]);
        host.answers(8);
        host.fails(2, Cause::Closed);
        host.answers(8);
        assert_eq!(host.fails(1, Cause::Closed), Fault::Url, "others begin silences too");
        host.answers(8);
        assert_eq!(host.fails(2, Cause::Closed), Fault::Url, "it failed alone, and is charged for that");
    }

    #[test]
    fn urls_that_take_the_server_down_in_turn_are_charged() {
        let mut host = Host::new();
        let mut charged = 0;
        for turn in 0..30 {
            charged += usize::from(host.fails(turn % 3, Cause::Closed) == Fault::Url);
            let check = WorkItem { purpose: Purpose::Check, failed: None, ..host.item(8) };
            let granted = host.asks();
            host.fails_at(&check, granted, Cause::Refused);
            host.answers(8);
        }
        assert_eq!(charged, 24, "all but three first ones, and three more");
    }

    #[test]
    fn who_is_refused_is_charged_only_where_nobody_who_was_gets_an_answer() {
        let mut host = Host::new();
        let refused = |host: &mut Host, number| {
            let fault = host.fails(number, Cause::Status(503));
            host.answers(8);
            fault
        };
        assert!((0..20).all(|_| {
            let fault = refused(&mut host, 1);
            refused(&mut host, 2);
            host.answers(2);
            fault == Fault::Host
        }));
        let faults: Vec<_> = (0..12).map(|_| refused(&mut host, 1)).collect();
        assert_eq!(faults.iter().position(|fault| *fault == Fault::Url), Some(3), "{faults:?}");
        assert!(faults[3..].iter().all(|fault| *fault == Fault::Url));
    }

    #[test]
    fn a_robots_txt_that_failed_before_the_start_ends_the_ailment_when_it_answers() {
        for needs_robots in [true, false] {
            let mut host = Host::new();
            host.fails(1, Cause::Status(503));
            let known = HostHealth { stored: host.health.row(), needs_robots, ..HostHealth::default() };
            let mut resumed = Health::resume(known, &BackOffPolicy::default(), host.now);
            let robots = WorkItem { purpose: Purpose::Robots { of: HostId(0) }, ..host.item(3) };
            assert_eq!(resumed.answered(&robots, host.asks()), needs_robots);
            assert!(resumed.answers, "it has answered, whatever is wrong with it");
        }
    }

    #[test]
    fn what_neither_answers_nor_fails_keeps_the_pause_also_after_a_start() {
        let mut host = Host::new();
        for _ in 0..3 {
            host.fails(1, Cause::Status(429));
        }
        let (known, soon) = (host.health.row(), host.health.not_before());
        assert_eq!(host.health.caution(host.now), Duration::ZERO, "it has just failed, and has its pause");
        assert!(host.health.caution(soon) >= Duration::from_secs(4));
        let known = HostHealth { stored: known, ..HostHealth::default() };
        let mut resumed = Health::resume(known, &BackOffPolicy::default(), host.now);
        assert!(resumed.caution(host.now) >= Duration::from_secs(4));
        let granted = host.asks();
        assert!(resumed.answered(&host.item(2), granted));
        assert_eq!(resumed.caution(host.now), Duration::ZERO, "it did not fail in this run");
    }

    #[test]
    fn nobody_is_given_up_who_was_not_asked_again() {
        let policy = BackOffPolicy { give_up: Duration::from_millis(1), ..BackOffPolicy::default() };
        let mut host = Host::new();
        host.fails(1, Cause::Refused);
        assert_eq!(host.health.gives_up(&policy), None);
        host.fails(1, Cause::Refused);
        assert!(host.health.gives_up(&policy).is_some());
        let known = HostHealth { stored: host.health.row(), ..HostHealth::default() };
        let mut resumed = Health::resume(known, &BackOffPolicy::default(), host.now);
        assert_eq!(resumed.gives_up(&policy), None);
        let (item, granted) = (host.item(1), host.asks());
        resumed.failed(&item, Failure { cause: Cause::Refused, retry_after: None }, granted, host.now, &policy);
        assert!(resumed.gives_up(&policy).is_some());
    }

    #[test]
    fn the_pause_that_a_host_asked_for_is_kept_for_a_while() {
        let mut host = Host::new();
        let failure = Failure { cause: Cause::Status(429), retry_after: Some(Duration::from_secs(3)) };
        let (item, granted) = (host.item(1), host.asks());
        host.health.failed(&item, failure, granted, host.now, &BackOffPolicy::default());
        host.answers(8);
        assert_eq!(host.health.caution(host.now), Duration::from_secs(3));
    }

    #[test]
    fn after_server_errors_the_pause_that_helped_is_kept_for_a_while() {
        let mut host = Host::new();
        for _ in 0..3 {
            host.fails(1, Cause::Status(503));
        }
        assert_eq!(host.health.caution(host.now), Duration::ZERO);
        host.answers(8);
        let first = host.health.caution(host.now);
        assert!(first >= Duration::from_secs(4) && first < Duration::from_secs(6), "{first:?}");
        host.answers(2);
        assert_eq!(host.health.caution(host.now), first / 2);
        let robots = WorkItem { purpose: Purpose::Robots { of: HostId(0) }, ..host.item(2) };
        let granted = host.asks();
        host.health.answered(&robots, granted);
        assert_eq!(host.health.caution(host.now), first / 2, "a file says nothing of a program that is overloaded");
        (0..20).for_each(|_| host.answers(2));
        assert_eq!(host.health.caution(host.now), Duration::ZERO);
        host.fails(1, Cause::Refused);
        host.answers(8);
        assert_eq!(host.health.caution(host.now), Duration::ZERO, "who refuses does not count requests");
    }

    #[test]
    fn a_first_server_error_keeps_the_host_well_and_costs_nothing_yet() {
        let mut host = Host::new();
        assert_eq!(host.fails(1, Cause::Status(500)), Fault::Nobody);
        assert!(!host.health.is_ailing());
        assert_eq!(host.fails(2, Cause::Status(500)), Fault::Host);
        assert!(host.health.is_ailing());
    }

    #[test]
    fn an_answer_to_what_was_asked_before_ends_no_pause() {
        let mut host = Host::new();
        let (slow, granted) = (host.item(3), host.asks());
        host.fails(1, Cause::Status(503));
        assert!(!host.health.answered(&slow, granted) && host.health.is_ailing());
        assert_eq!(host.fails(1, Cause::Status(503)), Fault::Host, "nothing was answered since");
        let granted = host.asks();
        assert!(host.health.answered(&slow, granted) && !host.health.is_ailing());
    }

    #[test]
    fn a_pause_that_is_shorter_than_the_back_off_is_kept_over_a_start_all_the_same() {
        let mut host = Host::new();
        for _ in 0..7 {
            host.fails(1, Cause::Refused);
        }
        let failure = Failure { cause: Cause::Status(503), retry_after: Some(Duration::from_secs(5)) };
        let (item, granted) = (host.item(1), host.asks());
        host.health.failed(&item, failure, granted, host.now, &BackOffPolicy::default());
        let stored = host.health.row();
        let known = HostHealth { stored, ..HostHealth::default() };
        let resumed = Health::resume(known, &BackOffPolicy::default(), host.now);
        assert!(resumed.not_before() >= host.now + Duration::from_secs(5));
    }

    #[test]
    fn a_page_that_was_good_is_asked_for_first_where_a_url_fails_again() {
        let mut host = Host::new();
        host.fails(1, Cause::Closed);
        let turn = |host: &Host, fresh| host.health.check(fresh).is_some();
        assert_eq!([true, false].map(|fresh| turn(&host, fresh)), [false, true]);
        host.answers(8);
        host.fails(1, Cause::Closed);
        assert_eq!([true, false].map(|fresh| turn(&host, fresh)), [true; 2]);
    }
}
