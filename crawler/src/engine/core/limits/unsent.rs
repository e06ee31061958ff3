//! [`Unsent`]: leases that wait for the rate.
//!
//! Few of them wait: which URL is next is decided when there is a request for it, so that hosts share by weight where the rate is
//! what is scarce, and little is under way when a budget is spent.
//!
//! Does not know: the rate's time. Whoever carries leases out waits for it, and says when one goes.

use std::num::NonZeroU32;

/// Of what a rate allows in a second, one in so many may wait, and one more.
const SHARE: u32 = 100;

/// How many leases wait, and how many may.
#[derive(Debug)]
pub(super) struct Unsent {
    leases: usize,
    most: usize,
}

impl Unsent {
    /// Without a rate all may; nobody says then when one goes.
    pub(super) fn new(rate: Option<NonZeroU32>) -> Self {
        let most = rate.map_or(usize::MAX, |rate| 1 + (rate.get() / SHARE) as usize);
        Self { leases: 0, most }
    }

    /// Whether no more may wait.
    pub(super) fn are_enough(&self) -> bool {
        self.leases >= self.most
    }

    /// One more waits.
    pub(super) fn begin(&mut self) {
        self.leases += 1;
    }

    /// So many wait no longer, and others may.
    pub(super) fn have_gone(&mut self, leases: usize) {
        self.leases = self.leases.saturating_sub(leases);
    }
}
