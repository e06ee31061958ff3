//! What answers and failures say of hosts, and leases that end without a request.

use std::time::Duration;

use super::super::Core;
use crate::{
    candidate::HostId,
    engine::{
        outcome::{Heard, asked, counted, failure},
        report::{KeptResponse, Report},
    },
    fetch::FetchError,
    frontier::{Asked, Blame, Lease, Outcome},
    health::{FailureCause, HealthRow, Wait},
    purpose::{Purpose, Queue},
    store::{Abandonment, Counters, Step, UrlChange},
    time::Moment,
};

/// What a result changes at its host.
#[derive(Debug, Default)]
pub(super) struct HostChange {
    /// Who is to blame, where it failed and the host may be.
    pub(super) fault: Option<Blame>,
    /// The host's new health, where it has changed.
    pub(super) health: Vec<(HostId, Option<HealthRow>)>,
}

impl Core {
    /// Takes note of what a result says of its host.
    pub(super) fn note_of_answer(
        &mut self,
        lease: &Lease,
        result: &Result<KeptResponse, FetchError>,
        at: Moment,
    ) -> HostChange {
        if let Ok(answer) = result {
            self.note_time(lease, answer.took);
        }
        self.note_of_host(failure(result), lease, at)
    }

    /// An answer took so long: the pause after it may follow that.
    pub(super) fn note_time(&mut self, lease: &Lease, took: Duration) {
        let politeness = &self.settings.politeness;
        if politeness.delay_follows {
            self.frontier.follow(lease.host(), politeness.pause_after(took));
        }
    }

    pub(super) fn note_of_host(&mut self, heard: Heard, lease: &Lease, at: Moment) -> HostChange {
        let host = lease.host();
        if heard.is_sign_of_life() {
            self.is_online(host, at);
        }
        match heard {
            // What robots.txt answers so allows everything.
            Heard::Forbidden(failure) if lease.purpose() != Purpose::Robots && self.frontier.forbids(lease) => {
                self.note_of_host(Heard::Nothing(failure), lease, at)
            }
            Heard::Answer | Heard::Forbidden(_) => {
                let was = self.frontier.health(host);
                if !self.frontier.answered(lease, heard == Heard::Answer) {
                    return HostChange::default();
                }
                let silent = was.map(|was| at.since(was.since)).unwrap_or_default();
                tracing::info!(host = %self.frontier.origin(host), ?silent, "the host answers again");
                HostChange { fault: None, health: vec![(host, None)] }
            }
            Heard::Nothing(failure) => {
                let fault = self.frontier.failed(lease, failure, at);
                let health = self.frontier.health(host);
                if let Some(health) = &health {
                    self.warn_of(host, health, at);
                }
                HostChange { fault: Some(fault), health: health.map(|row| (host, Some(row))).into_iter().collect() }
            }
            Heard::Neither => HostChange::default(),
        }
    }

    pub(super) fn warn_of(&self, host: HostId, health: &HealthRow, now: Moment) {
        let origin = self.frontier.origin(host);
        let cause = health.cause;
        let pause = health.not_before.since(now);
        let why = cause.explained();
        match health {
            _ if self.starts.is_guessed(origin) => {
                tracing::debug!(host = %origin, %cause, ?pause, "the start URL has no scheme, and https gives no answer");
            }
            _ if self.link_checks.are_all_of(host) => {
                tracing::debug!(host = %origin, %cause, why, ?pause, "the host of links does not answer");
            }
            HealthRow { cause: FailureCause::LogIn, .. } => {
                tracing::warn!(host = %origin, %cause, "{why}; the host is paused, and its URLs stay queued");
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
    pub(super) fn send_health(&mut self, change: HostChange) {
        if !change.health.is_empty() {
            self.send(Step { health: change.health, ..Step::default() });
        }
    }

    /// Counts requests whose visit brought nothing back.
    pub(super) fn count_requests(&mut self, requests: u64) {
        if requests > 0 {
            self.count(Counters { requests, ..Counters::default() });
        }
    }

    /// The host was asked again to find out whether it answers.
    pub(super) fn check_finished(&mut self, report: Report, at: Moment) {
        let Report { lease, requests, result, .. } = report;
        let HostChange { health, .. } = self.note_of_answer(&lease, &result, at);
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
            Some(why) if lease.purpose().row().queue == Queue::Extra => return self.drop_lease(lease, why, now),
            _ => self.limits.end(&lease),
        }
        self.frontier.complete(lease, Outcome::Released, asked, now);
    }

    /// Ends a lease that was begun, without a request.
    pub(super) fn abandon(&mut self, lease: Lease, why: Abandonment, now: Moment) {
        self.limits.end(&lease);
        match lease.purpose().row().queue {
            Queue::Extra => return self.drop_lease(lease, why, now),
            Queue::Check => return self.frontier.forget_good(lease, now),
            Queue::Table | Queue::Robots | Queue::LookUp => {}
        }
        let id = lease.item().id;
        self.starts.settle(id);
        self.frontier.complete(lease, Outcome::Abandoned, Asked::No, now);
        self.send(Step { change: Some((id, UrlChange::Abandoned(why))), ..Step::default() });
    }
}
