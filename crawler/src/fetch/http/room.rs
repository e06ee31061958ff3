//! [`BodyMemory`]: the memory that all big bodies together may take.
//!
//! A body takes memory from a shared store as it grows. When the store is empty, the body waits for the one lane in which a body may grow
//! without limit. The body in the lane needs nothing that others hold, so it always comes to its end: bodies that each hold a part of the
//! store and wait for the rest cannot wait for ever.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::fetch::BodyRoom;

/// Bodies up to this size need no room: as many of them as there are requests at once fit beside the big ones.
const SMALL: u64 = 256 * 1024;

/// What the store holds, in bytes.
const STORE: u64 = 16 * 1024 * 1024;

/// Bytes that are taken from it at a time.
const STEP: u64 = 256 * 1024;

/// Memory for bodies beyond a quarter of a megabyte, shared by all requests.
#[derive(Clone)]
pub(super) struct BodyMemory {
    store: Arc<Semaphore>,
    lane: Arc<Semaphore>,
}

/// What one body has of it.
#[derive(Default)]
pub(super) struct RoomShare {
    taken: Option<OwnedSemaphorePermit>,
    lane: Option<OwnedSemaphorePermit>,
}

impl BodyMemory {
    /// Memory of 16 MiB, and for one body more, however large that may be.
    pub(super) fn new() -> Self {
        let steps = usize::try_from(STORE / STEP).unwrap_or(usize::MAX);
        Self { store: Arc::new(Semaphore::new(steps)), lane: Arc::new(Semaphore::new(1)) }
    }

    /// Whether a body of so many bytes may grow on, with this share.
    pub(super) fn has_room(&self, share: &mut RoomShare, bytes: u64) -> bool {
        while share.lane.is_none() && share.bytes() < bytes {
            let Ok(step) = Arc::clone(&self.store).try_acquire_owned() else { return false };
            match &mut share.taken {
                Some(taken) => taken.merge(step),
                none => *none = Some(step),
            }
        }
        true
    }

    /// Waits until a body may grow as long as it likes.
    pub(super) async fn take_lane(&self, share: &mut RoomShare) {
        share.lane = Arc::clone(&self.lane).acquire_owned().await.ok();
    }
}

impl RoomShare {
    fn bytes(&self) -> u64 {
        SMALL + self.taken.as_ref().map_or(0, |taken| taken.num_permits() as u64 * STEP)
    }

    /// As it is kept with a body.
    pub(super) fn into_room(self) -> BodyRoom {
        if self.taken.is_none() && self.lane.is_none() {
            BodyRoom::default()
        } else {
            BodyRoom::new((self.taken, self.lane))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_body_always_comes_to_its_end() {
        let memory = BodyMemory::new();
        let mut shares: Vec<RoomShare> = (0..65).map(|_| RoomShare::default()).collect();
        assert!(shares.iter_mut().all(|share| memory.has_room(share, SMALL)), "small ones need none");
        let fit = shares.iter_mut().filter_map(|share| memory.has_room(share, SMALL + 1).then_some(())).count();
        assert_eq!(fit as u64, STORE / STEP);
        let (first, rest) = shares.split_at_mut(1);
        assert!(!memory.has_room(&mut first[0], SMALL + STEP + 1));
        memory.take_lane(&mut first[0]).await;
        assert!(memory.has_room(&mut first[0], u64::MAX));
        let mut waits = std::pin::pin!(memory.take_lane(&mut rest[0]));
        let waker = std::task::Waker::noop();
        assert!(waits.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        first[0] = RoomShare::default();
        waits.await;
    }
}
