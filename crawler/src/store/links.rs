//! [`LinkLine`]: a link of a page, and which links are asked for.

use super::LinkLabel;
use crate::url::WebUrl;

/// Which links are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkQuery {
    /// Those that lead to this URL.
    To(WebUrl),
    /// Those of this page.
    From(WebUrl),
    /// Those to what is broken or failed, also over redirects.
    Broken,
    /// Those to what redirects.
    Redirects,
    /// Those that left the scope.
    External,
    /// None: the pages to which no page links, each with what named it.
    Orphans,
}

/// A page and a URL that it links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkLine {
    /// The page.
    pub from: String,
    /// What it links to.
    pub to: LinkEnd,
    /// What the link says of itself; `None` where that was not kept.
    pub label: Option<LinkLabel>,
}

/// Where a link leads, and what came of that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkEnd {
    /// The URL; `None` for a lost one of which only a fingerprint is known.
    pub url: Option<String>,
    /// The status of its last answer.
    pub status: Option<u16>,
    /// `stored`, `redirected`, `broken`, `gone`, `abandoned`, `failed`, `queued` or `lost`; `None` for what is outside of the crawl.
    pub outcome: Option<String>,
    /// Why, where there is a reason; why it is outside.
    pub reason: Option<String>,
    /// Where it is redirected to in the end.
    pub redirect: Option<LinkFound>,
}

/// What is at the end of redirects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkFound {
    /// Its URL.
    pub url: String,
    /// The status of its last answer.
    pub status: Option<u16>,
    /// As [`LinkEnd::outcome`]; `redirected` where the redirects have no end.
    pub outcome: Option<String>,
    /// The URLs that redirect to each other in a circle, where that is why.
    pub circle: Vec<String>,
}

/// What was read for a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinksRead {
    /// Whether the URL that was asked for is one of the crawl, or one that it links to.
    pub is_known: bool,
    /// Pages whose links were looked at.
    pub pages: u64,
    /// Those of them of which nothing is kept but where their links lead within the scope.
    pub unlabelled: u64,
}
