//! `[sources]`: where the URLs of a crawl come from, beside links.

use std::marker::PhantomData;

use crate::{
    config::{
        reader::KeyReader,
        rules::{Each, OneOf, Parsed, words},
    },
    url::WebUrl,
};

const URLS: Each<WebUrl> = Each(Parsed { allowed: "a URL with http or https", parse: address });

words! {
    /// Whether lists of URLs of one kind are read.
    ListsChoice {
        /// They are.
        On = "on",
        /// They are not.
        Off = "off",
    }
}

words! {
    /// Whether forms that are sent with GET are links.
    FormsChoice {
        /// They are not.
        Off = "off",
        /// They lead where they are sent, with no field filled in.
        On = "on",
    }
}

words! {
    /// What becomes of the canonical page that a page names.
    CanonicalChoice {
        /// It is kept with the page.
        Record = "record",
        /// It is a link of the page, too.
        Follow = "follow",
    }
}

/// Where URLs come from, beside links.
#[derive(Debug, Clone)]
pub struct SourcesSettings {
    /// Whether sitemaps are looked for and read.
    pub sitemaps: ListsChoice,
    /// Whether feeds are read.
    pub feeds: ListsChoice,
    /// Sitemaps beside those that hosts name.
    pub sitemap: Vec<WebUrl>,
    /// Whether forms are links.
    pub forms: FormsChoice,
    /// What becomes of canonical pages.
    pub canonical: CanonicalChoice,
}

impl SourcesSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        Self {
            sitemaps: reader.read("sources.sitemaps", &OneOf(PhantomData)),
            feeds: reader.read("sources.feeds", &OneOf(PhantomData)),
            sitemap: reader.read("sources.sitemap", &URLS),
            forms: reader.read("sources.forms", &OneOf(PhantomData)),
            canonical: reader.read("sources.canonical", &OneOf(PhantomData)),
        }
    }
}

fn address(text: &str) -> Result<WebUrl, String> {
    WebUrl::parse(text).map_err(|error| error.to_string())
}
