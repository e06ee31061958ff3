//! `[search]`: the full-text index.

use std::marker::PhantomData;

use crate::config::{
    reader::KeyReader,
    rules::{OneOf, words},
};

words! {
    /// Whether pages are indexed.
    IndexChoice {
        /// If they are archived.
        Auto = "auto",
        /// They are.
        On = "on",
        /// They are not.
        Off = "off",
    }
}

/// What is indexed.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    /// Whether pages are.
    pub index: IndexChoice,
}

impl SearchSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self { index: reader.read("search.index", &OneOf(PhantomData)) }
    }
}
