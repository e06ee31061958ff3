//! [`FetchResponse`]: what a server answered.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The longest pause that is taken from a server: longer ones are slips, or made to hurt.
const LONGEST_PAUSE: Duration = Duration::from_hours(365 * 24);

/// A status with headers, and as much of the body as came within the limits.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use webloom::fetch::{BodyRoom, FetchResponse, Timings};
/// let response = FetchResponse {
///     status: 503,
///     headers: vec![("retry-after".into(), b"120".as_slice().into())],
///     body: Vec::new(),
///     room: BodyRoom::default(),
///     wire_bytes: 0,
///     truncated: None,
///     remote: None,
///     timings: Timings::default(),
/// };
/// assert_eq!(response.header("retry-after"), Some("120"));
/// assert_eq!(response.retry_after(SystemTime::UNIX_EPOCH), Some(Duration::from_secs(120)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResponse {
    /// HTTP status code, 100 to 999.
    pub status: u16,
    /// Names in lower case, values as received; several of one name stand together, in their order.
    pub headers: Vec<(Box<str>, Box<[u8]>)>,
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
}

/// Durations of one fetch, all from the moment it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Until the headers were there (connecting included).
    pub first_byte: Duration,
    /// Until the body was read or given up.
    pub total: Duration,
}

/// Memory that a body was given; it is given back when this is dropped. Small bodies have none.
#[derive(Clone, Default)]
pub struct BodyRoom(Option<Arc<dyn Any + Send + Sync>>);

impl BodyRoom {
    /// Keeps what stands for the memory.
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
}

impl FetchResponse {
    /// The first value of a header (any case), if it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }

    /// `Content-Type` as received, parameters included.
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }

    /// `Location` as received: a reference to be resolved against the URL that was fetched.
    pub fn location(&self) -> Option<&str> {
        self.header("location")
    }

    /// How long the server asks to be left alone (RFC 9110 10.2.3: seconds, or a date, which is measured from `now`; a
    /// past one is zero).
    pub fn retry_after(&self, now: SystemTime) -> Option<Duration> {
        let text = self.header("retry-after")?.trim();
        if let Ok(seconds) = text.parse() {
            return Some(Duration::from_secs(seconds).min(LONGEST_PAUSE));
        }
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(now).unwrap_or_default().min(LONGEST_PAUSE))
    }
}

impl Truncation {
    /// Whether the same request may bring more another time: the body was not cut for what it is.
    pub fn may_pass(self) -> bool {
        match self {
            Self::Time | Self::Slow | Self::Disconnect => true,
            Self::Size | Self::Expansion => false,
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
        FetchResponse {
            status: 200,
            headers: vec![(name.into(), value.into())],
            body: Vec::new(),
            room: BodyRoom::default(),
            wire_bytes: 0,
            truncated: None,
            remote: None,
            timings: Timings::default(),
        }
    }

    #[test]
    fn finds_headers_in_any_case() {
        assert_eq!(with("content-type", b"text/html").content_type(), Some("text/html"));
        assert_eq!(with("location", "/ä".as_bytes()).header("Location"), Some("/ä"));
        assert_eq!(with("location", b"/\xe4").location(), None);
    }

    #[test]
    fn reads_both_forms_of_retry_after() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let wait = |text: &str| with("retry-after", text.as_bytes()).retry_after(now).map(|wait| wait.as_secs());
        assert_eq!(wait(" 7 "), Some(7));
        assert_eq!(wait("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(wait("Sunday, 06-Nov-94 08:49:39 GMT"), Some(2));
        assert_eq!(wait("Sun Nov  6 08:49:30 1994"), Some(0));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
        assert_eq!(wait("99999999999999999999999"), None);
    }
}
