//! What a request asks for: its method, conditions, credentials, and how much of a body.

use super::server::{plain, send};
use super::*;
use crate::fetch::{Head, HeadRule, Method, OriginCredentials, ReadBody, Truncation, Validators};

fn ruled(url: &str, rule: impl Fn(Head<'_>) -> ReadBody + Send + Sync + 'static) -> FetchRequest {
    FetchRequest { rule: Some(HeadRule::new(rule)), ..request(url) }
}

#[tokio::test]
async fn head_asks_for_no_body_and_reads_none() {
    let head = send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nContent-Encoding: gzip\r\n\r\n");
    let server = Server::start(vec![vec![head, Act::Next, plain("200 OK", "", b"page")]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let rule = Some(HeadRule::new(|_| unreachable!("there is no body to be judged")));
    let head = FetchRequest { rule, ..FetchRequest::head(request(&server.url("/x")).url) };
    let response = fetcher.fetch(head).await.unwrap();
    assert_eq!((response.status, response.header("content-length")), (200, Some("1000")));
    assert_eq!((response.body.len(), response.truncated, response.wire_bytes), (0, None, 0));
    assert!(server.requests()[0].starts_with("HEAD /x HTTP/1.1\r\n"), "{:?}", server.requests());
    let next = FetchRequest { method: Method::Get, ..request(&server.url("/y")) };
    assert_eq!(fetcher.fetch(next).await.unwrap().body, b"page");
    assert!(server.requests()[1].starts_with("GET /y "));
    assert_eq!(server.connections(), 1, "the connection is at its next answer");
}

#[tokio::test]
async fn validators_go_out_as_they_came() {
    let first = plain("200 OK", "ETag: W/\"\u{e4} 1\"\r\nLast-Modified: some day\r\n", b"page");
    let unchanged = send("HTTP/1.1 304 Not Modified\r\nETag: W/\"\u{e4} 1\"\r\n\r\n");
    let server = Server::start(vec![vec![first, Act::Next, unchanged, Act::Next, plain("200 OK", "", b"")]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let validators = fetcher.fetch(request(&server.url("/"))).await.unwrap().validators();
    let again = FetchRequest { validators, ..request(&server.url("/")) };
    let response = fetcher.fetch(again.clone()).await.unwrap();
    assert_eq!((response.status, response.body.len(), response.truncated), (304, 0, None));
    assert_eq!(response.validators().etag, again.validators.etag);
    let sent = server.requests().remove(1);
    assert!(
        sent.contains("if-none-match: W/\"\u{e4} 1\"\r\n") && sent.contains("if-modified-since: some day\r\n"),
        "{sent}"
    );
    assert!(!server.requests()[0].contains("if-"));
    let etag = Some(b"a\r\nX-Injected: 1".as_slice().into());
    let odd = FetchRequest { validators: Validators { etag, last_modified: None }, ..request(&server.url("/")) };
    assert_eq!(fetcher.fetch(odd).await.unwrap().status, 200);
    assert!(!server.requests()[2].contains("njected"), "what no header can hold is not sent");
}

#[tokio::test]
async fn credentials_of_a_request_go_to_their_origin_alone() {
    let script = || vec![std::iter::repeat_n([plain("200 OK", "", b""), Act::Next], 3).flatten().collect()];
    let (own, other) = (Server::start(script()).await, Server::start(script()).await);
    let given = own.url("/").replace("http://", "http://me:secret@");
    let (url, credentials) = WebUrl::parse(&given).unwrap().split_credentials();
    let bound = OriginCredentials { origin: url.origin(), credentials: credentials.unwrap() };
    let known = WebUrl::parse("http://you:other@h/").unwrap().split_credentials().1.unwrap();
    let mut settings = settings();
    settings.credentials = [(url.origin(), known)].into();
    let fetcher = fetcher(settings, FixedNames::default());
    for target in [own.url("/"), other.url("/"), own.url("/").replace("127.0.0.1", "localhost")] {
        let request = FetchRequest { credentials: Some(bound.clone()), ..request(&target) };
        let _ = fetcher.fetch(request).await;
    }
    fetcher.fetch(request(&own.url("/"))).await.unwrap();
    let logins = |server: &Server| -> Vec<bool> {
        server.requests().iter().map(|request| request.contains("uthorization: Basic bWU6c2VjcmV0\r\n")).collect()
    };
    assert_eq!((logins(&own), logins(&other)), (vec![true, false], vec![false]));
    assert!(own.requests()[1].contains("uthorization: Basic eW91Om90aGVy\r\n"), "else those of the settings");
    assert!(!other.requests()[0].contains("uthorization"));
}

#[tokio::test]
async fn a_rule_leaves_a_body_where_it_is() {
    let body = vec![b'x'; 100 << 20];
    let server = Server::start(vec![
        vec![plain("200 OK", "Content-Type: video/mp4\r\n", &body)],
        vec![plain("200 OK", "", b"next")],
    ])
    .await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let rule = |head: Head<'_>| match (head.content_type(), head.content_length()) {
        (Some("video/mp4"), Some(length)) if length > 1 << 20 => ReadBody::Nothing,
        _ => ReadBody::ALL,
    };
    let left = fetcher.fetch(ruled(&server.url("/"), rule)).await.unwrap();
    assert_eq!((left.status, left.body.len(), left.truncated), (200, 0, Some(Truncation::Rule)));
    let next = fetcher.fetch(ruled(&server.url("/"), rule)).await.unwrap();
    assert_eq!((&*next.body, next.truncated, server.connections()), (b"next".as_slice(), None, 2));
    let mut ended = server.ended(2).await;
    ended.sort_unstable();
    assert_eq!(ended, [false, true], "the server could not get rid of the first body");
}

#[tokio::test]
async fn a_connection_is_kept_where_little_is_left_unread() {
    let script = [plain("404 Not Found", "", b"no such page"), Act::Next, plain("200 OK", "", b"page")];
    let server = Server::start(vec![script.to_vec()]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let success = |head: Head<'_>| if head.status == 200 { ReadBody::ALL } else { ReadBody::Nothing };
    let missing = fetcher.fetch(ruled(&server.url("/"), success)).await.unwrap();
    assert_eq!((missing.status, missing.body.len(), missing.truncated), (404, 0, Some(Truncation::Rule)));
    assert_eq!(fetcher.fetch(ruled(&server.url("/"), success)).await.unwrap().body, b"page");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_rule_limits_what_is_read() {
    let script = std::iter::repeat_n([plain("200 OK", "", b"0123456789")], 9).map(Vec::from).collect();
    let server = Server::start(script).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    for (rule, max_body, kept, cut) in [
        (ReadBody::AtMost(4), 100, 4, Some(Truncation::Rule)),
        (ReadBody::AtMost(10), 100, 10, None),
        (ReadBody::AtMost(100), 4, 4, Some(Truncation::Size)),
        (ReadBody::ALL, 100, 10, None),
    ] {
        let request = FetchRequest { max_body, ..ruled(&server.url("/"), move |_| rule) };
        let response = fetcher.fetch(request).await.unwrap();
        assert_eq!((response.body.len(), response.truncated), (kept, cut), "{rule:?}");
    }
    for empty in ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"] {
        let server = Server::start(vec![vec![send(empty)]]).await;
        let response = fetcher.fetch(ruled(&server.url("/"), |_| ReadBody::Nothing)).await.unwrap();
        assert_eq!(response.truncated, None, "there is nothing to leave");
    }
}
