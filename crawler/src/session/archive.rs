//! [`Archiver`]: makes answers ready for the archive before their visits are written.

use super::directory::{ArchiveRule, ArchivedAnswer, RecordCompression};
use crate::{
    config::{ArchiveChoice, CompressionChoice, Settings},
    engine::Preparer,
    fetch::{FetchResponse, Keep},
    media_type,
    store::KeptPart,
    url::WebUrl,
};

/// What each file says of the heads in it.
const HEADS: &str = "Names of headers are in lower case, and headers of one name stand together: the client keeps no more of them. \
     Transfer-Encoding is left out, because it was undone. Requests have no headers with credentials or cookies, nor those that the user gave.";

/// Reads answers for the archive.
pub(super) struct Archiver {
    types: Vec<String>,
    compression: RecordCompression,
}

/// How the archive of a crawl is written; `None` if there is to be none.
pub(super) fn rule(settings: &Settings, open_settings: &str) -> Option<ArchiveRule> {
    let archive = &settings.archive;
    let whole = match archive.format {
        ArchiveChoice::None => return None,
        ArchiveChoice::Warc => false,
        ArchiveChoice::SelfContained => true,
    };
    let ignored = &settings.robots.ignore;
    let robots = if ignored.is_empty() { "obey".to_owned() } else { format!("obey, but for {}", ignored.join(", ")) };
    let about = vec![
        ("software", concat!("Webloom/", env!("CARGO_PKG_VERSION")).to_owned()),
        ("format", "WARC File Format 1.1".to_owned()),
        ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/".to_owned()),
        ("robots", robots),
        ("http-header-user-agent", settings.fetch.user_agent.as_str().to_owned()),
        ("settings", open_settings.to_owned()),
        ("description", HEADS.to_owned()),
    ];
    let compression = compression(settings);
    Some(ArchiveRule { whole, types: archive.types.clone(), file_bytes: archive.file_size, compression, about })
}

fn compression(settings: &Settings) -> RecordCompression {
    match settings.archive.compression {
        CompressionChoice::Gzip => RecordCompression::Gzip,
        CompressionChoice::Zstd => RecordCompression::Zstd,
    }
}

impl Archiver {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { types: settings.archive.types.clone(), compression: compression(settings) }
    }
}

impl Preparer for Archiver {
    fn keeps(&self) -> Keep {
        Keep { raw_head: true, body_as_sent: true }
    }

    fn prepare(&self, _url: &WebUrl, answer: &FetchResponse) -> Option<KeptPart> {
        let is_page = (200..300).contains(&answer.status);
        let essence = || answer.content_type().map(media_type::essence).unwrap_or_default();
        if is_page && !self.types.is_empty() && !media_type::is_among(&self.types, &essence()) {
            return None;
        }
        let archived = ArchivedAnswer::of(answer, self.compression)?;
        let bytes = archived.bytes();
        Some(KeptPart::new(archived, bytes))
    }
}
