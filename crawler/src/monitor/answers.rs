//! What the management port answers.
//!
//! `/healthz` and `/readyz` are for anybody who reaches the port; all else is for whoever has the token, if there is one.

use std::sync::{Arc, Mutex};

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{
        CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
    http::response::Builder,
};
use tokio::sync::Semaphore;

use super::{
    access::PortAccess,
    metrics::Metrics,
    page::{self, Events, PortPage},
    readings::Readings,
    roster::Roster,
    server::{AnswersRequests, PortBody},
};
use crate::{clock::Clock, observe::figures::counted};

/// Threads that read crawl directories for whoever asks, however many do: one for each of three paths, so that none waits for
/// another.
pub(super) const READERS: usize = 3;

/// Answers for the crawls of a roster.
pub(super) struct Port {
    roster: Roster,
    metrics: Arc<Metrics>,
    page: Arc<PortPage>,
    access: PortAccess,
    /// Whose turn it is to read for a path: those who go away do not end what they have begun.
    ready_turn: Arc<Semaphore>,
    metrics_turn: Arc<Semaphore>,
    page_turn: Arc<Semaphore>,
}

/// An answer in text.
struct Answer {
    status: StatusCode,
    content_type: &'static str,
    text: String,
}

impl Answer {
    fn plain(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", text: text.into() }
    }

    fn of_page(content_type: &'static str, text: String) -> Self {
        Self { status: StatusCode::OK, content_type, text }
    }
}

impl Port {
    pub(super) fn new(roster: Roster, access: PortAccess) -> Self {
        let readings = Arc::new(Mutex::new(Readings::default()));
        let metrics = Arc::new(Metrics::new(roster.clone(), Arc::clone(&readings)));
        let page = Arc::new(PortPage::new(roster.clone(), readings));
        let [ready_turn, metrics_turn, page_turn] = [(); READERS].map(|()| Arc::new(Semaphore::new(1)));
        Self { roster, metrics, page, access, ready_turn, metrics_turn, page_turn }
    }

    async fn of(&self, request: &Request<Incoming>) -> Answer {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Answer::plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        }
        match request.uri().path() {
            "/healthz" => Answer::plain(StatusCode::OK, "ok\n"),
            "/readyz" => {
                let (roster, with_names) = (self.roster.clone(), self.access.may_see(request));
                reading(&self.ready_turn, move || ready(&roster, with_names)).await
            }
            _ if !self.access.may_see(request) => Answer::plain(StatusCode::UNAUTHORIZED, "give the token\n"),
            "/metrics" => {
                let metrics = Arc::clone(&self.metrics);
                reading(&self.metrics_turn, move || Answer {
                    status: StatusCode::OK,
                    content_type: "text/plain; version=0.0.4; charset=utf-8",
                    text: metrics.text(),
                })
                .await
            }
            "/" => {
                let page = Arc::clone(&self.page);
                reading(&self.page_turn, move || Answer::of_page("text/html; charset=utf-8", page.document())).await
            }
            "/page.css" => Answer::of_page("text/css; charset=utf-8", page::STYLE.to_owned()),
            "/page.js" => Answer::of_page("text/javascript; charset=utf-8", page::SCRIPT.to_owned()),
            _ => Answer::plain(StatusCode::NOT_FOUND, "there are /, /healthz, /readyz and /metrics\n"),
        }
    }
}

impl AnswersRequests for Port {
    async fn answer(&self, request: Request<Incoming>) -> Response<PortBody> {
        if request.uri().path() == "/events" && request.method() == Method::GET && self.access.may_see(&request) {
            let events = Events::of(Arc::clone(&self.page), Arc::clone(&self.page_turn));
            let response = head(StatusCode::OK, "text/event-stream");
            return response.body(events.boxed_unsync()).unwrap_or_default();
        }
        let Answer { status, content_type, text } = self.of(&request).await;
        let response = head(status, content_type);
        let response = match status {
            StatusCode::UNAUTHORIZED => response.header(WWW_AUTHENTICATE, "Bearer, Basic realm=\"webloom\""),
            StatusCode::METHOD_NOT_ALLOWED => response.header("allow", "GET, HEAD"),
            _ => response,
        };
        response.body(Full::new(Bytes::from(text)).boxed_unsync()).unwrap_or_default()
    }
}

/// What all answers begin with.
fn head(status: StatusCode, content_type: &'static str) -> Builder {
    Response::builder()
        .status(status)
        .header(CONTENT_TYPE, content_type)
        .header(CACHE_CONTROL, "no-store")
        .header(CONTENT_SECURITY_POLICY, page::POLICY)
        .header(REFERRER_POLICY, "no-referrer")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
}

/// Does what reads files, on another thread and when it is its turn.
async fn reading(turn: &Arc<Semaphore>, work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    let Ok(permit) = Arc::clone(turn).acquire_owned().await else {
        return Answer::plain(StatusCode::SERVICE_UNAVAILABLE, "");
    };
    let answered = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work()
    });
    answered.await.unwrap_or_else(|_| Answer::plain(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug\n"))
}

/// Whether all crawls are on time: a line each for whoever may see that, how many for anybody.
fn ready(roster: &Roster, with_names: bool) -> Answer {
    let now = Clock::start().now();
    let found: Vec<_> = roster.all().into_iter().map(|(name, entry)| (name, entry.on_time(now))).collect();
    let faulty = found.iter().filter(|(_, on_time)| !on_time.is_well).count();
    let status = if faulty == 0 { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    if with_names {
        let lines = found.iter().flat_map(|(name, on_time)| [&**name, ": ", &*on_time.why, "\n"]);
        return Answer::plain(status, lines.collect::<String>());
    }
    Answer::plain(status, format!("{faulty} of {} late or faulty\n", counted(found.len() as u64, "crawl", "crawls")))
}
