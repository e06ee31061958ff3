//! The start URLs.

use super::super::{Core, Offered, Task};
use crate::{
    candidate::HostId,
    engine::report::EndedLease,
    frontier::Outcome,
    health::FailureCause,
    purpose::Purpose,
    store::{Abandonment, Counters, Step, UrlChange},
    time::Moment,
    url::Origin,
};

impl Core {
    /// The run begins.
    pub(super) fn begin(&mut self, starts: Vec<Box<str>>, now: Moment) {
        self.count(Counters { generations: 1, ..Counters::default() });
        if self.frontier.counts().admitted > 0 {
            self.intake.push_back(Task::Restore);
        }
        self.starts.start_waiting(now);
        self.intake.push_back(Task::Starts(starts.into()));
        self.intake.extend(self.sources.given().map(Task::Sitemaps));
    }

    /// Admits the starts.
    pub(super) fn enter_starts(&mut self, starts: impl Iterator<Item = Box<str>>, now: Moment) {
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

    /// Whether a start given without a scheme is tried with `http`: not where its name has no address, which `http` would
    /// not have either.
    pub(super) fn falls_back(&self, host: HostId) -> bool {
        self.frontier.health(host).is_some_and(|health| health.cause != FailureCause::NoName)
    }

    /// A start that was only a guess has no answer: what it is to be instead is tried.
    pub(super) fn give_up_guess(&mut self, ended: EndedLease, step: Step) {
        let host = ended.lease.host();
        // It is no host of the crawl any more, well or not.
        self.close(ended, host, Abandonment::NoHttps, Step { health: vec![(host, None)], ..step });
    }

    /// Ends the lease that shows that nothing of a host is to be fetched.
    pub(super) fn close(&mut self, ended: EndedLease, host: HostId, why: Abandonment, mut step: Step) {
        let at = ended.at;
        let origin = self.frontier.origin(host).clone();
        step.closed = Some((host, why));
        self.admission.close(host, why);
        let abandoned = if ended.lease.purpose() == Purpose::Robots {
            self.complete(ended, Outcome::Closed)
        } else {
            step.change = Some((ended.lease.item().id, UrlChange::Abandoned(why)));
            let abandoned = self.frontier.close(host);
            self.complete(ended, Outcome::Abandoned);
            abandoned
        };
        if why == Abandonment::NoHttps {
            tracing::info!(host = %origin, "the start URL has no scheme, and https gives no answer: http is tried");
        } else if self.link_checks.are_all_of(host) {
            tracing::debug!(host = %origin, why = why.as_str(), "links to the host are not checked");
        } else {
            tracing::warn!(host = %origin, why = why.as_str(), abandoned, "the queued URLs of the host are abandoned: {}", why.explained());
        }
        self.starts.settle_all(&origin);
        self.try_http(&origin, &mut step, at);
        self.send(step);
        self.drop_extras(host, why, at);
    }
}
