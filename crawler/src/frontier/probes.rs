//! Whether this machine is online: where hosts of links alone are silent, a host that has answered is asked once more.

use super::{Frontier, host_queue::HostQueue};
use crate::candidate::HostId;

impl Frontier {
    /// Has a host that has answered be asked once more: one that is well, if there is one.
    pub fn probe(&mut self) {
        let good = |host: &&HostQueue| host.health.has_good() && !host.closed;
        let well = self.hosts.iter().filter(good).find(|host| !host.health.is_down());
        let Some(host) = well.or_else(|| self.hosts.iter().find(good)).map(HostQueue::id) else { return };
        if !std::mem::replace(&mut self.queue(host).health.probed, true) {
            let was_well = !self.hosts[host.0 as usize].health.is_down();
            self.probed.push((host, was_well));
            self.plan(host);
        }
    }

    /// A host has answered: the others need not be asked. Those that failed since they are asked are taken to be well: this machine was
    /// offline.
    pub fn end_probes(&mut self) -> Vec<HostId> {
        let mut well = Vec::new();
        for (host, was_well) in std::mem::take(&mut self.probed) {
            let queue = self.queue(host);
            queue.health.probed = false;
            if was_well && queue.health.forgive() {
                well.push(host);
            }
            self.health_changed(host);
        }
        well
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
        assert_eq!(frontier.end_probes(), []);
        frontier.complete(answered, Outcome::Finished { stored: false }, Asked::Yes, now);
        assert_eq!(frontier.next(now), Next::Drained);
    }

    #[test]
    fn one_that_failed_meanwhile_is_well_where_another_answers() {
        for (cause, is_well) in [(FailureCause::TimedOut, true), (FailureCause::Status(503), false)] {
            let now = Moment::from_millis(1_000_000);
            let mut frontier = Frontier::new(FrontierLimits::default());
            let start = HostStart::new(WebUrl::parse("http://h/").unwrap().origin(), Duration::ZERO);
            let health =
                HostHealth { answers: true, known_good: Some("http://h/good".into()), ..HostHealth::default() };
            let host = frontier.add_host(HostStart { robots_until: now + Duration::from_hours(1), health, ..start });
            frontier.probe();
            let failed = lease(&mut frontier, now).expect("it is asked");
            frontier.failed(&failed, FailedFetch { cause, retry_after: None }, now);
            frontier.complete(failed, Outcome::Finished { stored: false }, Asked::Yes, now);
            assert_eq!(frontier.end_probes(), if is_well { vec![host] } else { vec![] });
            assert_eq!((frontier.health(host).is_none(), frontier.unhealthy() == 0), (is_well, is_well));
            assert_eq!(frontier.next(now), Next::Drained);
        }
    }
}
