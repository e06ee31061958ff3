//! [`Outbox`]: the effects of the core, in order, and the questions that are still to be answered.
//!
//! Owns: the sums of the sequence, and when the frontier gets a step's rows. If the URL cache does not forget, all rows are new, and the
//! frontier gets them as the step goes out. A cache that forgets may call a URL new that has a row. Such a step is proposed: the store says
//! which rows are new, and the frontier gets only these.
//!
//! Invariants: what a step changes goes out before the next step begins. A refill shows no row that the frontier has not got, because
//! answers come in the order of the questions.

use super::{
    end::RunEnd,
    event::{Effect, StoreQuestion},
};
use crate::{
    engine::{report::Judging, visit_events::FailedVisit},
    frontier::{Frontier, Lease},
    store::{Confirmed, Counters, Step, UrlRow},
};

/// Questions to the store at a time: the shell has a slot for the answer to each.
pub(in crate::engine) const MOST_QUESTIONS: usize = 16;

/// Effects that were not handed to the shell yet, and open questions.
#[derive(Default)]
pub(super) struct Outbox {
    effects: Vec<Effect>,
    counters: Counters,
    questions: usize,
    unconfirmed: usize,
    /// Whether a page was written since the sequence was recorded.
    changed: bool,
    /// How it ended, as it was recorded last.
    recorded: Option<RunEnd>,
}

impl Outbox {
    /// Nothing asked; the sums of earlier runs.
    pub(super) fn new(counters: Counters) -> Self {
        Self { counters, ..Self::default() }
    }

    /// The sums of the sequence.
    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Has a step written whose rows are new.
    pub(super) fn write(&mut self, step: Step, frontier: &mut Frontier) {
        self.counters.add(&step.counters);
        self.changed |= step.goes_on();
        step.rows.iter().map(UrlRow::item).for_each(|item| frontier.offer(item));
        self.effects.push(Effect::Write(Box::new(step)));
    }

    /// Has a step written some rows of which may be known. There must be [room](Self::has_room).
    pub(super) fn propose(&mut self, step: Step) {
        self.counters.add(&step.counters);
        self.changed |= step.goes_on();
        self.questions += 1;
        self.unconfirmed += 1;
        self.effects.push(Effect::Propose(Box::new(step)));
    }

    /// Asks the store. There must be [room](Self::has_room).
    pub(super) fn ask(&mut self, question: StoreQuestion) {
        self.questions += 1;
        self.effects.push(Effect::Ask(question));
    }

    /// Has the store know the state of the sequence. There must be [room](Self::has_room).
    pub(super) fn record(&mut self, end: Option<RunEnd>) {
        self.is_recorded(end);
        self.ask(StoreQuestion::Record(end));
    }

    /// The sequence is recorded to have ended so.
    pub(super) fn is_recorded(&mut self, end: Option<RunEnd>) {
        (self.changed, self.recorded) = (false, end);
    }

    /// Whether it need not be recorded that the sequence ended so.
    pub(super) fn has_recorded(&self, end: RunEnd) -> bool {
        !self.changed && self.recorded == Some(end)
    }

    /// The sequence is to be recorded again.
    pub(super) fn change(&mut self) {
        self.changed = true;
    }

    /// Whether a page was written since.
    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    /// Has a lease carried out.
    pub(super) fn fetch(&mut self, lease: Lease, judging: Judging) {
        self.effects.push(Effect::Fetch(Box::new(lease), judging));
    }

    /// Has it handed out that a URL has failed for good.
    pub(super) fn hand_failed(&mut self, failed: Box<FailedVisit>, why: Option<Box<str>>) {
        self.effects.push(Effect::HandFailed(failed, why));
    }

    /// An answer came.
    pub(super) fn answered(&mut self) {
        self.questions -= 1;
    }

    /// Queues the URLs of a proposed step that are new.
    pub(super) fn confirmed(&mut self, confirmed: Confirmed, frontier: &mut Frontier) {
        self.unconfirmed -= 1;
        self.counters.add(&Counters::of_forgotten(confirmed.known.len()));
        confirmed.queued.into_iter().for_each(|item| frontier.offer(item));
    }

    /// Whether an answer is waited for.
    pub(super) fn has_questions(&self) -> bool {
        self.questions > 0
    }

    /// Whether one more question may be asked.
    pub(super) fn has_room(&self) -> bool {
        self.questions < MOST_QUESTIONS
    }

    /// Whether the store has yet to say which URLs are new.
    pub(super) fn is_unconfirmed(&self) -> bool {
        self.unconfirmed > 0
    }

    /// Tells the shell what it is to do.
    pub(super) fn hand_to(&mut self, shell: &mut Vec<Effect>) {
        shell.append(&mut self.effects);
    }
}
