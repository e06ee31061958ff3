//! [`RobotsBook`]: what each host's robots.txt allows, and what its answer means.

use std::{collections::HashMap, time::Duration};

use super::{
    rules::RulesInMemory,
    verdict::back_off,
    visit::{Answer, Content},
};
use crate::{
    candidate::HostId,
    config::RobotsSettings,
    fetch::{FetchError, Truncation},
    robots::{Availability, ProductToken, Robots, availability},
    store::{Abandonment, RobotsRow},
    time::Moment,
    url::{Origin, WebUrl},
};

/// Redirects followed for a robots.txt (RFC 9309 2.3.1.2).
const MOST_REDIRECTS: u32 = 5;

/// The longest pause between two attempts.
const MOST_BACK_OFF: Duration = Duration::from_mins(5);

/// The parsed robots.txt of the hosts asked last, and the failures of those that gave none.
#[derive(Debug)]
pub(super) struct RobotsBook {
    settings: RobotsSettings,
    agent: ProductToken,
    rules: RulesInMemory,
    failures: HashMap<HostId, Failures>,
}

#[derive(Debug)]
struct Failures {
    count: u32,
    first: Moment,
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
    /// It could not be read; it is asked for again.
    Retry {
        /// What is kept of the failure.
        row: RobotsRow,
        /// When.
        at: Moment,
    },
    /// It could not be read, for good.
    Failed {
        /// What is kept of the failure.
        row: RobotsRow,
        /// Why what is queued on the host is abandoned.
        why: Abandonment,
    },
}

impl RobotsBook {
    pub(super) fn new(settings: RobotsSettings, agent: ProductToken) -> Self {
        Self { settings, agent, rules: RulesInMemory::new(), failures: HashMap::new() }
    }

    /// Whether the user said not to ask this host.
    pub(super) fn ignores(&self, origin: &Origin) -> bool {
        let authority = origin.authority();
        let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
        self.settings.ignore.iter().any(|name| name.eq_ignore_ascii_case(authority) || name.eq_ignore_ascii_case(host))
    }

    /// The host is visited without rules.
    pub(super) fn ignore(&mut self, host: HostId, now: Moment) -> Reading {
        self.met(host, Robots::allow_all(), RobotsRow { fetched: now, ..RobotsRow::default() }, now)
    }

    /// Whether the host's rules allow a URL; `None` when they are not in memory any more.
    pub(super) fn allows(&mut self, host: HostId, url: &WebUrl) -> Option<bool> {
        self.rules.get(host).map(|rules| rules.verdict(url.path_and_query()).allowed)
    }

    /// Takes the rules of a host in again, from the body in its row; without one everything is allowed.
    pub(super) fn recall(&mut self, host: HostId, body: Option<&[u8]>) {
        self.rules.insert(host, body.map_or_else(Robots::allow_all, |body| Robots::parse(body, &self.agent)));
    }

    /// Reads an answer for `host`, fetched after `redirects`.
    pub(super) fn read(
        &mut self,
        host: HostId,
        redirects: u32,
        patience: Patience,
        result: Result<Answer, FetchError>,
        now: Moment,
    ) -> Reading {
        let row = RobotsRow { fetched: now, ..RobotsRow::default() };
        let answer = match result {
            Ok(answer) => answer,
            // The same address is refused however often it is tried.
            Err(FetchError::AddressRefused(_)) => return Self::refused(row),
            Err(_) => return self.unreachable(host, row, patience, None),
        };
        let row = RobotsRow { status: Some(answer.status), ..row };
        let (body, location) = match answer.content {
            Content::Errand { body, location } => (body, location),
            Content::Page(_) | Content::Redirect(_) | Content::Other(_) => (Vec::new(), None),
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
                self.unreachable(host, row, patience, None)
            }
            Availability::Parse => {
                let rules = Robots::parse(&body, &self.agent);
                self.met(host, rules, RobotsRow { body: Some(body), ..row }, now)
            }
            Availability::AllowAll => self.met(host, Robots::allow_all(), row, now),
            Availability::Unreachable => self.unreachable(host, row, patience, answer.retry_after),
        }
    }

    fn met(&mut self, host: HostId, rules: Robots, row: RobotsRow, now: Moment) -> Reading {
        let crawl_delay = rules.crawl_delay();
        let crawl_delay_millis = crawl_delay.and_then(|delay| delay.as_millis().try_into().ok());
        self.failures.remove(&host);
        self.rules.insert(host, rules);
        Reading::Met { row: RobotsRow { crawl_delay_millis, ..row }, crawl_delay, until: now + self.settings.max_age }
    }

    fn refused(row: RobotsRow) -> Reading {
        let row = RobotsRow { first_failed: Some(row.fetched), ..row };
        Reading::Failed { row, why: Abandonment::Address }
    }

    fn unreachable(&mut self, host: HostId, row: RobotsRow, patience: Patience, asked: Option<Duration>) -> Reading {
        let now = row.fetched;
        let failures = self.failures.entry(host).or_insert(Failures { count: 0, first: now });
        let pause = back_off(self.settings.backoff, MOST_BACK_OFF, failures.count);
        failures.count += 1;
        let row = RobotsRow { first_failed: Some(failures.first), ..row };
        let retries = if patience == Patience::None { 0 } else { self.settings.retries };
        if failures.count > retries {
            return Reading::Failed { row, why: Abandonment::RobotsUnreachable };
        }
        Reading::Retry { row, at: now + pause.max(asked.unwrap_or_default()).min(MOST_BACK_OFF) }
    }
}

/// Whether a host that gives no robots.txt is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// As often as the settings say.
    AsSet,
    /// Not at all: it was only a guess.
    None,
}
