//! `[extract]`: what is read from pages.

use std::{
    marker::PhantomData,
    path::{Path, PathBuf},
};

use crate::{
    config::{
        reader::KeyReader,
        rules::{Count, Each, OneOf, Parsed, Unless, words},
    },
    extract::{FieldRule, FieldRules},
};

/// The key of fields, which a file may give as a table.
pub(in crate::config) const FIELDS: &str = "extract.fields";

const RULES: Each<FieldRule> = Each(Parsed {
    allowed: "NAME=CSS, NAME=CSS@ATTRIBUTE or NAME[]=CSS, with \"REGEX => \" in front or without",
    parse: rule,
});

const STRUCTURED: Each<StructuredData> = Each(Parsed { allowed: "\"json-ld\" or \"opengraph\"", parse: structured });

const ITEMS: Parsed<PathBuf> = Parsed { allowed: "the name of a file, or \"-\"", parse: file };

words! {
    /// What becomes of links marked `rel=nofollow`.
    NofollowChoice {
        /// They are followed.
        Follow = "follow",
        /// They are left out.
        Obey = "obey",
    }
}

/// What is read from pages.
#[derive(Debug, Clone)]
pub struct ExtractSettings {
    /// Different links of a page that are kept.
    pub max_links: u32,
    /// What becomes of links marked `rel=nofollow`.
    pub nofollow: NofollowChoice,
    /// What is taken out of pages.
    pub fields: FieldRules,
    /// Where the items are written that these make; `-` is stdout.
    pub items: Option<PathBuf>,
}

/// What pages bring along for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StructuredData {
    JsonLd,
    OpenGraph,
}

impl ExtractSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let max_links = reader.read("extract.max_links", &Count(1..=10_000_000));
        let nofollow = reader.read("extract.nofollow", &OneOf(PhantomData));
        let rules = FieldRules::new(reader.read(FIELDS, &RULES));
        let structured = reader.read("extract.structured", &STRUCTURED);
        let has = |kind| structured.contains(&kind);
        let fields = rules.with_structured(has(StructuredData::JsonLd), has(StructuredData::OpenGraph));
        let items = reader.read("extract.items", &Unless { word: "none", rule: ITEMS });
        Self { max_links, nofollow, fields, items }
    }
}

impl ExtractSettings {
    /// Whether items go to stdout.
    pub fn writes_to_stdout(&self) -> bool {
        self.items.as_deref().is_some_and(|path| path == Path::new("-"))
    }
}

fn rule(text: &str) -> Result<FieldRule, String> {
    FieldRule::parse(text).map_err(|error| error.to_string())
}

fn structured(text: &str) -> Result<StructuredData, String> {
    match text {
        "json-ld" => Ok(StructuredData::JsonLd),
        "opengraph" => Ok(StructuredData::OpenGraph),
        other => Err(format!("{other:?} is neither")),
    }
}

fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() || text.contains(char::is_control) {
        Err("it is no name of a file".into())
    } else {
        Ok(text.into())
    }
}
