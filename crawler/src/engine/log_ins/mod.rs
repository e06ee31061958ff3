//! [`LogIns`]: a fetcher that notices when a session has ended, on hosts for which the user gave cookies.
//!
//! Owns: which answers may be a log-in page in place of what was asked for, and the requests that find it out: some of the first pages of a
//! host are asked for once more without log-in; where an answer looks like one of these, such a page is asked for again.
//!
//! Invariants: no log-in page passes for the page whose place it takes, once a page has shown how the host answers without log-in; a host
//! whose session has ended is asked for no page; a URL that would end the session is asked for without it; between two requests of one
//! lease the pause of the host passes; each request is counted.
//!
//! Does not know: what becomes of the host (the core pauses it), and what the cookies are.

mod book;
mod sign;

use std::sync::Arc;

use tokio::time::sleep;

pub use self::book::LogInBook;
use self::{
    book::{Likely, Witness},
    sign::{Sign, logs_out},
};
use crate::{
    fetch::{FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, resolve::HostAddresses},
    purpose::Body,
    url::WebUrl,
};

/// Bytes that are read of a page to find out what it looks like: so many need no room beside others.
const LOOKED_AT: u64 = 256 * 1024;

/// A fetcher with a book of log-ins, if there is one. Clones share it.
#[derive(Clone)]
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
    async fn look(&self, again: &Again<'_>, url: WebUrl, without_log_in: bool) -> Result<FetchResponse, FetchFailure> {
        let FetchRequest { pause, purpose, .. } = again.first;
        sleep(pause).await;
        let request = FetchRequest { without_log_in, purpose, pause, ..FetchRequest::get(url, LOOKED_AT) };
        self.fetcher.fetch(request).await
    }

    /// Finds out whether a page that came looks otherwise without log-in.
    async fn learn(&self, again: &Again<'_>, sign: &Sign, mut response: FetchResponse) -> FetchResponse {
        match self.look(again, again.url.clone(), true).await {
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
        let witnesses = again.book.witnesses(&again.url);
        if witnesses.is_empty() {
            return self.compare(again, sign, response).await;
        }
        for witness in witnesses {
            let Ok(url) = WebUrl::parse(&witness.url) else { continue };
            let seen = match self.look(again, url.clone(), false).await {
                Ok(seen) => seen,
                Err(failure) => return Err(failure.error.after(response.requests + failure.requests)),
            };
            response.requests += seen.requests;
            match judge(&witness, &url, &seen) {
                Seen::LoggedOut => return Err(again.logged_out(response.requests)),
                Seen::LoggedIn => return Ok(response),
                // The host has other troubles: what was asked for has them too.
                Seen::Trouble => {
                    return Ok(FetchResponse { requests: response.requests, final_url: again.url.clone(), ..seen });
                }
                Seen::Nothing => again.book.forget(&url),
            }
        }
        Err(again.logged_out(response.requests))
    }

    /// The same where nothing is known of the host: it asks for a log-in, and may do so whoever asks.
    async fn compare(
        &self,
        again: &Again<'_>,
        sign: &Sign,
        mut response: FetchResponse,
    ) -> Result<FetchResponse, FetchFailure> {
        let without = match self.look(again, again.url.clone(), true).await {
            Ok(without) => without,
            Err(failure) => return Err(failure.error.after(response.requests + failure.requests)),
        };
        response.requests += without.requests;
        let without = Sign::of(&again.url, &without);
        match () {
            () if without != *sign => {}
            // A page with such a field, as each of the site may be.
            () if sign.is_content() && !sign.is_titled_log_in() => {}
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
        let is_page = request.purpose.row().body == Body::Page && !request.without_log_in;
        let Some(book) = self.book.as_deref().filter(|book| is_page && book.logs_in(&request.url)) else {
            return self.fetcher.fetch(request).await;
        };
        if logs_out(&request.url) {
            request.without_log_in = true;
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

/// What a witness shows.
enum Seen {
    /// It looks as without log-in.
    LoggedOut,
    /// It is there.
    LoggedIn,
    /// Its host has trouble that may pass.
    Trouble,
    /// It is none any more.
    Nothing,
}

fn judge(witness: &Witness, url: &WebUrl, seen: &FetchResponse) -> Seen {
    let sign = Sign::of(url, seen);
    match sign {
        _ if witness.is_seen_without(&sign) => Seen::LoggedOut,
        Sign::Page { .. } | Sign::Other => Seen::LoggedIn,
        Sign::Status(408 | 425 | 429 | 500..) => Seen::Trouble,
        Sign::Status(_) | Sign::Redirect(_) => Seen::Nothing,
    }
}
