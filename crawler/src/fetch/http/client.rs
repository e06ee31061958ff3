//! The HTTP clients of a fetcher.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use reqwest::Client;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use reqwest::redirect::Policy;
use rustls::{ClientConfig, RootCertStore};

use super::exchange::Watch;
use super::names::CheckedNames;
use super::settings::{FetchSettings, SetupError};
use super::trust;
use crate::url::{Credentials, Origin};

/// What a browser asks for, so that servers which negotiate give us what they give people.
const ACCEPTED: HeaderValue =
    HeaderValue::from_static("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
/// The codings that [`decode`](crate::fetch::decode) undoes.
const ACCEPTED_CODINGS: HeaderValue = HeaderValue::from_static("gzip, br, zstd, deflate");

/// How long an unused connection is kept: longer than a usual crawl delay, shorter than most servers' patience.
pub(super) const IDLE: Duration = Duration::from_secs(30);
/// Unused connections to one origin at most.
const IDLE_PER_ORIGIN: usize = 32;
/// Header lines of an HTTP/1 response; hyper's own limit is 100. Their bytes together are limited to about 400 KiB by
/// its buffer.
const HEADER_LINES: usize = 256;
/// Bytes of headers of an HTTP/2 response.
const HEADER_BYTES: u32 = 256 * 1024;

/// What clients are made of.
pub(super) struct Parts {
    settings: Arc<FetchSettings>,
    names: CheckedNames,
    tls: ClientConfig,
}

impl Parts {
    /// Parts of clients that trust these certificates.
    pub(super) fn new(
        roots: RootCertStore,
        settings: Arc<FetchSettings>,
        names: CheckedNames,
    ) -> Result<Self, SetupError> {
        let mut tls = trust::config(roots, &settings.insecure_hosts)?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { settings, names, tls })
    }

    /// A client that keeps connections open for the next request.
    pub(super) fn keeping(&self) -> Result<Client, SetupError> {
        self.client(self.settings.kept_per_origin.min(IDLE_PER_ORIGIN))
    }

    /// A client that closes each.
    pub(super) fn closing(&self) -> Result<Client, SetupError> {
        self.client(0)
    }

    fn client(&self, idle_per_origin: usize) -> Result<Client, SetupError> {
        build(&self.settings, self.names.clone(), self.tls.clone(), idle_per_origin)
    }
}

fn build(
    settings: &FetchSettings,
    names: CheckedNames,
    tls: ClientConfig,
    idle_per_origin: usize,
) -> Result<Client, SetupError> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(names)
        .connector_layer(Watch)
        .connect_timeout(settings.connect_timeout)
        // The client reads no environment of its own.
        .no_proxy()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(idle_per_origin)
        .http1_max_headers(HEADER_LINES)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http2_max_header_list_size(HEADER_BYTES)
        .default_headers(headers(settings)?);
    let client = match settings.proxy.for_client() {
        Some(proxy) => client.proxy(proxy),
        None => client,
    };
    Ok(client.build()?)
}

/// Our own headers of every request.
pub(super) fn headers(settings: &FetchSettings) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, ACCEPTED);
    headers.insert(ACCEPT_ENCODING, ACCEPTED_CODINGS);
    if let Some(language) = &settings.accept_language {
        let value = HeaderValue::from_str(language);
        headers.insert(ACCEPT_LANGUAGE, value.map_err(|_| SetupError::Header("accept-language".to_owned()))?);
    }
    let agent = HeaderValue::from_str(&settings.user_agent);
    headers.insert(USER_AGENT, agent.map_err(|_| SetupError::UserAgent(settings.user_agent.clone()))?);
    Ok(headers)
}

/// The headers that the user gave.
pub(super) fn given_headers(settings: &FetchSettings) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let refused = || SetupError::Header(name.clone());
        let parsed = name.parse::<HeaderName>().map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
        value.set_sensitive(true);
        headers.insert(parsed, value);
    }
    Ok(headers)
}

/// `Authorization` for each origin that has a user name.
pub(super) fn logins(settings: &FetchSettings) -> HashMap<Origin, HeaderMap> {
    let login = |(origin, credentials): (&Origin, &Credentials)| {
        (origin.clone(), HeaderMap::from_iter([(AUTHORIZATION, login(credentials))]))
    };
    settings.credentials.iter().map(login).collect()
}

/// Basic authentication (RFC 7617).
pub(super) fn login(credentials: &Credentials) -> HeaderValue {
    let text = format!("Basic {}", BASE64.encode(&credentials.user_and_password()));
    let mut value = HeaderValue::try_from(text).expect("base64 is visible ASCII");
    value.set_sensitive(true);
    value
}

/// The certificates that the system trusts. Where there are none, no certificate is accepted; plain http still works.
pub(super) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
