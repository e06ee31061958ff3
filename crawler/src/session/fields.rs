//! [`FieldReader`]: takes fields out of pages before their visits are written.

use std::sync::{Mutex, PoisonError};

use crate::{
    engine::{BIG_BODY, Preparer},
    extract::{FieldRules, is_html},
    fetch::{FetchResponse, Keep},
    store::KeptPart,
    url::WebUrl,
};

/// Reads fields by these rules.
pub(super) struct FieldReader {
    rules: FieldRules,
    /// The tree of a page may be fifty times as large as the page: of large pages there is one at a time.
    turn: Mutex<()>,
}

impl FieldReader {
    pub(super) fn new(rules: FieldRules) -> Self {
        Self { rules, turn: Mutex::default() }
    }
}

impl Preparer for FieldReader {
    fn keeps(&self) -> Keep {
        Keep::default()
    }

    fn prepare(&self, url: &WebUrl, answer: &FetchResponse) -> Option<KeptPart> {
        let is_page = (200..300).contains(&answer.status) && is_html(answer.content_type(), &answer.body);
        // What is not large is read where nobody may wait.
        let is_large = answer.body.len() >= BIG_BODY;
        let _turn = is_large.then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        let fields = Some(&self.rules).filter(|_| is_page)?.read(&answer.body, answer.content_type(), url)?;
        let bytes = fields.json.len();
        Some(KeptPart::new(fields, bytes))
    }
}
