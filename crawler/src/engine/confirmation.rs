//! What becomes queued of what the URL cache called new.
//!
//! Owns: when the frontier hears of a step's rows. Where the cache does not forget, they are new, and it hears of them as the
//! step is sent. A cache that forgets may call a URL new that has a row: such a step is proposed, the writer says which of
//! its rows are new, and the frontier hears of these alone.
//!
//! Invariant: a refill shows no row that the frontier has not heard of, because answers arrive in the order of the questions.

use super::{EngineError, answers::Answer, scheduler::Scheduler};
use crate::{
    config::OrderChoice,
    fetch::Fetcher,
    store::{Confirmed, Counters, Message, Room, Step, UrlRow},
};

impl<F: Fetcher + 'static> Scheduler<F> {
    /// Hands a step over to the writer.
    pub(super) async fn hand_over(&mut self, step: Box<Step>, room: Room) -> Result<(), EngineError> {
        if step.rows.is_empty() || !self.door.cache.forgets() {
            step.rows.iter().map(UrlRow::queued).for_each(|queued| self.frontier.offer(queued));
            return self.message(Message::Step(step, room)).await;
        }
        let reply = tokio::select! {
            reply = self.answers.confirmed() => reply,
            () = self.writer.closed() => return Err(EngineError::WriterGone),
        };
        self.unconfirmed += 1;
        self.message(Message::Propose(step, room, reply)).await
    }

    /// Queues the URLs of a step that are new.
    pub(super) fn confirmed(&mut self, confirmed: Confirmed) {
        self.unconfirmed -= 1;
        for queued in confirmed.queued {
            self.frontier.offer(queued);
        }
        for known in &confirmed.known {
            self.starts.settle(*known);
        }
        self.counters.add(&Counters::of_forgotten(confirmed.known.len()));
        self.door.cache.forgot(confirmed.known.len());
    }

    /// At the end: waits until all is confirmed, so that what was charged for URLs that are known is taken back.
    pub(super) async fn last_confirmations(&mut self) -> Result<(), EngineError> {
        while self.is_unconfirmed() {
            tokio::select! {
                Some(answer) = self.answers.next() => if let Answer::Confirmed(confirmed) = answer {
                    self.confirmed(confirmed);
                },
                () = self.writer.closed() => return Err(EngineError::WriterGone),
            }
        }
        Ok(())
    }

    /// Whether the writer has yet to say which URLs are new.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.unconfirmed > 0
    }

    /// Whether what is not confirmed may lie on a level that must be done before the next.
    pub(super) fn level_is_open(&self) -> bool {
        let by_level = self.settings.budget.max_depth.is_some() && self.settings.frontier.order == OrderChoice::Breadth;
        by_level && self.is_unconfirmed()
    }
}
