//! A [`Fetcher`] without a network: canned answers by URL.

use std::collections::HashMap;
use std::sync::Mutex;

use super::{Cause, FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher};
use crate::url::WebUrl;

/// Answers from a map; a URL it does not hold is [`FetchError::Refused`]. It keeps what it was asked for, in order.
#[derive(Default)]
pub(crate) struct MemoryFetcher {
    answers: HashMap<WebUrl, Result<FetchResponse, FetchError>>,
    asked: Mutex<Vec<WebUrl>>,
}

impl MemoryFetcher {
    /// The same with one more answer.
    pub(crate) fn with(mut self, url: &str, answer: Result<FetchResponse, FetchError>) -> Self {
        self.answers.insert(WebUrl::parse(url).unwrap(), answer);
        self
    }

    /// The URLs asked for so far.
    pub(crate) fn asked(&self) -> Vec<WebUrl> {
        self.asked.lock().unwrap().clone()
    }
}

/// A whole response with these headers.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> FetchResponse {
    FetchResponse {
        headers: headers.iter().map(|(name, value)| ((*name).into(), value.as_bytes().into())).collect(),
        body: body.to_vec(),
        wire_bytes: body.len() as u64,
        ..FetchResponse::new(WebUrl::parse("http://memory/").unwrap(), status)
    }
}

impl Fetcher for MemoryFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        self.asked.lock().unwrap().push(request.url.clone());
        match self.answers.get(&request.url).cloned() {
            Some(Ok(answer)) => Ok(FetchResponse { final_url: request.url, ..answer }),
            Some(Err(error)) => Err(error.after(1)),
            None => Err(FetchError::Refused(Cause::new("no such host in memory")).after(0)),
        }
    }
}

#[tokio::test]
async fn answers_what_it_holds_and_remembers_what_it_was_asked() {
    let ask = |url: &str| FetchRequest::get(WebUrl::parse(url).unwrap(), 10);
    let fetcher = MemoryFetcher::default().with("http://h/", Ok(response(200, &[("content-type", "text/html")], b"x")));
    assert_eq!(fetcher.fetch(ask("http://h/")).await.unwrap().content_type(), Some("text/html"));
    assert_eq!(fetcher.fetch(ask("http://h/2")).await.unwrap_err().error.name(), "refused");
    assert_eq!(fetcher.asked().len(), 2);
}
