//! [`LogIns`]: a fetcher that notices when a session has ended, on hosts for which the user gave cookies.
//!
//! Owns: which answers may be a log-in page in place of what was asked for, and the requests that find it out: some of the first pages of a
//! host are asked for once more without cookies; where an answer looks like one of these, such a page is asked for again.
//!
//! Invariants: no log-in page passes for the page whose place it takes, once a page has shown how the host answers without log-in; a host
//! whose session has ended is asked for no page; a URL that would end the session is asked for without it, whatever it is asked for; between
//! two requests of one lease the pause of the host passes; each request is counted, and waits at the gate.
//!
//! Does not know: what becomes of the host (the core pauses it), and what the cookies are.

mod book;
mod sign;

use std::sync::Arc;

use tokio::time::sleep;

pub use self::book::LogInBook;
use self::{
    book::{Likely, SessionState},
    sign::{LOOKED_AT, Sign, logs_out},
};
use super::sending;
use crate::{
    fetch::{FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, Identity, resolve::HostAddresses},
    purpose::{Body, Purpose},
    url::WebUrl,
};

/// A fetcher with a book of log-ins, if there is one.
pub struct LogIns<F> {
    fetcher: F,
    book: Option<Arc<LogInBook>>,
}

/// What is asked for once more has of the first request.
struct Again<'a> {
    book: &'a LogInBook,
    url: WebUrl,
    first: FetchRequest,
}

impl<F: Fetcher> LogIns<F> {
    /// A fetcher with a book; without one it is as it was.
    pub fn new(fetcher: F, book: Option<Arc<LogInBook>>) -> Self {
        Self { fetcher, book }
    }

    /// Asks for a page, to see what it looks like.
    async fn look(&self, again: &Again<'_>, url: WebUrl, identity: Identity) -> Result<FetchResponse, FetchFailure> {
        let FetchRequest { pause, purpose, .. } = again.first;
        sleep(pause).await;
        sending::begins();
        let request = FetchRequest { identity, purpose, pause, ..FetchRequest::get(url, LOOKED_AT as u64) };
        self.fetcher.fetch(request).await
    }

    /// Finds out whether a page that came looks otherwise without log-in.
    async fn learn(&self, again: &Again<'_>, sign: &Sign, mut response: FetchResponse) -> FetchResponse {
        match self.look(again, again.url.clone(), Identity::WithoutCookies).await {
            Ok(without) => {
                again.book.learn(&again.url, sign, &Sign::of(&again.url, &without));
                response.requests += without.requests;
            }
            Err(failure) => response.requests += failure.requests,
        }
        response
    }

    /// An answer may be that of a host where nobody is logged in: finds out whether the session has ended, or the page is for others.
    async fn verify(
        &self,
        again: &Again<'_>,
        sign: &Sign,
        mut response: FetchResponse,
    ) -> Result<FetchResponse, FetchFailure> {
        let mut others = Vec::new();
        for witness in again.book.witnesses(&again.url) {
            let Ok(url) = WebUrl::parse(&witness.url) else { continue };
            let seen = match self.look(again, url.clone(), Identity::Own).await {
                Ok(seen) => seen,
                Err(failure) => return Err(failure.error.after(response.requests + failure.requests)),
            };
            response.requests += seen.requests;
            let looks = Sign::of(&url, &seen);
            match witness.shows(&url, &looks) {
                // Two pages that have become one.
                SessionState::Other if others.contains(&looks) => return Err(again.logged_out(response.requests)),
                SessionState::LoggedOut => return Err(again.logged_out(response.requests)),
                SessionState::LoggedIn => return Ok(response),
                SessionState::Other => others.push(looks),
                SessionState::Unclear => {}
                // What was asked for has it too.
                SessionState::Trouble => {
                    return Ok(FetchResponse { requests: response.requests, final_url: again.url.clone(), ..seen });
                }
                SessionState::Nothing => again.book.forget(&url),
            }
        }
        if others.is_empty() { self.compare(again, sign, response).await } else { Ok(response) }
    }

    /// The same where nothing is known of the host: it asks for a log-in, and may do so whoever asks.
    async fn compare(
        &self,
        again: &Again<'_>,
        sign: &Sign,
        mut response: FetchResponse,
    ) -> Result<FetchResponse, FetchFailure> {
        let without = match self.look(again, again.url.clone(), Identity::WithoutCookies).await {
            Ok(without) => without,
            Err(failure) => return Err(failure.error.after(response.requests + failure.requests)),
        };
        response.requests += without.requests;
        let without = Sign::of(&again.url, &without);
        match () {
            () if without != *sign => {}
            // A page with such a field, as each of the site may be.
            () if sign.is_page() && !sign.is_titled_log_in() => {}
            () if again.book.has_public(&again.url) => return Err(FetchError::LogInPage.after(response.requests)),
            () => return Err(again.logged_out(response.requests)),
        }
        again.book.learn(&again.url, sign, &without);
        Ok(response)
    }
}

impl Again<'_> {
    /// The session has ended.
    fn logged_out(&self, requests: u64) -> FetchFailure {
        self.book.log_out(&self.url);
        FetchError::LoggedOut.after(requests)
    }
}

impl<F: Fetcher> Fetcher for LogIns<F> {
    async fn fetch(&self, mut request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let is_own = request.identity == Identity::Own && request.purpose != Purpose::Robots;
        let Some(book) = self.book.as_deref().filter(|book| is_own && book.logs_in(&request.url)) else {
            return self.fetcher.fetch(request).await;
        };
        if logs_out(&request.url) {
            request.identity = Identity::WithoutCookies;
            return self.fetcher.fetch(request).await;
        }
        if request.purpose.row().body != Body::Page {
            return self.fetcher.fetch(request).await;
        }
        if book.is_logged_out(&request.url) {
            return Err(FetchError::LoggedOut.after(0));
        }
        let again = Again { book, url: request.url.clone(), first: FetchRequest { rule: None, ..request.clone() } };
        let response = self.fetcher.fetch(request).await?;
        let sign = Sign::of(&again.url, &response);
        match book.likely(&again.url, &sign) {
            Likely::Plain => Ok(response),
            Likely::Telling => Ok(self.learn(&again, &sign, response).await),
            Likely::LogIn => self.verify(&again, &sign, response).await,
        }
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        self.fetcher.look_up(url).await
    }
}
