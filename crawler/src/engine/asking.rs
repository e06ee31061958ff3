//! Turns the core's questions into messages to the store, and the answers into events.

use super::core::{Filling, RunEnd, StoreAnswer, StoreQuestion};
use crate::{
    store::{AuditStanding, Message, Replay, ReplayedUrl, Reply, SequenceEnd},
    url::Fingerprint,
};

/// Where answers of the store go.
pub(super) trait Answers {
    /// The way of one answer, which `answer` makes one for the core.
    fn reply<T: 'static>(&self, answer: impl FnOnce(T) -> StoreAnswer + Send + 'static) -> Reply<T>;
}

/// The message that asks a question; `standing` has the figures of a sequence that is to be recorded.
pub(super) fn asking(
    question: StoreQuestion,
    answers: &impl Answers,
    standing: impl FnOnce(Option<RunEnd>) -> SequenceEnd,
) -> Message {
    match question {
        StoreQuestion::Rows(request) => {
            Message::Refill(request, answers.reply(move |rows| StoreAnswer::Rows(request.host, rows)))
        }
        StoreQuestion::Held => Message::Lift(answers.reply(StoreAnswer::Lifted)),
        StoreQuestion::LinksToCheck(request) => {
            Message::LinksToCheck(request, answers.reply(StoreAnswer::LinksToCheck))
        }
        StoreQuestion::UnsurePages => Message::UnsurePages(answers.reply(StoreAnswer::UnsurePages)),
        StoreQuestion::Robots(host) => {
            Message::Robots(host, answers.reply(move |body| StoreAnswer::Robots(host, body)))
        }
        StoreQuestion::Sweep(request) => Message::Sweep(request, answers.reply(StoreAnswer::Swept)),
        StoreQuestion::Due(request) => Message::Due(request, answers.reply(StoreAnswer::Due)),
        StoreQuestion::Fill(filling) => {
            let reply = answers.reply(StoreAnswer::Filled);
            Message::Replay(Box::new(Replaying { filling, reply }))
        }
        StoreQuestion::Record(end) => Message::End(Box::new(standing(end)), answers.reply(|()| StoreAnswer::Recorded)),
    }
}

/// A URL cache on its way through the writer, which shows it every URL of the sequence.
struct Replaying {
    filling: Filling,
    reply: Reply<Filling>,
}

impl Replay for Replaying {
    fn lost(&mut self, fingerprint: Fingerprint, standing: AuditStanding) {
        self.filling.lost(fingerprint, standing);
    }

    fn row(&mut self, url: ReplayedUrl<'_>) {
        self.filling.row(url);
    }

    fn done(self: Box<Self>) {
        (self.reply)(self.filling);
    }
}
