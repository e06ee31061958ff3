//! `[scope]`.

use std::marker::PhantomData;

use regex::Regex;

use super::{
    pattern::pattern,
    section::{SectionRule, URL_SECTIONS},
};
use crate::{
    config::{
        reader::KeyReader,
        rules::{Count, Each, OneOf, Parsed, words},
    },
    sections::UrlSections,
};

const PATTERNS: Each<Regex> = Each(Parsed { allowed: "a regular expression", parse: pattern });

words! {
    /// The area around each start URL.
    ScopeKind {
        /// The start's whole host.
        Host = "host",
        /// The start's registrable domain with all names below it.
        Domain = "domain",
        /// What lies under the start's directory.
        Prefix = "prefix",
        /// The whole web.
        Any = "any",
    }
}

/// What belongs to the crawl.
#[derive(Debug, Clone)]
pub struct ScopeSettings {
    /// The area around each start URL.
    pub kind: ScopeKind,
    /// If there are any, a URL must match at least one; searched for in the whole URL.
    pub include: Vec<Regex>,
    /// A URL that matches one is refused, whatever else says so; searched for in the whole URL.
    pub exclude: Vec<Regex>,
    /// Longest URL in bytes.
    pub max_url_length: u32,
    /// URLs with limits of their own.
    pub sections: UrlSections,
}

impl ScopeSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self {
            kind: reader.read("scope.kind", &OneOf(PhantomData)),
            include: reader.read("scope.include", &PATTERNS),
            exclude: reader.read("scope.exclude", &PATTERNS),
            max_url_length: reader.read("scope.max_url_length", &Count(64..=65_536)),
            sections: reader.read(URL_SECTIONS, &SectionRule),
        }
    }
}
