//! [`Message`]: what the core sends to the writer, in order.

use super::{
    Abandonment, AreaRow, CheckedLink, Counters, DuePages, DueRequest, HostRow, KeptPart, LinkCheckRequest,
    LinksToCheck, LostRow, RankRows, RescueRow, RobotsRow, SecondLookRow, SequenceEnd, SitemapsRow, SweepRequest,
    Swept, UrlChange, UrlRow, VisitRow,
};
use crate::{
    candidate::{HostId, Ticket},
    health::HealthRow,
    queue::{Nearer, RefillAnswer, RefillRequest, WorkItem},
    url::Fingerprint,
};

/// Takes an answer; it must not block.
pub type Reply<T> = Box<dyn FnOnce(T) + Send>;

/// Room for steps on their way to the writer: given back when it is dropped, after they were written.
pub type Room = Box<dyn Send>;

/// One step of the core, as far as it is durable: written whole or not at all.
#[derive(Debug, Default)]
pub struct Step {
    /// Hosts first seen.
    pub hosts: Vec<HostRow>,
    /// URLs admitted.
    pub rows: Vec<UrlRow>,
    /// A visit that came to its end.
    pub visit: Option<VisitRow>,
    /// A URL's new state.
    pub change: Option<(Ticket, UrlChange)>,
    /// Hosts that are not well, or are so again (`None`).
    pub health: Vec<(HostId, Option<HealthRow>)>,
    /// A host's robots.txt.
    pub robots: Option<(HostId, RobotsRow)>,
    /// A host whose sitemaps were looked for; those that are new have rows.
    pub sitemaps: Option<SitemapsRow>,
    /// A host whose queued URLs are all abandoned.
    pub closed: Option<(HostId, Abandonment)>,
    /// Start URLs, and targets of their redirects by which the scope grew.
    pub areas: Vec<AreaRow>,
    /// URLs that the audit saw lost; those rescued have a row among `rows`.
    pub lost: Vec<LostRow>,
    /// A page was fetched again for lost URLs; those rescued have a row among `rows`.
    pub rescue: Option<RescueRow>,
    /// URLs of which more is known than when they were admitted. The frontier holds no queued rows of their hosts after it.
    pub ranks: Option<RankRows>,
    /// URLs that were checked.
    pub checked: Vec<CheckedLink>,
    /// A page was fetched once more, to see what of it moves by itself.
    pub second_look: Option<SecondLookRow>,
    /// What the step adds to the sequence's sums.
    pub counters: Counters,
}

impl Step {
    /// Bytes that it has for takers.
    pub fn kept_bytes(&self) -> usize {
        self.visit.iter().flat_map(|visit| &visit.kept).flatten().map(KeptPart::bytes).sum()
    }

    /// Whether the sequence goes on with it: a page was visited, or a URL admitted.
    pub fn goes_on(&self) -> bool {
        self.visit.is_some() || self.change.is_some() || !self.rows.is_empty()
    }
}

/// What became of the rows of a step that was proposed.
#[derive(Debug, Default)]
pub struct Confirmed {
    /// Those that are new: they are queued, unless they were written as abandoned.
    pub queued: Vec<WorkItem>,
    /// Those whose URL the sequence has already: nothing was written of them.
    pub known: Vec<Ticket>,
}

impl Confirmed {
    /// Of these rows, some are known, which are given in the order of the rows. A page may have a million.
    pub fn of(rows: &[UrlRow], known: Vec<Ticket>) -> Self {
        let mut rest = known.iter().peekable();
        let new = rows.iter().filter(|row| rest.next_if(|id| **id == row.id).is_none());
        Self { queued: new.map(UrlRow::item).collect(), known }
    }
}

/// What a URL was to the sequence's audit when it was offered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditStanding {
    /// The answer of the cache did not count, or there was no audit.
    Held,
    /// The URL cache passed it.
    Trial,
    /// The URL cache refused it.
    FalsePositive,
}

/// A URL that the sequence admitted.
#[derive(Debug, Clone, Copy)]
pub struct ReplayedUrl<'a> {
    /// Its key's text.
    pub key: &'a str,
    /// The hash of its key.
    pub fingerprint: Fingerprint,
    /// What it was to the audit.
    pub standing: AuditStanding,
}

/// Receives every URL that the sequence admitted, for filling a URL cache and its audit anew.
pub trait Replay: Send {
    /// A URL of the sequence that the audit saw lost; all of them come before the rows.
    fn lost(&mut self, fingerprint: Fingerprint, standing: AuditStanding);

    /// An admitted URL.
    fn row(&mut self, url: ReplayedUrl<'_>);

    /// All rows were shown.
    fn done(self: Box<Self>);
}

/// What the writer does.
pub enum Message {
    /// Writes steps, one after the other, and gives their room back.
    Steps(Vec<Box<Step>>, Room),
    /// The same for one step whose URLs the sequence may have already, because the URL cache forgets; says which are new.
    Propose(Box<Step>, Room, Reply<Confirmed>),
    /// Reads queued rows, after all that was sent before.
    Refill(RefillRequest, Reply<RefillAnswer>),
    /// Has what is held be queued as if it was not, after all that was sent before.
    Lift(Reply<Vec<Nearer>>),
    /// Commits, then reads the URLs that are to be checked.
    LinksToCheck(LinkCheckRequest, Reply<LinksToCheck>),
    /// Commits, then reads which pages are to be fetched once more, to see what of them moves by itself.
    UnsurePages(Reply<Vec<WorkItem>>),
    /// Reads the body of a host's robots.txt, after all that was sent before.
    Robots(HostId, Reply<Option<Vec<u8>>>),
    /// Reads the URL of the page through which a URL was found, after all that was sent before.
    Via(Ticket, Reply<Option<Box<str>>>),
    /// Commits, then finds the kept links that have no row.
    Sweep(SweepRequest, Reply<Swept>),
    /// Commits, then shows every URL that the sequence admitted, and what its audit saw lost.
    Replay(Box<dyn Replay>),
    /// Commits, then hands out the pages that are due once more.
    Due(Box<DueRequest>, Reply<DuePages>),
    /// Records the state of the sequence, and says when that is done.
    End(Box<SequenceEnd>, Reply<()>),
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steps(steps, _) => f.debug_tuple("Steps").field(steps).finish(),
            Self::Propose(step, ..) => f.debug_tuple("Propose").field(step).finish_non_exhaustive(),
            Self::Refill(request, _) => f.debug_tuple("Refill").field(request).finish_non_exhaustive(),
            Self::LinksToCheck(request, _) => f.debug_tuple("LinksToCheck").field(request).finish_non_exhaustive(),
            Self::UnsurePages(_) => f.debug_tuple("UnsurePages").finish_non_exhaustive(),
            Self::Lift(_) => f.write_str("Lift"),
            Self::Robots(host, _) => f.debug_tuple("Robots").field(host).finish_non_exhaustive(),
            Self::Via(url, _) => f.debug_tuple("Via").field(url).finish_non_exhaustive(),
            Self::Sweep(request, _) => f.debug_tuple("Sweep").field(request).finish_non_exhaustive(),
            Self::Replay(_) => f.write_str("Replay"),
            Self::Due(request, _) => f.debug_tuple("Due").field(&request.looks).finish_non_exhaustive(),
            Self::End(end, _) => f.debug_tuple("End").field(end).finish_non_exhaustive(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{
        candidate::Hop,
        url::{Canonicalizer, FingerprintSeed, WebUrl},
    };

    /// Linear in the rows: to look each up among the known would take half a minute here.
    #[test]
    fn four_hundred_thousand_known_rows_are_distinguished_from_new_ones_at_once() {
        let url = WebUrl::parse("http://h/").unwrap();
        let key = Canonicalizer::default().key(&url);
        let host = HostId(0);
        let hop = Hop::Link;
        let rank = 1;
        let abandoned = None;
        let fingerprint = FingerprintSeed::new(1).fingerprint(&key);
        let via = None;
        let depth = 1;
        let redirects = 0;
        let row = |id| {
            let (url, key) = (url.clone(), key.clone());
            UrlRow { id: Ticket(id), host, url, key, fingerprint, hop, via, depth, redirects, rank, abandoned }
        };
        let rows: Vec<_> = (0..400_000).map(row).collect();
        let known: Vec<_> = (0..400_000).filter(|id| id % 1_000 != 7).map(Ticket).collect();
        let began = Instant::now();
        let confirmed = Confirmed::of(&rows, known.clone());
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        let queued = confirmed.queued.iter().map(|queued| queued.id.0);
        assert!(queued.eq((0..400).map(|new| 1_000 * new + 7)));
        assert_eq!(confirmed.known, known);
    }
}
