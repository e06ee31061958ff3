//! [`Progress`]: the state of a run, published twice a second.

/// Figures of the sequence, earlier runs included.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// Pages stored.
    pub pages: u64,
    /// Requests sent.
    pub requests: u64,
    /// URLs of the sequence, whatever has become of them.
    pub admitted: u64,
    /// URLs to be fetched.
    pub queued: u64,
    /// Leases being carried out.
    pub in_flight: u64,
    /// Requests without a response.
    pub errors: u64,
    /// URLs the cache is expected to have lost.
    pub expected_lost: f64,
    /// Hosts that do not answer as they should.
    pub unhealthy_hosts: u64,
    /// One of them: scheme, name and port.
    pub unhealthy_host: Option<String>,
    /// Keys in the URL cache.
    pub cache_items: u64,
}
