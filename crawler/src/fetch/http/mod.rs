//! Fetching over HTTP/1.1 and HTTP/2, with TLS.
//!
//! Owns: [`HttpFetcher`], its [`FetchSettings`], one client with its pool of connections, the limits of time, and the
//! place where the address policy is enforced: the resolver hook of the client sees every name that is about to be
//! connected to and passes on only addresses that the policy admits, so that there is no moment between check and use;
//! URLs with an IP literal, which reach no resolver, are judged before.
//!
//! Invariants: no redirect is followed, nothing is sent twice, proxies in the environment are not used (they would
//! connect on our behalf, unchecked), a connection is used again only for the scheme, host and port it was made for,
//! and it is dropped when a body is given up.
//!
//! Does not know: how names are resolved (see [`Resolver`]), robots, politeness, what a status means.

mod body;
mod client;
mod exchange;
mod fault;
mod names;
mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use reqwest::Client;
use tokio::time::Instant;

use self::body::Ending;
use self::exchange::{Exchange, Patience};
use super::decode::{BodyDecoder, BodyLimits, Decoded};
use super::resolve::Resolver;
use super::{FetchError, FetchRequest, FetchResponse, Fetcher, Timings, Truncation};

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
    client: Client,
    /// Headers that the user gave, for some hosts.
    given: reqwest::header::HeaderMap,
    settings: Arc<FetchSettings>,
}

impl HttpFetcher {
    /// Builds the client: the system's certificates are read here, once.
    ///
    /// # Errors
    /// [`SetupError`] when a header cannot be sent as given, or TLS cannot be set up.
    pub fn new(settings: FetchSettings, resolver: Arc<dyn Resolver>) -> Result<Self, SetupError> {
        let settings = Arc::new(settings);
        let client = client::build(&settings, resolver)?;
        let given = client::given_headers(&settings)?;
        Ok(Self { client, given, settings })
    }

    fn patience(&self, started: Instant) -> Patience {
        Patience::new(started, self.settings.first_byte_timeout, self.settings.total_timeout)
    }
}

impl Fetcher for HttpFetcher {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let patience = self.patience(Instant::now());
        let trust = self.settings.addresses.judge(&request.url).map_err(FetchError::AddressRefused)?;
        let exchange = Exchange::new(trust, request.url.port());
        let mut get = self.client.get(request.url.as_str());
        if self.settings.headers_for.iter().any(|host| host == request.url.authority()) {
            get = get.headers(self.given.clone());
        }
        let sent = get.send();
        let answered = exchange::in_time(exchange, patience, sent).await.map_err(FetchError::TimedOut)?;
        let limits = BodyLimits { max_body: request.max_body, max_expansion: self.settings.max_expansion };
        receive(answered.map_err(fault::of)?, limits, patience).await
    }
}

/// Turns a response whose headers are there into ours, and reads its body.
async fn receive(
    mut response: reqwest::Response,
    limits: BodyLimits,
    patience: Patience,
) -> Result<FetchResponse, FetchError> {
    let first_byte = patience.elapsed();
    let codings = response.headers().get_all(reqwest::header::CONTENT_ENCODING).iter();
    let mut body = BodyDecoder::new(codings.map(reqwest::header::HeaderValue::as_bytes), limits)?;
    let ending = body::read(&mut response, &mut body, patience.end()).await?;
    let decoded = body.finish();
    let truncated = truncation(ending, &decoded, response.status().is_success())?;
    Ok(FetchResponse {
        status: response.status().as_u16(),
        headers: headers(&response),
        body: decoded.body,
        wire_bytes: decoded.wire_bytes,
        truncated,
        remote: response.remote_addr(),
        timings: Timings { first_byte, total: patience.elapsed() },
    })
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
