//! [`Door`]: the stateful half of admission.

use std::{collections::HashMap, time::Duration};

use urlcache::Verdict;

use super::{CacheKeeper, Proposal, Proposals};
use crate::{
    candidate::{Hop, HostId, UrlId},
    frontier::{Frontier, HostStart, Order, Queued},
    store::{Abandonment, HostRow, Step, UrlRow},
    url::Origin,
};

/// Where the candidates of a batch were found.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Found {
    pub(in crate::engine) hop: Hop,
    pub(in crate::engine) via: Option<UrlId>,
    pub(in crate::engine) depth: u32,
    pub(in crate::engine) redirects: u32,
    pub(in crate::engine) judge: Judge,
}

/// Who says whether a candidate is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Judge {
    /// The URL cache.
    Cache,
    /// The URL table was asked before the run, and has none of them: the cache learns them, its verdict does not count.
    Table,
}

/// The stateful half of admission: URL cache, row for the URL table, frontier.
pub(in crate::engine) struct Door {
    pub(in crate::engine) cache: CacheKeeper,
    hosts: HashMap<Origin, HostId>,
    last: u64,
    order: Order,
    delay: Duration,
}

impl Door {
    /// A door behind which URLs up to `last` are numbered; hosts get `delay` as their pause.
    pub(in crate::engine) fn new(cache: CacheKeeper, last: u64, order: Order, delay: Duration) -> Self {
        Self { cache, hosts: HashMap::new(), last, order, delay }
    }

    /// A host from the crawl directory, in the order of their numbers.
    pub(in crate::engine) fn known_host(&mut self, frontier: &mut Frontier, start: HostStart) -> HostId {
        let origin = start.origin.clone();
        let host = frontier.add_host(start);
        self.hosts.insert(origin, host);
        host
    }

    /// Offers candidates: what is new gets a row in `step` and a place in the frontier. Returns the numbers of what was admitted.
    pub(in crate::engine) fn admit(
        &mut self,
        proposals: Proposals,
        found: Found,
        frontier: &mut Frontier,
        step: &mut Step,
    ) -> Vec<UrlId> {
        step.counters.candidates += proposals.candidates();
        for (reason, count) in &proposals.refused {
            *step.counters.refused.entry((*reason).to_owned()).or_default() += count;
        }
        let verdicts = self.cache.insert(&proposals.passed).to_vec();
        let offered = proposals.passed.len();
        let new = |verdict: &Verdict| *verdict == Verdict::New || found.judge == Judge::Table;
        let admitted: Vec<_> = proposals.passed.into_iter().zip(verdicts).filter(|(_, verdict)| new(verdict)).collect();
        step.counters.duplicate += (offered - admitted.len()) as u64;
        step.counters.expected_lost = self.cache.expected_lost();
        admitted.into_iter().map(|(proposal, _)| self.enter(proposal, found, frontier, step)).collect()
    }

    /// The number of a host; one never seen gets a row in `step`.
    pub(in crate::engine) fn host(&mut self, origin: Origin, frontier: &mut Frontier, step: &mut Step) -> HostId {
        if let Some(host) = self.hosts.get(&origin) {
            return *host;
        }
        let id = self.known_host(frontier, HostStart::new(origin.clone(), self.delay));
        step.hosts.push(HostRow { id, origin });
        id
    }

    fn enter(&mut self, proposal: Proposal, found: Found, frontier: &mut Frontier, step: &mut Step) -> UrlId {
        let Found { hop, via, depth, redirects, .. } = found;
        let host = self.host(proposal.url.origin(), frontier, step);
        self.last += 1;
        let id = UrlId(self.last);
        let abandoned = frontier.is_closed(host).then_some(Abandonment::RobotsUnreachable);
        let rank = self.order.rank(depth);
        let Proposal { url, key, fingerprint } = proposal;
        frontier.offer(Queued { id, host, url: url.clone(), hop, depth, redirects, attempts: 0 });
        step.rows.push(UrlRow { id, host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned });
        id
    }
}
