//! How many URLs are outstanding at each depth: a crawl with a depth limit finishes a level before the next.

/// Outstanding (queued or leased) URLs by depth.
#[derive(Debug, Default, Clone)]
pub(super) struct Levels {
    outstanding: Vec<u64>,
}

impl Levels {
    pub(super) fn add(&mut self, depth: u32, count: u64) {
        if count == 0 {
            return;
        }
        let depth = depth as usize;
        if self.outstanding.len() <= depth {
            self.outstanding.resize(depth + 1, 0);
        }
        self.outstanding[depth] += count;
    }

    pub(super) fn remove(&mut self, depth: u32, count: u64) {
        if count == 0 {
            return;
        }
        let outstanding = &mut self.outstanding[depth as usize];
        debug_assert!(*outstanding >= count, "depth {depth} has only {outstanding} outstanding URLs");
        *outstanding = outstanding.saturating_sub(count);
    }

    /// The least depth with an outstanding URL.
    pub(super) fn lowest(&self) -> Option<u32> {
        self.outstanding.iter().position(|&count| count > 0).and_then(|depth| depth.try_into().ok())
    }

    /// Each depth that has outstanding URLs, with their number.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).zip(&self.outstanding).map(|(depth, &count)| (depth, count)).filter(|(_, count)| *count > 0)
    }
}
