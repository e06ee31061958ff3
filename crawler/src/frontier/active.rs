//! [`Active`]: the state that a host has only while it has leases, or rows in memory.

use super::{refill::PendingRefill, rows::Rows};
use crate::candidate::Ticket;

/// A URL of the host that is leased.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeasedPage {
    pub(super) id: Ticket,
    pub(super) depth: u32,
    /// Whether it had failed before.
    pub(super) again: bool,
    /// Whether the table may have given it another rank since.
    pub(super) reranked: bool,
}

/// Its leases and rows. There may be very many hosts, and most of them have none.
#[derive(Debug, Default)]
pub(super) struct Active {
    pub(super) leased: Vec<LeasedPage>,
    /// Its queued rows up to the cursor.
    pub(super) head: Rows,
    pub(super) refill: Option<Box<PendingRefill>>,
}

impl Active {
    pub(super) fn is_idle(&self) -> bool {
        self.leased.is_empty() && self.head.len() == 0 && self.refill.is_none()
    }

    pub(super) fn lease(&mut self, page: LeasedPage) {
        // Most hosts have one slot.
        self.leased.reserve_exact(1);
        self.leased.push(page);
    }

    pub(super) fn end_lease(&mut self, id: Ticket) {
        self.leased.retain(|leased| leased.id != id);
        if let Some(refill) = &mut self.refill {
            refill.settled(id);
        }
    }

    /// Whether the table may have given a leased row another rank.
    pub(super) fn is_reranked(&self, id: Ticket) -> bool {
        self.leased.iter().any(|leased| leased.id == id && leased.reranked)
    }

    /// The table gives rows other ranks.
    pub(super) fn rerank(&mut self) {
        self.leased.iter_mut().for_each(|leased| leased.reranked = true);
        if let Some(refill) = &mut self.refill {
            refill.outdated = true;
        }
    }
}
