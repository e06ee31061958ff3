//! Whether this machine is online: where hosts of links alone are silent, a host that has answered is asked once more.

use super::{Frontier, host_queue::HostQueue};

impl HostQueue {
    /// Whether it is asked for a page that had an answer, although nothing else is to be asked for.
    pub(super) fn is_probed(&self) -> bool {
        self.probed && self.health.has_good()
    }
}

impl Frontier {
    /// Has a host that has answered be asked once more: one that is well, if there is one.
    pub fn probe(&mut self) {
        let good = |host: &&HostQueue| host.health.has_good() && !host.closed;
        let well = self.hosts.iter().filter(good).find(|host| !host.health.is_down());
        let Some(host) = well.or_else(|| self.hosts.iter().find(good)).map(HostQueue::id) else { return };
        if !std::mem::replace(&mut self.queue(host).probed, true) {
            self.probed.push(host);
            self.plan(host);
        }
    }

    /// A host has answered: the others need not be asked.
    pub fn end_probes(&mut self) {
        for host in std::mem::take(&mut self.probed) {
            self.queue(host).probed = false;
            self.plan(host);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        frontier::{Asked, FailedFetch, FrontierLimits, HostHealth, HostStart, Lease, Next, Outcome},
        health::FailureCause,
        purpose::Purpose,
        time::Moment,
        url::WebUrl,
    };

    fn lease(frontier: &mut Frontier, now: Moment) -> Option<Lease> {
        if let Next::Lease(lease) = frontier.next(now) { Some(lease) } else { None }
    }

    #[test]
    fn one_that_answered_is_asked_until_it_answers() {
        let mut now = Moment::from_millis(1_000_000);
        let mut frontier = Frontier::new(FrontierLimits::default());
        for (name, known_good) in [("http://silent/", None), ("http://h/", Some("http://h/good".into()))] {
            let start = HostStart::new(WebUrl::parse(name).unwrap().origin(), Duration::ZERO);
            let health = HostHealth { answers: true, known_good, ..HostHealth::default() };
            frontier.add_host(HostStart { robots_until: now + Duration::from_hours(1), health, ..start });
        }
        assert_eq!(frontier.next(now), Next::Drained);
        frontier.probe();
        frontier.probe();
        let failed = lease(&mut frontier, now).expect("it is asked");
        assert_eq!((failed.purpose(), failed.url().as_str()), (Purpose::Check, "http://h/good"));
        assert_eq!(frontier.next(now), Next::Blocked, "once");
        frontier.failed(&failed, FailedFetch { cause: FailureCause::NoRoute, retry_after: None }, now);
        frontier.complete(failed, Outcome::Finished { stored: false }, Asked::Yes, now);
        let Next::WaitUntil(later) = frontier.next(now) else { panic!("it is asked again after a pause") };
        now = later;
        let answered = lease(&mut frontier, now).expect("it is asked again");
        frontier.answered(&answered, true);
        frontier.end_probes();
        frontier.complete(answered, Outcome::Finished { stored: false }, Asked::Yes, now);
        assert_eq!(frontier.next(now), Next::Drained);
    }
}
