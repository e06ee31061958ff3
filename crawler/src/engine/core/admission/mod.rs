//! [`Admission`]: the only way into the crawl.
//!
//! Owns: the URL cache with its audit, the numbers of URLs and hosts, the hosts that are closed, and how the reset policy ends the
//! sequence. For candidates that passed [`judge`](crate::engine::judge), it asks the URL cache; new ones get a row.
//!
//! Invariant: every candidate is counted once, as admitted, as duplicate, or as refused for a named reason.
//!
//! Does not know: who found a batch, and how or when pages are fetched.

mod figures;
mod learning;
mod origins;
mod seen_cache;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use learning::Learning;
pub(in crate::engine::core) use learning::Lessons;
use urlcache::{Answer, HashSeed, Observation, ResetPolicy, Standing};

pub(in crate::engine) use origins::Origins;
pub use seen_cache::CacheFailure;
use seen_cache::CacheRoom;
pub(in crate::engine) use seen_cache::{Filling, SeenCache};

use crate::{
    candidate::{Hop, HostId, Ticket},
    engine::judge::{Batch, Candidate, Judge, Passed, Proposal, Provenance},
    order::{Merit, Ranking},
    store::{Abandonment, Counters, HostRow, LostRow, RankRow, RankRows, Step, UrlRow},
    time::Moment,
    url::Origin,
};

/// How the reset policy has the sequence end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheEnding {
    /// When nothing is left to fetch.
    Complete,
    /// The same, and then the next begins.
    CompleteThenNext,
    /// When what is queued is fetched, and then the next begins: links are not judged any more.
    Next,
    /// At once, and the crawl with it.
    Stop,
}

/// Whether a batch can be admitted.
pub(super) enum Readiness {
    /// It can.
    Yes,
    /// It can, and these sums have changed.
    Changed(Counters),
    /// Once this was filled from the URL table.
    Fill(Filling),
    /// Not in this run.
    No(Counters),
}

/// What admission keeps to.
pub(super) struct Policy {
    pub(super) ranking: Ranking,
    /// What the audit finds lost is admitted.
    pub(super) audit_rescues: bool,
    /// What is done when the URL cache is full.
    pub(super) reset: ResetPolicy,
}

/// The way into the crawl: URL cache, and rows for the URL table.
pub(super) struct Admission {
    cache: SeenCache,
    origins: Origins,
    policy: Policy,
    /// What links and sitemaps say of URLs, where that changes their ranks.
    learning: Option<Learning>,
    /// Hosts of which nothing is fetched, and what that makes of their URLs.
    closed: HashMap<HostId, Abandonment>,
    /// The number of the last URL.
    last: u64,
    ending: CacheEnding,
    /// The URL cache is away, being filled.
    is_filling: bool,
    /// It has just been filled for the batch that comes next.
    has_room: bool,
}

impl Admission {
    /// One that knows the hosts of these origins, and has numbered URLs up to `last`.
    pub(super) fn new(cache: SeenCache, origins: Origins, last: u64, policy: Policy) -> Self {
        let (closed, ending) = (HashMap::new(), CacheEnding::Complete);
        Self { cache, origins, policy, learning: None, closed, last, ending, is_filling: false, has_room: false }
    }

    /// The same that learns of URLs which it has admitted; the seed is the sequence's.
    pub(super) fn learning(self, from: Lessons, hash_seed: u64) -> Self {
        let learns = from.weights || from.dates;
        Self { learning: learns.then(|| Learning::new(from, HashSeed::new(hash_seed))), ..self }
    }

    /// Whether it counts links.
    pub(super) fn counts_links(&self) -> bool {
        self.learning.as_ref().is_some_and(Learning::counts_links)
    }

    /// What was learnt of URLs that have rows, if it is time to rank them anew after so many were fetched.
    pub(super) fn learnt(&mut self, fetched: u64) -> Option<RankRows> {
        let rows = self.learning.as_mut()?.take(fetched);
        (!rows.is_empty()).then(|| RankRows { order: self.policy.ranking.order(), rows })
    }

    /// The same at any time.
    pub(super) fn all_learnt(&mut self) -> Option<RankRows> {
        let rows = self.learning.as_mut()?.take_all();
        (!rows.is_empty()).then(|| RankRows { order: self.policy.ranking.order(), rows })
    }

    /// Offers a batch: what is new gets a row in `step`, and its host one if it never had any. Returns the numbers of what was
    /// admitted; if the cache forgets, that is provisional. `origin_of` knows the hosts that have no row in `step`.
    pub(super) fn admit<'a>(
        &mut self,
        batch: Batch,
        origin_of: impl Fn(HostId) -> &'a Origin,
        step: &mut Step,
    ) -> Vec<Ticket> {
        step.counters.candidates += batch.candidates();
        let Batch { found, urls, refused, rewritten } = batch;
        let Counters { refused: all_refused, rewritten: all_rewritten, .. } = &mut step.counters;
        for (counts, all) in [(refused, all_refused), (rewritten, all_rewritten)] {
            for (word, count) in counts {
                *all.entry(word.to_owned()).or_default() += count;
            }
        }
        let learnt = self.learning.as_mut().map(|learning| learning.note(&urls, found)).unwrap_or_default();
        let answers = self.cache.insert(&urls).to_vec();
        let mut admitted = Vec::new();
        for (proposal, answer) in urls.iter().zip(answers) {
            let found = if proposal.is_asset { found.of_asset() } else { found };
            let lost = self.is_lost(proposal, answer, found);
            if !lost && answer == Answer::Seen && found.judge == Judge::Cache {
                continue;
            }
            // Only now is it more than a fingerprint.
            let Some(candidate) = urls.candidate(proposal) else { continue };
            let enters = !lost || self.policy.audit_rescues;
            if lost {
                tracing::debug!(url = %candidate.url, enters, "the audit found it lost");
                step.lost.push(lost_row(&candidate, found, enters.then_some(Ticket(self.last + 1))));
            }
            if enters {
                admitted.push(self.enter(candidate, found, &origin_of, step));
            }
        }
        for proposal in learnt {
            self.learn(urls.candidate(&proposal), &origin_of, &step.hosts);
        }
        step.counters.duplicate += (urls.len() - admitted.len()) as u64;
        step.counters.expected_lost = self.cache.expected_lost();
        step.counters.rotations += self.cache.new_rotations();
        admitted
    }

    /// Whether the audit, which takes note of the answer, knows that it is wrong.
    fn is_lost(&mut self, proposal: &Proposal, answer: Answer, found: Provenance) -> bool {
        let Some(audit) = &mut self.cache.audit else { return false };
        let fingerprint = proposal.fingerprint.value();
        // Starts enter whatever the cache says.
        let ignored = found.judge != Judge::Cache;
        if ignored || found.hop == Hop::Start {
            // A start that is seen has been held, or is none.
            if ignored || answer == Answer::New {
                audit.restore(fingerprint, Standing::Held);
            }
            return false;
        }
        audit.observe(fingerprint, answer) == Observation::FalsePositive
    }

    /// The number of a host; one never seen gets a row in `step`.
    pub(super) fn host<'a>(
        &mut self,
        origin: Origin,
        origin_of: impl Fn(HostId) -> &'a Origin,
        step: &mut Step,
    ) -> HostId {
        if let Some(host) = self.known_host(&origin, &origin_of, &step.hosts) {
            return host;
        }
        let id = HostId(u32::try_from(self.origins.len()).expect("a crawl has fewer than 2^32 hosts"));
        step.hosts.push(HostRow { id, origin });
        self.origins.insert(id, |host| among(&step.hosts, host).unwrap_or_else(|| origin_of(host)));
        id
    }

    fn known_host<'a: 'n, 'n>(
        &self,
        origin: &Origin,
        origin_of: impl Fn(HostId) -> &'a Origin,
        new: &'n [HostRow],
    ) -> Option<HostId> {
        self.origins.get(origin, |host| among(new, host).unwrap_or_else(|| origin_of(host)))
    }

    /// Remembers what is known of a URL that may have a row.
    fn learn<'a>(&mut self, url: Option<Candidate>, origin_of: impl Fn(HostId) -> &'a Origin, new: &[HostRow]) {
        let Some(candidate) = url else { return };
        let Some(host) = self.known_host(&candidate.url.origin(), origin_of, new) else { return };
        let rule = self.policy.ranking.weight(candidate.url.as_str());
        if let Some(learning) = &mut self.learning {
            let (merit, modified) = (learning.merit(&candidate), learning.modified(&candidate));
            learning.learn(RankRow { host, fingerprint: candidate.fingerprint, rule, merit, modified });
        }
    }

    /// Nothing of this host is fetched any more.
    pub(super) fn close(&mut self, host: HostId, why: Abandonment) {
        self.closed.insert(host, why);
    }

    /// Why that is so, if it is.
    pub(super) fn why_closed(&self, host: HostId) -> Option<Abandonment> {
        self.closed.get(&host).copied()
    }

    fn enter<'a>(
        &mut self,
        candidate: Candidate,
        found: Provenance,
        origin_of: impl Fn(HostId) -> &'a Origin,
        step: &mut Step,
    ) -> Ticket {
        let Provenance { hop, via, depth, redirects, .. } = found;
        let host = self.host(candidate.url.origin(), origin_of, step);
        self.last += 1;
        let id = Ticket(self.last);
        let abandoned = self.why_closed(host);
        let merit = self.learning.as_ref().map_or_else(Merit::default, |learning| learning.merit(&candidate));
        let Candidate { url, key, fingerprint, .. } = candidate;
        let rank = self.policy.ranking.rank_with(url.as_str(), depth, merit);
        step.rows.push(UrlRow { id, host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned });
        id
    }

    /// Has the URL cache keep its budget while these are admitted.
    ///
    /// # Errors
    /// [`CacheFailure`] when it cannot go on.
    pub(super) fn make_room_for(&mut self, urls: &Passed, now: Moment) -> Result<Readiness, CacheFailure> {
        self.make_room(self.cache.new_among(urls), now)
    }

    /// The same for so many that may all be new.
    ///
    /// # Errors
    /// [`CacheFailure`] when it cannot go on.
    pub(super) fn make_room(&mut self, answers: usize, now: Moment) -> Result<Readiness, CacheFailure> {
        if std::mem::take(&mut self.has_room) {
            return Ok(Readiness::Yes);
        }
        let mut growths = 0;
        match self.cache.make_room(answers, now)? {
            CacheRoom::Enough => return Ok(Readiness::Yes),
            CacheRoom::Fill(filling) => {
                self.is_filling = true;
                return Ok(Readiness::Fill(filling));
            }
            CacheRoom::Aged => {
                self.ending = CacheEnding::CompleteThenNext;
                return Ok(Readiness::Yes);
            }
            CacheRoom::Grown { times } => growths = times,
            CacheRoom::Spent if self.policy.reset == ResetPolicy::Restart => self.ending = CacheEnding::Next,
            CacheRoom::Spent => self.ending = CacheEnding::Stop,
        }
        let counters = Counters { growths, expected_lost: self.cache.expected_lost(), ..Counters::default() };
        Ok(if self.ending == CacheEnding::Stop { Readiness::No(counters) } else { Readiness::Changed(counters) })
    }

    /// Gives the URL cache away to be filled from the URL table, at the start of a run that goes on.
    pub(super) fn refill(&mut self) -> Filling {
        self.is_filling = true;
        self.cache.refilling()
    }

    /// It was filled; the sums that this has changed, if it has.
    pub(super) fn filled(&mut self, filling: Filling) -> Option<Counters> {
        let rebuilt = filling.is_rebuilt();
        self.cache.filled(filling);
        (self.is_filling, self.has_room) = (false, true);
        let expected_lost = self.cache.expected_lost();
        rebuilt.then(|| Counters { rebuilds: 1, generations: 1, expected_lost, ..Counters::default() })
    }

    /// Whether it waits for that.
    pub(super) fn is_filling(&self) -> bool {
        self.is_filling
    }

    /// So many URLs that the cache called new were known.
    pub(super) fn forgot(&mut self, urls: usize) {
        self.cache.forgot(urls);
    }

    /// Whether the cache may call a URL new that it was shown before.
    pub(super) fn forgets(&self) -> bool {
        self.cache.forgets()
    }

    /// Whether the cache never mistakes a new URL for a seen one.
    pub(super) fn is_exact(&self) -> bool {
        self.cache.is_exact()
    }

    /// What it is expected to have lost, in URLs.
    pub(super) fn expected_lost(&self) -> f64 {
        self.cache.expected_lost()
    }

    /// How the sequence ends.
    pub(super) fn ending(&self) -> CacheEnding {
        self.ending
    }

    /// An earlier run has given up judging links.
    pub(super) fn judges_no_more(&mut self) {
        self.ending = CacheEnding::Next;
    }
}

/// The origin of a host that is among these rows, whose numbers ascend one by one.
fn among(rows: &[HostRow], host: HostId) -> Option<&Origin> {
    let first = rows.first()?.id.0;
    rows.get(host.0.checked_sub(first)? as usize).filter(|row| row.id == host).map(|row| &row.origin)
}

fn lost_row(candidate: &Candidate, found: Provenance, admitted: Option<Ticket>) -> LostRow {
    let url = candidate.url.as_str().to_owned();
    LostRow { fingerprint: candidate.fingerprint, url, at: found.at, via: found.via, admitted }
}
