//! How many URLs are outstanding at each depth: a crawl with a depth limit finishes a level before the next.

/// Outstanding (queued or leased) URLs by depth. There may be very many hosts, and without a depth limit they have none: an
/// empty one is a pointer.
#[derive(Debug, Default, Clone)]
pub(super) struct Levels(Option<Box<Outstanding>>);

#[derive(Debug, Default, Clone)]
struct Outstanding {
    by_depth: Vec<u64>,
}

impl Levels {
    pub(super) fn add(&mut self, depth: u32, count: u64) {
        if count == 0 {
            return;
        }
        let by_depth = &mut self.0.get_or_insert_default().by_depth;
        let depth = depth as usize;
        if by_depth.len() <= depth {
            by_depth.resize(depth + 1, 0);
        }
        by_depth[depth] += count;
    }

    pub(super) fn remove(&mut self, depth: u32, count: u64) {
        if count == 0 {
            return;
        }
        let outstanding = &mut self.0.get_or_insert_default().by_depth[depth as usize];
        debug_assert!(*outstanding >= count, "depth {depth} has only {outstanding} outstanding URLs");
        *outstanding = outstanding.saturating_sub(count);
    }

    /// The least depth with an outstanding URL.
    pub(super) fn lowest(&self) -> Option<u32> {
        self.counts().next().map(|(depth, _)| depth)
    }

    /// Each depth that has outstanding URLs, with their number.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let by_depth = self.0.as_ref().map_or(&[][..], |outstanding| &outstanding.by_depth);
        (0..).zip(by_depth).map(|(depth, &count)| (depth, count)).filter(|(_, count)| *count > 0)
    }
}
