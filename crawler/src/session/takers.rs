//! [`VisitTaker`]: what takes each visit of a crawl, beside the URL table.
//!
//! Owns: which takers a crawl has, and their order.

use std::{path::Path, sync::Arc};

use super::directory::takers::Taker;
use crate::{config::Settings, engine::Preparer};

/// Its two halves.
pub(crate) struct VisitTaker {
    /// What sees the answer; `None` where the row of the visit is enough.
    pub(crate) preparer: Option<Arc<dyn Preparer>>,
    /// What writes.
    pub(crate) taker: Box<dyn Taker>,
}

/// The takers of a crawl in this directory. There are none yet.
pub(super) fn of(_dir: &Path, _settings: &Settings) -> Vec<VisitTaker> {
    Vec::new()
}
