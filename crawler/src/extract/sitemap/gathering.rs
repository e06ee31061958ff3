//! [`Gathering`]: the entries of a source while it is read.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;
use url::ParseError;

use super::{
    date,
    list::{ChangeFrequency, SourceEntry, SourceKind, SourceLimits, SourceList},
    problem::{SourceFault, SourceProblems},
};
use crate::{
    time::Moment,
    url::{UrlError, WebUrl},
};

/// The longest URL that relative ones are resolved against, in bytes: each of them may become that long.
pub(super) const LONGEST_BASE: usize = 2048;

/// Which list an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    Page,
    Sitemap,
}

/// Where an entry is kept, if it is.
pub(super) type Kept = Option<(Listed, usize)>;

/// Keeps each entry once, up to the limits.
#[derive(Debug)]
pub(super) struct Gathering<'a> {
    pub(super) url: &'a WebUrl,
    most: usize,
    pages: EntrySet,
    sitemaps: EntrySet,
    problems: SourceProblems,
    beyond: u64,
}

#[derive(Debug, Default)]
struct EntrySet {
    entries: Vec<SourceEntry>,
    places: HashTable<usize>,
    hasher: RandomState,
}

impl EntrySet {
    /// The place of a URL that is not there yet, with its hash.
    fn vacant(&self, url: &WebUrl) -> Option<u64> {
        let hash = self.hasher.hash_one(url);
        self.places.find(hash, |place| self.entries[*place].url == *url).is_none().then_some(hash)
    }

    fn push(&mut self, hash: u64, url: WebUrl) -> usize {
        let place = self.entries.len();
        self.entries.push(SourceEntry { url, lastmod: None, changefreq: None, priority: None });
        let Self { entries, places, hasher } = self;
        places.insert_unique(hash, place, |place| hasher.hash_one(&entries[*place].url));
        place
    }
}

impl<'a> Gathering<'a> {
    pub(super) fn new(url: &'a WebUrl, limits: &SourceLimits) -> Self {
        let (pages, sitemaps) = (EntrySet::default(), EntrySet::default());
        Self { url, most: limits.entries, pages, sitemaps, problems: SourceProblems::default(), beyond: 0 }
    }

    pub(super) fn problem(&mut self, fault: SourceFault, example: &str) {
        self.problems.add(fault, example);
    }

    /// The end is missing; if that is known already, it is said better.
    pub(super) fn unfinished(&mut self) {
        if !self.problems.has_cut() {
            self.problem(SourceFault::Unfinished, "");
        }
    }

    /// Where the entry is kept, unless it is there already or there is no room.
    pub(super) fn add(&mut self, listed: Listed, url: WebUrl) -> Kept {
        let most = self.most;
        let set = self.set(listed);
        let hash = set.vacant(&url)?;
        if set.entries.len() < most {
            return Some((listed, set.push(hash, url)));
        }
        self.beyond += 1;
        self.problem(SourceFault::TooMany, "");
        None
    }

    fn set(&mut self, listed: Listed) -> &mut EntrySet {
        match listed {
            Listed::Page => &mut self.pages,
            Listed::Sitemap => &mut self.sitemaps,
        }
    }

    pub(super) fn entry(&mut self, kept: Kept) -> Option<&mut SourceEntry> {
        kept.and_then(|(listed, place)| self.set(listed).entries.get_mut(place))
    }

    /// The URL of a sitemap's entry; one that is relative is resolved, and is a problem.
    pub(super) fn absolute(&mut self, text: &str) -> Option<WebUrl> {
        let found = match WebUrl::parse(text) {
            Err(UrlError::Syntax(ParseError::RelativeUrlWithoutBase)) => {
                let resolved = resolve(text, self.url);
                resolved.inspect(|_| self.problem(SourceFault::Relative, text))
            }
            other => other.ok(),
        };
        self.checked(found, text)
    }

    /// The URL of a feed's entry.
    pub(super) fn resolved(&mut self, text: &str, base: &WebUrl) -> Option<WebUrl> {
        self.checked(resolve(text, base), text)
    }

    fn checked(&mut self, url: Option<WebUrl>, text: &str) -> Option<WebUrl> {
        if url.is_none() {
            self.problem(SourceFault::NotUrl, text);
        }
        url
    }

    pub(super) fn date(&mut self, text: &str) -> Option<Moment> {
        self.value(text, SourceFault::Date, date::parse)
    }

    pub(super) fn changefreq(&mut self, text: &str) -> Option<ChangeFrequency> {
        self.value(text, SourceFault::ChangeFrequency, ChangeFrequency::of)
    }

    /// One that lies outside the range is the nearest within it, and a problem.
    pub(super) fn priority(&mut self, text: &str) -> Option<f64> {
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let number = self.value(text, SourceFault::Priority, number)?;
        if !(0.0..=1.0).contains(&number) {
            self.problem(SourceFault::Priority, text);
        }
        Some(number.clamp(0.0, 1.0))
    }

    /// An empty value is as none.
    fn value<T>(&mut self, text: &str, fault: SourceFault, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = parse(text);
        if value.is_none() && !text.is_empty() {
            self.problem(fault, text);
        }
        value
    }

    pub(super) fn into_list(self, kind: Option<SourceKind>) -> SourceList {
        SourceList {
            kind,
            entries: self.pages.entries,
            sitemaps: self.sitemaps.entries,
            problems: self.problems.into_list(),
            beyond: self.beyond,
        }
    }
}

/// A reference, absolute or not. What has white space within it is a text.
pub(super) fn resolve(text: &str, base: &WebUrl) -> Option<WebUrl> {
    match WebUrl::parse(text) {
        Err(UrlError::Syntax(ParseError::RelativeUrlWithoutBase)) => {
            let is_reference = !text.is_empty() && !text.contains(char::is_whitespace);
            (is_reference && base.as_str().len() <= LONGEST_BASE).then(|| base.join(text).ok()).flatten()
        }
        absolute => absolute.ok(),
    }
}
