//! A web crawler that covers an area of the web completely, keeps it fresh, and tells what it may have missed.

pub mod candidate;
pub mod cli;
pub mod config;
pub mod extract;
pub mod fetch;
pub mod frontier;
pub mod practice;
pub mod robots;
pub mod scope;
pub mod store;
pub mod time;
pub mod url;
