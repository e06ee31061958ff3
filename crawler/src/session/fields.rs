//! [`FieldReader`]: takes fields out of pages before their visits are written.

use crate::{
    engine::Preparer,
    extract::{FieldRules, is_html},
    fetch::{FetchResponse, Keep},
    store::KeptPart,
    url::WebUrl,
};

/// Reads fields by these rules.
pub(super) struct FieldReader(pub(super) FieldRules);

impl Preparer for FieldReader {
    fn keeps(&self) -> Keep {
        Keep::default()
    }

    fn prepare(&self, url: &WebUrl, answer: &FetchResponse) -> Option<KeptPart> {
        let is_page = (200..300).contains(&answer.status) && is_html(answer.content_type(), &answer.body);
        let fields = Some(&self.0).filter(|_| is_page)?.read(&answer.body, answer.content_type(), url)?;
        let bytes = fields.json.len();
        Some(KeptPart::new(fields, bytes))
    }
}
