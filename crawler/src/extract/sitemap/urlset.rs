//! XML sitemaps and indexes of them (the protocol of sitemaps.org).

use std::mem;

use quick_xml::events::BytesStart;

use super::{
    elements::XmlName,
    gathering::{Gathering, Kept, Listed},
    list::{ChangeFrequency, SourceEntry},
    outline::{FieldText, Vocabulary},
    problem::SourceFault,
};
use crate::{time::Moment, url::WebUrl};

/// What is read of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SitemapField {
    Loc,
    Lastmod,
    Changefreq,
    Priority,
}

const FIELDS: [(&str, SitemapField); 4] = [
    ("loc", SitemapField::Loc),
    ("lastmod", SitemapField::Lastmod),
    ("changefreq", SitemapField::Changefreq),
    ("priority", SitemapField::Priority),
];

const RECORDS: [(&str, Listed); 2] = [("url", Listed::Page), ("sitemap", Listed::Sitemap)];

/// What is said of a URL.
#[derive(Debug, Default, Clone, Copy)]
struct Details {
    lastmod: Option<Moment>,
    changefreq: Option<ChangeFrequency>,
    priority: Option<f64>,
}

impl Details {
    /// What was said first holds.
    fn or(self, other: Self) -> Self {
        Self {
            lastmod: self.lastmod.or(other.lastmod),
            changefreq: self.changefreq.or(other.changefreq),
            priority: self.priority.or(other.priority),
        }
    }

    fn of(entry: &SourceEntry) -> Self {
        Self { lastmod: entry.lastmod, changefreq: entry.changefreq, priority: entry.priority }
    }
}

/// The words of sitemaps. An element counts if it has the prefix of the root, or none; which namespace that is does not matter.
#[derive(Debug)]
pub(super) struct SitemapWords<'a, 'b> {
    gathering: &'a mut Gathering<'b>,
    prefix: &'a str,
    /// What the document lists, where an entry is in no record.
    root: Listed,
    listed: Listed,
    /// What came before the first URL of a record.
    before: Details,
    /// The record has named a URL.
    named: bool,
    /// Where the last of them is kept: a record may have many, each with what follows it.
    kept: Kept,
}

impl<'a, 'b> SitemapWords<'a, 'b> {
    pub(super) fn new(gathering: &'a mut Gathering<'b>, prefix: &'a str, root: Listed) -> Self {
        Self { gathering, prefix, root, listed: root, before: Details::default(), named: false, kept: None }
    }

    fn is_own(&self, name: XmlName<'_>) -> bool {
        name.prefix.is_empty() || name.prefix == self.prefix
    }

    fn locate(&mut self, text: &FieldText) {
        let before = mem::take(&mut self.before);
        self.named = true;
        self.kept = self.url(text).and_then(|url| self.gathering.add(self.listed, url));
        self.detail(before);
    }

    /// What has a reference that nobody resolves is a URL only if the rest makes one.
    fn url(&mut self, text: &FieldText) -> Option<WebUrl> {
        let value = text.trimmed();
        if text.has_unknown && WebUrl::parse(value).is_err() {
            self.gathering.problem(SourceFault::NotUrl, value);
            return None;
        }
        self.gathering.absolute(value)
    }

    fn detail(&mut self, details: Details) {
        if !self.named {
            self.before = mem::take(&mut self.before).or(details);
        } else if let Some(entry) = self.gathering.entry(self.kept) {
            let Details { lastmod, changefreq, priority } = Details::of(entry).or(details);
            (entry.lastmod, entry.changefreq, entry.priority) = (lastmod, changefreq, priority);
        }
    }

    fn leave(&mut self) {
        self.listed = self.root;
        (self.before, self.named, self.kept) = (Details::default(), false, None);
    }
}

impl Vocabulary for SitemapWords<'_, '_> {
    type Field = SitemapField;

    fn is_record(&self, name: XmlName<'_>) -> bool {
        self.is_own(name) && name.among(&RECORDS).is_some()
    }

    fn field(&self, name: XmlName<'_>) -> Option<SitemapField> {
        if self.is_own(name) { name.among(&FIELDS) } else { None }
    }

    fn begin(&mut self, tag: &BytesStart<'_>) {
        self.leave();
        self.listed = XmlName::of(tag.name().into_inner()).among(&RECORDS).unwrap_or(self.root);
    }

    fn attributes(&mut self, _field: SitemapField, _tag: &BytesStart<'_>) -> bool {
        true
    }

    fn value(&mut self, field: SitemapField, text: &FieldText) {
        let value = text.trimmed();
        let mut details = Details::default();
        match field {
            SitemapField::Loc => return self.locate(text),
            SitemapField::Lastmod => details.lastmod = self.gathering.date(value),
            SitemapField::Changefreq => details.changefreq = self.gathering.changefreq(value),
            SitemapField::Priority => details.priority = self.gathering.priority(value),
        }
        self.detail(details);
    }

    /// Some write the URL without `loc`.
    fn end(&mut self, text: &FieldText) {
        if !self.named && !text.trimmed().is_empty() {
            self.locate(text);
        }
        self.leave();
    }
}
