//! Fetching over HTTP/1.1 and HTTP/2, with TLS.
//!
//! Owns: [`HttpFetcher`], its [`FetchSettings`], its clients with their connections, the time limits, and the enforcement of the address
//! policy. The client's resolver hook sees every name that is about to be connected to and passes on only addresses that the policy admits,
//! so there is no moment between check and use; URLs with an IP literal, which reach no resolver, are judged before.
//!
//! Invariants: no redirect is followed; nothing is sent twice, except that a request whose kept connection turns out closed is sent once on
//! a fresh one; through a proxy, which connects on our behalf, go the requests that its rules name, and a proxy that fails is blamed on no host; a connection is used again only for
//! the scheme, host and port it was made for, and is dropped when a body is given up with more than a buffer still to come; a request that
//! is pinned to addresses has a connection of its own; what is given for an origin (headers, a password) is sent to that origin alone.
//!
//! Does not know: how names are resolved (see [`Resolver`]), robots, politeness, what a status means.

mod body;
mod client;
mod connections;
mod exchange;
mod fault;
mod names;
mod notice;
mod outgoing;
mod pace;
mod proxy;
mod raw_head;
mod receiving;
mod room;
mod settings;
#[cfg(test)]
mod tests;
mod trust;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use reqwest::header::{CONNECTION, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Version};
use rustls::RootCertStore;
use tokio::time::Instant;

use self::client::Parts;
use self::connections::{Connections, Use};
use self::exchange::{Aim, Connection, Exchange, Patience, Steps};
use self::names::CheckedNames;
use self::outgoing::Outgoing;
use self::room::BodyMemory;
use super::resolve::{HostAddresses, Resolver};
use super::{FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, Method, Phase};
use crate::url::{Origin, WebUrl};

pub use self::notice::{UntoldError, tell};
pub use self::proxy::{BadProxy, ProxyRules, ProxyVariables};
pub use self::settings::{FetchSettings, SetupError};

/// Whether an answer is that of a proxy which wants a log-in. Through a tunnel it is the server's.
fn is_of_proxy(response: &Response) -> bool {
    response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED && response.url().scheme() == "http"
}

/// A [`Fetcher`] for the web. Cheap to clone; clones share their connections.
///
/// ```
/// use std::sync::Arc;
/// use webloom::internals::fetch::dns::SystemResolver;
/// use webloom::internals::fetch::http::{FetchSettings, HttpFetcher};
/// use webloom::internals::fetch::{FetchError, FetchRequest, Fetcher};
/// use webloom::internals::url::WebUrl;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let settings = FetchSettings::new("examplebot/1.0 (+https://example.org/bot)");
/// let fetcher = HttpFetcher::new(settings, Arc::new(SystemResolver)).unwrap();
/// let request = FetchRequest::get(WebUrl::parse("http://127.0.0.1/").unwrap(), 1 << 20);
/// let failure = fetcher.fetch(request).await.unwrap_err();
/// assert!(matches!(failure.error, FetchError::AddressRefused(_)) && failure.requests == 0);
/// # });
/// ```
#[derive(Clone)]
pub struct HttpFetcher {
    connections: Connections,
    names: CheckedNames,
    memory: BodyMemory,
    /// Headers of every request.
    own: HeaderMap,
    /// Headers that the user gave, for some origins.
    given: HeaderMap,
    /// `Authorization` from user names and passwords, each for one origin; it replaces one among the headers.
    logins: HashMap<Origin, HeaderMap>,
    settings: Arc<FetchSettings>,
    /// Whether a proxy has let a request pass: then a status that it would send as well is a server's.
    passed: Arc<AtomicBool>,
}

impl HttpFetcher {
    /// Builds the clients: the system's certificates are read here, once.
    ///
    /// # Errors
    /// [`SetupError`] when a header cannot be sent as given, or TLS cannot be set up.
    pub fn new(settings: FetchSettings, resolver: Arc<dyn Resolver>) -> Result<Self, SetupError> {
        Self::trusting(client::system_roots(), settings, resolver)
    }

    /// The same with these certificates instead of the system's.
    fn trusting(
        roots: RootCertStore,
        settings: FetchSettings,
        resolver: Arc<dyn Resolver>,
    ) -> Result<Self, SetupError> {
        let settings = Arc::new(settings);
        let names = CheckedNames::new(Arc::clone(&settings), resolver);
        let parts = Parts::new(roots, Arc::clone(&settings), names.clone())?;
        let connections = Connections::new(parts, settings.kept_origins)?;
        let own = client::headers(&settings)?;
        let given = client::given_headers(&settings)?;
        let logins = client::logins(&settings);
        Ok(Self { connections, names, memory: BodyMemory::new(), own, given, logins, settings, passed: Arc::default() })
    }

    fn patience(&self, started: Instant) -> Patience {
        let FetchSettings { connect_timeout, first_byte_timeout, total_timeout, .. } = *self.settings;
        Patience::new(started, connect_timeout, first_byte_timeout, total_timeout)
    }

    /// A request to an origin begins. An open connection may lead to another address than it is pinned to.
    fn begin(&self, outgoing: &Outgoing) -> Use {
        match outgoing.aim.pinned {
            Some(_) => self.connections.begin_apart(),
            None => self.connections.begin(&outgoing.origin),
        }
    }

    /// Sends a request, and once more where its kept connection turned out to be closed.
    async fn send(&self, outgoing: &Outgoing, use_of_origin: &Use, patience: Patience) -> Sent {
        let sent = self.send_once(use_of_origin.client(), outgoing, patience).await;
        if !sent.found_it_closed(use_of_origin) {
            return sent;
        }
        // Servers close idle connections when they like, often just as long after an answer as a crawler waits.
        let again = self.send_once(self.connections.closing(), outgoing, patience).await;
        Sent { requests: sent.perhaps_read() + again.requests, ..again }
    }

    async fn send_once(&self, client: &Client, outgoing: &Outgoing, patience: Patience) -> Sent {
        let exchange = Exchange::new(outgoing.aim.clone());
        let sending = self.request(client, outgoing).send();
        let (answer, course) = exchange::in_time(exchange, patience, sending).await;
        let (answer, requests) = match answer {
            Ok(Ok(response)) if outgoing.aim.proxied && is_of_proxy(&response) && !self.passed.load(Relaxed) => {
                (Err(fault::proxy_wants_log_in()), 0)
            }
            Ok(Ok(response)) if outgoing.aim.proxied => {
                self.passed.store(true, Relaxed);
                (Ok(response), 1)
            }
            Ok(Ok(response)) => (Ok(response), 1),
            Ok(Err(error)) => {
                let requests = u64::from(fault::was_sent(&error));
                (
                    Err(if outgoing.aim.proxied {
                        fault::of_proxied(error, outgoing.url.scheme() == "https")
                    } else {
                        fault::of(error)
                    }),
                    requests,
                )
            }
            Err(phase) => {
                // The first byte is awaited on a connection that is open, even if another is still being made.
                let unsent = phase == Phase::Total && course.connection == Connection::Awaited;
                (Err(FetchError::TimedOut(phase)), u64::from(!unsent))
            }
        };
        // What was noted of a connection that was not used is nothing of this request.
        let steps = if course.connection == Connection::Fresh { course.steps } else { Steps::default() };
        Sent { answer, connection: course.connection, steps, requests }
    }

    /// Headers of every request, but for those that the user's replace.
    fn plain_headers(&self, outgoing: &Outgoing) -> HeaderMap {
        let mut headers = self.own.clone();
        if !outgoing.is_of_stranger && self.settings.headers_for.contains(&outgoing.origin) {
            self.given.keys().for_each(|name| drop(headers.remove(name)));
        }
        headers
    }

    fn request(&self, client: &Client, outgoing: &Outgoing) -> RequestBuilder {
        let url = outgoing.url.as_str();
        let mut request = match outgoing.method {
            Method::Get => client.get(url),
            Method::Head => client.head(url),
        };
        let of_origin = Some(&outgoing.origin).filter(|_| !outgoing.is_of_stranger);
        if of_origin.is_some_and(|origin| self.settings.headers_for.contains(origin)) {
            request = request.headers(self.given.clone());
        }
        if let Some(login) = of_origin.and_then(|origin| self.logins.get(origin)) {
            request = request.headers(login.clone());
        }
        if !outgoing.headers.is_empty() {
            request = request.headers(outgoing.headers.clone());
        }
        request
    }
}

/// What came of a request that was sent.
struct Sent {
    answer: Result<Response, FetchError>,
    connection: Connection,
    steps: Steps,
    /// How many were sent.
    requests: u64,
}

impl Sent {
    /// Whether the server, as far as can be known, closed a connection that it had kept open before it knew of the request.
    /// Where several requests to an origin are under way, one may have been given another's connection, though its own was
    /// made meanwhile.
    fn found_it_closed(&self, use_of_origin: &Use) -> bool {
        let reused = self.connection != Connection::Fresh || use_of_origin.is_shared();
        reused && self.answer.as_ref().is_err_and(fault::is_end_of_connection)
    }

    /// How many requests the server may have read, though it answered none.
    fn perhaps_read(&self) -> u64 {
        if self.answer.as_ref().is_err_and(fault::is_reset) { 0 } else { self.requests }
    }
}

impl Fetcher for HttpFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let patience = self.patience(Instant::now());
        let outgoing = Outgoing::new(request, &self.settings).map_err(|error| error.after(0))?;
        let use_of_origin = self.begin(&outgoing);
        let sent = self.send(&outgoing, &use_of_origin, patience).await;
        match &sent.answer {
            Err(FetchError::OwnMachine(_)) => self.connections.keep_none(),
            Ok(response) if stays_open(response) => use_of_origin.stays_open(),
            _ => {}
        }
        let requests = sent.requests;
        self.receive(sent, outgoing, patience).await.map_err(|error| error.after(requests))
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        match self.settings.addresses.judge(url) {
            Ok(trust) if !self.settings.proxy.has(url) => {
                let aim = Aim { trust, port: url.port(), pinned: None, proxied: false };
                self.names.addresses(url.host(), &aim).await
            }
            _ => HostAddresses::of(Vec::new()),
        }
    }
}

/// Whether the server says nothing against another request on the same connection.
fn stays_open(response: &Response) -> bool {
    let values = response.headers().get_all(CONNECTION).iter();
    let closes = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"close");
    response.version() >= Version::HTTP_11 && !values.into_iter().any(closes)
}
