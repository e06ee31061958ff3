//! RSS in all its versions, and Atom.

use quick_xml::events::BytesStart;

use super::{
    elements::{XmlName, attribute},
    gathering::{Gathering, Kept, LONGEST_BASE, Listed},
    outline::{FieldText, Vocabulary},
};
use crate::{time::Moment, url::WebUrl};

/// What is read of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeedField {
    Link,
    Guid,
    Date,
}

const FIELDS: [(&str, FeedField); 8] = [
    ("link", FeedField::Link),
    ("guid", FeedField::Guid),
    ("pubDate", FeedField::Date),
    ("published", FeedField::Date),
    ("updated", FeedField::Date),
    ("date", FeedField::Date),
    ("modified", FeedField::Date),
    ("issued", FeedField::Date),
];

/// Prefixes that feeds commonly bind to the namespaces of Atom and Dublin Core.
const PREFIXES: [&str; 5] = ["", "atom", "a10", "dc", "dcterms"];

/// Media types of pages: of many links, the first to one of them is the entry's.
const PAGES: [&str; 2] = ["text/html", "application/xhtml+xml"];

/// The words of feeds.
#[derive(Debug)]
pub(super) struct FeedWords<'a, 'b> {
    gathering: &'a mut Gathering<'b>,
    prefix: &'a str,
    /// What links are resolved against: that of the document, of the entry, of the link.
    bases: [WebUrl; 3],
    /// The entry that is being read. What is in none is about the feed.
    entry: Option<FeedEntry>,
}

/// What is known of an entry.
#[derive(Debug, Default)]
struct FeedEntry {
    /// A link was found.
    named: bool,
    kept: Kept,
    /// A link to something else than a page.
    other: Option<WebUrl>,
    guid: Option<WebUrl>,
    /// The latest of its dates.
    date: Option<Moment>,
}

impl<'a, 'b> FeedWords<'a, 'b> {
    pub(super) fn new(gathering: &'a mut Gathering<'b>, prefix: &'a str, root: &BytesStart<'_>) -> Self {
        let base = base(root, gathering.url);
        Self { gathering, prefix, bases: [base.clone(), base.clone(), base], entry: None }
    }

    /// The first link of an entry counts.
    fn name(&mut self, url: WebUrl) {
        if let Some(entry) = self.entry.as_mut().filter(|entry| !entry.named) {
            entry.named = true;
            entry.kept = self.gathering.add(Listed::Page, url);
            self.put_date();
        }
    }

    fn put_date(&mut self) {
        if let Some(FeedEntry { kept, date, .. }) = self.entry
            && let Some(listed) = self.gathering.entry(kept)
        {
            listed.lastmod = date;
        }
    }

    fn link(&mut self, reference: &str, is_page: bool) {
        match (self.gathering.resolved(reference, &self.bases[2]), &mut self.entry) {
            (Some(url), _) if is_page => self.name(url),
            (Some(url), Some(entry)) => drop(entry.other.get_or_insert(url)),
            _ => {}
        }
    }
}

impl Vocabulary for FeedWords<'_, '_> {
    type Field = FeedField;

    fn is_record(&self, name: XmlName<'_>) -> bool {
        (name.prefix.is_empty() || name.prefix == self.prefix) && (name.is("item") || name.is("entry"))
    }

    fn field(&self, name: XmlName<'_>) -> Option<FeedField> {
        let is_known = name.prefix == self.prefix || PREFIXES.contains(&name.prefix);
        if is_known && self.entry.is_some() { name.among(&FIELDS) } else { None }
    }

    fn begin(&mut self, tag: &BytesStart<'_>) {
        self.entry = Some(FeedEntry::default());
        self.bases[1] = base(tag, &self.bases[0]);
    }

    fn attributes(&mut self, field: FeedField, tag: &BytesStart<'_>) -> bool {
        if field != FeedField::Link {
            return true;
        }
        self.bases[2] = base(tag, &self.bases[1]);
        let Some(href) = attribute(tag, "href") else { return true };
        let is_alternate = attribute(tag, "rel").is_none_or(|rel| rel.trim().eq_ignore_ascii_case("alternate"));
        let is_page =
            attribute(tag, "type").is_none_or(|kind| PAGES.iter().any(|page| kind.trim().eq_ignore_ascii_case(page)));
        if is_alternate {
            self.link(href.trim(), is_page);
        }
        false
    }

    fn value(&mut self, field: FeedField, text: &FieldText) {
        let text = text.trimmed();
        match (field, &mut self.entry) {
            (FeedField::Link, _) if !text.is_empty() => self.link(text, true),
            (FeedField::Guid, Some(entry)) => entry.guid = WebUrl::parse(text).ok(),
            (FeedField::Date, Some(entry)) => {
                entry.date = self.gathering.date(text).max(entry.date);
                self.put_date();
            }
            _ => {}
        }
    }

    /// An entry without a link to a page has another link, or names itself by a URL.
    fn end(&mut self, _text: &FieldText) {
        let url = self.entry.as_mut().and_then(|entry| entry.other.take().or(entry.guid.take()));
        if let Some(url) = url {
            self.name(url);
        }
        self.entry = None;
    }
}

/// The base that an element sets for what is in it (`xml:base`).
fn base(tag: &BytesStart<'_>, outer: &WebUrl) -> WebUrl {
    let inner = attribute(tag, "xml:base").and_then(|base| outer.join(base.trim()).ok());
    inner.filter(|base| base.as_str().len() <= LONGEST_BASE).unwrap_or_else(|| outer.clone())
}
