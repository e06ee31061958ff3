//! What is learnt of URLs after they were admitted, by which they are ranked anew.

use crate::{
    candidate::HostId,
    order::{Merit, Order, Weight},
    time::Moment,
    url::Fingerprint,
};

/// What is known of a URL. It may be queued no more, or have no row: then nothing is written of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankRow {
    /// Its host. A row of another one, whose URL has the same key, is not meant.
    pub host: HostId,
    /// The hash of its key.
    pub fingerprint: Fingerprint,
    /// Its weight by the rules.
    pub rule: Weight,
    /// What is known beside that; what its row has stays, where this says no more.
    pub merit: Merit,
    /// When it was modified last, as a sitemap says: with an older copy it is visited first.
    pub modified: Option<Moment>,
}

/// What was learnt of several URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRows {
    /// The order of the ranks.
    pub order: Order,
    /// The URLs, each once.
    pub rows: Vec<RankRow>,
}
