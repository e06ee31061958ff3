//! [`FetchRequest`]: what is asked for, of whom, and how much of the answer is wanted.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::response::{Headers, header};
use crate::{
    purpose::Purpose,
    queue::Validators,
    url::{Credentials, Origin, WebUrl},
};

/// One request. Most are plain:
///
/// ```
/// use webloom::{WebUrl, fetcher::{FetchRequest, HeadRule, Keep, Method, ReadBody}};
/// let url = WebUrl::parse("http://example.org/")?;
/// let plain = FetchRequest::get(url.clone(), 1 << 20);
/// assert_eq!((plain.method, plain.max_body), (Method::Get, 1 << 20));
/// let archived = FetchRequest { keep: Keep { raw_head: true, body_as_sent: true }, ..plain.clone() };
/// let html_only = HeadRule::new(|head| match head.content_type() {
///     Some(text) if text.starts_with("text/html") => ReadBody::ALL,
///     _ => ReadBody::Nothing,
/// });
/// let short = FetchRequest { rule: Some(html_only), ..archived };
/// assert!(short.keep.raw_head);
/// # Ok::<(), webloom::UrlError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// What is fetched. User name and password in it are not sent: see [`credentials`](Self::credentials).
    pub url: WebUrl,
    /// How it is asked for.
    pub method: Method,
    /// What is known of the copy that whoever asks has: a server that has no newer one answers 304 without a body.
    pub validators: Validators,
    /// A user name and a password for one origin. They are sent if that is the URL's, instead of those that the fetcher
    /// was set up with for it, and never to another.
    pub credentials: Option<OriginCredentials>,
    /// Headers of this request alone, which replace the fetcher's of the same names. A decorator of a fetcher puts them here. One that
    /// cannot be sent is left out.
    pub headers: Vec<RequestHeader>,
    /// Whose it is to look like.
    pub identity: Identity,
    /// The only addresses that may be connected to, instead of a look-up. Each is subject to the fetcher's address policy
    /// all the same; without any, or where the URL spells an address that is not among them, nothing is sent
    /// ([`FetchError::NotPinned`](super::FetchError::NotPinned)). Such a request has a connection of its own, because one that
    /// is open may lead elsewhere.
    pub addresses: Option<Arc<[IpAddr]>>,
    /// Bytes of decoded body that are kept at most; the rest is not read ([`Truncation::Size`](super::Truncation::Size)).
    /// The body as sent, if it is kept too, is not longer than this either.
    pub max_body: u64,
    /// How much of the body is read, judged by status and headers; without one, all of it. A HEAD has no body to be judged.
    pub rule: Option<HeadRule>,
    /// What else is kept of the answer, beside its parts.
    pub keep: Keep,
    /// What it is for.
    pub purpose: Purpose,
    /// The pause that its host is to have after the request before it. A fetcher waits for nobody; who shares a host with others
    /// waits with the request.
    pub pause: Duration,
}

impl FetchRequest {
    /// A GET of everything, without conditions.
    pub fn get(url: WebUrl, max_body: u64) -> Self {
        Self {
            url,
            method: Method::Get,
            validators: Validators::default(),
            credentials: None,
            headers: Vec::new(),
            identity: Identity::Own,
            addresses: None,
            max_body,
            rule: None,
            keep: Keep::default(),
            purpose: Purpose::Discover,
            pause: Duration::ZERO,
        }
    }

    /// A HEAD: status and headers alone.
    pub fn head(url: WebUrl) -> Self {
        Self { method: Method::Head, ..Self::get(url, 0) }
    }
}

/// How a URL is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Status, headers and body.
    #[default]
    Get,
    /// Status and headers, as a GET would have them.
    Head,
}

/// Whose a request looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Identity {
    /// The user's, with all that there is for its origin.
    #[default]
    Own,
    /// The user's, without cookies: not logged in.
    WithoutCookies,
    /// Nobody's: without cookies, credentials, and headers that the fetcher has for its origin.
    Stranger,
}

/// A user name and a password, and the one origin they are for. The password never prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginCredentials {
    /// Who gets them.
    pub origin: Origin,
    /// What is sent, as HTTP's basic authentication (RFC 7617).
    pub credentials: Credentials,
}

/// A header of one request. Its value may be a secret, and never prints.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestHeader {
    /// Its name, such as `cookie`.
    pub name: Box<str>,
    /// Its value.
    pub value: Box<[u8]>,
}

impl fmt::Debug for RequestHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHeader").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What else is kept of an answer, beside its parts. It costs memory, so it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// [`FetchResponse::raw_head`](super::FetchResponse::raw_head).
    pub raw_head: bool,
    /// [`FetchResponse::body_as_sent`](super::FetchResponse::body_as_sent).
    pub body_as_sent: bool,
}

/// Decides by status and headers how much of a body is read.
///
/// It is a function, not a list of conditions: which types, lengths and statuses are wanted comes from settings, and a
/// list would need a small language that each fetcher interprets. All that a fetcher must be able to do is to stop between
/// headers and body, which a browser can too.
#[derive(Clone)]
pub struct HeadRule(Arc<Judge>);

type Judge = dyn Fn(Head<'_>) -> ReadBody + Send + Sync;

/// Status and headers of an answer whose body is not read yet.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// HTTP status code, 100 to 999.
    pub status: u16,
    /// As in [`FetchResponse::headers`](super::FetchResponse::headers).
    pub headers: &'a Headers,
}

/// How much of a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadBody {
    /// Nothing: where there is one, it is cut ([`Truncation::Rule`](super::Truncation::Rule)).
    Nothing,
    /// At most so many decoded bytes: a longer one is cut there, by the rule or by the request's own limit, whichever
    /// is lower.
    AtMost(u64),
}

impl ReadBody {
    /// As much as the request allows.
    pub const ALL: Self = Self::AtMost(u64::MAX);
}

impl HeadRule {
    /// A rule that judges by this function. It is called once an answer, where the headers are read: it must be quick.
    pub fn new(judge: impl Fn(Head<'_>) -> ReadBody + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    /// How much of this answer's body is read.
    pub fn judge(&self, head: Head<'_>) -> ReadBody {
        (self.0)(head)
    }
}

impl fmt::Debug for HeadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeadRule")
    }
}

impl Head<'_> {
    /// The first value of a header (any case), if it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(header(self.headers, name)?).ok()
    }

    /// `Content-Type` as received, parameters included.
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }

    /// `Content-Length`: bytes of the body as sent, where the server says so.
    pub fn content_length(&self) -> Option<u64> {
        self.header("content-length")?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_prints_no_password() {
        let (url, credentials) = WebUrl::parse("http://bob:secret@h/").unwrap().split_credentials();
        let credentials = credentials.map(|credentials| OriginCredentials { origin: url.origin(), credentials });
        let request =
            FetchRequest { credentials, rule: Some(HeadRule::new(|_| ReadBody::ALL)), ..FetchRequest::head(url) };
        let text = format!("{request:?}");
        assert!(!text.contains("secret\"") && !text.contains("bob") && text.contains("Credentials(secret)"), "{text}");
    }

    #[test]
    fn a_rule_sees_status_type_and_length() {
        let rule = HeadRule::new(|head| match (head.status, head.content_type(), head.content_length()) {
            (200, Some("text/html"), Some(7)) => ReadBody::AtMost(3),
            _ => ReadBody::Nothing,
        });
        let headers = vec![
            ("content-type".into(), b"text/html".as_slice().into()),
            ("content-length".into(), b" 7".as_slice().into()),
        ];
        assert_eq!(rule.judge(Head { status: 200, headers: &headers }), ReadBody::AtMost(3));
        assert_eq!(rule.judge(Head { status: 404, headers: &headers }), ReadBody::Nothing);
        assert_eq!(rule.judge(Head { status: 200, headers: &Vec::new() }), ReadBody::Nothing);
    }
}
