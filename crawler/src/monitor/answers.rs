//! What the management port answers.
//!
//! `/healthz` and `/readyz` are for anybody who reaches the port; all else is for whoever has the token, if there is one.

use std::sync::Arc;

use data_encoding::BASE64;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS},
};
use sha2::{Digest, Sha256};

use super::{metrics::Metrics, on_time, roster::Roster, server::AnswersRequests};
use crate::clock::Clock;

/// Answers for the crawls of a roster.
pub(super) struct Port {
    roster: Roster,
    metrics: Arc<Metrics>,
    /// SHA-256 of the token.
    token: Option<[u8; 32]>,
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
}

impl Port {
    pub(super) fn new(roster: Roster, token: Option<&str>) -> Self {
        let metrics = Arc::new(Metrics::new(roster.clone()));
        Self { roster, metrics, token: token.map(|token| Sha256::digest(token).into()) }
    }

    /// Whether the request may see more than whether all is well.
    fn may_see(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return is_local(request) };
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(secret);
        // Of digests, the time that a comparison takes says nothing of the token.
        given.is_some_and(|given| <[u8; 32]>::from(Sha256::digest(given)) == *token)
    }

    async fn of(&self, request: &Request<Incoming>) -> Answer {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Answer::plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        }
        match request.uri().path() {
            "/healthz" => Answer::plain(StatusCode::OK, "ok\n"),
            "/readyz" => on_a_thread(&self.roster, ready).await,
            _ if !self.may_see(request) => Answer::plain(StatusCode::UNAUTHORIZED, "give the token\n"),
            "/metrics" => {
                let metrics = Arc::clone(&self.metrics);
                on_a_thread(&metrics, |metrics| Answer {
                    status: StatusCode::OK,
                    content_type: "text/plain; version=0.0.4; charset=utf-8",
                    text: metrics.text(),
                })
                .await
            }
            _ => Answer::plain(StatusCode::NOT_FOUND, "there are /healthz, /readyz and /metrics\n"),
        }
    }
}

impl AnswersRequests for Port {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let Answer { status, content_type, text } = self.of(request).await;
        let response = Response::builder()
            .status(status)
            .header(CONTENT_TYPE, content_type)
            .header(CACHE_CONTROL, "no-store")
            .header(X_CONTENT_TYPE_OPTIONS, "nosniff");
        let response = match status {
            StatusCode::UNAUTHORIZED => response.header(WWW_AUTHENTICATE, "Bearer, Basic realm=\"webloom\""),
            StatusCode::METHOD_NOT_ALLOWED => response.header("allow", "GET, HEAD"),
            _ => response,
        };
        response.body(Full::new(Bytes::from(text))).unwrap_or_default()
    }
}

/// Does what reads files, where others do not wait for it.
async fn on_a_thread<T: Clone + Send + 'static>(of: &T, work: fn(&T) -> Answer) -> Answer {
    let of = of.clone();
    let answered = tokio::task::spawn_blocking(move || work(&of)).await;
    answered.unwrap_or_else(|_| Answer::plain(StatusCode::INTERNAL_SERVER_ERROR, "this is a bug\n"))
}

/// Whether all crawls are on time, a line each.
fn ready(roster: &Roster) -> Answer {
    let now = Clock::start().now();
    let checked: Vec<_> =
        roster.all().into_iter().map(|(name, member)| (name, on_time::check(&member.dir, now))).collect();
    let is_well = checked.iter().all(|(_, checked)| checked.is_well);
    let status = if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Answer::plain(
        status,
        checked.iter().flat_map(|(name, checked)| [&**name, ": ", &*checked.why, "\n"]).collect::<String>(),
    )
}

/// What an `Authorization` header gives: a token, or a password that a browser has asked for.
fn secret(header: &str) -> Option<Vec<u8>> {
    let (scheme, value) = header.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.trim().as_bytes().to_vec());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = BASE64.decode(value.trim().as_bytes()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_vec())
}

/// Whether a request names this machine: a page from elsewhere whose name was made to lead here is none of ours.
fn is_local(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host else { return true };
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(host, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}
