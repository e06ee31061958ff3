//! [`KnownRobots`]: what each host's robots.txt allows, and what its answer means.
//!
//! Owns: the rules in memory, and the leases that wait for rules that are not.
//!
//! Invariant: a host whose robots.txt redirects to a host that cannot be asked is unreachable, and is never closed for
//! that.
//!
//! Does not know: what becomes of a host.

pub(in crate::engine) mod rules;
mod waiting;

use std::time::Duration;

use rules::RulesInMemory;
use waiting::Waiting;

use crate::{
    candidate::HostId,
    config::RobotsSettings,
    engine::report::{Content, KeptResponse},
    fetch::{FetchError, Truncation},
    frontier::{FailedFetch, Lease, WorkItem},
    health::FailureCause,
    robots::{self, Availability, ProductToken, availability},
    store::RobotsRow,
    time::Moment,
    url::{Origin, WebUrl},
};

/// Redirects followed for a robots.txt (RFC 9309 2.3.1.2).
const MOST_REDIRECTS: u32 = 5;

/// The parsed robots.txt of the hosts asked last, and who waits for that of another.
#[derive(Debug)]
pub(super) struct KnownRobots {
    settings: RobotsSettings,
    agent: ProductToken,
    rules: RulesInMemory,
    waiting: Waiting,
}

/// Whether a URL may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// It may.
    Given,
    /// The host forbids it.
    Refused,
    /// The host's rules are not in memory any more.
    Unknown,
}

/// What the answer to a robots.txt request means.
#[derive(Debug)]
pub(super) enum RobotsAnswer {
    /// The host may be visited as the rules allow.
    Met {
        /// What is kept of it.
        row: RobotsRow,
        /// The pause it asks for.
        crawl_delay: Option<Duration>,
        /// When it is fetched anew.
        until: Moment,
    },
    /// It is somewhere else.
    Redirected(WebUrl),
    /// It could not be read: the host's URLs wait until it can be (RFC 9309 2.3.1.4).
    Unreachable {
        /// What is kept of the failure.
        row: RobotsRow,
        /// What is wrong with the host.
        failure: FailedFetch,
    },
    /// The crawl may not connect to the host's address.
    Refused {
        /// What is kept of the failure.
        row: RobotsRow,
    },
}

impl KnownRobots {
    pub(super) fn new(settings: RobotsSettings, agent: ProductToken) -> Self {
        Self { settings, agent, rules: RulesInMemory::new(), waiting: Waiting::default() }
    }

    /// Whether the user said not to ask this host.
    pub(super) fn ignores(&self, origin: &Origin) -> bool {
        self.settings.ignores(origin)
    }

    /// Until when a robots.txt that was fetched in an earlier run is good; the epoch where it is to be fetched.
    pub(super) fn stored_until(&self, origin: &Origin, fetched: Option<Moment>, now: Moment) -> Moment {
        // What the clock says was fetched in the future cannot be trusted.
        let fetched = fetched.filter(|fetched| *fetched <= now && !self.ignores(origin));
        fetched.map_or(Moment::EPOCH, |fetched| fetched + self.settings.max_age)
    }

    /// The host is visited without rules.
    pub(super) fn ignore(&mut self, host: HostId, now: Moment) -> RobotsAnswer {
        self.met(host, robots::Robots::allow_all(), RobotsRow { fetched: now, ..RobotsRow::default() }, now)
    }

    /// Whether the rules of its host allow a lease.
    pub(super) fn permission(&mut self, lease: &Lease) -> Permission {
        match self.rules.get(lease.host()).map(|rules| rules.decide(lease.url().path_and_query()).allowed) {
            Some(true) => Permission::Given,
            Some(false) => Permission::Refused,
            None => Permission::Unknown,
        }
    }

    /// What the robots.txt of a host says of sitemaps, as long as it is in memory.
    pub(super) fn sitemaps(&mut self, host: HostId) -> &[String] {
        self.rules.get(host).map(robots::Robots::sitemaps).unwrap_or_default()
    }

    /// Has a lease wait for the rules of its host; whether the store is to be asked for them.
    pub(super) fn wait_for(&mut self, lease: Lease) -> bool {
        self.waiting.add(lease)
    }

    /// Takes the rules of a host in again, from the body in its row; without one everything is allowed. Leases that they allow
    /// wait for their turn, the others are given back.
    pub(super) fn recall(&mut self, host: HostId, body: Option<&[u8]>) -> Vec<Lease> {
        let rules = body.map_or_else(robots::Robots::allow_all, |body| robots::Robots::parse(body, &self.agent));
        self.rules.insert(host, rules);
        let (allowed, refused): (Vec<_>, Vec<_>) =
            self.waiting.read(host).into_iter().partition(|lease| self.permission(lease) == Permission::Given);
        for lease in allowed {
            self.waiting.ready(lease);
        }
        refused
    }

    /// Whether a lease whose rules were read waits for its turn.
    pub(super) fn has_ready(&self) -> bool {
        self.waiting.has_ready()
    }

    /// The first of them.
    pub(super) fn next_ready(&mut self) -> Option<Lease> {
        self.waiting.next_ready()
    }

    /// How many leases wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether they keep to their bound.
    #[cfg(test)]
    pub(super) fn stand(&self) -> bool {
        self.rules.stand()
    }

    /// Reads the answer to the request of `lease` for the robots.txt of `host`.
    pub(super) fn read(
        &mut self,
        host: HostId,
        lease: &Lease,
        result: Result<KeptResponse, FetchError>,
        now: Moment,
    ) -> RobotsAnswer {
        match self.meaning(host, lease.item(), result, now) {
            // The target of a redirect is at fault, and not who sent it.
            RobotsAnswer::Refused { row } if host != lease.host() => RobotsAnswer::Unreachable {
                row,
                failure: FailedFetch { cause: FailureCause::Address, retry_after: None },
            },
            reading => reading,
        }
    }

    fn meaning(
        &mut self,
        host: HostId,
        item: &WorkItem,
        result: Result<KeptResponse, FetchError>,
        now: Moment,
    ) -> RobotsAnswer {
        let row = RobotsRow { fetched: now, ..RobotsRow::default() };
        let answer = match result {
            Ok(answer) => answer,
            Err(FetchError::AddressRefused(_)) => return RobotsAnswer::Refused { row: failed(row) },
            Err(error) => {
                let failure = FailedFetch { cause: error.cause().unwrap_or(FailureCause::Closed), retry_after: None };
                return RobotsAnswer::Unreachable { row: failed(row), failure };
            }
        };
        // That of a redirect's target is not the host's own.
        let address = answer.address.filter(|_| item.host == host);
        let row = RobotsRow { status: Some(answer.status), address, ..row };
        let unreachable = |cut| {
            let failure = failure(row.status, cut, answer.retry_after);
            RobotsAnswer::Unreachable { row: failed(row.clone()), failure }
        };
        let (body, location) = match answer.content {
            Content::Robots { body, location } => (body, location),
            _ => (Vec::new(), None),
        };
        if (300..400).contains(&answer.status) {
            return match location.filter(|_| item.redirects < MOST_REDIRECTS) {
                Some(to) => RobotsAnswer::Redirected(to),
                None => self.met(host, robots::Robots::allow_all(), row, now),
            };
        }
        match availability(answer.status) {
            // What is missing might forbid everything. Only the limit of what is ever read may cut.
            Availability::Parse if !matches!(answer.truncated, None | Some(Truncation::Size)) => {
                unreachable(answer.truncated)
            }
            Availability::Parse => {
                let rules = robots::Robots::parse(&body, &self.agent);
                self.met(host, rules, RobotsRow { body: Some(body), ..row }, now)
            }
            Availability::AllowAll => self.met(host, robots::Robots::allow_all(), row, now),
            Availability::Unreachable => unreachable(None),
        }
    }

    fn met(&mut self, host: HostId, rules: robots::Robots, row: RobotsRow, now: Moment) -> RobotsAnswer {
        let crawl_delay = rules.crawl_delay();
        let crawl_delay_millis = crawl_delay.and_then(|delay| delay.as_millis().try_into().ok());
        self.rules.insert(host, rules);
        RobotsAnswer::Met {
            row: RobotsRow { crawl_delay_millis, ..row },
            crawl_delay,
            until: now + self.settings.max_age,
        }
    }
}

/// What is wrong with a host whose answer cannot be used: without one it is not visited.
fn failure(status: Option<u16>, cut: Option<Truncation>, retry_after: Option<Duration>) -> FailedFetch {
    let cause = match (cut, status) {
        (Some(Truncation::Time | Truncation::Slow), _) => FailureCause::TimedOut,
        (None, Some(status)) => FailureCause::Status(status),
        _ => FailureCause::Closed,
    };
    FailedFetch { cause, retry_after }
}

fn failed(row: RobotsRow) -> RobotsRow {
    RobotsRow { first_failed: Some(row.fetched), ..row }
}
