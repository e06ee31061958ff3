//! [`VisitEvents`]: hands the result of each URL to the caller that follows the crawl.
//!
//! Invariants: a visit goes on, and is recorded, after its event was answered; so each page that is recorded was handed out. Only the end of
//! a visit shows that a URL has failed for good, and no visit waits for the answer to that. Room for an event is reserved before the request
//! is made, so the core hears at once what a server says of its host.

use tokio::sync::{mpsc, oneshot};

use crate::{fetch::FetchResponse, time::Moment, url::WebUrl};

/// Visits that are under way or whose events wait to be taken. Events of pages are answered before their visits go on, so there are no
/// more bodies than visits.
const MOST_WAITING: usize = 1_024;

/// What came of a URL.
#[derive(Debug)]
pub struct VisitEvent {
    /// The URL, without a fragment.
    pub url: WebUrl,
    /// The page that links or redirects here, on the way by which it was found; `None` for a start.
    pub via: Option<WebUrl>,
    /// Links from a start.
    pub depth: u32,
    /// When the answer was complete.
    pub at: Moment,
    /// Whether the page had its answer before, and was fetched again for links that were lost.
    pub is_rescue: bool,
    /// What came of it.
    pub kind: EventKind,
}

/// What came of a URL, by kind.
#[derive(Debug)]
pub enum EventKind {
    /// A page that is new, or not what it was.
    Page(Box<FetchedPage>),
    /// A page that is what it was; with its body if the server sent that.
    Unchanged(Option<Box<FetchedPage>>),
    /// It redirects to another one.
    Redirected(WebUrl),
    /// It has no page, and is not asked for again in this sequence.
    Failed {
        /// The HTTP status, where there was an answer.
        status: Option<u16>,
        /// Why, in one word, where the status does not say it.
        reason: Option<Box<str>>,
    },
}

/// A page with its body.
#[derive(Debug)]
pub struct FetchedPage {
    /// Its title, where it is HTML and has one.
    pub title: Option<Box<str>>,
    /// SHA-256 of the body.
    pub digest: [u8; 32],
    /// Whether no earlier copy is known.
    pub is_new: bool,
    /// What the server sent.
    pub response: FetchResponse,
}

/// How whoever follows the crawl steers it at a page.
#[derive(Debug, Default)]
pub struct Steering {
    /// Whether the links of the page are left out.
    pub skips_links: bool,
    /// URLs that are taken as if the page linked to them.
    pub links: Vec<WebUrl>,
}

/// An event that waits for an answer.
#[derive(Debug)]
pub struct Handed {
    /// The event.
    pub event: VisitEvent,
    /// Takes the answer; dropping it says that there is none.
    pub reply: oneshot::Sender<Steering>,
}

/// A URL whose visit is followed.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) url: WebUrl,
    pub(super) depth: u32,
    pub(super) is_rescue: bool,
    /// What says where it was found.
    pub(super) via: oneshot::Receiver<Option<Box<str>>>,
    /// Room for its event; `None` where nobody follows any more.
    pub(super) room: Option<mpsc::OwnedPermit<Handed>>,
}

impl Followed {
    /// Hands its event over, and waits for the answer. Where nobody follows any more, there is none.
    pub(super) async fn hand(mut self, at: Moment, kind: EventKind) -> Steering {
        let Some(room) = self.room.take() else { return Steering::default() };
        let (reply, answer) = oneshot::channel();
        room.send(Handed { event: self.event(at, kind).await, reply });
        answer.await.unwrap_or_default()
    }

    /// The event that it failed, which is kept until the visit has ended. It waits for nothing: the core must hear at once what a
    /// server asks for.
    pub(super) fn failed(self, at: Moment, status: Option<u16>) -> FailedVisit {
        FailedVisit { followed: self, at, status }
    }

    /// The event that this came of it.
    async fn event(self, at: Moment, kind: EventKind) -> VisitEvent {
        let Self { url, depth, is_rescue, via, .. } = self;
        let via = via.await.ok().flatten().and_then(|via| WebUrl::parse(&via).ok());
        VisitEvent { url, via, depth, at, is_rescue, kind }
    }
}

/// The way of events to whoever follows the crawl.
#[derive(Debug, Clone)]
pub struct VisitEvents {
    events: mpsc::Sender<Handed>,
}

impl VisitEvents {
    /// A way, and its end.
    pub fn new() -> (Self, mpsc::Receiver<Handed>) {
        let (events, receiver) = mpsc::channel(MOST_WAITING);
        (Self { events }, receiver)
    }

    /// Room for the event of a visit, to be had before its request is made; `None` where nobody follows any more.
    pub(super) async fn room(&self) -> Option<mpsc::OwnedPermit<Handed>> {
        self.events.clone().reserve_owned().await.ok()
    }
}

/// The event of a URL that may have failed.
#[derive(Debug)]
pub(super) struct FailedVisit {
    followed: Followed,
    at: Moment,
    status: Option<u16>,
}

impl FailedVisit {
    /// It has failed for good. The event is given when it is known where the URL was found.
    pub(super) async fn send(self, reason: Option<Box<str>>) {
        let Self { followed, at, status } = self;
        // Nobody answers it.
        followed.hand(at, EventKind::Failed { status, reason }).await;
    }
}
