//! The crawl directory: one `SQLite` file, a lock, and a copy of the settings for people.
//!
//! Owns: the database schema and its migrations, the writer with its group commits, what a crawl needs to go on, and every query of the
//! read side.
//!
//! Invariants: one connection writes; a transaction is a contiguous run of messages; the first failed commit ends the writer.
//! Readers open the same file read-only while the crawl runs.
//!
//! Does not know: the engine, the network.

mod again;
mod apply;
mod archive;
mod batches;
mod beginning;
mod changes;
mod check;
mod checked_ends;
mod compared;
#[cfg(test)]
mod costs;
mod current;
mod current_copy;
mod directory;
mod error;
mod failpoint;
mod fields;
mod forget;
mod freshness;
mod held;
mod link_checks;
mod links;
mod log_length;
mod lost;
mod moment;
mod pages;
mod prepare;
mod prune;
mod purge;
mod ranks;
mod reading;
mod records;
mod refill;
mod resume;
mod retry;
mod revisits;
mod runs;
mod schema;
mod search;
mod sitemaps;
mod step_context;
mod summary;
mod sweep;
mod takedown;
pub mod takers;
mod visits;
mod why;
mod words;
mod writer;

pub use archive::{
    ArchiveCopies, ArchiveMoment, ArchiveRule, ArchiveTaker, ArchivedAnswer, ArchivedBodies, ArchivedCopy,
    ArchivedVisit, ChangedSince, CurrentPage, RecordCompression,
};
pub use beginning::Beginning;
pub use check::invariants;
pub use directory::{CrawlDirectory, DirectoryLock, FILES};
pub use failpoint::{BadFailPoint, FailPoint};
pub use fields::FieldTaker;
pub use prepare::index_keys;
pub use records::Records;
pub use search::index_pages;
