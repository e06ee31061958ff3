//! [`PageReader`]: hands each page that was fetched to whoever reads along.
//!
//! Invariant: a visit goes on, and is recorded, when its page has been read; so each page that is recorded was read.

use tokio::sync::{mpsc, oneshot};

use crate::{fetch::FetchResponse, url::WebUrl};

/// A page with its body.
#[derive(Debug)]
pub struct FetchedPage {
    /// Its URL, without a fragment.
    pub url: WebUrl,
    /// Links from a start.
    pub depth: u32,
    /// Its title, where it is HTML and has one.
    pub title: Option<Box<str>>,
    /// What the server sent.
    pub response: FetchResponse,
}

/// A page that somebody waits to be read.
#[derive(Debug)]
pub struct Handed {
    /// The page.
    pub page: FetchedPage,
    /// Is sent a message when the page was read; dropping it says so as well.
    pub read: oneshot::Sender<()>,
}

/// The way of pages to their reader.
#[derive(Debug, Clone)]
pub struct PageReader {
    pages: mpsc::Sender<Handed>,
}

impl PageReader {
    /// A way that holds one page, and its end.
    pub fn new() -> (Self, mpsc::Receiver<Handed>) {
        let (pages, receiver) = mpsc::channel(1);
        (Self { pages }, receiver)
    }

    /// Hands a page over, and waits until it was read. Where nobody reads any more, it is dropped.
    pub(super) async fn hand(&self, page: FetchedPage) {
        let (read, done) = oneshot::channel();
        if self.pages.send(Handed { page, read }).await.is_ok() {
            drop(done.await);
        }
    }
}
