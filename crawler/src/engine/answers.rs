//! Questions of the scheduler to the writer, and the leases that wait for an answer.

use std::collections::{HashMap, VecDeque};

use tokio::sync::mpsc;

use super::{EngineError, scheduler::Scheduler};
use crate::{
    candidate::HostId,
    fetch::Fetcher,
    frontier::{Lease, RefillAnswer, RefillRequest, Work},
    store::{Abandonment, Confirmed, Message, Reply, Swept},
};

/// What the writer read.
#[derive(Debug)]
pub(super) enum Answer {
    /// Queued rows of a host.
    Rows(HostId, RefillAnswer),
    /// A host's robots.txt as it was stored; `None` when it gave none.
    Robots(HostId, Option<Vec<u8>>),
    /// What the sweep found.
    Swept(Swept),
    /// Which URLs of a step are new.
    Confirmed(Confirmed),
}

/// Answers come here: the slot is reserved before the question is sent, so the writer never waits.
pub(super) struct Answers {
    sender: mpsc::Sender<Answer>,
    receiver: mpsc::Receiver<Answer>,
    /// Leases of hosts whose robots.txt is being read again.
    parked: HashMap<HostId, Vec<Lease>>,
    /// Those that may be carried out since: each waits for its turn, as a new one does.
    ready: VecDeque<Lease>,
    /// Answers taken out to make room for a question that could not wait, in their order.
    early: VecDeque<Answer>,
}

impl Answers {
    pub(super) fn new(slots: usize) -> Self {
        let (sender, receiver) = mpsc::channel(slots);
        Self { sender, receiver, parked: HashMap::new(), ready: VecDeque::new(), early: VecDeque::new() }
    }

    /// Whether one more question may be asked.
    pub(super) fn has_room(&self) -> bool {
        self.early.is_empty() && self.sender.capacity() > 0
    }

    /// The next answer. Never `None`: the sender is kept.
    pub(super) async fn next(&mut self) -> Option<Answer> {
        match self.early.pop_front() {
            None => self.receiver.recv().await,
            early => early,
        }
    }

    /// Leases that wait for an answer, or for their turn after it.
    pub(super) fn parked(&self) -> usize {
        self.parked.values().map(Vec::len).sum::<usize>() + self.ready.len()
    }

    /// Whether there is a lease whose answer came.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The first of them.
    pub(super) fn next_ready(&mut self) -> Option<Lease> {
        self.ready.pop_front()
    }

    /// Where the answer goes which URLs of a step are new. Visits end when they end: if there is no slot for what they
    /// propose, answers wait outside of one. They are taken in before the next part of a page, or in the next turn.
    pub(super) async fn confirmed(&mut self) -> Reply<Confirmed> {
        while self.sender.capacity() == 0 {
            let answer = self.receiver.recv().await;
            self.early.extend(answer);
        }
        self.reply(Answer::Confirmed)
    }

    /// Where the sweep's answer goes.
    pub(super) fn swept(&self) -> Reply<Swept> {
        self.reply(Answer::Swept)
    }

    /// Where an answer goes.
    fn reply<T: 'static>(&self, answer: impl FnOnce(T) -> Answer + Send + 'static) -> Reply<T> {
        let slot = self.sender.clone().try_reserve_owned().expect("a slot was free before the frontier was asked");
        Box::new(move |read| {
            slot.send(answer(read));
        })
    }
}

impl<F: Fetcher + 'static> Scheduler<F> {
    /// Asks for queued rows of a host.
    pub(super) async fn refill(&mut self, request: RefillRequest) -> Result<(), EngineError> {
        let reply = self.answers.reply(move |rows| Answer::Rows(request.host, rows));
        self.message(Message::Refill(request, reply)).await
    }

    /// Has the lease of a page wait until the host's robots.txt was read from its row.
    pub(super) async fn park(&mut self, lease: Lease, host: HostId) -> Result<(), EngineError> {
        let parked = self.answers.parked.entry(host).or_default();
        parked.push(lease);
        if parked.len() > 1 {
            return Ok(());
        }
        tracing::debug!(host = %self.frontier.origin(host), "reading its robots.txt from the database again");
        let reply = self.answers.reply(move |body| Answer::Robots(host, body));
        self.message(Message::Robots(host, reply)).await
    }

    /// Takes an answer in.
    pub(super) async fn answered(&mut self, answer: Answer) -> Result<(), EngineError> {
        match answer {
            Answer::Rows(host, rows) => self.frontier.refilled(host, rows),
            Answer::Confirmed(confirmed) => self.confirmed(confirmed),
            Answer::Swept(swept) => self.swept(swept).await?,
            Answer::Robots(host, body) => {
                self.robots.recall(host, body.as_deref());
                for lease in self.answers.parked.remove(&host).unwrap_or_default() {
                    self.unpark(lease).await?;
                }
            }
        }
        Ok(())
    }

    /// Takes in what was set aside, so that it does not grow with the parts of a page.
    pub(super) async fn take_early_answers(&mut self) -> Result<(), EngineError> {
        while let Some(answer) = self.answers.early.pop_front() {
            self.answered(answer).await?;
        }
        Ok(())
    }

    async fn unpark(&mut self, lease: Lease) -> Result<(), EngineError> {
        let (Work::Page(queued) | Work::Rescue(queued)) = lease.work() else { return Ok(()) };
        if self.robots.allows(queued.host, &queued.url) == Some(true) {
            self.answers.ready.push_back(lease);
            return Ok(());
        }
        self.pages_in_flight -= lease.pages();
        self.abandon(lease, Abandonment::Robots).await
    }
}
