//! [`SitePort`]: what the site and its API answer.

use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{
        CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY,
        WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    answers::{CrawlAnswers, READERS},
    archived,
    mcp::{self, ToolsOverHttp},
    views,
};
use crate::{
    monitor::{AnswersRequests, PortAccess, PortBody},
    session::CommandFailure,
    url::WebUrl,
};

/// The description of the API.
const OPENAPI: &str = include_str!("openapi.json");

/// Where assistants speak.
const MCP: &str = "/mcp";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Answers for one crawl.
pub(super) struct SitePort {
    answers: CrawlAnswers,
    access: PortAccess,
    turns: Arc<Semaphore>,
    tools: ToolsOverHttp,
}

/// An answer.
struct Shown {
    status: StatusCode,
    content_type: String,
    body: Vec<u8>,
    policy: &'static str,
    location: Option<String>,
    is_download: bool,
}

impl Shown {
    fn new(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let content_type = content_type.to_owned();
        Self {
            status: StatusCode::OK,
            content_type,
            body: body.into(),
            policy: views::POLICY,
            location: None,
            is_download: false,
        }
    }

    fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl SitePort {
    pub(super) fn new(answers: CrawlAnswers, access: PortAccess) -> Self {
        let turns = Arc::new(Semaphore::new(READERS));
        let tools = mcp::over_http(answers.clone(), Arc::clone(&turns));
        Self { answers, access, turns, tools }
    }

    async fn of(&self, request: &Request<Incoming>) -> Shown {
        if !self.access.may_see(request) {
            return Shown::new(PLAIN, "give the token\n").with_status(StatusCode::UNAUTHORIZED);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Shown::new(PLAIN, "only GET and HEAD\n").with_status(StatusCode::METHOD_NOT_ALLOWED);
        }
        let asked = Asked::of(request);
        let (answers, turns) = (self.answers.clone(), Arc::clone(&self.turns));
        let Ok(permit) = turns.acquire_owned().await else { return broken() };
        let answered = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            asked.answer(&answers)
        });
        answered.await.unwrap_or_else(|_| broken())
    }
}

fn broken() -> Shown {
    Shown::new(PLAIN, "this is a bug\n").with_status(StatusCode::INTERNAL_SERVER_ERROR)
}

impl AnswersRequests for SitePort {
    async fn answer(&self, request: Request<Incoming>) -> Response<PortBody> {
        if request.uri().path() == MCP && self.access.may_see(&request) {
            return self.tools.handle(request).await.map(BodyExt::boxed_unsync);
        }
        let shown = self.of(&request).await;
        let mut response = Response::builder()
            .status(shown.status)
            .header(CONTENT_TYPE, shown.content_type)
            .header(CACHE_CONTROL, "no-store")
            .header(CONTENT_SECURITY_POLICY, shown.policy)
            .header(REFERRER_POLICY, "no-referrer")
            .header(X_CONTENT_TYPE_OPTIONS, "nosniff");
        if shown.status == StatusCode::UNAUTHORIZED {
            response = response.header(WWW_AUTHENTICATE, "Bearer, Basic realm=\"webloom\"");
        }
        if shown.is_download {
            response = response.header(CONTENT_DISPOSITION, "attachment");
        }
        if let Some(location) = shown.location {
            response = response.header(LOCATION, location);
        }
        response.body(Full::new(Bytes::from(shown.body)).boxed_unsync()).unwrap_or_default()
    }
}

/// What is asked for.
struct Asked {
    path: String,
    path_and_query: String,
    query: Vec<(String, String)>,
    /// Whether a browser asks for a page of its own, and not for a part of one.
    is_whole_page: bool,
}

impl Asked {
    fn of(request: &Request<Incoming>) -> Self {
        let uri = request.uri();
        let query = uri.query().unwrap_or_default();
        let whole = request.headers().get("sec-fetch-dest").is_some_and(|wanted| wanted == "document");
        Self {
            path: uri.path().to_owned(),
            path_and_query: uri.path_and_query().map_or_else(String::new, |asked| asked.as_str().to_owned()),
            query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            is_whole_page: whole,
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Result<Option<N>, CommandFailure> {
        let Some(value) = self.value(name) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| CommandFailure::Usage(format!("{name}: give a number")))
    }

    fn answer(&self, answers: &CrawlAnswers) -> Shown {
        let is_api = self.path.starts_with("/api/");
        self.found(answers).unwrap_or_else(|failure| {
            let status = if matches!(failure, CommandFailure::Usage(_)) {
                StatusCode::BAD_REQUEST
            } else {
                StatusCode::INTERNAL_SERVER_ERROR
            };
            let text = failure.to_string();
            let shown =
                if is_api { json_of(&json!({ "error": text })) } else { Shown::new(HTML, views::message(&text)) };
            shown.with_status(status)
        })
    }

    fn found(&self, answers: &CrawlAnswers) -> Result<Shown, CommandFailure> {
        if let Some((sequence, url)) = archived::asked(&self.path_and_query) {
            return self.replayed(answers, sequence, url);
        }
        let missing =
            || Shown::new(HTML, views::message("There is no archived page")).with_status(StatusCode::NOT_FOUND);
        let sequence = self.number("sequence")?;
        let url = self.value("url").unwrap_or_default();
        Ok(match self.path.as_str() {
            "/" => match self.value("q") {
                Some(words) => Shown::new(HTML, views::results(&answers.search(words, None)?)),
                None => Shown::new(HTML, views::start(&answers.status()?, &answers.starts()?)),
            },
            "/page" => match answers.page(url, sequence)? {
                Some(page) => Shown::new(HTML, views::page(&page, sequence, &answers.changes(None)?)),
                None => missing(),
            },
            "/markdown" => answers
                .page(url, sequence)?
                .map_or_else(missing, |page| Shown::new(PLAIN, page["markdown"].as_str().unwrap_or("it is no text\n"))),
            "/raw" => answers
                .archived(url, sequence)?
                .map_or_else(missing, |page| Shown { is_download: !page.is_html(), ..Shown::new(PLAIN, page.body) }),
            "/changes" => {
                let since = self.value("since");
                let mut changes = answers.changes(since)?;
                // The newest first, or the most important of a sequence.
                if since.is_none_or(str::is_empty) {
                    changes.reverse();
                }
                Shown::new(HTML, views::changes(changes.iter()))
            }
            "/report" => Shown::new(HTML, views::report(&answers.report()?)),
            "/serve.css" => Shown::new("text/css; charset=utf-8", views::STYLE),
            "/openapi.json" => Shown::new(JSON, OPENAPI),
            "/api/search" => {
                let words = self.value("q").ok_or_else(|| CommandFailure::Usage("q: give words".to_owned()))?;
                json_of(&answers.search(words, self.number("limit")?)?)
            }
            "/api/page" if WebUrl::parse(url).is_err() => {
                return Err(CommandFailure::Usage("url: give the URL of a page".to_owned()));
            }
            "/api/page" => match answers.page(url, sequence)? {
                Some(page) => json_of(&page),
                None => json_of(&json!({ "error": "there is no archived page" })).with_status(StatusCode::NOT_FOUND),
            },
            "/api/changes" => json_of(&Value::from(answers.changes(self.value("since"))?)),
            "/api/status" => json_of(&answers.status()?),
            path if path.starts_with("/api/") => {
                json_of(&json!({ "error": "there is no such path" })).with_status(StatusCode::NOT_FOUND)
            }
            _ => Shown::new(HTML, views::message("There is no such page")).with_status(StatusCode::NOT_FOUND),
        })
    }

    /// An archived page for a frame. One that is asked for by itself could lead its reader elsewhere: it is shown in its frame.
    fn replayed(&self, answers: &CrawlAnswers, sequence: Option<u32>, url: &str) -> Result<Shown, CommandFailure> {
        if self.is_whole_page {
            let mut location =
                format!("/page?url={}", percent_encoding::utf8_percent_encode(url, percent_encoding::NON_ALPHANUMERIC));
            if let Some(sequence) = sequence {
                location.push_str(&format!("&sequence={sequence}"));
            }
            return Ok(Shown { location: Some(location), ..Shown::new(PLAIN, "").with_status(StatusCode::FOUND) });
        }
        Ok(match answers.archived(url, sequence)? {
            Some(page) => {
                let (content_type, body) = archived::shown(&page, sequence);
                Shown { policy: archived::POLICY, ..Shown::new(&content_type, body) }
            }
            None => Shown {
                policy: archived::POLICY,
                ..Shown::new(HTML, views::bare(url)).with_status(StatusCode::NOT_FOUND)
            },
        })
    }
}

fn json_of(value: &Value) -> Shown {
    Shown::new(JSON, format!("{value}\n"))
}
