//! Fetching over HTTP/1.1 and HTTP/2, with TLS.
//!
//! Owns: [`HttpFetcher`], its [`FetchSettings`], one client with its pool of connections, the limits of time, and the
//! place where the address policy is enforced: the resolver hook of the client sees every name that is about to be
//! connected to and passes on only addresses that the policy admits, so that there is no moment between check and use;
//! URLs with an IP literal, which reach no resolver, are judged before.
//!
//! Invariants: no redirect is followed; nothing is sent twice, but that a request which finds its kept connection closed
//! is sent once on a fresh one; proxies in the environment are not used (they would connect on our behalf, unchecked); a
//! connection is used again only for the scheme, host and port it was made for, and it is dropped when a body is given
//! up; what the user gave for an origin (headers, a password) is sent to that origin alone.
//!
//! Does not know: how names are resolved (see [`Resolver`]), robots, politeness, what a status means.

mod body;
mod client;
mod connections;
mod exchange;
mod fault;
mod names;
mod pace;
mod room;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use reqwest::Client;
use tokio::time::Instant;

use self::body::{BodyReader, Ending};
use self::connections::{Connections, Use};
use self::exchange::{Connection, Exchange, Patience};
use self::pace::Pace;
use self::room::{BodyMemory, Share};
use super::address::Trust;
use super::decode::{BodyDecoder, BodyLimits, Decoded};
use super::resolve::Resolver;
use super::{FetchError, FetchRequest, FetchResponse, Fetcher, Timings, Truncation};
use crate::url::{Origin, WebUrl};

pub use self::settings::{FetchSettings, SetupError};

/// A [`Fetcher`] for the web. Cheap to clone; clones share their connections.
///
/// ```
/// use std::sync::Arc;
/// use webloom::fetch::dns::SystemResolver;
/// use webloom::fetch::http::{FetchSettings, HttpFetcher};
/// use webloom::fetch::{FetchError, FetchRequest, Fetcher};
/// use webloom::url::WebUrl;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let settings = FetchSettings::new("examplebot/1.0 (+https://example.org/bot)");
/// let fetcher = HttpFetcher::new(settings, Arc::new(SystemResolver)).unwrap();
/// let request = FetchRequest { url: WebUrl::parse("http://127.0.0.1/").unwrap(), max_body: 1 << 20 };
/// assert!(matches!(fetcher.fetch(request).await, Err(FetchError::AddressRefused(_))));
/// # });
/// ```
#[derive(Clone)]
pub struct HttpFetcher {
    connections: Connections,
    memory: BodyMemory,
    /// Headers that the user gave, for some origins.
    given: reqwest::header::HeaderMap,
    /// `Authorization` from user names and passwords, each for one origin; it replaces one among the headers.
    logins: HashMap<Origin, reqwest::header::HeaderMap>,
    settings: Arc<FetchSettings>,
}

impl HttpFetcher {
    /// Builds the client: the system's certificates are read here, once.
    ///
    /// # Errors
    /// [`SetupError`] when a header cannot be sent as given, or TLS cannot be set up.
    pub fn new(settings: FetchSettings, resolver: Arc<dyn Resolver>) -> Result<Self, SetupError> {
        let settings = Arc::new(settings);
        let connections = Connections::new(&settings, resolver)?;
        let given = client::given_headers(&settings)?;
        let logins = client::logins(&settings);
        Ok(Self { connections, memory: BodyMemory::new(), given, logins, settings })
    }

    fn patience(&self, started: Instant) -> Patience {
        let FetchSettings { connect_timeout, first_byte_timeout, total_timeout, .. } = *self.settings;
        Patience::new(started, connect_timeout, first_byte_timeout, total_timeout)
    }

    /// Sends a request once.
    async fn send(&self, client: &Client, asked: &Asked<'_>, patience: Patience) -> Sent {
        let settings = &self.settings;
        let mut get = client.get(asked.url.as_str());
        if settings.headers_for.contains(asked.origin) {
            get = get.headers(self.given.clone());
        }
        if let Some(login) = self.logins.get(asked.origin) {
            get = get.headers(login.clone());
        }
        let exchange = Exchange::new(asked.trust, asked.url.port());
        let (answer, connection) = exchange::in_time(exchange, patience, get.send()).await;
        let answer = match answer {
            Ok(answer) => answer.map_err(fault::of),
            Err(phase) => Err(FetchError::TimedOut(phase)),
        };
        Sent { answer, connection }
    }

    /// Turns a response whose headers are there into ours, and reads its body.
    async fn receive(
        &self,
        mut response: reqwest::Response,
        max_body: u64,
        patience: Patience,
    ) -> Result<FetchResponse, FetchError> {
        let first_byte = patience.elapsed();
        let limits = BodyLimits { max_body, max_expansion: self.settings.max_expansion };
        let codings = response.headers().get_all(reqwest::header::CONTENT_ENCODING).iter();
        let mut body = BodyDecoder::new(codings.map(reqwest::header::HeaderValue::as_bytes), limits)?;
        let pace = Pace::new(Instant::now(), patience.end(), self.settings.min_rate);
        let mut reader = BodyReader { pace, memory: &self.memory, share: Share::default() };
        let ending = reader.read(&mut response, &mut body).await?;
        let decoded = body.finish();
        let truncated = truncation(ending, &decoded, response.status().is_success())?;
        Ok(FetchResponse {
            status: response.status().as_u16(),
            headers: headers(&response),
            body: decoded.body,
            room: reader.share.into_room(),
            wire_bytes: decoded.wire_bytes,
            truncated,
            remote: response.remote_addr(),
            timings: Timings { first_byte, total: patience.elapsed() },
        })
    }
}

/// A request on its way.
struct Asked<'a> {
    /// Without user name and password.
    url: &'a WebUrl,
    origin: &'a Origin,
    trust: Trust,
}

/// What came of it.
struct Sent {
    answer: Result<reqwest::Response, FetchError>,
    connection: Connection,
}

impl Sent {
    /// Whether the server, as far as can be told, closed a connection that it had kept open before it knew of the request.
    /// Where several requests to an origin are under way, one may have been given another's connection, though its own was
    /// made meanwhile.
    fn found_it_closed(&self, use_of_origin: &Use) -> bool {
        let reused = self.connection == Connection::Reused || use_of_origin.is_shared();
        reused && self.answer.as_ref().is_err_and(fault::is_end_of_connection)
    }
}

impl Fetcher for HttpFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let patience = self.patience(Instant::now());
        let (url, max_body) = (request.url.without_credentials(), request.max_body);
        let trust = self.settings.addresses.judge(&url).map_err(FetchError::AddressRefused)?;
        let asked = Asked { url: &url, origin: &url.origin(), trust };
        let use_of_origin = self.connections.begin(asked.origin);
        let mut sent = self.send(use_of_origin.client(), &asked, patience).await;
        if sent.found_it_closed(&use_of_origin) {
            // Servers close idle connections when they like, often just as long after an answer as a crawler waits.
            sent = self.send(self.connections.closing(), &asked, patience).await;
        }
        match &sent.answer {
            Err(FetchError::OwnMachine(_)) => self.connections.keep_none(),
            Ok(response) if stays_open(response) => use_of_origin.stays_open(),
            _ => {}
        }
        self.receive(sent.answer?, max_body, patience).await
    }
}

/// Whether the server says nothing against another request on the same connection.
fn stays_open(response: &reqwest::Response) -> bool {
    let values = response.headers().get_all(reqwest::header::CONNECTION).iter();
    let closes = |value: &reqwest::header::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"close");
    response.version() >= reqwest::Version::HTTP_11 && !values.into_iter().any(closes)
}

/// What the end of a body means. A success whose connection broke before the first byte of its body has answered
/// nothing; any other status says what it has to say without a body.
fn truncation(ending: Ending, decoded: &Decoded, success: bool) -> Result<Option<Truncation>, FetchError> {
    match ending {
        Ending::Whole if decoded.complete => Ok(None),
        Ending::Cut(reason) => Ok(Some(reason)),
        Ending::Broken(error) if success && decoded.wire_bytes == 0 => Err(fault::of(error)),
        Ending::Whole | Ending::Broken(_) => Ok(Some(Truncation::Disconnect)),
    }
}

fn headers(response: &reqwest::Response) -> Vec<(Box<str>, Box<[u8]>)> {
    response.headers().iter().map(|(name, value)| (name.as_str().into(), value.as_bytes().into())).collect()
}
