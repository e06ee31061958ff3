//! The events that the core takes in, and the effects that the shell carries out.

use super::{
    super::{
        machine::MachineReading,
        report::{Judging, Report},
        visit_events::FailedVisit,
    },
    admission::Filling,
    between::Between,
    end::RunEnd,
};
use crate::{
    candidate::HostId,
    frontier::Lease,
    queue::{Nearer, RefillAnswer, RefillRequest, WorkItem},
    store::{Confirmed, DuePages, DueRequest, LinkCheckRequest, LinksToCheck, Step, SweepRequest, Swept},
    time::Moment,
};

/// What happened.
pub(in crate::engine) enum CoreEvent {
    /// The run begins, with these starts that are not in the URL table.
    Begin(Vec<Box<str>>),
    /// The sequence has come to its end, and pages are visited that are due after that.
    Between(Box<Between>),
    /// Somebody wants these visits to end.
    Finish,
    /// A visit ended.
    Visited(Box<Report>),
    /// A visit was given up, with so many requests sent or under way.
    GivenUp(u64),
    /// So many leases have gone to their hosts, of those that wait for the rate, and it lets the next go.
    Gone(usize),
    /// So much is left of this machine.
    Machine(MachineReading),
    /// The store has answered a question.
    Answered(StoreAnswer),
    /// The user asks to stop: the signal's number. Nothing more is leased.
    Stop(i32),
    /// Time has passed, or there was more to do.
    Turn,
}

/// What the core asks the store.
pub(in crate::engine) enum StoreQuestion {
    /// Queued rows of a host.
    Rows(RefillRequest),
    /// The body of a host's robots.txt.
    Robots(HostId),
    /// To queue again what is held.
    Held,
    /// Which URLs are to be checked.
    LinksToCheck(LinkCheckRequest),
    /// Which pages are to be fetched once more, to see what of them moves by itself.
    UnsurePages,
    /// Which kept links have no row.
    Sweep(SweepRequest),
    /// Every URL of the sequence, into a URL cache.
    Fill(Filling),
    /// Which pages are due.
    Due(Box<DueRequest>),
    /// To record the state of the sequence.
    Record(Option<RunEnd>),
}

/// What the store answers.
pub(in crate::engine) enum StoreAnswer {
    /// Queued rows of a host.
    Rows(HostId, RefillAnswer),
    /// A host's robots.txt as it was stored; `None` when it gave none.
    Robots(HostId, Option<Vec<u8>>),
    /// What was held, and is queued again.
    Lifted(Vec<Nearer>),
    /// URLs that are to be checked.
    LinksToCheck(LinksToCheck),
    /// Pages that are to be fetched once more.
    UnsurePages(Vec<WorkItem>),
    /// What the sweep found.
    Swept(Swept),
    /// The URL cache with every URL of the sequence.
    Filled(Filling),
    /// Which URLs of a proposed step are new.
    Confirmed(Confirmed),
    /// Pages that are due.
    Due(DuePages),
    /// The state of the sequence is recorded.
    Recorded,
}

/// What the shell is to do, in this order.
pub(in crate::engine) enum Effect {
    /// Carry a lease out; it comes back with [`CoreEvent::Visited`].
    Fetch(Box<Lease>, Judging),
    /// Write a step.
    Write(Box<Step>),
    /// Write what is new of a step; [`StoreAnswer::Confirmed`] says what that is.
    Propose(Box<Step>),
    /// Hand out that a URL has failed for good, and why.
    HandFailed(Box<FailedVisit>, Option<Box<str>>),
    /// Ask the store, after all that was written before.
    Ask(StoreQuestion),
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Then {
    /// Another [`CoreEvent::Turn`], once other events were looked at.
    Turn,
    /// Nothing before an event, or this moment.
    Wait(Option<Moment>),
    /// Nothing for so long that the core is not needed.
    Idle,
    /// Nothing any more.
    End(RunEnd),
}
