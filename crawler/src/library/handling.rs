//! [`Handling`]: an event that the program handles, and how the crawl is answered.

use tokio::sync::oneshot;

use super::{Event, Flow, Page, StopHandle, page::Added};
use crate::engine::{EventKind, Handed, Steering};

/// An event that is given to somebody, and what they answer.
pub(super) struct Handling {
    reply: oneshot::Sender<Steering>,
    added: Option<Added>,
}

impl Handling {
    pub(super) fn of(handed: Handed) -> (Event, Self) {
        let Handed { event, reply } = handed;
        let event = Event::of(event);
        let added = event.page().map(Page::added);
        (event, Self { reply, added })
    }

    /// Has the crawl go on so.
    pub(super) fn follow(self, flow: Flow, stop: &StopHandle) {
        if flow == Flow::Stop {
            stop.stop();
        }
        self.answer(flow == Flow::SkipLinks);
    }

    pub(super) fn answer(self, skips_links: bool) {
        let links = self.added.map(|added| added.take()).unwrap_or_default();
        // Whoever asked may have been given up.
        drop(self.reply.send(Steering { skips_links, links }));
    }
}

/// Whether nobody waits for the answer any more: then the page is given out by the next run.
pub(super) fn is_given_up(handed: &Handed) -> bool {
    handed.reply.is_closed() && !matches!(handed.event.kind, EventKind::Failed { .. })
}
