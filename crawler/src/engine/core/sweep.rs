//! [`Sweep`]: the comparison of links with rows at the end of a crawl, and the pages fetched again for lost URLs.
//!
//! Owns: when a sweep is asked for, for which lost URLs a page is fetched again, and which of them are still wanted.
//!
//! Invariants: a sweep begins only when nothing is leased, and nothing is queued but what a depth or page limit holds back; a lost URL is
//! admitted once; what a round finds is committed before the next one begins. The rounds end because in a run the writer names a page for a
//! lost URL only once.
//!
//! Does not know: when a page may be asked for, and how URLs are admitted.

use std::collections::{HashMap, HashSet};

use crate::{
    candidate::{Hop, Ticket},
    config::SweepChoice,
    engine::{
        judge::{Batch, Judge, Proposals, Provenance, PureHalf},
        report::{Content, KeptResponse},
    },
    fetch::FetchError,
    frontier::WorkItem,
    purpose::Purpose,
    queue::{DepthLimit, Nearer},
    store::{AfterSweep, Refetch, RescueOrder, RescueRow, SweepRequest, Swept, VisitOutcome},
    time::Moment,
    url::Fingerprint,
};

/// How far the sweep has come.
#[derive(Debug)]
pub(super) struct Sweep {
    choice: SweepChoice,
    state: State,
    /// The lost URLs that each page is fetched again for.
    orders: HashMap<Ticket, (Refetch, Vec<u64>)>,
    /// Lost URLs that pages are just fetched again for, by the leading halves of their fingerprints.
    wanted: HashSet<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was compared since the last page was fetched.
    Due,
    /// The writer compares.
    Asked,
    /// All that can be done was done.
    Complete,
}

/// What a drained crawl does next.
pub(super) enum AtDrain {
    /// It has the store compare.
    Ask(SweepRequest),
    /// It waits for that.
    Wait,
    /// It ends.
    End,
}

/// What a page that was fetched again still leads to.
pub(super) struct RefetchedPage {
    pub(super) parent: WorkItem,
    /// Of its links, what is wanted.
    pub(super) batch: Batch,
    /// What it is now, where that tells where it leads.
    pub(super) answer: Option<VisitOutcome>,
}

impl Sweep {
    /// Nothing was compared yet.
    pub(super) fn new(choice: SweepChoice) -> Self {
        Self { choice, state: State::Due, orders: HashMap::new(), wanted: HashSet::new() }
    }

    /// Nothing is leased, and nothing is queued but what a limit holds back.
    pub(super) fn drained(&mut self, limit: Option<DepthLimit>, now: Moment) -> AtDrain {
        let then = match self.choice {
            SweepChoice::Off => return AtDrain::End,
            SweepChoice::Report => AfterSweep::Report,
            SweepChoice::Rescue => AfterSweep::Rescue,
        };
        match self.state {
            State::Complete => return AtDrain::End,
            State::Asked => return AtDrain::Wait,
            State::Due => self.state = State::Asked,
        }
        tracing::debug!("nothing is left to fetch: comparing all kept links with all URLs");
        AtDrain::Ask(SweepRequest { at: now, then, limit })
    }

    /// The writer has compared; the rows that came nearer, and the pages that are to be fetched again.
    pub(super) fn swept(&mut self, swept: Swept) -> (Vec<Nearer>, Vec<WorkItem>) {
        let Swept { links, lost, nearer, orders } = swept;
        if lost > 0 {
            tracing::info!(links, lost, fetched_again = orders.len(), "the sweep found lost URLs");
        } else {
            tracing::debug!(links, "the sweep found that every kept link has a row");
        }
        if !nearer.is_empty() {
            let rows: u64 = nearer.iter().map(|nearer| nearer.rows).sum();
            tracing::debug!(rows, "shorter ways were found to URLs beyond the depth limit");
        }
        self.state = if orders.is_empty() && nearer.is_empty() { State::Complete } else { State::Due };
        self.wanted.clear();
        let mut parents = Vec::with_capacity(orders.len());
        for RescueOrder { parent, refetch, links } in orders {
            self.wanted.extend(&links);
            self.orders.insert(parent.id, (refetch, links));
            parents.push(WorkItem { purpose: Purpose::Rescue, due: None, failed: None, attempts: 0, ..parent });
        }
        (nearer, parents)
    }

    /// Reads the last answer of a page that was fetched again.
    pub(super) fn found(
        &self,
        parent: WorkItem,
        result: Result<KeptResponse, FetchError>,
        scope: &PureHalf,
        at: Moment,
    ) -> RefetchedPage {
        let answer = what_it_is(&result);
        let (mut proposals, found) = match result.map(|answer| answer.content) {
            Ok(Content::Redirect(target)) => {
                (scope.redirected(&parent, target), Provenance::on(&parent, Hop::Redirect, Judge::Lost, at))
            }
            content => {
                let links =
                    if let Ok(Content::Page(page)) = content { page.links.judged(scope) } else { Proposals::default() };
                let links = links.within_levels(&parent);
                let found = Provenance::of(&parent, &links, Judge::Lost, at);
                (links, found)
            }
        };
        let answer = answer.filter(|_| !proposals.are_cut());
        let mut wanted: HashSet<u64> = self.wanted_of(parent.id).collect();
        proposals.passed.retain(|proposal| wanted.remove(&proposal.fingerprint.short()));
        // They were counted when the page was read first.
        proposals.refused.clear();
        proposals.rewritten.clear();
        RefetchedPage { parent, batch: Batch::new(found, proposals), answer }
    }

    /// The lost URLs that a page is fetched again for and that were not found on another meanwhile.
    fn wanted_of(&self, parent: Ticket) -> impl Iterator<Item = u64> {
        let ordered = self.orders.get(&parent).map_or(&[][..], |(_, links)| links);
        ordered.iter().copied().filter(|link| self.wanted.contains(link))
    }

    /// Whether there are any: a host that is silent need not be waited for otherwise.
    pub(super) fn wants(&self, parent: Ticket) -> bool {
        self.wanted_of(parent).next().is_some()
    }

    /// A URL was admitted: it is not lost any more.
    pub(super) fn admitted(&mut self, url: Fingerprint) {
        if !self.wanted.is_empty() {
            self.wanted.remove(&url.short());
        }
    }

    /// Ends what a page is fetched again for: which lost URLs it led to, and what it is now.
    pub(super) fn settle(
        &mut self,
        parent: &WorkItem,
        rescued: Vec<(u64, Ticket)>,
        answer: Option<VisitOutcome>,
    ) -> Option<RescueRow> {
        let (refetch, ordered) = self.orders.remove(&parent.id)?;
        let proves = answer.is_some();
        tracing::debug!(url = %parent.url, ordered = ordered.len(), found = rescued.len(), proves, "fetched for lost links");
        Some(RescueRow { parent: parent.id, refetch, rescued, answer })
    }

    /// How many are wanted.
    #[cfg(test)]
    pub(super) fn wanted(&self) -> usize {
        self.wanted.len()
    }
}

/// A whole page whose links may be followed, or a redirect: it tells where it leads. Nothing else does.
fn what_it_is(result: &Result<KeptResponse, FetchError>) -> Option<VisitOutcome> {
    let answer = result.as_ref().ok()?;
    match &answer.content {
        Content::Redirect(_) => Some(VisitOutcome::Redirected),
        Content::Page(page) if page.follows && page.bytes > 0 && answer.truncated.is_none() => {
            Some(VisitOutcome::Stored)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{candidate::HostId, url::WebUrl};

    #[test]
    fn a_page_is_wanted_until_all_that_it_was_ordered_for_is_admitted() {
        let url = WebUrl::parse("http://h/").unwrap();
        let parent = WorkItem::discover(Ticket(1), HostId(0), url, Hop::Link);
        let [one, other] = [1, 2].map(|number: u8| Fingerprint::from_bytes([number; 16]));
        let links = [one, other].map(Fingerprint::short).to_vec();
        let mut sweep = Sweep::new(SweepChoice::Rescue);
        let moment = Moment::from_millis(1);
        assert!(
            matches!(sweep.drained(None, moment), AtDrain::Ask(_))
                && matches!(sweep.drained(None, moment), AtDrain::Wait)
        );
        let orders = vec![RescueOrder { parent, refetch: Refetch { visit: 1, up_to: 2 }, links }];
        let (_, parents) = sweep.swept(Swept { lost: 2, orders, ..Swept::default() });
        assert_eq!((parents[0].purpose, sweep.wanted()), (Purpose::Rescue, 2));
        for (found, wants) in [(one, true), (other, false)] {
            sweep.admitted(found);
            assert_eq!(sweep.wants(parents[0].id), wants);
        }
        assert!(sweep.settle(&parents[0], Vec::new(), None).is_some_and(|row| row.rescued.is_empty()));
        assert!(sweep.settle(&parents[0], Vec::new(), None).is_none(), "it is settled once");
    }
}
