//! `[sources]`: where the URLs of a crawl come from, beside links.

use std::marker::PhantomData;

use crate::config::{
    reader::KeyReader,
    rules::{OneOf, words},
};

words! {
    /// Whether forms that are sent with GET are links.
    FormsChoice {
        /// They are not.
        Off = "off",
        /// They lead where they are sent, with no field filled in.
        On = "on",
    }
}

/// Where URLs come from, beside links.
#[derive(Debug, Clone)]
pub struct SourcesSettings {
    /// Whether forms are links.
    pub forms: FormsChoice,
}

impl SourcesSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self { forms: reader.read("sources.forms", &OneOf(PhantomData)) }
    }
}
