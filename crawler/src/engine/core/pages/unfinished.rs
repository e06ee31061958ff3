//! [`Unfinished`]: a page whose links are being admitted, part by part.
//!
//! Invariant: each part but the last goes out as a step of its own; the visit goes out with the last part. So after a kill in between the
//! page is fetched again, and the committed rows stay.

use std::iter::Peekable;

use crate::{
    candidate::Ticket,
    engine::{
        judge::{Batch, Proposals, Provenance},
        report::EndedLease,
    },
    store::{Step, VisitOutcome, VisitRow},
    url::Origin,
};

/// Candidates of a page that are admitted in one turn.
const PART: usize = 2_000;

/// Why a page with too many links is called truncated.
const LINKS: &str = "links";

/// A page whose candidates are being admitted.
pub(in crate::engine::core) struct Unfinished {
    pub(in crate::engine::core) ended: EndedLease,
    pub(in crate::engine::core) visit: VisitRow,
    /// What was not sent yet.
    pub(in crate::engine::core) step: Step,
    /// What was admitted of it by now.
    pub(in crate::engine::core) admitted: Vec<Ticket>,
    /// Where a redirect leads.
    pub(in crate::engine::core) target: Option<Origin>,
    part: Option<Batch>,
    parts: Peekable<Box<dyn Iterator<Item = Batch> + Send>>,
    /// The room of the page's links is given back when all of them are rows.
    _room: Option<Box<dyn Send>>,
}

impl Unfinished {
    /// What a page with this record proposes.
    pub(in crate::engine::core) fn new(
        ended: EndedLease,
        mut visit: VisitRow,
        found: Provenance,
        mut proposals: Proposals,
        step: Step,
    ) -> Self {
        if proposals.are_cut() {
            visit.truncated.get_or_insert(LINKS);
        }
        visit.links = proposals.passed.kept();
        visit.labels = proposals.labels.take().filter(|_| visit.outcome == VisitOutcome::Stored);
        let parts: Box<dyn Iterator<Item = Batch> + Send> = Box::new(Batch::new(found, proposals).in_parts(PART));
        let (admitted, parts) = (Vec::new(), parts.peekable());
        Self { ended, visit, step, admitted, target: None, part: None, parts, _room: None }
    }

    /// The same of a redirect to this origin.
    pub(in crate::engine::core) fn to(self, target: Option<Origin>) -> Self {
        Self { target, ..self }
    }

    /// The same with the room that its links take.
    pub(in crate::engine::core) fn in_room(self, room: Option<Box<dyn Send>>) -> Self {
        Self { _room: room, ..self }
    }

    /// The part that is next.
    pub(in crate::engine::core) fn next_part(&mut self) -> Option<Batch> {
        self.part.take().or_else(|| self.parts.next())
    }

    /// The same part is next once more.
    pub(in crate::engine::core) fn put_back(&mut self, part: Batch) {
        self.part = Some(part);
    }

    /// Whether no part is left.
    pub(in crate::engine::core) fn is_done(&mut self) -> bool {
        self.part.is_none() && self.parts.peek().is_none()
    }
}
