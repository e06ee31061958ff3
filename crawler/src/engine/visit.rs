//! One lease carried out: fetch, digest, extract, and the pure half of admission. Runs as a task of its own.

use std::{sync::Arc, time::Duration, time::SystemTime};

use sha2::{Digest, Sha256};

use super::admission::{Proposals, PureHalf};
use crate::{
    extract::{self, MetaRobots, PageLinks},
    fetch::{FetchError, FetchRequest, FetchResponse, Fetcher, Phase, Truncation},
    frontier::{Lease, Work},
    robots,
    url::{Key, WebUrl},
};

/// Bodies of this size and more are parsed off the reactor.
const BIG_BODY: usize = 512 * 1024;

/// Whether a visit judges its links itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judging {
    /// By the scope as it is when the lease is granted.
    InVisit,
    /// Not: the redirects of other starts may still widen the scope.
    Later,
}

/// What every visit of a run needs.
#[derive(Debug)]
pub(super) struct Visitor<F> {
    pub(super) fetcher: F,
    pub(super) max_body: u64,
    pub(super) agent: Arc<str>,
    /// The longest pause a server may ask for.
    pub(super) max_pause: Duration,
}

/// A visit that ended.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) lease: Lease,
    /// Requests that reached a server.
    pub(super) requests: u64,
    pub(super) result: Result<Answer, FetchError>,
}

/// A response, as far as the crawl keeps it.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// The pause the server asks for, as far as it is heeded.
    pub(super) retry_after: Option<Duration>,
    pub(super) wire_bytes: u64,
    pub(super) truncated: Option<Truncation>,
    pub(super) content: Content,
}

/// What was found in a response.
#[derive(Debug)]
pub(super) enum Content {
    /// robots.txt, or where it is.
    Errand {
        /// As far as robots.txt is read.
        body: Vec<u8>,
        /// Target of a redirect.
        location: Option<WebUrl>,
    },
    /// A 2xx.
    Page(Box<Page>),
    /// A 3xx with a usable target.
    Redirect(WebUrl),
    /// Anything else.
    Other(Box<Page>),
}

/// The record of a body.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) content_type: Option<Box<str>>,
    pub(super) html: bool,
    pub(super) bytes: u64,
    pub(super) digest: [u8; 32],
    pub(super) title: Option<Box<str>>,
    pub(super) links: Links,
}

/// The links of a page.
#[derive(Debug)]
pub(super) enum Links {
    /// Judged by the pure half.
    Judged(Proposals),
    /// Still to be judged; `false` where the page asks not to follow.
    Raw(Vec<extract::PageLink>, bool),
}

impl Default for Links {
    fn default() -> Self {
        Self::Judged(Proposals::default())
    }
}

impl Links {
    pub(super) fn judged(self, by: &PureHalf) -> Proposals {
        match self {
            Self::Judged(proposals) => proposals,
            Self::Raw(links, follows) => by.links(links, follows),
        }
    }
}

impl<F: Fetcher> Visitor<F> {
    /// Carries a lease out.
    pub(super) async fn visit(&self, lease: Lease, pure: PureHalf, judging: Judging) -> Report {
        match lease.work() {
            Work::Page(_) | Work::Rescue(_) => self.page(lease, pure, judging).await,
            Work::Errand(_) => self.errand(lease).await,
        }
    }

    async fn errand(&self, lease: Lease) -> Report {
        let result = self.fetch(lease.url(), robots::MAX_BYTES as u64).await;
        let requests = reached(&result);
        let result = result.map(|mut response| {
            let location = redirect_target(lease.url(), &response);
            let body = std::mem::take(&mut response.body);
            self.answer(&response, Content::Errand { body, location })
        });
        Report { lease, requests, result }
    }

    async fn page(&self, lease: Lease, pure: PureHalf, judging: Judging) -> Report {
        let mut result = self.fetch(lease.url(), self.max_body).await;
        let mut requests = reached(&result);
        if let Ok(response) = &result
            && let Some(target) = redirect_target(lease.url(), response)
            && Key::of(&target) == Key::of(lease.url())
        {
            // A redirect to the page itself (a cookie, a fragment): the second request of the same lease, once.
            result = self.fetch(&target, self.max_body).await;
            requests += reached(&result);
        }
        let result = match result {
            Ok(response) => Ok(self.read(lease.url().clone(), response, pure, judging).await),
            Err(error) => Err(error),
        };
        Report { lease, requests, result }
    }

    async fn fetch(&self, url: &WebUrl, max_body: u64) -> Result<FetchResponse, FetchError> {
        self.fetcher.fetch(FetchRequest { url: url.clone(), max_body }).await
    }

    async fn read(&self, url: WebUrl, response: FetchResponse, pure: PureHalf, judging: Judging) -> Answer {
        if let Some(target) = redirect_target(&url, &response).filter(|target| Key::of(target) != Key::of(&url)) {
            return self.answer(&response, Content::Redirect(target));
        }
        let agent = Arc::clone(&self.agent);
        let big = response.body.len() >= BIG_BODY;
        let read = move || {
            let content = if (200..300).contains(&response.status) {
                Content::Page(Box::new(page(&url, &response, &agent, &pure, judging)))
            } else {
                Content::Other(Box::new(record(&response)))
            };
            (response, content)
        };
        let (response, content) =
            if big { tokio::task::spawn_blocking(read).await.expect("reading a page never panics") } else { read() };
        self.answer(&response, content)
    }

    fn answer(&self, response: &FetchResponse, content: Content) -> Answer {
        let asked = response.retry_after(SystemTime::now());
        Answer {
            status: response.status,
            retry_after: asked.map(|pause| pause.min(self.max_pause)),
            wire_bytes: response.wire_bytes,
            truncated: response.truncated,
            content,
        }
    }
}

fn page(url: &WebUrl, response: &FetchResponse, agent: &str, pure: &PureHalf, judging: Judging) -> Page {
    let mut page = record(response);
    page.digest = Sha256::digest(&response.body).into();
    if page.html {
        let PageLinks { links, title, meta_robots, .. } = extract::links(&response.body, response.content_type(), url);
        let follows = !(meta_robots.nofollow || header_robots(response, agent).nofollow);
        page.title = title;
        page.links = match judging {
            Judging::InVisit => Links::Judged(pure.links(links, follows)),
            Judging::Later => Links::Raw(links, follows),
        };
    }
    page
}

fn record(response: &FetchResponse) -> Page {
    Page {
        content_type: response.content_type().map(Into::into),
        html: extract::is_html(response.content_type(), &response.body),
        bytes: response.body.len() as u64,
        ..Page::default()
    }
}

fn header_robots(response: &FetchResponse, agent: &str) -> MetaRobots {
    let values = response.headers.iter().filter(|(name, _)| &**name == "x-robots-tag");
    extract::robots_header(values.filter_map(|(_, value)| std::str::from_utf8(value).ok()), agent)
}

/// Where a 3xx leads, if that is a URL.
fn redirect_target(url: &WebUrl, response: &FetchResponse) -> Option<WebUrl> {
    let redirects = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    redirects.then(|| response.location()).flatten().and_then(|location| url.join(location).ok())
}

/// Whether the request got as far as a server: what its log would show.
fn reached(result: &Result<FetchResponse, FetchError>) -> u64 {
    match result {
        Ok(_) => 1,
        Err(error) => match error {
            FetchError::Resolve(_)
            | FetchError::AddressRefused(_)
            | FetchError::Connect(_)
            | FetchError::Tls(_)
            | FetchError::TimedOut(Phase::Connect) => 0,
            FetchError::TimedOut(Phase::FirstByte | Phase::Total)
            | FetchError::Closed(_)
            | FetchError::Protocol(_)
            | FetchError::Decode(_) => 1,
        },
    }
}
