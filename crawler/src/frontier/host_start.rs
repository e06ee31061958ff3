//! [`HostStart`]: a host as it enters the frontier.

use std::time::Duration;

use super::HostHealth;
use crate::{time::Moment, url::Origin};

/// What is known of a host when it enters the frontier; all zero for one never seen.
#[derive(Debug)]
pub struct HostStart {
    /// The host.
    pub origin: Origin,
    /// Not asked before this moment.
    pub ready_at: Moment,
    /// Pause between the end of a request and the next.
    pub delay: Duration,
    /// Whether it ever answered, and what is wrong with it.
    pub health: HostHealth,
    /// Until when its robots.txt is good; the epoch if it is to be fetched.
    pub robots_until: Moment,
    /// Rows queued in the table up to the depth limit, without a due time.
    pub plain: u64,
    /// Rows queued in the table up to the depth limit, with a due time.
    pub waiting: u64,
    /// Those of them that cost an attempt.
    pub tried: u64,
    /// Rows queued in the table beyond the depth limit.
    pub held: u64,
    /// The earliest of those due times.
    pub next_due: Option<Moment>,
    /// Pages stored in this sequence.
    pub stored: u64,
    /// URLs with a final answer in this sequence.
    pub fetched: u64,
    /// Queued rows by depth, up to the depth limit; empty where there is none.
    pub by_depth: Vec<(u32, u64)>,
}

impl HostStart {
    /// A host never seen before.
    pub fn new(origin: Origin, delay: Duration) -> Self {
        let (next_due, by_depth) = (None, Vec::new());
        Self {
            origin,
            ready_at: Moment::EPOCH,
            delay,
            health: HostHealth::default(),
            robots_until: Moment::EPOCH,
            plain: 0,
            waiting: 0,
            tried: 0,
            held: 0,
            next_due,
            stored: 0,
            fetched: 0,
            by_depth,
        }
    }
}
