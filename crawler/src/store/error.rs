//! What can go wrong with a crawl directory.

use std::{error::Error, io, path::PathBuf};

use thiserror::Error;

use crate::url::UnknownRules;

/// The reason that whatever keeps the crawl gives.
pub type Reason = Box<dyn Error + Send + Sync>;

/// Why a crawl directory cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The directory cannot be made or written.
    #[error("cannot write to the crawl directory {}: {source}; give another with --dir", path.display())]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Something else lives there.
    #[error("{} is not a crawl directory, and it is not empty; give a new or empty one with --dir", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// There is no crawl.
    #[error("no crawl in {}: check the name, or begin one there with `webloom crawl START -d {}`", path.display(), path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// This user may not read it.
    #[error("cannot read the crawl in {}: {source}; run webloom as its owner, or have the owner let you read the folder and its files", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Its crawl was never begun.
    #[error("no crawl has begun in {}: give `webloom crawl` a start URL and this directory", path.display())]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// Another process has it.
    #[error("{} is in use by another webloom process; wait for it or stop it", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// Written before the first release.
    #[error(
        "{} was written by a version of webloom from before the first release, which this version does not read; crawl into another directory, or delete this one",
        path.display()
    )]
    Older {
        /// The directory.
        path: PathBuf,
    },
    /// Written by a newer program.
    #[error("{} was written by a newer version of webloom (schema {found}, this version knows {known}); use that version", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema known.
        known: u32,
    },
    /// Its keys are made by rules that this version does not know.
    #[error("{}: {source}", path.display())]
    KeyRules {
        /// The database.
        path: PathBuf,
        /// Which rules.
        source: UnknownRules,
    },
    /// The disk is full.
    #[error("the disk that holds {} is full; all committed pages are kept: make room and start again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The file for items is none of this crawl.
    #[error("cannot write items to {}: {why}: give another file with --items", path.display())]
    OtherItems {
        /// The file.
        path: PathBuf,
        /// Why it is none.
        why: &'static str,
    },
    /// The file for items cannot be written.
    #[error("cannot write items to {}: {source}; everything fetched is kept: give another file with --items", path.display())]
    Items {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file of the archive cannot be read or written.
    #[error("cannot use the archive file {}: {source}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The sweep has no place for its temporary file.
    #[error("the sweep for lost URLs cannot use a temporary file in {}: {source}; everything fetched is kept: fix this and start again, or start with --sweep off", path.display())]
    Sweep {
        /// The crawl directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// What is to be removed is where the crawl begins.
    #[error(
        "{url} is where the crawl begins: it cannot be removed; delete the directory, or crawl into another one with other starts"
    )]
    IsStart {
        /// The URL.
        url: String,
    },
    /// Somebody asked it to stop before it had begun.
    #[error("stopped while it was starting; everything fetched before is kept")]
    Interrupted,
    /// It holds what nobody has written.
    #[error("the database in {} is damaged: {source}; `webloom check {}` names what is wrong", directory.display(), directory.display())]
    Damaged {
        /// The directory.
        directory: PathBuf,
        /// What could not be read.
        source: Reason,
    },
    /// The database refuses.
    #[error("database {}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// Its reason.
        source: Reason,
    },
}

/// Why a reader ends.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The database refuses.
    #[error("cannot read the crawl directory: {0}")]
    Database(#[source] Reason),
    /// It holds what nobody has written.
    #[error(
        "the database in the crawl directory is damaged: {0}; run `webloom check` on the directory: it names what is wrong"
    )]
    Damaged(#[source] Reason),
    /// It was read without locks, because this user cannot make any.
    #[error("a crawl wrote to the crawl directory while it was read: run the command again")]
    Changed,
    /// What does not fit into memory has no other place.
    #[error("cannot use a temporary file: {0}; set TMPDIR to a writable folder with enough room")]
    Temporary(#[source] Reason),
}
