//! [`WebFetcher`]: the web as a fetcher sees it at a moment. It answers at once; how long that took is the simulation's.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use super::web::{Page, Robots, Trouble, Web, split};
use crate::fetch::{BodyRoom, Cause, FetchError, FetchRequest, FetchResponse, Fetcher, Phase, Timings};

/// The web at the moment of the next request.
#[derive(Debug)]
pub(super) struct Moments {
    pub(super) web: Web,
    /// Milliseconds from the beginning.
    pub(super) at: u64,
    /// Requests that each flaky page has had.
    had: HashMap<String, u32>,
    /// Whether the last request waited until its time was over.
    pub(super) hung: bool,
}

#[derive(Debug, Clone)]
pub(super) struct WebFetcher(pub(super) Arc<Mutex<Moments>>);

impl Moments {
    pub(super) fn new(web: Web) -> Self {
        Self { web, at: 0, had: HashMap::new(), hung: false }
    }

    fn answer(&mut self, url: &str) -> Result<FetchResponse, FetchError> {
        let cause = || Cause::new("as the seed says");
        let Some((name, path)) = split(url) else { return Err(FetchError::NoName(cause())) };
        self.hung = false;
        let trouble = self.web.trouble(name, self.at);
        let Some(host) = self.web.hosts.get(name) else { return Err(FetchError::NoName(cause())) };
        match trouble {
            Some(Trouble::NoName) => return Err(FetchError::NoName(cause())),
            Some(Trouble::Refused) => return Err(FetchError::Refused(cause())),
            Some(Trouble::Tls) => return Err(FetchError::Tls(cause())),
            Some(Trouble::Closed) => return Err(FetchError::Closed(cause())),
            Some(Trouble::Hangs) => {
                self.hung = true;
                return Err(FetchError::TimedOut(Phase::FirstByte));
            }
            Some(Trouble::Status(status, wait)) => {
                let wait = wait.map(|seconds| ("retry-after", seconds.to_string()));
                return Ok(response(status, wait, ""));
            }
            None => {}
        }
        if path == "/robots.txt" {
            return Ok(match host.robots {
                Robots::Missing => response(404, None, ""),
                Robots::ForbidsPrivate => response(200, None, "User-agent: *\nDisallow: /private\n"),
                Robots::CrawlDelay => response(200, None, "User-agent: *\nCrawl-delay: 2\n"),
            });
        }
        match host.pages.get(path) {
            None | Some(Page::Missing) => Ok(response(404, None, "")),
            Some(Page::Links(links)) => Ok(html(links)),
            Some(Page::Redirect(to)) => Ok(response(301, Some(("location", to.clone())), "")),
            Some(Page::Broken) => Ok(response(500, None, "")),
            Some(Page::Panics) => Err(FetchError::Internal),
            Some(Page::Hangs) => {
                self.hung = true;
                Err(FetchError::TimedOut(Phase::FirstByte))
            }
            Some(Page::Flaky(times, links)) => {
                let had = self.had.entry(url.to_owned()).or_default();
                *had += 1;
                match (*had <= *times, had.is_multiple_of(2)) {
                    (true, true) => Err(FetchError::Closed(cause())),
                    (true, false) => Ok(response(502, None, "")),
                    (false, _) => Ok(html(links)),
                }
            }
        }
    }
}

impl Fetcher for WebFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        self.0.lock().unwrap().answer(request.url.as_str())
    }
}

fn html(links: &[String]) -> FetchResponse {
    let links = links.iter().fold(String::new(), |html, link| html + "<a href=\"" + link + "\">x</a>");
    response(200, Some(("content-type", "text/html".to_owned())), &links)
}

fn response(status: u16, header: Option<(&str, String)>, body: &str) -> FetchResponse {
    FetchResponse {
        status,
        headers: header.into_iter().map(|(name, value)| (name.into(), value.into_bytes().into())).collect(),
        body: body.as_bytes().to_vec(),
        room: BodyRoom::default(),
        wire_bytes: body.len() as u64,
        truncated: None,
        remote: None,
        timings: Timings::default(),
    }
}
