//! [`Health`]: whether a host answers, and whose fault a failed fetch is.
//!
//! Only one thing proves that a failure was the URL's own: the host answered a request that was granted after the failure. The URL is
//! charged when it fails once more. So an outage, however long, charges no URL. If a page that had an answer failed too, or if the host
//! refused, only the first failure is held against its URL: the others met the same outage.
//!
//! A host that fails is *down*: it is asked one request at a time, after growing pauses, in turn for its next URL and for one that had an
//! answer before (a *check*). Failures that proved to be the URLs' own do not take it down at once: the more of them there were in a row,
//! the fewer checks are made for the next.
//!
//! A host that refuses (429, 503) and answers after a pause may allow few requests, or may always refuse one URL. The refused URL is tried
//! again after the same pause: if that helps, the pause is added to the delay (a *penalty*), which later shrinks by quarters.

use std::time::Duration;

use super::{
    BackOffPolicy, FailedFetch, Purpose, WorkItem,
    trouble::{Down, LONGEST_PAUSE, Outage, Silence, Trouble, is_refusal},
};
use crate::{
    health::{FailureCause, HealthRow, Wait},
    time::Moment,
    url::WebUrl,
};

/// URLs that had an answer, of a host that is well; three times as many of one that has failed.
const GOOD: usize = 5;

/// URLs in a row that a host may forbid before it is taken to forbid everything: a page that had an answer shows whether it does.
const MOST_FORBIDDEN: u8 = 10;

/// Who is to blame for a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The host: another URL failed before, and it has not answered since. Nothing is held against the URL.
    Host,
    /// Not known yet. Where the host answers, it was the URL's.
    Unknown,
    /// The URL: its failure before was its own. It has one attempt less.
    Url,
}

/// A host's health as it is known at a start.
#[derive(Debug, Clone, Default)]
pub struct HostHealth {
    /// Whether it ever gave an answer that could be used.
    pub answers: bool,
    /// What is wrong with it.
    pub stored: Option<HealthRow>,
    /// A URL that had an answer.
    pub known_good: Option<Box<str>>,
    /// Whether its robots.txt is to be fetched before anything else.
    pub needs_robots: bool,
}

/// A host's health. There may be very many hosts, and most never fail: what those have that did is on the heap.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// Whether it has answered in this crawl.
    pub(super) answers: bool,
    /// Whether nothing but links to it is checked: it is asked for one thing at a time, whatever others are.
    pub(super) of_links: bool,
    /// Whether it is to be asked for a page that had an answer, although nothing else is to be asked for.
    pub(super) probed: bool,
    /// URLs in a row that it forbade.
    forbidden: u8,
    /// URLs that had an answer; the first is the next to be asked for.
    good: Vec<Box<str>>,
    trouble: Option<Box<Trouble>>,
}

impl Health {
    /// The health of a host as it was stored, at the start of a run: back-offs are over, what the host asked for is not.
    pub(super) fn resume(known: HostHealth, policy: &BackOffPolicy, now: Moment) -> Self {
        let HostHealth { answers, stored, known_good, needs_robots } = known;
        let mut good: Vec<_> = known_good.into_iter().collect();
        let Some(row) = stored else { return Self { answers, good, ..Self::default() } };
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
            pause: policy.pause(row.failures, 0),
            asked: Duration::ZERO,
        };
        good.extend(row.known_good.filter(|other| !good.contains(other)));
        // What failed before may have failed in an outage. Without a good page no answer can show more than its robots.txt: what
        // fails then fails in each run, and would never be charged.
        let excused = if good.is_empty() { Moment::EPOCH } else { now };
        let trouble = Trouble { down: Some(down), excused, ..Trouble::default() };
        Self { answers, good, trouble: Some(Box::new(trouble)), ..Self::default() }
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
        self.of_links || self.probed || self.trouble.as_ref().is_some_and(|trouble| one(trouble))
    }

    /// The moment before which it is not asked; the epoch when it is well.
    pub(super) fn not_before(&self) -> Moment {
        self.down().map_or(Moment::EPOCH, |down| down.not_before)
    }

    /// How much longer than its delay it is left alone after a request that ends now.
    pub(super) fn penalty(&self, now: Moment) -> Duration {
        let Some(trouble) = &self.trouble else { return Duration::ZERO };
        // What was neither an answer nor a failure (a robots.txt that is elsewhere) has used up what the pause allowed.
        let down = trouble.down.as_ref().filter(|down| down.not_before <= now);
        trouble.penalty.max(down.map_or(Duration::ZERO, |down| down.pause))
    }

    /// Whether a URL that failed at a moment is to be tried before those that did not, to see whether a pause helps.
    pub(super) fn tries(&self, failed: Moment) -> bool {
        let tries = |trouble: &Trouble| trouble.is_up_since(failed) && trouble.trial_pause() > trouble.penalty;
        self.trouble.as_ref().is_some_and(|trouble| tries(trouble))
    }

    /// When it may be asked for what failed: a server that allows few requests has a fair trial after the pause that helped.
    pub(super) fn trial_at(&self, failed: Moment) -> Moment {
        let is_next = |trouble: &&Trouble| trouble.is_up_since(failed) && !self.wants_check(Some(failed));
        let trouble = self.trouble.as_deref().filter(is_next);
        trouble.map_or(Moment::EPOCH, |trouble| trouble.last + trouble.trial_pause())
    }

    /// Whether it is well, and has answered since a failure.
    pub(super) fn has_answered_since(&self, failed: Moment) -> bool {
        self.trouble.as_ref().is_none_or(|trouble| trouble.is_up_since(failed))
    }

    /// Whether a good URL is to be asked for before the next of the queue, which failed at a moment, or did not.
    pub(super) fn wants_check(&self, failed: Option<Moment>) -> bool {
        let Some(trouble) = self.trouble.as_ref().filter(|_| !self.good.is_empty()) else { return false };
        let is_tried = |silence: &Silence| silence.trial.is_some() && !trouble.refuses_alone();
        let may_be_away = trouble.silence.as_ref().is_some_and(|silence| silence.is_of_host);
        match (&trouble.down, failed) {
            (Some(down), None) => down.failures.is_multiple_of(2),
            // A good one may be bad since: so now and then another goes.
            (Some(down), Some(_)) => down.failures % 4 != 3,
            (None, failed) => {
                trouble.silence.as_ref().is_some_and(is_tried)
                    || failed.is_some_and(|failed| failed > trouble.ok || may_be_away)
            }
        }
    }

    /// This machine was offline where it gave no sign of life; whether it is well then.
    pub(super) fn forgive(&mut self) -> bool {
        let is_silent = |down: &Down| !down.cause.is_sign_of_life();
        let Some(trouble) = self.trouble.as_mut().filter(|trouble| trouble.down.as_ref().is_some_and(is_silent)) else {
            return false;
        };
        (trouble.down, trouble.silence, trouble.excused) = (None, None, trouble.bad);
        true
    }

    /// Whether it has a URL that had an answer.
    pub(super) fn has_good(&self) -> bool {
        !self.good.is_empty()
    }

    /// Whether it is asked for such a one next.
    pub(super) fn is_probed(&self) -> bool {
        self.probed && self.has_good()
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
        if item.purpose.is_counted() && self.forbidden == 0 {
            self.had_answer(&item.url);
        }
        let Some(trouble) = &mut self.trouble else { return false };
        let pause = granted.since(trouble.last);
        trouble.last = trouble.last.max(granted);
        // A robots.txt that lies there as a file says nothing of a program that is overloaded.
        let by_file = |down: &Down| down.by_robots || !matches!(down.cause, FailureCause::Status(_));
        if item.purpose == Purpose::Robots && !trouble.down.as_ref().is_some_and(by_file) {
            return false;
        }
        trouble.answered(item, granted, pause, policy)
    }

    /// It forbids what it was asked for. Whether it may forbid everything.
    pub(super) fn forbids(&mut self) -> bool {
        self.forbidden = self.forbidden.saturating_add(1);
        self.forbidden > MOST_FORBIDDEN
    }

    /// It gave an answer that forbids nothing.
    pub(super) fn permits(&mut self) {
        self.forbidden = 0;
    }

    /// It was asked, whatever came of it: also where what came of it says nothing of the host.
    pub(super) fn was_asked(&mut self, granted: Moment) {
        if let Some(trouble) = &mut self.trouble {
            trouble.last = trouble.last.max(granted);
        }
    }

    /// A fetch of `item`, granted at `granted`, failed.
    pub(super) fn failed(
        &mut self,
        item: &WorkItem,
        failure: FailedFetch,
        granted: Moment,
        now: Moment,
        policy: &BackOffPolicy,
    ) -> Blame {
        let may_be_own = item.purpose.may_be_at_fault();
        let trouble = self.trouble.get_or_insert_default();
        let errs = may_be_own && matches!(failure.cause, FailureCause::Status(500..=502 | 504..));
        let refused = is_refusal(failure.cause);
        // Where no URL had an answer yet, nothing can tell a page with a server error from a host with one.
        let own = may_be_own && item.held().is_some_and(|held| trouble.was_own(held) || (errs && self.good.is_empty()));
        // What came after a failure without any answer may have failed because of that.
        let held = trouble.silence.as_ref().is_none_or(|silence| !silence.is_of_host);
        // What was refused, and fails in another way now, does so for the first time.
        let was_refused = item.held().is_some_and(|held| trouble.was_refusal(held));
        let charged = own && held && (!(refused || was_refused) || trouble.refuses_alone());
        let most = match () {
            () if charged && (errs || refused) => 2 * trouble.trust + 1,
            () if errs => trouble.trust.max(1),
            () => u32::from(own && held),
        };
        let silence = trouble.silence.get_or_insert_default();
        if silence.failures == 0 && item.failed.is_none() {
            silence.outage = Outage::Possible;
        }
        if item.purpose == Purpose::Check && silence.outage == Outage::Possible {
            silence.outage = Outage::Shown;
        }
        silence.failures += 1;
        silence.refused |= refused;
        if own && refused {
            silence.trial = Some(granted.since(trouble.last));
        }
        silence.is_of_host |= item.purpose == Purpose::Check || !matches!(failure.cause, FailureCause::Status(_));
        let asks = failure.retry_after.is_some_and(|pause| !pause.is_zero());
        if silence.failures > most || asks || trouble.down.is_some() {
            trouble.goes_down(failure, item.host.0, granted, now, policy);
            if let Some(down) = &mut trouble.down {
                down.by_robots = item.purpose == Purpose::Robots;
            }
        }
        trouble.note_kind(refused, now);
        (trouble.bad, trouble.last) = (now, trouble.last.max(granted));
        match (charged, held) {
            (true, _) => Blame::Url,
            // What is held against it already stays so.
            (false, true) if refused && own && !was_refused => Blame::Host,
            (false, true) => Blame::Unknown,
            (false, false) => Blame::Host,
        }
    }

    /// What it needs from another host could not be had.
    pub(super) fn failed_elsewhere(
        &mut self,
        host: u32,
        failure: FailedFetch,
        at: [Moment; 2],
        policy: &BackOffPolicy,
    ) {
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
            // Of links alone, the core gives a host up as soon as another shows that the machine is online.
            () if self.answers || self.of_links => policy.give_up,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{Hop, HostId, Ticket};

    /// A host with a page that had an answer, and URLs of it.
    struct Host {
        health: Health,
        policy: BackOffPolicy,
        now: Moment,
        failed: [Option<Moment>; 9],
    }

    impl Host {
        fn new() -> Self {
            let (policy, now) = (BackOffPolicy::default(), Moment::from_millis(1_000));
            let health = Health::resume(HostHealth::default(), &policy, now);
            let mut host = Self { health, policy, now, failed: [None; 9] };
            host.answers(8);
            host
        }

        fn item(&self, number: usize) -> WorkItem {
            let url = WebUrl::parse(&format!("http://h/{number}")).unwrap();
            let item = WorkItem::discover(Ticket(number as u64), HostId(0), url, Hop::Link);
            WorkItem { failed: self.failed[number], ..item }
        }

        fn robots(&self) -> WorkItem {
            WorkItem { purpose: Purpose::Robots, of: Some(HostId(0)), ..self.item(0) }
        }

        /// A request that takes a second.
        fn asks(&mut self) -> Moment {
            let granted = self.now + Duration::from_secs(1);
            self.now = granted + Duration::from_secs(1);
            granted
        }

        fn answers(&mut self, number: usize) -> bool {
            let (item, granted) = (self.item(number), self.asks());
            self.health.answered(&item, granted, &self.policy)
        }

        fn fails(&mut self, number: usize, cause: FailureCause) -> Blame {
            self.fails_so(number, FailedFetch { cause, retry_after: None })
        }

        fn fails_so(&mut self, number: usize, failure: FailedFetch) -> Blame {
            let (item, granted) = (self.item(number), self.asks());
            let fault = self.health.failed(&item, failure, granted, self.now, &self.policy);
            if fault != Blame::Host {
                self.failed[number] = Some(self.now);
            }
            fault
        }

        /// The same host after a new start.
        fn resumed(&self, needs_robots: bool) -> Health {
            let known = HostHealth { stored: self.health.row(), needs_robots, ..HostHealth::default() };
            Health::resume(known, &self.policy, self.now)
        }
    }

    #[test]
    fn a_failure_is_charged_when_the_url_fails_once_more_after_an_answer() {
        for cause in [FailureCause::Closed, FailureCause::TimedOut, FailureCause::Status(500)] {
            let mut host = Host::new();
            assert_eq!(host.fails(1, cause), Blame::Unknown);
            assert_ne!(host.fails(1, cause), Blame::Url, "nothing was answered since");
            host.answers(8);
            assert_eq!(host.fails(1, cause), Blame::Url);
        }
    }

    #[test]
    fn where_nothing_is_answered_the_first_url_alone_may_be_at_fault() {
        let mut host = Host::new();
        assert_eq!([1, 2].map(|number| host.fails(number, FailureCause::Refused)), [Blame::Unknown, Blame::Host]);
        let mut host = Host::new();
        let errors = [1, 2].map(|number| host.fails(number, FailureCause::Status(500)));
        assert_eq!(errors, [Blame::Unknown; 2], "a server error is an answer");
    }

    #[test]
    fn a_first_server_error_keeps_the_host_up() {
        let mut host = Host::new();
        host.fails(1, FailureCause::Status(500));
        assert!(!host.health.is_down() && host.health.asks_singly());
        host.fails(2, FailureCause::Status(500));
        assert!(host.health.is_down());
    }

    #[test]
    fn the_pause_that_helps_what_was_refused_is_added_to_the_delay() {
        let mut host = Host::new();
        host.fails(1, FailureCause::Status(429));
        assert!(host.answers(2) && host.health.penalty(host.now).is_zero(), "the URL may always be refused");
        let helped = host.health.trial_at(host.failed[1].unwrap()).since(host.now - Duration::from_secs(1));
        host.answers(1);
        assert_eq!(host.health.penalty(host.now), helped);
        host.answers(3);
        assert_eq!(host.health.penalty(host.now), helped * 3 / 4);
        assert!((0..20).all(|_| !host.answers(3)));
        assert!(host.health.penalty(host.now).is_zero());
    }

    #[test]
    fn a_url_that_is_refused_alone_after_three_pauses_is_charged() {
        let mut host = Host::new();
        let mut faults = Vec::new();
        for _ in 0..6 {
            faults.push(host.fails(1, FailureCause::Status(503)));
            host.answers(8);
        }
        assert_eq!(faults[..4], [Blame::Unknown; 4]);
        assert_eq!(faults[4..], [Blame::Url; 2]);
        assert!(!host.health.is_down() && host.health.penalty(host.now).is_zero());
    }

    #[test]
    fn a_refusal_is_not_charged_to_a_url_that_fails_in_another_way() {
        for cause in [FailureCause::Closed, FailureCause::Status(502)] {
            let mut host = Host::new();
            let refusals = [2, 1].map(|number| host.fails(number, FailureCause::Status(429)));
            host.answers(8);
            assert_eq!(refusals, [Blame::Unknown; 2]);
            host.fails(3, cause);
            host.answers(8);
            assert_eq!(host.fails(1, cause), Blame::Unknown, "pauses help against refusals");
            host.answers(8);
            assert_eq!(host.fails(1, FailureCause::Status(429)), Blame::Host, "it has failed by itself");
            host.answers(8);
            assert_eq!(host.fails(1, cause), Blame::Url);
        }
    }

    #[test]
    fn an_outage_in_which_a_good_page_fails_is_held_against_nobody() {
        let mut host = Host::new();
        host.fails(1, FailureCause::Closed);
        let (check, granted) = (WorkItem { purpose: Purpose::Check, ..host.item(8) }, host.asks());
        let failure = FailedFetch { cause: FailureCause::Refused, retry_after: None };
        host.health.failed(&check, failure, granted, host.now, &host.policy);
        host.answers(8);
        assert_eq!(host.fails(1, FailureCause::Closed), Blame::Unknown);
        host.answers(8);
        assert_eq!(host.fails(1, FailureCause::Closed), Blame::Url, "it failed alone since");
    }

    #[test]
    fn a_robots_txt_shows_that_a_host_is_up_where_it_had_failed_itself() {
        for needs_robots in [true, false] {
            let mut host = Host::new();
            host.fails(1, FailureCause::Status(503));
            let mut resumed = host.resumed(needs_robots);
            assert_eq!(resumed.answered(&host.robots(), host.asks(), &host.policy), needs_robots);
            assert!(resumed.answers, "it has answered, whatever is wrong with it");
        }
    }

    #[test]
    fn what_failed_in_an_earlier_run_is_charged_where_no_good_page_can_show_an_outage() {
        for (has_good, fault) in [(true, Blame::Unknown), (false, Blame::Url)] {
            let mut host = Host::new();
            if !has_good {
                host.health.forget_good(&host.item(8).url);
            }
            host.fails(1, FailureCause::Closed);
            host.health = host.resumed(true);
            let (robots, granted) = (host.robots(), host.asks());
            host.health.answered(&robots, granted, &host.policy);
            assert_eq!(host.fails(1, FailureCause::Closed), fault);
        }
    }

    #[test]
    fn nobody_is_given_up_who_was_not_asked_again() {
        let mut host = Host::new();
        host.fails(1, FailureCause::Refused);
        assert_eq!(host.health.gives_up(&host.policy), None);
        host.fails(1, FailureCause::Refused);
        assert!(host.health.gives_up(&host.policy).is_some());
        host.health = host.resumed(false);
        assert_eq!(host.health.gives_up(&host.policy), None);
        host.fails(1, FailureCause::Refused);
        assert!(host.health.gives_up(&host.policy).is_some());
    }

    #[test]
    fn an_answer_to_what_was_asked_before_ends_no_pause() {
        let mut host = Host::new();
        let (slow, granted) = (host.item(3), host.asks());
        host.fails(1, FailureCause::Status(503));
        assert!(!host.health.answered(&slow, granted, &host.policy) && host.health.is_down());
        assert!(host.answers(3) && !host.health.is_down());
    }

    #[test]
    fn a_pause_that_is_shorter_than_the_back_off_is_kept_over_a_start_all_the_same() {
        let mut host = Host::new();
        assert!((0..7).all(|_| host.fails(1, FailureCause::Refused) != Blame::Url));
        host.fails_so(1, FailedFetch { cause: FailureCause::Status(503), retry_after: Some(Duration::from_secs(5)) });
        assert!(host.resumed(false).not_before() >= host.now + Duration::from_secs(5));
    }

    #[test]
    fn good_urls_take_turns() {
        let mut host = Host::new();
        assert!((1..9).all(|number| !host.answers(number)));
        let mut turn = || host.health.take_check().map(|url| url.path_and_query().to_owned()).unwrap();
        let turns: Vec<_> = (0..5).map(|_| turn()).collect();
        assert_eq!(turns, ["/4", "/3", "/2", "/1", "/8"]);
    }
}
