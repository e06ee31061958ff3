//! What was removed because somebody asked for it.

/// How much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemovedUrls {
    /// URLs.
    pub urls: u64,
    /// Their archived answers.
    pub answers: u64,
    /// Copies of other pages that had links to them.
    pub pages_with_links: u64,
}
