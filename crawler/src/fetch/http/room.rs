//! [`BodyMemory`]: what all big bodies together may take.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::fetch::BodyRoom;

/// Bodies up to this size need no room: as many of them as there are requests at once fit beside the big ones.
pub(super) const SMALL: u64 = 256 * 1024;

/// The least that all big bodies share, in bytes.
const LEAST: u64 = 16 * 1024 * 1024;

/// Bytes of a permit.
const UNIT: u64 = 1024;

/// Memory for bodies beyond [`SMALL`], shared by all requests. A body asks once, for all that it may become: two that each
/// hold a part and wait for the rest would wait for ever.
#[derive(Clone)]
pub(super) struct BodyMemory {
    permits: Arc<Semaphore>,
    units: u32,
}

impl BodyMemory {
    /// Memory for one body of `max_body` bytes, or for several smaller ones.
    pub(super) fn new(max_body: u64) -> Self {
        let units = u32::try_from(max_body.max(LEAST).div_ceil(UNIT)).unwrap_or(u32::MAX);
        let units = units.min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX));
        Self { permits: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// Room for a body of so many bytes, as soon as there is some.
    pub(super) async fn room(&self, bytes: u64) -> BodyRoom {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.units);
        let permit = Arc::clone(&self.permits).acquire_many_owned(units).await;
        BodyRoom::new(permit.expect("nobody closes the semaphore"))
    }
}
