//! What a search of the pages finds.

/// Pages that match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchResults {
    /// How many pages match.
    pub total: u64,
    /// The best of them, the best first.
    pub hits: Vec<SearchHit>,
    /// Visits that are not in the index yet.
    pub waiting: u64,
    /// Pages of the time that is searched whose texts are not kept any more.
    pub forgotten: u64,
}

/// A page that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// The higher, the better.
    pub score: f64,
    /// The part of its text that fits best.
    pub snippet: String,
    /// The sequence in which this copy was fetched.
    pub sequence: u32,
}
