//! [`Page`]: a page as a crawl hands it out.

use std::borrow::Cow;

use crate::{
    engine::FetchedPage,
    extract,
    fetch::{FetchResponse, Truncation},
    url::WebUrl,
};

/// A page that a server sent: an answer with a status of 2xx, whatever its type.
#[derive(Debug)]
pub struct Page {
    fetched: FetchedPage,
}

impl Page {
    pub(super) fn new(fetched: FetchedPage) -> Self {
        Self { fetched }
    }

    /// Its URL, without a fragment.
    pub fn url(&self) -> &WebUrl {
        &self.fetched.url
    }

    /// The HTTP status, 200 to 299.
    pub fn status(&self) -> u16 {
        self.fetched.response.status
    }

    /// How many links lead here from a start, on the way by which it was found; 0 for a start.
    pub fn depth(&self) -> u32 {
        self.fetched.depth
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
    /// They are read anew from the body, which takes about as long as the crawl itself spends on a page.
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
