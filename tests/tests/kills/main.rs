//! Kill and resume: whatever the moment, nothing is lost, `check` is clean, and little is fetched again.
//!
//! `KILLS=100` makes it that many, over larger sites.

mod caches;
mod power;
mod random;
mod schedule;
mod siege;
mod site;
mod sweep;
