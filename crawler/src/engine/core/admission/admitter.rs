//! [`Admitter`]: the stateful half of admission.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use urlcache::{Observation, Standing, Verdict};

use super::{Origins, SeenCache};
use crate::{
    candidate::{Hop, HostId, Ticket},
    engine::judge::{Candidate, Proposal, Proposals},
    frontier::{Frontier, HostStart},
    order::Ranking,
    store::{Abandonment, HostRow, LostRow, Step, UrlRow},
    time::Moment,
    url::Origin,
};

/// Where the candidates of a batch were found.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Provenance {
    pub(in crate::engine) hop: Hop,
    pub(in crate::engine) via: Option<Ticket>,
    pub(in crate::engine) depth: u32,
    pub(in crate::engine) redirects: u32,
    pub(in crate::engine) judge: Judge,
    pub(in crate::engine) at: Moment,
}

/// Who says whether a candidate is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Judge {
    /// The URL cache.
    Cache,
    /// The URL table was asked before the run, and has none of them: the cache learns them, its verdict does not count.
    Table,
    /// They are known to be lost: the cache's verdict does not count.
    Rescue,
}

/// The stateful half of admission: URL cache, row for the URL table, frontier.
pub(in crate::engine) struct Admitter {
    pub(in crate::engine) cache: SeenCache,
    origins: Origins,
    /// Hosts whose prerequisite failed for good, and what that makes of their URLs.
    closed: HashMap<HostId, Abandonment>,
    last: u64,
    ranking: Ranking,
    delay: Duration,
    /// What the audit finds lost is admitted.
    pub(in crate::engine) audit_rescues: bool,
    /// Lost URLs that pages are just fetched again for, by the leading halves of their fingerprints.
    pub(in crate::engine) wanted: HashSet<u64>,
}

impl Admitter {
    /// One that knows the hosts of these origins, and has numbered URLs up to `last`; new hosts get `delay` as their pause.
    pub(in crate::engine) fn new(
        cache: SeenCache,
        origins: Origins,
        last: u64,
        ranking: Ranking,
        delay: Duration,
    ) -> Self {
        let (closed, wanted) = (HashMap::new(), HashSet::new());
        Self { cache, origins, closed, last, ranking, delay, audit_rescues: true, wanted }
    }

    /// Offers candidates: what is new gets a row in `step`. Returns the numbers of what was admitted; if the cache forgets,
    /// that is provisional. The frontier hears of the rows when the step is handed over.
    pub(in crate::engine) fn admit(
        &mut self,
        proposals: Proposals,
        found: Provenance,
        frontier: &mut Frontier,
        step: &mut Step,
    ) -> Vec<Ticket> {
        step.counters.candidates += proposals.candidates();
        let Proposals { passed, refused, labels: _ } = proposals;
        for (reason, count) in refused {
            *step.counters.refused.entry(reason.to_owned()).or_default() += count;
        }
        let verdicts = self.cache.insert(&passed).to_vec();
        let offered = passed.len();
        let mut admitted = Vec::new();
        for (proposal, verdict) in passed.iter().zip(verdicts) {
            let lost = self.is_lost(proposal, verdict, found);
            if !lost && verdict == Verdict::Seen && found.judge == Judge::Cache {
                continue;
            }
            // Only now is it more than a fingerprint.
            let Some(candidate) = passed.candidate(proposal) else { continue };
            if lost && !self.audit_rescues {
                tracing::debug!(url = %candidate.url, "the audit found it lost");
                step.lost.push(lost_row(&candidate, found, None));
            } else if lost {
                tracing::debug!(url = %candidate.url, "the audit found it lost and admits it");
                step.lost.push(lost_row(&candidate, found, Some(Ticket(self.last + 1))));
                admitted.push(self.enter(candidate, found, frontier, step));
            } else {
                admitted.push(self.enter(candidate, found, frontier, step));
            }
        }
        step.counters.duplicate += (offered - admitted.len()) as u64;
        step.counters.expected_lost = self.cache.expected_lost();
        step.counters.rotations += self.cache.new_rotations();
        admitted
    }

    /// Whether the audit, which takes note of the verdict, knows that it is wrong.
    fn is_lost(&mut self, proposal: &Proposal, verdict: Verdict, found: Provenance) -> bool {
        let Some(audit) = &mut self.cache.audit else { return false };
        let fingerprint = proposal.fingerprint.value();
        // Starts enter whatever the cache says.
        let ignored = found.judge != Judge::Cache;
        if ignored || found.hop == Hop::Start {
            // A start that is seen has been held, or is none.
            if ignored || verdict == Verdict::New {
                audit.restore(fingerprint, Standing::Held);
            }
            return false;
        }
        audit.observe(fingerprint, verdict) == Observation::FalsePositive
    }

    /// The number of a host; one never seen gets a row in `step`.
    pub(in crate::engine) fn host(&mut self, origin: Origin, frontier: &mut Frontier, step: &mut Step) -> HostId {
        if let Some(host) = self.origins.get(&origin, frontier) {
            return host;
        }
        let id = frontier.add_host(HostStart::new(origin.clone(), self.delay));
        self.origins.insert(id, frontier);
        step.hosts.push(HostRow { id, origin });
        id
    }

    /// Nothing of this host is fetched any more.
    pub(in crate::engine) fn close(&mut self, host: HostId, why: Abandonment) {
        self.closed.insert(host, why);
    }

    /// Why that is so, if it is.
    pub(in crate::engine) fn why_closed(&self, host: HostId) -> Option<Abandonment> {
        self.closed.get(&host).copied()
    }

    fn enter(&mut self, candidate: Candidate, found: Provenance, frontier: &mut Frontier, step: &mut Step) -> Ticket {
        let Provenance { hop, via, depth, redirects, .. } = found;
        let host = self.host(candidate.url.origin(), frontier, step);
        if !self.wanted.is_empty() {
            self.wanted.remove(&candidate.fingerprint.short());
        }
        self.last += 1;
        let id = Ticket(self.last);
        let abandoned = self.why_closed(host);
        let rank = self.ranking.rank(candidate.url.as_str(), depth);
        let Candidate { url, key, fingerprint } = candidate;
        step.rows.push(UrlRow { id, host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned });
        id
    }
}

fn lost_row(candidate: &Candidate, found: Provenance, admitted: Option<Ticket>) -> LostRow {
    let url = candidate.url.as_str().to_owned();
    LostRow { fingerprint: candidate.fingerprint, url, at: found.at, via: found.via, admitted }
}
