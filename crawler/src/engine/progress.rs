//! [`Progress`]: how a run stands, published twice a second.

/// Figures of the sequence, earlier runs included.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// Pages stored.
    pub pages: u64,
    /// Requests sent.
    pub requests: u64,
    /// URLs to be fetched.
    pub queued: u64,
    /// Leases being carried out.
    pub in_flight: u64,
    /// Requests without a response.
    pub errors: u64,
    /// URLs the cache is expected to have lost.
    pub expected_lost: f64,
    /// Keys in the URL cache.
    pub cache_items: u64,
}
