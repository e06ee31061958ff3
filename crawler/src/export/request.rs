//! What is exported, how much was, and why it was not.

use std::{
    io,
    path::{Path, PathBuf},
};

use regex::Regex;
use thiserror::Error;

use crate::{
    session::directory::{ChangedSince, Records},
    store::{ReadError, StoreError},
};

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// A folder with a Markdown file for each page.
    Markdown,
    /// A file with a JSON object a line for each page.
    Jsonl,
    /// A file with comma-separated values.
    Csv,
    /// A folder with a text file for each page.
    Text,
    /// A folder with WARC files.
    Warc,
    /// A WACZ file.
    Wacz,
    /// A folder that a browser opens.
    Mirror,
}

impl ExportFormat {
    /// All of them.
    pub(crate) const ALL: [Self; 7] =
        [Self::Markdown, Self::Jsonl, Self::Csv, Self::Text, Self::Warc, Self::Wacz, Self::Mirror];

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Text => "text",
            Self::Warc => "warc",
            Self::Wacz => "wacz",
            Self::Mirror => "mirror",
        }
    }

    /// Whether it has each archived answer, and not only the pages as they are now.
    pub(crate) fn has_all_answers(self) -> bool {
        matches!(self, Self::Warc | Self::Wacz)
    }
}

/// What is exported.
#[derive(Debug)]
pub(crate) struct Export<'a> {
    /// The crawl directory.
    pub(crate) dir: &'a Path,
    /// Its records.
    pub(crate) records: &'a Records,
    /// The file or folder.
    pub(crate) out: PathBuf,
    /// In which form.
    pub(crate) format: ExportFormat,
    /// Which pages, by when they changed.
    pub(crate) since: ChangedSince,
    /// Which pages, by their URLs.
    pub(crate) matching: Option<Regex>,
    /// About how many tokens a chunk has; no chunks are written without.
    pub(crate) chunks: Option<usize>,
}

impl Export<'_> {
    /// Whether a page is wanted, by its URL.
    pub(super) fn wants(&self, url: &str) -> bool {
        self.matching.as_ref().is_none_or(|matching| matching.is_match(url))
    }
}

/// How much was exported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exported {
    /// Pages.
    pub(crate) pages: u64,
    /// Pages that were deleted.
    pub(crate) deleted: u64,
    /// Pages with text that are not archived.
    pub(crate) without_body: u64,
    /// The page at which people begin, of a folder that they open.
    pub(crate) first: Option<PathBuf>,
}

/// Why an export ends.
#[derive(Debug, Error)]
pub(crate) enum ExportError {
    /// The crawl cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its records cannot be.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No player reads it.
    #[error(
        "some of the archive is compressed with zstd, which no player of WACZ files reads: export it as warc, or archive it with gzip"
    )]
    Compression,
    /// The folder has something else.
    #[error("{} is not empty, and no export of this crawl in this form is in it: give a new folder with -o", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
}

/// What could not be written.
pub(super) fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
    let path = path.to_owned();
    move |source| ExportError::Write { path, source }
}
