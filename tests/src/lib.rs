//! The kit of the end-to-end tests: shared data, conformance sets, and what the tests need of real servers on loopback.

pub mod archive;
pub mod conformance;
pub mod debian;
pub mod grown;
pub mod names;
pub mod nginx;
pub mod oracle;
pub mod server;
pub mod shared;
pub mod skip;
pub mod walk;
pub mod webloom;
