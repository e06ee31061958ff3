//! Export: the archived pages as files that people and other programs read.
//!
//! Owns: which files there are, how they are named and linked, what is learnt of the site before, and that network text is harmless in
//! them.
//!
//! Invariants: the same crawl gives the same bytes; memory holds one page, a few words of each, and what recurs in some sections; no name
//! of a file leads out of the folder that was given.
//!
//! Does not know: what of a page is content (`markdown` does), and where bodies are.

mod chrome;
mod content;
mod folder;
mod lines;
mod lists;
mod llms;
mod mirror;
mod names;
mod place;
mod request;
mod shown;
mod site;
mod wacz;
mod warc;

pub(crate) use content::{archived_content, decoded_body};
pub(crate) use request::{Export, ExportError, ExportFormat, Exported};

/// Writes an export.
///
/// # Errors
/// [`ExportError`] when the crawl cannot be read, or a file not be written.
pub(crate) fn export(export: &Export<'_>) -> Result<Exported, ExportError> {
    match export.format {
        ExportFormat::Markdown | ExportFormat::Text => folder::write(export),
        ExportFormat::Jsonl | ExportFormat::Csv => lines::write(export),
        ExportFormat::Warc => warc::write(export),
        ExportFormat::Wacz => wacz::write(export),
        ExportFormat::Mirror => mirror::write(export),
    }
}
