//! Status line and headers in the form of HTTP/1.1, rebuilt from what the client reports.
//!
//! The client parses a head, drops its bytes, and gives no access to its connections. What is lost by that is named at
//! [`RawHead::as_sent`].

use hyper::ext::ReasonPhrase;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Version};

use super::outgoing::Outgoing;
use crate::fetch::{Method, RawHead};

/// The head of a response to a request, which took `plain` headers along beside those of its own.
pub(super) fn of(response: &Response, outgoing: &Outgoing, plain: HeaderMap) -> RawHead {
    // It is there where it is not the usual one.
    let reason = response.extensions().get().map(ReasonPhrase::as_bytes);
    let line = status_line(response.version(), response.status(), reason);
    let request = request(outgoing, plain).into();
    RawHead { bytes: head(line, response.headers()).into(), as_sent: false, request }
}

fn request(outgoing: &Outgoing, mut headers: HeaderMap) -> Vec<u8> {
    let method = match outgoing.method {
        Method::Get => "GET",
        Method::Head => "HEAD",
    };
    let (target, origin) = (outgoing.url.path_and_query(), outgoing.origin.as_str());
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    for (name, value) in &outgoing.headers {
        headers.insert(name, value.clone());
    }
    let shown = headers.into_iter().filter_map(|(name, value)| Some((name?, value)));
    let shown = shown.filter(|(_, value)| !value.is_sensitive()).collect();
    head(format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\n").into_bytes(), &shown)
}

fn status_line(version: Version, status: StatusCode, reason: Option<&[u8]>) -> Vec<u8> {
    let version = if version == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" };
    let usual = status.canonical_reason().unwrap_or_default();
    [version.as_bytes(), b" ", status.as_str().as_bytes(), b" ", reason.unwrap_or(usual.as_bytes()), b"\r\n"].concat()
}

fn head(line: Vec<u8>, headers: &HeaderMap) -> Vec<u8> {
    let mut bytes = line;
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            bytes.extend(part);
        }
    }
    bytes.extend(b"\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_says_what_the_server_said() {
        let line = |version, status, reason: Option<&str>| {
            let status = StatusCode::from_u16(status).unwrap();
            String::from_utf8(status_line(version, status, reason.map(str::as_bytes))).unwrap()
        };
        assert_eq!(line(Version::HTTP_11, 404, None), "HTTP/1.1 404 Not Found\r\n");
        assert_eq!(line(Version::HTTP_10, 200, Some("Fine")), "HTTP/1.0 200 Fine\r\n");
        assert_eq!(line(Version::HTTP_11, 200, Some("")), "HTTP/1.1 200 \r\n");
        assert_eq!(line(Version::HTTP_2, 203, None), "HTTP/1.1 203 Non Authoritative Information\r\n");
        assert_eq!(line(Version::HTTP_2, 999, None), "HTTP/1.1 999 \r\n");
    }
}
