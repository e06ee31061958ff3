//! [`Index`]: finds the pages that link to a URL, and the URLs that redirect to it, without a look at all of them.
//!
//! Owns: a file beside the database, made by the first question that needs it, and how to tell whether it is still valid. It maps the
//! leading bits of a link's fingerprint to pages, as differences of their numbers.
//!
//! Invariants: it may name too many pages, and never too few; so the reader checks each page itself. It is valid as long as no visit was
//! added; an invalid one is made anew. The file is written under another name first, so it is whole or absent; losing it costs only speed.
//! Where it cannot be made, there is none.
//!
//! Does not know: which pages count, and what their links say of themselves.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Result, params};
use tempfile::NamedTempFile;

use super::super::{
    error::Fault,
    runs::{Sorted, Sorter},
};
use crate::store::leb128;

/// Beside the database.
const FILE: &str = "links.index";

/// How the name of a file begins and ends that is to become an index.
const PREFIX: &str = "links.";
const SUFFIX: &str = ".tmp";

/// So long after its last change, such a file is nobody's.
const LEFT_FOR: Duration = Duration::from_hours(1);

/// A file of another form does not hold.
const FORM: u32 = 2;

/// Bits of a page's number; what is left of 64 are those of the fingerprint.
const PAGE_BITS: u32 = 28;

/// Memory for the sort.
const MEMORY: usize = 8 << 20;

/// An index that holds.
#[derive(Debug)]
pub(super) struct Index {
    connection: Connection,
    pub(super) counts: LinkCounts,
}

/// What the pages come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LinkCounts {
    pub(super) pages: u64,
    pub(super) unlabelled: u64,
}

/// Takes the links of all pages, and of what redirects.
pub(super) struct Builder {
    path: PathBuf,
    state: String,
    links: Sorter,
    /// What becomes the index. It goes with the builder, unless it has its name by then.
    file: NamedTempFile,
}

impl Index {
    /// The index of the database, if it is there and holds.
    pub(super) fn of(database: &Connection) -> Option<Self> {
        let path = path(database)?;
        let state = state(database).ok()?;
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        let query = "SELECT pages, unlabelled FROM made WHERE state = ?";
        let counts =
            connection.query_row(query, [state], |row| Ok(LinkCounts { pages: row.get(0)?, unlabelled: row.get(1)? }));
        Some(Self { counts: counts.ok()?, connection })
    }

    /// The pages that may have a link, ascending; `None` where the file says nothing that can be read.
    pub(super) fn pages(&self, link: u64) -> Option<Vec<u64>> {
        let query = "SELECT pages FROM link WHERE bits = ?";
        let found = self.connection.query_row(query, [link >> PAGE_BITS], |row| row.get::<_, Vec<u8>>(0)).optional();
        let packed = found.ok()?.unwrap_or_default();
        let (mut left, mut last) = (&packed[..], 0_u64);
        let mut pages = Vec::new();
        while !left.is_empty() {
            last = last.checked_add(leb128::take(&mut left)?).filter(|page| page >> PAGE_BITS == 0)?;
            pages.push(last);
        }
        Some(pages)
    }
}

impl Builder {
    /// For the database as it is; `None` where there can be no index.
    pub(super) fn new(database: &Connection) -> Option<Self> {
        let path = path(database)?;
        let folder = path.parent()?;
        let links = Sorter::new(&[folder], MEMORY);
        remove_leftovers(folder);
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder).ok()?;
        Some(Self { state: state(database).ok()?, links, file, path })
    }

    /// Takes a link of a page.
    ///
    /// # Errors
    /// When there are too many pages, or the temporary file cannot be written.
    pub(super) fn add(&mut self, page: u64, link: u64) -> io::Result<()> {
        if page >> PAGE_BITS > 0 {
            return Err(io::Error::other("too many pages"));
        }
        self.links.push(link >> PAGE_BITS << PAGE_BITS | page)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written; then there is none.
    pub(super) fn finish(self, counts: LinkCounts) -> Result<(), Fault> {
        write(self.file.path(), &self.state, self.links.sorted()?, counts)?;
        self.file.persist(&self.path).map_err(|failed| failed.error)?;
        Ok(())
    }
}

/// What a process left that was killed. One that is young may be another process's.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_old = |path: &Path| {
        let modified = std::fs::metadata(path).and_then(|found| found.modified());
        modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > LEFT_FOR))
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) && is_old(&path) {
            // It takes room, and does no other harm.
            drop(std::fs::remove_file(&path));
        }
    }
}

fn path(database: &Connection) -> Option<PathBuf> {
    let database = Path::new(database.path().filter(|path| !path.is_empty())?);
    Some(database.with_file_name(FILE))
}

/// What tells one state of a crawl's links from the others.
fn state(database: &Connection) -> Result<String> {
    database.query_row(
        "SELECT max(n), began_at, (SELECT coalesce(max(id), 0) FROM visit), (SELECT coalesce(max(id), 0) FROM url) FROM sequence",
        [],
        |row| {
            let numbers = [0, 1, 2, 3].map(|column| row.get::<_, u64>(column).unwrap_or_default());
            Ok(format!("{FORM} {numbers:?}"))
        },
    )
}

fn write(path: &Path, state: &str, mut links: Sorted, counts: LinkCounts) -> Result<(), Fault> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE made (state TEXT NOT NULL, pages INTEGER NOT NULL, unlabelled INTEGER NOT NULL) STRICT;
         CREATE TABLE link (bits INTEGER PRIMARY KEY, pages BLOB NOT NULL) STRICT",
    )?;
    let mut insert = transaction.prepare("INSERT INTO link (bits, pages) VALUES (?, ?)")?;
    let (mut bits, mut last) = (None, 0);
    let mut packed = Vec::new();
    while let Some(pair) = links.next()? {
        let of = pair >> PAGE_BITS;
        let page = pair & ((1 << PAGE_BITS) - 1);
        if bits != Some(of) {
            if let Some(bits) = bits.replace(of) {
                insert.execute(params![bits, packed])?;
            }
            packed.clear();
            last = 0;
        }
        leb128::put(&mut packed, page - last);
        last = page;
    }
    if let Some(bits) = bits {
        insert.execute(params![bits, packed])?;
    }
    drop(insert);
    let LinkCounts { pages, unlabelled } = counts;
    transaction.execute("INSERT INTO made VALUES (?, ?, ?)", params![state, pages, unlabelled])?;
    Ok(transaction.commit()?)
}
