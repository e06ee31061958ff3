//! [`LinkChecks`]: the URLs that pages link to or show and that are none of the crawl, which are asked for once nothing else is left.
//!
//! Owns: when the store is asked for such URLs, which of them are in memory, which hosts are asked for nothing else, and which of those
//! are given up.
//!
//! Invariants: at most [`MOST`] URLs are in memory. A run ends when none is left without an answer, or where nothing may be asked any more.
//! A host that gives no sign of life is given up only if it fails once more after another host gave one: else this machine may be offline.
//! One that is asked for guesses alone is given up at its first failure.
//!
//! Does not know: how a URL is asked for, what its answer means, and when its host may be asked.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

use crate::{
    candidate::{HostId, Ticket},
    config::{CheckChoice, CheckSettings},
    health::{FailureCause, HealthRow, Wait},
    store::{LinkCheckRequest, LinkToCheck, LinksToCheck, LinksWanted},
    time::Moment,
};

/// URLs in memory at most.
const MOST: usize = 8_192;

/// A host of no other URL that is to be left alone for longer is given up.
const LONGEST_PAUSE: Duration = Duration::from_mins(2);

/// The URLs to be checked in a run.
#[derive(Debug)]
pub(super) struct LinkChecks {
    settings: CheckSettings,
    /// After so many failures in a row a host of no other URL is given up.
    most_failures: u32,
    state: State,
    /// Those that were handed out and have no answer.
    out: HashSet<Ticket>,
    /// Those that are left to a run that goes on.
    left: HashSet<Ticket>,
    /// The last that was handed out.
    behind: u64,
    /// Whether any was, since the store was asked for the first.
    any: bool,
    /// Whether a page was read since the pages were looked through: it may link to others.
    is_stale: bool,
    /// Hosts of no URL of the crawl.
    outside: BTreeSet<HostId>,
    /// Hosts to which links lead, and not guesses alone.
    linked: BTreeSet<HostId>,
    /// Hosts that refuse HEAD, or did not answer to it.
    without_head: BTreeSet<HostId>,
    /// Those whose last failure gave no sign of life, by when another host gave one since.
    online: BTreeMap<HostId, Moment>,
    /// Those for which none has.
    silent: BTreeSet<HostId>,
    /// Those that are not asked any more.
    given_up: BTreeMap<HostId, FailureCause>,
}

/// What is done about a host that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It is asked again.
    AskAgain,
    /// The same; whether this machine is online is to be found out.
    AskOthers,
    /// Its links are taken to lead nowhere.
    GiveUp(FailureCause),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The pages are still to be looked through.
    Due,
    /// The store is asked.
    Asked,
    /// There may be more behind those that were handed out.
    More,
    /// There are none.
    Last,
    /// Each has its answer.
    Complete,
}

/// What a crawl does next of which nothing else is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// It asks the store for URLs.
    Ask(LinkCheckRequest),
    /// It waits for answers.
    Wait,
    /// It ends.
    End,
}

impl LinkChecks {
    /// Those of a run in which a fetch is tried so many times.
    pub(super) fn new(settings: &CheckSettings, attempts: u32) -> Self {
        Self {
            state: if settings.any() { State::Due } else { State::Complete },
            settings: settings.clone(),
            most_failures: attempts,
            out: HashSet::new(),
            left: HashSet::new(),
            behind: 0,
            any: false,
            is_stale: false,
            outside: BTreeSet::new(),
            linked: BTreeSet::new(),
            without_head: BTreeSet::new(),
            online: BTreeMap::new(),
            silent: BTreeSet::new(),
            given_up: BTreeMap::new(),
        }
    }

    /// Whether they have begun and have not come to their end.
    pub(super) fn are_under_way(&self) -> bool {
        !matches!(self.state, State::Due | State::Complete)
    }

    /// Nothing else is left.
    pub(super) fn at_end(&mut self) -> AtEnd {
        if let Some(request) = self.asks() {
            return AtEnd::Ask(request);
        }
        match self.state {
            State::Due => AtEnd::Ask(self.request(true)),
            State::Last | State::Complete if self.is_stale && self.out.is_empty() => AtEnd::Ask(self.request(true)),
            State::Last if self.out.is_empty() => {
                if !std::mem::take(&mut self.any) {
                    self.state = State::Complete;
                    return AtEnd::End;
                }
                // Redirects may have led to URLs of earlier sequences.
                self.behind = 0;
                AtEnd::Ask(self.request(false))
            }
            State::Complete => AtEnd::End,
            State::Asked | State::More | State::Last => AtEnd::Wait,
        }
    }

    /// Asks for more where there is room for them.
    pub(super) fn asks(&mut self) -> Option<LinkCheckRequest> {
        (self.state == State::More && self.out.len() < MOST / 2).then(|| self.request(false))
    }

    fn request(&mut self, collects: bool) -> LinkCheckRequest {
        self.state = State::Asked;
        if collects {
            (self.behind, self.is_stale) = (0, false);
        }
        let CheckSettings { external, assets, anchors, max_per_host, .. } = &self.settings;
        let [external, assets, anchors] = [external, assets, anchors].map(|choice| *choice == CheckChoice::On);
        let wanted = LinksWanted { external, assets, anchors, most_of_host: max_per_host.get() };
        LinkCheckRequest { collects, wanted, behind: self.behind, most: MOST - self.out.len() }
    }

    /// The store has handed out: those that are not in memory yet.
    pub(super) fn handed(&mut self, found: LinksToCheck) -> Vec<LinkToCheck> {
        self.state = if found.are_all { State::Last } else { State::More };
        self.behind = found.links.last().map_or(self.behind, |last| last.number);
        let is_new = |link: &LinkToCheck| {
            let number = Ticket(link.number);
            !self.left.contains(&number) && self.out.insert(number)
        };
        let new: Vec<_> = found.links.into_iter().filter(is_new).collect();
        self.any |= !new.is_empty();
        new
    }

    /// A URL is in memory no more.
    pub(super) fn is_out_no_more(&mut self, number: Ticket) {
        self.out.remove(&number);
    }

    /// A URL is left to a run that goes on.
    pub(super) fn leave(&mut self, number: Ticket) {
        self.out.remove(&number);
        self.left.insert(number);
    }

    /// Whether any is.
    pub(super) fn leaves_any(&self) -> bool {
        !self.left.is_empty()
    }

    /// A host is asked with GET from now on.
    pub(super) fn refuses_head(&mut self, host: HostId) {
        self.without_head.insert(host);
    }

    /// Whether it is.
    pub(super) fn is_without_head(&self, host: HostId) -> bool {
        self.without_head.contains(&host)
    }

    /// A page was read. Before the pages are looked through, that changes nothing.
    pub(super) fn page_read(&mut self) {
        self.is_stale = self.settings.any() && self.state != State::Due;
    }

    /// A URL led to others, which the store can hand out now.
    pub(super) fn found_more(&mut self) {
        if self.state == State::Last {
            self.state = State::More;
        }
    }

    /// A host is of no URL of the crawl; the least pause between its requests.
    pub(super) fn is_outside(&mut self, host: HostId) -> Duration {
        self.outside.insert(host);
        self.settings.delay
    }

    /// A URL of a host was handed out, to which a link leads or not.
    pub(super) fn note_host(&mut self, host: HostId, is_guess: bool) {
        if !is_guess {
            self.linked.insert(host);
        }
    }

    /// The least pause between requests to a host.
    pub(super) fn delay(&self, host: HostId) -> Duration {
        if self.are_all_of(host) { self.settings.delay } else { Duration::ZERO }
    }

    /// Whether a host is asked for nothing else.
    pub(super) fn are_all_of(&self, host: HostId) -> bool {
        self.outside.contains(&host)
    }

    /// A host gave a sign of life: this machine is online.
    pub(super) fn is_online(&mut self, host: HostId, now: Moment) {
        let own = self.silent.remove(&host);
        self.online.extend(std::mem::take(&mut self.silent).into_iter().map(|silent| (silent, now)));
        // Its own shows nothing of the failures before.
        self.silent.extend(own.then_some(host));
    }

    /// A host has failed, and has this health: it was asked for at `granted`.
    pub(super) fn judge(&mut self, host: HostId, health: &HealthRow, granted: Moment, now: Moment) -> Treatment {
        if !self.are_all_of(host) {
            return Treatment::AskAgain;
        }
        if !self.linked.contains(&host) {
            // No link is taken to lead nowhere, so nothing is to be proved. A link to it may follow.
            return Treatment::GiveUp(health.cause);
        }
        let is_enough = health.failures >= self.most_failures;
        let is_doubted = self.silent.remove(&host);
        let online = self.online.remove(&host);
        let proves =
            if health.cause.is_sign_of_life() { !is_doubted } else { online.is_some_and(|online| online <= granted) };
        if asks_for_long(health, now) || (is_enough && proves) {
            self.given_up.insert(host, health.cause);
            return Treatment::GiveUp(health.cause);
        }
        if health.cause.is_sign_of_life() {
            return Treatment::AskAgain;
        }
        self.silent.insert(host);
        if health.failures + 1 < self.most_failures { Treatment::AskAgain } else { Treatment::AskOthers }
    }

    /// Why a host with this health is not asked any more.
    pub(super) fn given_up(&self, host: HostId, health: &HealthRow, now: Moment) -> Option<FailureCause> {
        let asked = (self.are_all_of(host) && asks_for_long(health, now)).then_some(health.cause);
        self.given_up.get(&host).copied().or(asked)
    }
}

/// Whether a host asks to be left alone for longer than links wait.
fn asks_for_long(health: &HealthRow, now: Moment) -> bool {
    health.wait != Wait::BackOff && health.not_before > now + LONGEST_PAUSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Settings, url::WebUrl};

    fn link(number: u64) -> LinkToCheck {
        let url = WebUrl::parse(&format!("http://h/{number}")).unwrap();
        LinkToCheck { number, url, redirects: 0, reads: false, is_guess: false }
    }

    fn checks() -> LinkChecks {
        LinkChecks::new(&CheckSettings { external: CheckChoice::On, ..Settings::default().check }, 3)
    }

    fn handed(checks: &mut LinkChecks, numbers: &[u64], are_all: bool) -> Vec<u64> {
        let links = numbers.iter().copied().map(link).collect();
        checks.handed(LinksToCheck { links, are_all }).iter().map(|link| link.number).collect()
    }

    fn behind(at_end: &AtEnd) -> Option<u64> {
        if let AtEnd::Ask(request) = at_end { Some(request.behind) } else { None }
    }

    #[test]
    fn a_run_ends_once_nothing_is_found_any_more() {
        let mut checks = checks();
        assert!(matches!(checks.at_end(), AtEnd::Ask(LinkCheckRequest { collects: true, behind: 0, .. })));
        assert_eq!((checks.at_end(), checks.asks()), (AtEnd::Wait, None));
        assert_eq!(handed(&mut checks, &[3, 4], false), [3, 4]);
        assert_eq!(checks.asks().map(|request| request.behind), Some(4));
        assert!(handed(&mut checks, &[], true).is_empty());
        assert_eq!(checks.at_end(), AtEnd::Wait, "two are out");
        (3..=4).for_each(|number| checks.is_out_no_more(Ticket(number)));
        assert_eq!(behind(&checks.at_end()), Some(0), "redirects may have led to others");
        assert_eq!(handed(&mut checks, &[2], true), [2]);
        checks.is_out_no_more(Ticket(2));
        assert_eq!(behind(&checks.at_end()), Some(0));
        assert!(handed(&mut checks, &[], true).is_empty());
        assert_eq!((checks.at_end(), checks.are_under_way()), (AtEnd::End, false));
        // A host that was silent may have answered meanwhile.
        checks.page_read();
        assert!(matches!(checks.at_end(), AtEnd::Ask(LinkCheckRequest { collects: true, behind: 0, .. })));
    }

    #[test]
    fn memory_holds_few() {
        let mut checks = checks();
        checks.at_end();
        let numbers: Vec<u64> = (1..=MOST as u64).collect();
        handed(&mut checks, &numbers, false);
        assert_eq!(checks.asks(), None);
        (1..=MOST as u64 / 2 + 1).for_each(|number| checks.is_out_no_more(Ticket(number)));
        let request = checks.asks().unwrap();
        assert_eq!((request.behind, request.most), (MOST as u64, MOST / 2 + 1));
        assert_eq!(handed(&mut checks, &[MOST as u64, MOST as u64 + 1], true), [MOST as u64 + 1], "one is out");
    }

    #[test]
    fn a_host_is_given_up_where_this_machine_is_online() {
        let mut checks = checks();
        let [host, other] = [1, 0].map(HostId);
        checks.is_outside(host);
        let at = Moment::from_millis;
        checks.note_host(host, false);
        let health = |failures, cause| HealthRow {
            failures,
            since: at(10),
            cause,
            not_before: at(0),
            wait: Wait::BackOff,
            known_good: None,
        };
        let fails = |checks: &mut LinkChecks, failures, granted| {
            checks.judge(host, &health(failures, FailureCause::TimedOut), at(granted), at(granted + 5))
        };
        checks.is_online(other, at(9));
        assert_eq!(fails(&mut checks, 1, 5), Treatment::AskAgain);
        assert_eq!(fails(&mut checks, 2, 20), Treatment::AskOthers, "no other answered since it fails");
        assert_eq!(fails(&mut checks, 3, 30), Treatment::AskOthers);
        checks.is_online(host, at(36));
        assert_eq!(fails(&mut checks, 3, 40), Treatment::AskOthers, "its own answer shows nothing");
        checks.is_online(other, at(42));
        assert_eq!(fails(&mut checks, 3, 41), Treatment::AskOthers, "the other was away when it was asked");
        checks.is_online(other, at(48));
        let given_up = |checks: &LinkChecks| checks.given_up(host, &health(3, FailureCause::Refused), at(60));
        assert_eq!(given_up(&checks), None);
        assert_eq!(fails(&mut checks, 3, 50), Treatment::GiveUp(FailureCause::TimedOut));
        assert_eq!(given_up(&checks), Some(FailureCause::TimedOut));
        assert_eq!(checks.judge(other, &health(9, FailureCause::TimedOut), at(50), at(50)), Treatment::AskAgain);
        let asked_for =
            HealthRow { wait: Wait::Asked, not_before: at(1_000_000), ..health(1, FailureCause::Status(429)) };
        for (health, treatment) in [
            (health(2, FailureCause::Refused), Treatment::AskAgain),
            (health(3, FailureCause::Refused), Treatment::GiveUp(FailureCause::Refused)),
            (asked_for.clone(), Treatment::GiveUp(FailureCause::Status(429))),
        ] {
            let mut checks = self::checks();
            checks.is_outside(host);
            checks.note_host(host, false);
            assert_eq!(checks.judge(host, &health, at(20), at(20)), treatment);
        }
        // What was silent before may have failed because this machine was offline.
        let mut checks = self::checks();
        checks.is_outside(host);
        assert_eq!(fails(&mut checks, 1, 20), Treatment::GiveUp(FailureCause::TimedOut), "it was a guess");
        assert_eq!(given_up(&checks), None, "a link to it is checked all the same");
        checks.note_host(host, false);
        assert_eq!(fails(&mut checks, 2, 20), Treatment::AskOthers);
        checks.is_online(host, at(30));
        let refused = |checks: &mut LinkChecks| checks.judge(host, &health(3, FailureCause::Refused), at(30), at(30));
        assert_eq!(refused(&mut checks), Treatment::AskAgain);
        assert_eq!(refused(&mut checks), Treatment::GiveUp(FailureCause::Refused));
        let mut checks = self::checks();
        checks.is_outside(host);
        assert_eq!(checks.given_up(host, &asked_for, at(20)), Some(FailureCause::Status(429)), "since an earlier run");
    }

    #[test]
    fn nothing_is_checked_where_nobody_asks_for_it() {
        let mut checks = LinkChecks::new(&Settings::default().check, 3);
        assert_eq!((checks.at_end(), checks.are_under_way()), (AtEnd::End, false));
    }
}
