//! The robots.txt of hosts.

use super::super::{Core, RobotsAnswer};
use crate::{
    candidate::HostId,
    engine::{
        outcome::{Heard, counted, failure},
        report::{EndedLease, Report},
    },
    frontier::{Asked, FailedFetch, Lease, Outcome},
    health::FailureCause,
    store::{Abandonment, RobotsRow, Step},
    time::Moment,
};

impl Core {
    /// The robots.txt of a host was read from its row.
    pub(super) fn robots_recalled(&mut self, host: HostId, body: Option<&[u8]>, now: Moment) {
        for lease in self.robots.recall(host, body) {
            self.abandon(lease, Abandonment::Robots, now);
        }
        self.look_for_sitemaps(host);
    }

    /// robots.txt of a host that the user said not to ask.
    pub(super) fn ignore_robots(&mut self, lease: Lease, now: Moment) {
        let host = lease.host();
        let reading = self.robots.ignore(host, now);
        let ended = EndedLease { lease, asked: Asked::No, at: now };
        self.robots_read(ended, host, reading, Step::default());
    }

    /// The request for the robots.txt of `host` ended.
    pub(super) fn robots_finished(&mut self, report: Report, at: Moment) {
        let Report { lease, requests, result, .. } = report;
        let host = lease.item().of.unwrap_or(lease.host());
        let granted = lease.granted();
        if result.is_ok() {
            self.starts.answered(lease.url());
        }
        if let Err(error) = &result {
            tracing::debug!(url = %lease.url(), %error, "no answer for robots.txt");
        }
        if let Ok(answer) = &result {
            self.note_time(&lease, answer.took);
        }
        let counters = counted(requests, &result);
        let guess = self.starts.is_guessed(&lease.url().origin());
        let heard = failure(&result);
        let elsewhere = host != lease.host();
        let reading = self.robots.read(host, &lease, result, at);
        // An answer that cannot be used (one that is cut short) is none.
        let heard = match &reading {
            RobotsAnswer::Unreachable { failure, .. } => Heard::Nothing(*failure),
            // Whether the host can be visited is yet to be seen.
            RobotsAnswer::Redirected(_) => Heard::Neither,
            _ => heard,
        };
        let mut change = self.note_of_host(heard, &lease, at);
        if let (RobotsAnswer::Unreachable { failure, .. }, true) = (&reading, elsewhere) {
            let failure = FailedFetch { cause: FailureCause::RobotsRedirect, ..*failure };
            self.frontier.failed_elsewhere(host, failure, granted, at);
            if let Some(health) = self.frontier.health(host) {
                self.warn_of(host, &health, at);
            }
            change.health.push((host, self.frontier.health(host)));
        }
        let step = Step { counters, health: change.health, ..Step::default() };
        if matches!(reading, RobotsAnswer::Unreachable { .. }) && guess && !elsewhere && self.falls_back(host) {
            return self.give_up_guess(EndedLease { lease, asked: Asked::Yes, at }, step);
        }
        self.robots_read(EndedLease { lease, asked: Asked::Yes, at }, host, reading, step);
        self.give_up_checks(host, granted, at);
    }

    fn robots_read(&mut self, ended: EndedLease, host: HostId, reading: RobotsAnswer, mut step: Step) {
        let mut kept = |row: RobotsRow| step.robots = Some((host, row));
        let own = ended.lease.host() == host;
        let is_met = matches!(reading, RobotsAnswer::Met { .. });
        let outcome = match reading {
            RobotsAnswer::Met { row, crawl_delay, until } => {
                kept(row);
                let polite = self.settings.politeness.delay.max(self.link_checks.delay(host));
                let asked = crawl_delay.map_or(polite, |delay| delay.min(self.settings.politeness.max_delay));
                self.frontier.set_delay(host, polite.max(asked), ended.at);
                Outcome::Met { until }
            }
            RobotsAnswer::Unreachable { row, failure }
                if own && failure.cause == FailureCause::NoName && !self.frontier.answers(host) =>
            {
                kept(row);
                // Nobody waits for a name that may never have been one. A later start tries it again.
                step.health = vec![(host, None)];
                return self.close(ended, host, Abandonment::NoName, step);
            }
            RobotsAnswer::Unreachable { row, .. } => {
                kept(row);
                Outcome::Retry { due: ended.at, attempts: 0, failed: ended.at }
            }
            RobotsAnswer::Redirected(to) => {
                let host = self.host(to.origin(), &mut step);
                Outcome::Redirected { host, to }
            }
            RobotsAnswer::Refused { row } => {
                kept(row);
                return self.close(ended, host, Abandonment::Address, step);
            }
        };
        self.complete(ended, outcome);
        self.send(step);
        if is_met {
            self.look_for_sitemaps(host);
        }
    }
}
