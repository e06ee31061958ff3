//! A web crawler that covers an area of the web completely, keeps it fresh, and tells what it may have missed.

pub mod candidate;
pub mod changes;
pub mod cli;
pub mod clock;
pub mod config;
pub mod engine;
pub mod extract;
pub mod fetch;
pub mod frontier;
pub mod health;
pub mod observe;
pub mod order;
pub mod politeness;
pub mod practice;
pub mod queue;
pub mod revisit;
pub mod robots;
pub mod schedule;
pub mod scope;
pub mod store;
pub mod text;
pub mod time;
pub mod url;
