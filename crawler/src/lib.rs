//! A web crawler that covers an area of the web completely, keeps it fresh, and tells what it may have missed.

pub mod fetch;
pub mod url;
