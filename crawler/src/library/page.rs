//! [`Page`]: a page as a crawl hands it out.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use super::Visit;
use crate::{
    engine::FetchedPage,
    extract,
    fetch::{FetchResponse, Truncation},
    url::{UrlError, WebUrl},
};

/// A page that a server sent: an answer with a status of 2xx, whatever its type.
#[derive(Debug)]
pub struct Page {
    visit: Visit,
    fetched: FetchedPage,
    added: Added,
}

/// URLs that are taken as if a page linked to them.
#[derive(Debug, Clone, Default)]
pub(super) struct Added(Arc<Mutex<Vec<WebUrl>>>);

impl Added {
    fn push(&self, url: WebUrl) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(url);
    }

    /// Those that were added by now.
    pub(super) fn take(&self) -> Vec<WebUrl> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Page {
    pub(super) fn new(visit: Visit, fetched: FetchedPage) -> Self {
        Self { visit, fetched, added: Added::default() }
    }

    /// Its visit: URL, way and time.
    pub fn visit(&self) -> &Visit {
        &self.visit
    }

    pub(super) fn added(&self) -> Added {
        self.added.clone()
    }

    /// Adds a URL to the links of this page, absolute or relative to it, before the function has returned that was given the page. It
    /// is crawled if it is within the scope and new. As with all links, one beyond `extract.max_links` is left out, and so are all
    /// of a page that asks not to follow its links. It is kept with the page: a kill loses both or none.
    ///
    /// # Errors
    /// [`UrlError`] where that is no URL of the web.
    pub fn enqueue(&self, url: &str) -> Result<(), UrlError> {
        self.added.push(self.url().join(url)?);
        Ok(())
    }

    /// Its URL, without a fragment.
    pub fn url(&self) -> &WebUrl {
        self.visit.url()
    }

    /// The page that links here, or the URL that redirects here, on the way by which it was found first; `None` for a start.
    pub fn via(&self) -> Option<&WebUrl> {
        self.visit.via()
    }

    /// When it was complete.
    pub fn fetched_at(&self) -> SystemTime {
        self.visit.fetched_at()
    }

    /// SHA-256 of the body.
    pub fn digest(&self) -> [u8; 32] {
        self.fetched.digest
    }

    /// Whether the directory has no earlier copy of it; otherwise it has one, which is another if this is an
    /// [`Event::Page`](super::Event::Page).
    pub fn is_new(&self) -> bool {
        self.fetched.is_new
    }

    /// The HTTP status, 200 to 299.
    pub fn status(&self) -> u16 {
        self.fetched.response.status
    }

    /// How many links lead here from a start, on the way by which it was found; 0 for a start.
    pub fn depth(&self) -> u32 {
        self.visit.depth()
    }

    /// The title, where it is HTML and has one.
    pub fn title(&self) -> Option<&str> {
        self.fetched.title.as_deref()
    }

    /// `Content-Type` as received, parameters included.
    pub fn content_type(&self) -> Option<&str> {
        self.fetched.response.content_type()
    }

    /// Whether its links are followed: by its type, or, where the server named none, by its first bytes.
    pub fn is_html(&self) -> bool {
        extract::is_html(self.content_type(), self.body())
    }

    /// The first value of a header (any case), if it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.fetched.response.header(name)
    }

    /// The body, with content codings (gzip, brotli) undone: at most `fetch.max_body` bytes of it (16 MiB).
    pub fn body(&self) -> &[u8] {
        &self.fetched.response.body
    }

    /// The same, without a copy.
    pub fn into_body(self) -> Vec<u8> {
        self.fetched.response.body
    }

    /// The body as text, in the charset that its byte order mark, `Content-Type` or `<meta>` names, or else in the one that
    /// it looks like. Bytes that are none of its letters become U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        extract::decoded(self.body(), self.content_type(), self.url())
    }

    /// Where its links lead (`a` and `area`): absolute URLs without fragments, each once, in their order, in scope or not.
    /// The crawl follows more than these (frames, refreshes, `link`, the header `Link`). They are read anew from the body, which
    /// takes about as long as the crawl itself spends on a page.
    pub fn links(&self) -> Vec<WebUrl> {
        if !self.is_html() {
            return Vec::new();
        }
        let found = extract::links(self.body(), self.content_type(), self.url());
        found.links.into_iter().map(|link| link.url).collect()
    }

    /// Why the body ends before its end, if it does.
    pub fn truncated(&self) -> Option<Truncation> {
        self.fetched.response.truncated
    }

    /// All that the server sent.
    pub fn response(&self) -> &FetchResponse {
        &self.fetched.response
    }
}
