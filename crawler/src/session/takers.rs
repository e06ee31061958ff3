//! [`VisitTaker`]: what takes each visit of a crawl, beside the URL table.
//!
//! Owns: which takers a crawl has, and their order.

use std::{path::Path, sync::Arc};

use super::{
    archive::{self, Archiver},
    directory::{ArchiveTaker, FieldTaker, takers::Taker},
    fields::FieldReader,
};
use crate::{config::Settings, engine::Preparer};

/// Its two halves.
pub(crate) struct VisitTaker {
    /// What sees the answer; `None` where the row of the visit is enough.
    pub(crate) preparer: Option<Arc<dyn Preparer>>,
    /// What writes.
    pub(crate) taker: Box<dyn Taker>,
}

/// The takers of a crawl in this directory, whose settings anybody may see as this JSON.
pub(crate) fn of(dir: &Path, settings: &Settings, open_settings: &str) -> Vec<VisitTaker> {
    let extract = &settings.extract;
    let fields = (!extract.fields.is_empty()).then(|| VisitTaker {
        preparer: Some(Arc::new(FieldReader::new(extract.fields.clone()))),
        taker: Box::new(FieldTaker::new(extract.items.clone())),
    });
    let archive = archive::rule(settings, open_settings).map(|rule| VisitTaker {
        preparer: Some(Arc::new(Archiver::new(settings))),
        taker: Box::new(ArchiveTaker::new(dir, rule)),
    });
    archive.into_iter().chain(fields).collect()
}
