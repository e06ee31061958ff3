//! `[archive]`: what is kept of answers.

use std::marker::PhantomData;

use super::fetch::TYPES;
use crate::config::{
    reader::KeyReader,
    rules::{OneOf, Size, words},
};

words! {
    /// Whether answers are archived.
    ArchiveChoice {
        /// They are not.
        None = "none",
        /// Into WARC files: of a page that is as it was, which record has its body.
        Warc = "warc",
        /// The same, and each record has its body.
        SelfContained = "self-contained",
    }
}

words! {
    /// Whether what pages show and load is fetched and kept.
    AssetsChoice {
        /// It is not.
        Off = "off",
        /// It is, wherever it is.
        Keep = "keep",
    }
}

words! {
    /// How archived records are compressed.
    CompressionChoice {
        /// As all readers of archives know it.
        Gzip = "gzip",
        /// Smaller, and slower.
        Zstd = "zstd",
    }
}

/// What is archived.
#[derive(Debug, Clone)]
pub struct ArchiveSettings {
    /// Whether, and how.
    pub format: ArchiveChoice,
    /// Media types of the pages that are; all, if it is empty.
    pub types: Vec<String>,
    /// Bytes after which a file is full.
    pub file_size: u64,
    /// How records are compressed.
    pub compression: CompressionChoice,
    /// Whether what pages show and load is.
    pub assets: AssetsChoice,
}

impl ArchiveSettings {
    /// Whether anything is archived.
    pub fn is_on(&self) -> bool {
        self.format != ArchiveChoice::None
    }

    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self {
            format: reader.read("archive.format", &OneOf(PhantomData)),
            types: reader.read("archive.types", &TYPES),
            file_size: reader.read("archive.file_size", &Size(1 << 20..=1 << 40)),
            compression: reader.read("archive.compression", &OneOf(PhantomData)),
            assets: reader.read("archive.assets", &OneOf(PhantomData)),
        }
    }
}
