//! Hosts and starts: whether a host answers, its robots.txt, and the start URLs.

use super::{
    super::report::{KeptResponse, Report},
    Core, Start,
    intake::Task,
    outcome::{Heard, asked, counted, failure},
    pages::Ended,
    robots::Reading,
    starts::Offered,
};
use crate::{
    candidate::HostId,
    fetch::FetchError,
    frontier::{Asked, Failure, Fault, Lease, Outcome},
    health::{Cause, HealthRow, Wait},
    purpose::{Purpose, Taker},
    store::{Abandonment, Counters, RobotsRow, Step, UrlChange},
    time::Moment,
    url::Origin,
};

/// What a result says of the health of its host.
#[derive(Debug, Default)]
pub(super) struct Heeded {
    /// Who is to blame, where it failed and the host may be.
    pub(super) fault: Option<Fault>,
    /// The host's new health, where it has changed.
    pub(super) health: Vec<(HostId, Option<HealthRow>)>,
}

impl Core {
    /// The run begins.
    pub(super) fn begin(&mut self, starts: Vec<Start>, now: Moment) {
        self.outbox.write(
            Step { counters: Counters { generations: 1, ..Counters::default() }, ..Step::default() },
            &mut self.frontier,
        );
        if self.frontier.counts().admitted > 0 {
            self.intake.push(Task::Restore);
        }
        self.starts.start_waiting(now);
        self.intake.push(Task::Starts(starts.into()));
    }

    /// Admits the starts.
    pub(super) fn enter_starts(&mut self, starts: impl Iterator<Item = Start>, now: Moment) {
        self.starts.start_waiting(now);
        let mut step = Step::default();
        let offered = self.starts.offer(starts, now);
        self.enter(offered, &mut step);
        self.send(step);
    }

    fn enter(&mut self, offered: Offered, step: &mut Step) {
        step.areas.extend(offered.areas);
        let before = step.rows.len();
        self.admit(offered.batch, step);
        for row in &step.rows[before..] {
            // The text that the frontier has: there may be very many.
            self.starts.begin(row.id, self.frontier.origin(row.host).clone());
        }
    }

    /// Starts given without a scheme are tried with `http` when `https` gives no answer.
    pub(super) fn try_http(&mut self, failed: &Origin, step: &mut Step, now: Moment) {
        if let Some(offered) = self.starts.offer_instead(failed, now) {
            self.enter(offered, step);
        }
    }

    /// Takes note of what a result says of its host.
    pub(super) fn heed(&mut self, lease: &Lease, result: &Result<KeptResponse, FetchError>, at: Moment) -> Heeded {
        self.heed_what(failure(result), lease, at)
    }

    fn heed_what(&mut self, heard: Heard, lease: &Lease, at: Moment) -> Heeded {
        let host = lease.host();
        match heard {
            Heard::Answer => {
                let was = self.frontier.health(host);
                if !self.frontier.answered(lease) {
                    return Heeded::default();
                }
                let silent = was.map(|was| at.since(was.since)).unwrap_or_default();
                tracing::info!(host = %self.frontier.origin(host), ?silent, "the host answers again");
                Heeded { fault: None, health: vec![(host, None)] }
            }
            Heard::Nothing(failure) => {
                let fault = self.frontier.failed(lease, failure, at);
                let health = self.frontier.health(host);
                if let Some(health) = &health {
                    self.tell_of(host, health, at);
                }
                Heeded { fault: Some(fault), health: health.map(|row| (host, Some(row))).into_iter().collect() }
            }
            Heard::Neither => Heeded::default(),
        }
    }

    fn tell_of(&self, host: HostId, health: &HealthRow, now: Moment) {
        let origin = self.frontier.origin(host);
        let cause = health.cause;
        let pause = health.not_before.since(now);
        let why = cause.explained();
        match health {
            _ if self.starts.is_guessed(origin) => {
                tracing::debug!(host = %origin, %cause, ?pause, "the start URL has no scheme, and https gives no answer");
            }
            HealthRow { wait: Wait::Paused, .. } => {
                tracing::warn!(host = %origin, %cause, ?pause, "the host asks for a pause longer than politeness.max_retry_after; it is left alone until then");
            }
            HealthRow { failures: 1, .. } => {
                tracing::warn!(host = %origin, %cause, why, ?pause, "the host does not answer; its URLs stay queued, and it is asked again later");
            }
            _ => tracing::debug!(host = %origin, %cause, ?pause, "still no answer"),
        }
    }

    /// Has a host's health written.
    pub(super) fn send_health(&mut self, heeded: Heeded) {
        if !heeded.health.is_empty() {
            self.send(Step { health: heeded.health, ..Step::default() });
        }
    }

    /// Counts requests whose visit brought nothing back.
    pub(super) fn count_requests(&mut self, requests: u64) {
        if requests > 0 {
            let counters = Counters { requests, ..Counters::default() };
            self.outbox.write(Step { counters, ..Step::default() }, &mut self.frontier);
        }
    }

    /// The host was asked again to find out whether it answers.
    pub(super) fn check_finished(&mut self, report: Report, at: Moment) {
        let Report { lease, requests, result } = report;
        let Heeded { health, .. } = self.heed(&lease, &result, at);
        if matches!(failure(&result), Heard::Neither) {
            // It would be asked for again and again, and never tell.
            self.frontier.drop_good(&lease);
        }
        let step = Step { counters: counted(requests, &result), health, ..Step::default() };
        self.frontier.complete(lease, Outcome::Finished { stored: false }, asked(requests, &result), at);
        self.send(step);
    }

    /// Takes a lease back whose request was not made: it is as if it had not been granted, but for the host's delay where another
    /// request was.
    pub(super) fn give_back(&mut self, lease: Lease, asked: Asked, now: Moment) {
        let counted = lease.purpose().is_counted();
        match self.admission.why_closed(lease.host()) {
            Some(why) if counted => return self.abandon(lease, why, now),
            Some(_) if lease.purpose().row().taker == Taker::Sweep => return self.forgo_lease(lease, now),
            _ => self.limits.end(&lease),
        }
        self.frontier.complete(lease, Outcome::Released, asked, now);
    }

    /// Ends a lease that was begun, without a request.
    pub(super) fn abandon(&mut self, lease: Lease, why: Abandonment, now: Moment) {
        self.limits.end(&lease);
        match lease.purpose().row().taker {
            Taker::Sweep => return self.forgo_lease(lease, now),
            Taker::Health => return self.frontier.forget_good(lease, now),
            Taker::Pages | Taker::Robots => {}
        }
        let id = lease.item().id;
        self.starts.settle(id);
        self.frontier.complete(lease, Outcome::Abandoned, Asked::No, now);
        self.send(Step { change: Some((id, UrlChange::Abandoned(why))), ..Step::default() });
    }

    /// robots.txt of a host that the user said not to ask.
    pub(super) fn ignore_robots(&mut self, lease: Lease, now: Moment) {
        let host = lease.host();
        let reading = self.robots.ignore(host, now);
        let ended = Ended { lease, asked: Asked::No, at: now };
        self.robots_read(ended, host, reading, Step::default());
    }

    /// The request for the robots.txt of `host` ended.
    pub(super) fn robots_finished(&mut self, report: Report, at: Moment) {
        let Report { lease, requests, result } = report;
        let host = lease.item().of.unwrap_or(lease.host());
        let granted = lease.granted();
        if result.is_ok() {
            self.starts.answered(lease.url());
        }
        if let Err(error) = &result {
            tracing::debug!(url = %lease.url(), %error, "no answer for robots.txt");
        }
        let counters = counted(requests, &result);
        let guess = self.starts.is_guessed(&lease.url().origin());
        let heard = failure(&result);
        let elsewhere = host != lease.host();
        let reading = self.robots.read(host, &lease, result, at);
        // An answer that cannot be used (one that is cut short) is none.
        let heard = match &reading {
            Reading::Unreachable { failure, .. } => Heard::Nothing(*failure),
            // Whether the host can be visited is yet to be seen.
            Reading::Redirected(_) => Heard::Neither,
            _ => heard,
        };
        let mut heeded = self.heed_what(heard, &lease, at);
        if let (Reading::Unreachable { failure, .. }, true) = (&reading, elsewhere) {
            let failure = Failure { cause: Cause::RobotsRedirect, ..*failure };
            self.frontier.failed_elsewhere(host, failure, granted, at);
            if let Some(health) = self.frontier.health(host) {
                self.tell_of(host, &health, at);
            }
            heeded.health.push((host, self.frontier.health(host)));
        }
        let step = Step { counters, health: heeded.health, ..Step::default() };
        if matches!(reading, Reading::Unreachable { .. }) && guess && !elsewhere && self.falls_back(host) {
            return self.give_up_guess(Ended { lease, asked: Asked::Yes, at }, step);
        }
        self.robots_read(Ended { lease, asked: Asked::Yes, at }, host, reading, step);
    }

    fn robots_read(&mut self, ended: Ended, host: HostId, reading: Reading, mut step: Step) {
        let mut kept = |row: RobotsRow| step.robots = Some((host, row));
        let own = ended.lease.host() == host;
        let outcome = match reading {
            Reading::Met { row, crawl_delay, until } => {
                kept(row);
                let polite = self.settings.politeness.delay;
                let asked = crawl_delay.map_or(polite, |delay| delay.min(self.settings.politeness.max_delay));
                self.frontier.set_delay(host, polite.max(asked), ended.at);
                Outcome::Met { until }
            }
            Reading::Unreachable { row, failure }
                if own && failure.cause == Cause::NoName && !self.frontier.answers(host) =>
            {
                kept(row);
                // Nobody waits for a name that may never have been one. A later start tries it again.
                step.health = vec![(host, None)];
                return self.close(ended, host, Abandonment::NoName, step);
            }
            Reading::Unreachable { row, .. } => {
                kept(row);
                Outcome::Retry { due: ended.at, attempts: 0, failed: ended.at }
            }
            Reading::Redirected(to) => {
                let host = self.host(to.origin(), &mut step);
                Outcome::Redirected { host, to }
            }
            Reading::Refused { row } => {
                kept(row);
                return self.close(ended, host, Abandonment::Address, step);
            }
        };
        self.complete(ended, outcome);
        self.send(step);
    }

    /// Whether a start given without a scheme is tried with `http`: not where its name has no address, which `http` would
    /// not have either.
    pub(super) fn falls_back(&self, host: HostId) -> bool {
        self.frontier.health(host).is_some_and(|health| health.cause != Cause::NoName)
    }

    /// A start that was only a guess has no answer: what it is to be instead is tried.
    pub(super) fn give_up_guess(&mut self, ended: Ended, mut step: Step) {
        let (lease, at) = (&ended.lease, ended.at);
        let host = lease.host();
        // It is no host of the crawl any more, well or not.
        step.health = vec![(host, None)];
        if lease.purpose() == Purpose::Robots {
            return self.close(ended, host, Abandonment::NoHttps, step);
        }
        let (origin, why) = (self.frontier.origin(host).clone(), Abandonment::NoHttps);
        step.change = Some((lease.item().id, UrlChange::Abandoned(why)));
        step.closed = Some((host, why));
        self.admission.close(host, why);
        self.starts.settle_all(&origin);
        self.frontier.close(host);
        self.complete(ended, Outcome::Abandoned);
        self.try_http(&origin, &mut step, at);
        self.send(step);
        self.forgo_host(host);
    }

    /// Ends the lease of a robots.txt: nothing of its host will be fetched.
    fn close(&mut self, ended: Ended, host: HostId, why: Abandonment, mut step: Step) {
        let at = ended.at;
        step.closed = Some((host, why));
        self.admission.close(host, why);
        let origin = self.frontier.origin(host).clone();
        let abandoned = self.complete(ended, Outcome::Closed);
        if why == Abandonment::NoHttps {
            tracing::info!(host = %origin, "the start URL has no scheme, and https gives no answer: http is tried");
        } else {
            tracing::warn!(host = %origin, why = why.as_str(), abandoned, "the queued URLs of the host are abandoned: {}", why.explained());
        }
        self.starts.settle_all(&origin);
        self.try_http(&origin, &mut step, at);
        self.send(step);
        self.forgo_host(host);
    }
}
