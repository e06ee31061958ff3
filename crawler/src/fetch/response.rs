//! [`FetchResponse`]: what a server answered.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::{queue::Validators, time::Moment, url::WebUrl};

/// The longest pause that is taken from a server: longer ones are slips, or made to hurt.
const LONGEST_PAUSE: Duration = Duration::from_hours(365 * 24);

/// Names in lower case, values as received; several of one name stand together, in their order.
pub type Headers = Vec<(Box<str>, Box<[u8]>)>;

/// A status with headers, and as much of the body as came within the limits.
///
/// ```
/// use webloom::{WebUrl, fetcher::FetchResponse};
/// let response = FetchResponse {
///     headers: vec![("retry-after".into(), b"120".as_slice().into())],
///     ..FetchResponse::new(WebUrl::parse("http://example.org/")?, 503)
/// };
/// assert_eq!(response.header("retry-after"), Some("120"));
/// # Ok::<(), webloom::UrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResponse {
    /// The URL whose answer this is, without user name and password: the request's, where the fetcher follows no redirect
    /// (a browser may have been led elsewhere).
    pub final_url: WebUrl,
    /// HTTP status code, 100 to 999.
    pub status: u16,
    /// The headers, parsed.
    pub headers: Headers,
    /// The body after all content codings that we know were undone.
    pub body: Vec<u8>,
    /// Memory that is held for the body: whoever takes the body out drops it afterwards.
    pub room: BodyRoom,
    /// Bytes of the body as received: before decoding, without chunk framing.
    pub wire_bytes: u64,
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncation>,
    /// The address that answered.
    pub remote: Option<SocketAddr>,
    /// How long it took.
    pub timings: Timings,
    /// Requests that reached a server: one, where the fetcher follows no redirect, and one more where a kept connection
    /// ended in silence, so that the request was sent again: nobody can tell whether the server had read it before it closed.
    /// Where the connection was reset it had not, and the request counts once.
    pub requests: u64,
    /// Status line and headers, if the request asked for them.
    pub raw_head: Option<RawHead>,
    /// The body before content codings were undone, if the request asked for it: [`FetchResponse::body_as_sent`] reads it.
    pub as_sent: Option<AsSent>,
}

/// Durations of one fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Looking the host's name up; `None` where nothing was looked up (a kept connection, an address in the URL).
    pub look_up: Option<Duration>,
    /// Connecting, without the look-up before it, and without the TLS handshake if that has a time of its own; `None` on a
    /// kept connection.
    pub connect: Option<Duration>,
    /// The TLS handshake; `None` on a kept connection, without TLS, or where the fetcher cannot tell it from connecting: then
    /// [`connect`](Self::connect) includes it. ([`HttpFetcher`](super::http::HttpFetcher) never can: its client does both in
    /// one step.)
    pub tls: Option<Duration>,
    /// From the moment it was asked for until the headers were there (connecting included).
    pub first_byte: Duration,
    /// From the same moment until the body was read or given up.
    pub total: Duration,
}

/// Status line and headers in the form of HTTP/1, up to and with the empty line.
#[derive(Clone, PartialEq, Eq)]
pub struct RawHead {
    /// The bytes. An interim answer (1xx) that came before them is left out.
    ///
    /// They say how the body was framed. [`FetchResponse::body_as_sent`] has no chunk framing; who writes both into an
    /// archive leaves out `Transfer-Encoding`, or readers look for chunks that are not there.
    pub bytes: Box<[u8]>,
    /// Whether the server sent exactly these bytes, as a fetcher can say that reads its connections itself.
    ///
    /// [`HttpFetcher`](super::http::HttpFetcher) cannot: its client parses a head and forgets it. What it makes of the parsed
    /// parts has status and reason phrase, and each header that the client understood on a line of its own, with the bytes of its
    /// value. Not kept are:
    /// - the case of names: all are in lower case;
    /// - where a name is repeated, the place of the second and further lines among those of other names: they follow the first
    ///   one, in their order;
    /// - white space around names and values, and how lines end;
    /// - obsolete folding: a line break within a value, with the white space around it, is one space;
    /// - lines that are no header, which the client skips;
    /// - a reason phrase with bytes beyond ASCII, which is empty;
    /// - of HTTP/2, the form: its heads are binary, and relative to what was sent before. The status line is the one that
    ///   HTTP/1.1 would have had, with the usual reason phrase.
    pub as_sent: bool,
    /// Request line and headers of the request, in the same form, without what may be secret: headers that the user gave, credentials
    /// and cookies. Empty where the fetcher does not know them.
    pub request: Box<[u8]>,
}

/// The body before content codings (gzip, brotli) were undone, without the framing of the transfer (chunks, frames).
#[derive(Clone, PartialEq, Eq)]
pub enum AsSent {
    /// It had none that were undone: it is [`FetchResponse::body`], which is not kept twice.
    Body,
    /// These bytes, as far as the body was read.
    Coded(Vec<u8>),
}

/// Memory that a body was given; it is given back when this is dropped. Small bodies have none.
#[derive(Clone, Default)]
pub struct BodyRoom(Option<Arc<dyn Any + Send + Sync>>);

impl BodyRoom {
    /// Keeps the permit that the memory was taken under.
    pub fn new(permit: impl Any + Send + Sync) -> Self {
        Self(Some(Arc::new(permit)))
    }

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for BodyRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none() { "BodyRoom(none)" } else { "BodyRoom(held)" })
    }
}

/// No part of what was answered: equal to any other.
impl PartialEq for BodyRoom {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for BodyRoom {}

/// Why a body ends before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Truncation {
    /// It is longer than the request allows.
    Size,
    /// The limit of the whole request ended; what had come is kept.
    Time,
    /// It came slower than it must.
    Slow,
    /// Decoding it yields too many bytes for each received one.
    Expansion,
    /// The connection or the compressed stream ended before the body did.
    Disconnect,
    /// The request's rule wanted no more of it.
    Rule,
}

/// The first value of a header (any case).
pub(super) fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a [u8]> {
    headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
}

impl FetchResponse {
    /// An answer without headers and body, of one request.
    pub fn new(final_url: WebUrl, status: u16) -> Self {
        Self {
            final_url,
            status,
            headers: Vec::new(),
            body: Vec::new(),
            room: BodyRoom::default(),
            wire_bytes: 0,
            truncated: None,
            remote: None,
            timings: Timings::default(),
            requests: 1,
            raw_head: None,
            as_sent: None,
        }
    }

    /// The first value of a header (any case), if it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(header(&self.headers, name)?).ok()
    }

    /// What identifies this copy of the page when it is asked for again.
    pub fn validators(&self) -> Validators {
        let kept = |name| header(&self.headers, name).map(Into::into);
        Validators { etag: kept("etag"), last_modified: kept("last-modified") }
    }

    /// The body as the server sent it: content codings are not undone, the transfer's framing (chunks, frames) is. `None` if
    /// the request did not ask for it. It ends where the reading of the body ended; where codings were undone it may go on
    /// for some bytes beyond what [`body`](Self::body) holds.
    pub fn body_as_sent(&self) -> Option<&[u8]> {
        self.as_sent.as_ref().map(|sent| match sent {
            AsSent::Body => &*self.body,
            AsSent::Coded(bytes) => bytes,
        })
    }

    /// `Content-Type` as received, parameters included.
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }

    /// `Location` as received: a reference to be resolved against the URL that was fetched.
    pub fn location(&self) -> Option<&str> {
        self.header("location")
    }

    /// The same as browsers read it: where it is no UTF-8, each byte beyond ASCII is percent-encoded.
    pub(crate) fn escaped_location(&self) -> Option<Cow<'_, str>> {
        let given = header(&self.headers, "location")?;
        if let Ok(text) = std::str::from_utf8(given) {
            return Some(text.into());
        }
        let escaped = |byte: &u8| if byte.is_ascii() { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
        Some(given.iter().map(escaped).collect::<String>().into())
    }

    /// How long the server asks to be left alone (RFC 9110 10.2.3: seconds, or a date, which is measured from `now`; a
    /// past one is zero).
    pub fn retry_after(&self, now: Moment) -> Option<Duration> {
        let text = self.header("retry-after")?.trim();
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that is too large is one all the same.
            return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)).min(LONGEST_PAUSE));
        }
        let date = httpdate::parse_http_date(text).ok()?;
        let date = date.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Some((Moment::EPOCH + date).since(now).min(LONGEST_PAUSE))
    }
}

impl Truncation {
    /// Whether the same request may bring more another time: the body was not cut for what it is.
    pub fn may_pass(self) -> bool {
        match self {
            Self::Time | Self::Slow | Self::Disconnect => true,
            Self::Size | Self::Expansion | Self::Rule => false,
        }
    }

    /// The reason's name in page records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Time => "time",
            Self::Slow => "slow",
            Self::Expansion => "expansion",
            Self::Disconnect => "disconnect",
            Self::Rule => "rule",
        }
    }
}

/// Headers may hold secrets (a session in `Set-Cookie`): how many bytes there are is all that prints.
impl fmt::Debug for RawHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawHead")
            .field("bytes", &self.bytes.len())
            .field("as_sent", &self.as_sent)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AsSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("Body"),
            Self::Coded(bytes) => write!(f, "Coded({} bytes)", bytes.len()),
        }
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &[u8]) -> FetchResponse {
        let url = WebUrl::parse("http://h/").unwrap();
        FetchResponse { headers: vec![(name.into(), value.into())], ..FetchResponse::new(url, 200) }
    }

    #[test]
    fn finds_headers_in_any_case() {
        assert_eq!(with("content-type", b"text/html").content_type(), Some("text/html"));
        assert_eq!(with("location", "/ä".as_bytes()).header("Location"), Some("/ä"));
        assert_eq!(with("location", b"/\xe4").location(), None);
        assert_eq!(with("location", b"/a?\xe4").escaped_location().as_deref(), Some("/a?%E4"));
        assert_eq!(with("location", "/ä".as_bytes()).escaped_location().as_deref(), Some("/ä"));
    }

    #[test]
    fn validators_are_kept_as_received() {
        let weak = with("etag", b"W/\"a\xff\"").validators();
        assert_eq!((weak.etag.as_deref(), weak.last_modified), (Some(b"W/\"a\xff\"".as_slice()), None));
        let dated = with("last-modified", b"yesterday").validators();
        assert_eq!(dated.last_modified.as_deref(), Some(b"yesterday".as_slice()));
    }

    #[test]
    fn a_body_without_codings_is_not_kept_twice() {
        let mut response = with("etag", b"");
        assert_eq!(response.body_as_sent(), None);
        (response.body, response.as_sent) = (b"body".to_vec(), Some(AsSent::Body));
        assert_eq!(response.body_as_sent(), Some(b"body".as_slice()));
        response.as_sent = Some(AsSent::Coded(b"coded".to_vec()));
        assert_eq!(response.body_as_sent(), Some(b"coded".as_slice()));
    }

    #[test]
    fn reads_both_forms_of_retry_after() {
        // Sun, 06 Nov 1994 08:49:37 GMT.
        let now = Moment::from_millis(784_111_777_000);
        let wait = |text: &str| with("retry-after", text.as_bytes()).retry_after(now).map(|wait| wait.as_secs());
        assert_eq!(wait(" 7 "), Some(7));
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(wait("Sunday, 06-Nov-94 08:49:39 GMT"), Some(2));
        assert_eq!(wait("Sun Nov  6 08:49:30 1994"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
        assert_eq!(wait(""), None);
        assert_eq!(wait("99999999999999999999999"), Some(LONGEST_PAUSE.as_secs()));
    }
}
