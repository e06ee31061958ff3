//! A machine that is offline for a while, once links are checked.

use super::{
    Random,
    faults::{MINUTE, SECOND, Trouble},
};
use crate::purpose::Purpose;

/// When it is, and what requests come to then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offline {
    /// Links that are asked for before, in this sequence and those before it.
    after: u64,
    length: u64,
    trouble: Trouble,
    /// When it began, in milliseconds from the beginning.
    since: Option<u64>,
}

impl Offline {
    pub(super) fn new(random: &mut Random) -> Self {
        Self {
            after: random.below(12),
            length: random.pick(&[3 * SECOND, 12 * SECOND, 40 * SECOND, 2 * MINUTE, 5 * MINUTE]),
            trouble: random.pick(&[Trouble::NoRoute, Trouble::NoRoute, Trouble::Hangs]),
            since: None,
        }
    }

    /// What a request comes to at a moment, if the machine is offline then.
    pub(super) fn asked(&mut self, purpose: Purpose, at: u64) -> Option<Trouble> {
        if self.since.is_none() && purpose.is_link_check() {
            match self.after.checked_sub(1) {
                Some(after) => self.after = after,
                None => self.since = Some(at),
            }
        }
        self.holds(at).then_some(self.trouble)
    }

    /// Whether the machine is offline at a moment.
    pub(super) fn holds(&self, at: u64) -> bool {
        self.since.is_some_and(|since| (since..since + self.length).contains(&at))
    }
}
