//! Full-text search: what a query asks for, in which order pages answer it, and which part of a page is shown.
//!
//! Owns: the form of queries ([`Query`]), how text without spaces between its words is cut ([`words`]), the order of pages that match
//! ([`Matched::score`]), snippets, and which texts are nearly the same ([`first_similar`]).
//!
//! Invariants: every text is a query, and none is an error; what is indexed and what is asked for are cut by one rule.
//!
//! Does not know: where the index is, and how it counts words.

mod order;
mod query;
mod similar;
mod snippet;
mod words;

pub use order::{Matched, definitions};
pub use query::{Query, QueryField, Term};
pub use similar::{first_similar, similarity_hash};
pub use snippet::snippet;
pub use words::words;
