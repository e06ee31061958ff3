//! [`RobotsBook`]: what each host's robots.txt allows, and what its answer means.

use std::time::Duration;

use super::{
    super::report::{Content, KeptResponse},
    outcome::robots_failure,
    rules::RulesInMemory,
};
use crate::{
    candidate::HostId,
    config::RobotsSettings,
    fetch::{FetchError, Truncation},
    frontier::Failure,
    health::Cause,
    robots::{Availability, ProductToken, Robots, availability},
    store::RobotsRow,
    time::Moment,
    url::{Origin, WebUrl},
};

/// Redirects followed for a robots.txt (RFC 9309 2.3.1.2).
const MOST_REDIRECTS: u32 = 5;

/// The parsed robots.txt of the hosts asked last.
#[derive(Debug)]
pub(super) struct RobotsBook {
    settings: RobotsSettings,
    agent: ProductToken,
    rules: RulesInMemory,
}

/// What the answer to a robots.txt request means.
#[derive(Debug)]
pub(super) enum Reading {
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
        failure: Failure,
    },
    /// The crawl may not connect to the host's address.
    Refused {
        /// What is kept of the failure.
        row: RobotsRow,
    },
}

impl RobotsBook {
    pub(super) fn new(settings: RobotsSettings, agent: ProductToken) -> Self {
        Self { settings, agent, rules: RulesInMemory::new() }
    }

    /// Whether the user said not to ask this host.
    pub(super) fn ignores(&self, origin: &Origin) -> bool {
        let authority = origin.authority();
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        self.settings.ignore.iter().any(|name| name.eq_ignore_ascii_case(authority) || name.eq_ignore_ascii_case(host))
    }

    /// Until when a robots.txt that was fetched in an earlier run is good; the epoch where it is to be fetched.
    pub(super) fn stored_until(&self, origin: &Origin, fetched: Option<Moment>, now: Moment) -> Moment {
        // What the clock says was fetched in the future cannot be trusted.
        let fetched = fetched.filter(|fetched| *fetched <= now && !self.ignores(origin));
        fetched.map_or(Moment::EPOCH, |fetched| fetched + self.settings.max_age)
    }

    /// The host is visited without rules.
    pub(super) fn ignore(&mut self, host: HostId, now: Moment) -> Reading {
        self.met(host, Robots::allow_all(), RobotsRow { fetched: now, ..RobotsRow::default() }, now)
    }

    /// Whether the host's rules allow a URL; `None` when they are not in memory any more.
    pub(super) fn allows(&mut self, host: HostId, url: &WebUrl) -> Option<bool> {
        self.rules.get(host).map(|rules| rules.decide(url.path_and_query()).allowed)
    }

    /// Takes the rules of a host in again, from the body in its row; without one everything is allowed.
    pub(super) fn recall(&mut self, host: HostId, body: Option<&[u8]>) {
        self.rules.insert(host, body.map_or_else(Robots::allow_all, |body| Robots::parse(body, &self.agent)));
    }

    /// Whether they keep to their bound.
    #[cfg(test)]
    pub(super) fn stand(&self) -> bool {
        self.rules.stand()
    }

    /// Reads an answer for `host`, fetched after `redirects`.
    pub(super) fn read(
        &mut self,
        host: HostId,
        redirects: u32,
        result: Result<KeptResponse, FetchError>,
        now: Moment,
    ) -> Reading {
        let row = RobotsRow { fetched: now, ..RobotsRow::default() };
        let answer = match result {
            Ok(answer) => answer,
            Err(FetchError::AddressRefused(_)) => return Reading::Refused { row: failed(row) },
            Err(error) => {
                let failure = Failure { cause: error.cause().unwrap_or(Cause::Closed), retry_after: None };
                return Reading::Unreachable { row: failed(row), failure };
            }
        };
        let row = RobotsRow { status: Some(answer.status), ..row };
        let unreachable = |cut| {
            let failure = robots_failure(row.status, cut, answer.retry_after);
            Reading::Unreachable { row: failed(row.clone()), failure }
        };
        let (body, location) = match answer.content {
            Content::Robots { body, location } => (body, location),
            Content::Page(_) | Content::NotModified(_) | Content::Redirect(_) | Content::Other(_) => (Vec::new(), None),
        };
        if (300..400).contains(&answer.status) {
            return match location.filter(|_| redirects < MOST_REDIRECTS) {
                Some(to) => Reading::Redirected(to),
                None => self.met(host, Robots::allow_all(), row, now),
            };
        }
        match availability(answer.status) {
            // What is missing might forbid everything. Only the limit of what is ever read may cut.
            Availability::Parse if !matches!(answer.truncated, None | Some(Truncation::Size)) => {
                unreachable(answer.truncated)
            }
            Availability::Parse => {
                let rules = Robots::parse(&body, &self.agent);
                self.met(host, rules, RobotsRow { body: Some(body), ..row }, now)
            }
            Availability::AllowAll => self.met(host, Robots::allow_all(), row, now),
            Availability::Unreachable => unreachable(None),
        }
    }

    fn met(&mut self, host: HostId, rules: Robots, row: RobotsRow, now: Moment) -> Reading {
        let crawl_delay = rules.crawl_delay();
        let crawl_delay_millis = crawl_delay.and_then(|delay| delay.as_millis().try_into().ok());
        self.rules.insert(host, rules);
        Reading::Met { row: RobotsRow { crawl_delay_millis, ..row }, crawl_delay, until: now + self.settings.max_age }
    }
}

fn failed(row: RobotsRow) -> RobotsRow {
    RobotsRow { first_failed: Some(row.fetched), ..row }
}
