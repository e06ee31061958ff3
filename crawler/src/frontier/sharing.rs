//! [`Sharing`]: how many hosts share the memory for rows.

use std::num::NonZeroUsize;

/// How many hosts share the memory, and when room was made.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    /// What one host may have at most.
    pub(super) per_host: usize,
    pub(super) hosts: usize,
    /// Rows that were left when room was made last.
    pub(super) left: usize,
}

impl Sharing {
    pub(super) fn new(per_host: NonZeroUsize) -> Self {
        Self { per_host: per_host.get(), hosts: 1, left: 0 }
    }
}
