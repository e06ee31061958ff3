//! [`Outgoing`]: a request that may be sent.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};

use super::client;
use super::exchange::Aim;
use super::settings::FetchSettings;
use crate::fetch::{FetchError, FetchRequest, HeadRule, Identity, Keep, Method};
use crate::url::{Origin, WebUrl};

/// A request that may be sent.
pub(super) struct Outgoing {
    /// Without user name and password.
    pub(super) url: WebUrl,
    pub(super) origin: Origin,
    pub(super) aim: Aim,
    pub(super) method: Method,
    /// Headers of this request alone; they replace the fetcher's of the same names.
    pub(super) headers: HeaderMap,
    /// Nothing of what the fetcher has for its origin goes with it.
    pub(super) is_of_stranger: bool,
    pub(super) max_body: u64,
    pub(super) rule: Option<HeadRule>,
    pub(super) keep: Keep,
}

impl Outgoing {
    /// Makes a request ready, if the policy lets it go where it would.
    pub(super) fn new(request: FetchRequest, settings: &FetchSettings) -> Result<Self, FetchError> {
        let trust = settings.addresses.judge(&request.url).map_err(FetchError::AddressRefused)?;
        if is_pinned_elsewhere(&request) {
            return Err(FetchError::NotPinned);
        }
        let origin = request.url.origin();
        let headers = headers(&request, &origin);
        let FetchRequest { url, method, identity, addresses: pinned, max_body, rule, keep, .. } = request;
        let is_of_stranger = identity == Identity::Stranger;
        let url = url.without_credentials();
        let aim = Aim { trust, port: url.port(), pinned, proxied: settings.proxy.has(&url) };
        Ok(Self { url, origin, aim, method, headers, is_of_stranger, max_body, rule, keep })
    }
}

/// Whether no address that the request is pinned to can be its host's. A name is looked up among them later; an address in
/// the URL, which no resolver sees, is judged here.
fn is_pinned_elsewhere(request: &FetchRequest) -> bool {
    let Some(pinned) = &request.addresses else { return false };
    pinned.is_empty() || request.url.ip_literal().is_some_and(|address| !pinned.contains(&address))
}

/// What a request brings along for its own origin: credentials for another are left out.
fn headers(request: &FetchRequest, origin: &Origin) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(bound) =
        request.credentials.as_ref().filter(|bound| bound.origin == *origin && request.identity != Identity::Stranger)
    {
        headers.insert(AUTHORIZATION, client::login(&bound.credentials));
    }
    for header in &request.headers {
        let name = HeaderName::from_bytes(header.name.as_bytes());
        if let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_bytes(&header.value)) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    put(&mut headers, IF_NONE_MATCH, request.validators.etag.as_deref());
    put(&mut headers, IF_MODIFIED_SINCE, request.validators.last_modified.as_deref());
    headers
}

/// Puts a value from elsewhere among the headers, if a header can hold it.
fn put(headers: &mut HeaderMap, name: HeaderName, value: Option<&[u8]>) {
    if let Some(Ok(value)) = value.map(HeaderValue::from_bytes) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::{OriginCredentials, RequestHeader, Validators};

    #[test]
    fn a_password_is_marked_as_a_secret() {
        let (url, credentials) = WebUrl::parse("https://me:secret@h/").unwrap().split_credentials();
        let bound = OriginCredentials { origin: url.origin(), credentials: credentials.unwrap() };
        let validators = Validators { etag: Some(b"\"1\"".as_slice().into()), last_modified: None };
        let request = FetchRequest { credentials: Some(bound), validators, ..FetchRequest::get(url, 0) };
        let outgoing = Outgoing::new(request, &FetchSettings::new("test/1 (+http://localhost/)")).unwrap();
        // HTTP/2 keeps what is so marked out of the table it shares with the server, and no debug output shows it.
        assert!(outgoing.headers[AUTHORIZATION].is_sensitive() && !outgoing.headers[IF_NONE_MATCH].is_sensitive());
    }

    #[test]
    fn headers_of_a_request_are_sent_with_it_where_they_can_be() {
        let header = |name: &str, value: &[u8]| RequestHeader { name: name.into(), value: value.into() };
        let headers = vec![header("cookie", b"a=1"), header("no name", b"1"), header("x", b"two\r\nlines")];
        let request = FetchRequest { headers, ..FetchRequest::get(WebUrl::parse("http://h/").unwrap(), 0) };
        assert!(!format!("{request:?}").contains("a=1"));
        let outgoing = Outgoing::new(request, &FetchSettings::new("test/1 (+http://localhost/)")).unwrap();
        assert_eq!((outgoing.headers.len(), outgoing.headers["cookie"].as_bytes()), (1, &b"a=1"[..]));
        assert!(outgoing.headers["cookie"].is_sensitive());
    }

    #[test]
    fn a_plain_request_brings_no_headers() {
        let request = FetchRequest::get(WebUrl::parse("http://h/").unwrap(), 0);
        assert!(Outgoing::new(request, &FetchSettings::new("test/1 (+http://localhost/)")).unwrap().headers.is_empty());
    }
}
