//! What a search found, as JSON.

use serde_json::{Value, json};

use crate::store::{SearchHit, SearchResults};

/// One document: the query, how many pages match, and the best of them.
pub(crate) fn document(query: &str, found: &SearchResults) -> Value {
    let hit = |hit: &SearchHit| {
        let SearchHit { url, title, score, snippet, sequence } = hit;
        json!({ "url": url, "title": title, "score": score, "snippet": snippet, "sequence": sequence })
    };
    let hits: Vec<_> = found.hits.iter().map(hit).collect();
    json!({ "query": query, "total": found.total, "hits": hits })
}
