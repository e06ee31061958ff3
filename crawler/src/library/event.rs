//! [`Event`]: what comes of each URL of a crawl, and [`Flow`]: how the crawl goes on.

use std::fmt;

use super::{Page, Visit};
use crate::{
    engine::{EventKind, VisitEvent},
    url::WebUrl,
};

/// What came of a URL.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A page that is new, or that has changed since the crawl sequence before.
    Page(Page),
    /// A page that is what it was: the server says so (304), or sends the same bytes.
    Unchanged(Unchanged),
    /// It redirects: to this URL.
    Redirected(Visit, WebUrl),
    /// It has no page: the server answers with an error, or not at all after the last attempt. It is not asked for again in
    /// this crawl sequence.
    Failed(Visit, Failure),
}

/// How the crawl goes on after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// As ever.
    Continue,
    /// Without the links of this page: it counts as one that has none. URLs that were [added](Page::enqueue) to it stay.
    SkipLinks,
    /// Not: the crawl stops, as by a [`StopHandle`](super::StopHandle).
    Stop,
}

/// A page that has not changed.
#[derive(Debug)]
pub struct Unchanged {
    visit: Visit,
    page: Option<Page>,
}

/// Why a URL has no page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failure {
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// Why, in one word, where the status does not say it: the column `reason` of `webloom pages`.
    pub reason: Option<String>,
}

impl Event {
    pub(super) fn of(event: VisitEvent) -> Self {
        let VisitEvent { url, via, depth, at, is_rescue: _, kind } = event;
        let visit = Visit::new(url, via, depth, at);
        match kind {
            EventKind::Page(page) => Self::Page(Page::new(visit, *page)),
            EventKind::Unchanged(page) => {
                let page = page.map(|page| Page::new(visit.clone(), *page));
                Self::Unchanged(Unchanged { visit, page })
            }
            EventKind::Redirected(to) => Self::Redirected(visit, to),
            EventKind::Failed { status, reason } => {
                Self::Failed(visit, Failure { status, reason: reason.map(Into::into) })
            }
        }
    }

    /// The visit that it is about.
    pub fn visit(&self) -> &Visit {
        match self {
            Self::Page(page) => page.visit(),
            Self::Unchanged(unchanged) => &unchanged.visit,
            Self::Redirected(visit, _) | Self::Failed(visit, _) => visit,
        }
    }

    /// The page, if the server sent one, changed or not.
    pub fn into_page(self) -> Option<Page> {
        match self {
            Self::Page(page) => Some(page),
            Self::Unchanged(unchanged) => unchanged.page,
            Self::Redirected(..) | Self::Failed(..) => None,
        }
    }

    pub(super) fn page(&self) -> Option<&Page> {
        match self {
            Self::Page(page) => Some(page),
            Self::Unchanged(unchanged) => unchanged.page.as_ref(),
            Self::Redirected(..) | Self::Failed(..) => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &self.reason) {
            (Some(status), Some(reason)) if *reason != status.to_string() => write!(f, "{status} ({reason})"),
            (Some(status), _) => write!(f, "{status}"),
            (None, reason) => f.write_str(reason.as_deref().unwrap_or("no answer")),
        }
    }
}

impl Unchanged {
    /// Its visit.
    pub fn visit(&self) -> &Visit {
        &self.visit
    }

    /// The page, if the server sent it all the same.
    pub fn page(&self) -> Option<&Page> {
        self.page.as_ref()
    }
}
