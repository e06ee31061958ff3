//! What is sent, and which parts of an answer are passed on.

use super::server::{plain, send};
use super::*;
use crate::fetch::http::SetupError;
use crate::url::Origin;

#[tokio::test]
async fn sends_what_a_polite_crawler_sends() {
    let server = Server::start(vec![vec![plain("200 OK", "", b"")]]).await;
    let mut settings = settings();
    settings.headers = vec![("Accept-Language".into(), "de".into()), ("accept".into(), "text/html".into())];
    settings.headers_for = [request(&server.url("/")).url.origin()].into();
    fetcher(settings, FixedNames::default()).fetch(request(&server.url("/a/b?c=d"))).await.unwrap();
    let head = server.requests().remove(0).to_lowercase();
    assert!(head.starts_with("get /a/b?c=d http/1.1\r\n"), "{head}");
    for line in [
        "user-agent: testbot/1.0 (+http://127.0.0.1/bot)",
        "accept: text/html",
        "accept-encoding: gzip, br, zstd, deflate",
        "accept-language: de",
        &format!("host: {}", server.address()),
    ] {
        assert!(head.contains(&format!("{line}\r\n")), "{line} in {head}");
    }
    for absent in ["referer:", "authorization:", "cookie:", "connection:"] {
        assert!(!head.contains(absent), "{absent} in {head}");
    }
}

#[tokio::test]
async fn given_headers_go_to_their_origins_alone() {
    let server = Server::start(vec![vec![plain("200 OK", "", b"")]]).await;
    for other in ["http://other.example", &server.url("").replace("http:", "https:"), "http://127.0.0.1"] {
        let mut settings = settings();
        settings.headers = vec![("Authorization".into(), "secret".into())];
        settings.headers_for = [Origin::parse(other).unwrap()].into();
        fetcher(settings, FixedNames::default()).fetch(request(&server.url("/"))).await.unwrap();
        assert!(!server.requests().remove(0).to_lowercase().contains("authorization"), "{other}");
    }
}

#[tokio::test]
async fn puts_any_url_on_the_wire_as_it_is_written() {
    for path in ["/%7Ex/ä", "/a|b^c[d]?x='y'&z={|}", "/a//b/;p=1?a?b/c", "/?", "/%ff%00%zz", "/%22%3C%3E\\x"] {
        let server = Server::start(vec![vec![plain("200 OK", "", b"")]]).await;
        let request = request(&server.url(path));
        let line = format!("GET {} HTTP/1.1\r\n", request.url.path_and_query());
        fetcher(settings(), FixedNames::default()).fetch(request).await.unwrap();
        assert!(server.requests()[0].starts_with(&line), "{:?} for {line:?}", server.requests());
    }
}

#[tokio::test]
async fn sends_credentials_to_their_origin_and_none_of_a_url() {
    let server = Server::start(vec![vec![plain("401 Unauthorized", "", b"")]]).await;
    let given = server.url("/").replace("http://", "http://me:p%40ss@");
    let (url, credentials) = WebUrl::parse(&given).unwrap().split_credentials();
    let mut own = settings();
    own.credentials = [(url.origin(), credentials.unwrap())].into();
    own.headers = vec![("Authorization".into(), "Bearer other".into())];
    own.headers_for = [url.origin()].into();
    let chosen = server.url("/").replace("http://", "http://you:x@");
    assert_eq!(fetcher(own, FixedNames::default()).fetch(request(&chosen)).await.unwrap().status, 401);
    assert!(server.requests()[0].contains("uthorization: Basic bWU6cEBzcw==\r\n"), "{:?}", server.requests());
    assert!(!server.requests()[0].contains("other"), "{:?}", server.requests());
    fetcher(settings(), FixedNames::default()).fetch(request(&given)).await.unwrap();
    assert!(!server.requests()[1].contains("uthorization"), "{:?}", server.requests());
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_is_no_failure() {
    let page = || plain("200 OK", "", b"page");
    // The second request on the first connection is read, and then the connection ends without a word.
    let server = Server::start(vec![vec![page(), Act::Next], vec![page()]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    for _ in 0..2 {
        assert_eq!(fetcher.fetch(request(&server.url("/"))).await.unwrap().body, b"page");
    }
    assert_eq!((server.connections(), server.requests().len()), (2, 3));
}

#[tokio::test]
async fn a_fresh_connection_that_is_closed_is_one() {
    let server = Server::start(vec![vec![]]).await;
    let result = fetcher(settings(), FixedNames::default()).fetch(request(&server.url("/"))).await;
    assert_eq!((name(&result), server.requests().len()), ("closed", 1));
}

#[tokio::test]
async fn connections_are_kept_for_as_many_origins_as_allowed() {
    for (kept_origins, connections) in [(0, 3), (1, 1)] {
        let script = std::iter::repeat_n([plain("200 OK", "", b"page"), Act::Next], 3).flatten().collect();
        let server = Server::start(vec![script]).await;
        let fetcher = fetcher(FetchSettings { kept_origins, ..settings() }, FixedNames::default());
        for _ in 0..3 {
            fetcher.fetch(request(&server.url("/"))).await.unwrap();
        }
        assert_eq!(server.connections(), connections);
    }
}

#[tokio::test]
async fn follows_no_redirect_and_takes_any_status_for_a_response() {
    let server = Server::start(vec![vec![
        plain("301 Moved Permanently", "Location: /elsewhere\r\n", b"gone there"),
        Act::Next,
        plain("404 Not Found", "", b"no"),
        Act::Next,
        plain("999 Odd", "", b""),
        Act::Next,
        send("HTTP/1.1 204 No Content\r\n\r\n"),
        Act::Next,
        send("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\nContent-Encoding: gzip\r\n\r\n"),
    ]])
    .await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let moved = fetcher.fetch(request(&server.url("/"))).await.unwrap();
    assert_eq!((moved.status, moved.location(), &*moved.body), (301, Some("/elsewhere"), b"gone there".as_slice()));
    for status in [404, 999, 204, 304] {
        let response = fetcher.fetch(request(&server.url("/"))).await.unwrap();
        assert_eq!((response.status, response.truncated), (status, None));
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 5));
}

#[tokio::test]
async fn passes_headers_and_circumstances_on() {
    let answer = plain("200 OK", "Content-TYPE: text/html; charset=x\r\nX-A: 1\r\nx-a: \u{e4}\r\n", b"body");
    let server = Server::start(vec![vec![answer]]).await;
    let response = fetcher(settings(), FixedNames::default()).fetch(request(&server.url("/"))).await.unwrap();
    assert_eq!(response.content_type(), Some("text/html; charset=x"));
    let of_name = response.headers.iter().filter(|(name, _)| &**name == "x-a").map(|(_, value)| &**value);
    assert_eq!(of_name.collect::<Vec<_>>(), [b"1".as_slice(), "\u{e4}".as_bytes()]);
    assert_eq!((response.remote, response.wire_bytes), (Some(server.address()), 4));
    assert!(response.timings.first_byte > Duration::ZERO && response.timings.total >= response.timings.first_byte);
}

#[tokio::test]
async fn uses_a_connection_again() {
    let script = std::iter::repeat_n([plain("200 OK", "", b"page"), Act::Next], 20).flatten().collect();
    let server = Server::start(vec![script]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    for _ in 0..20 {
        fetcher.fetch(request(&server.url("/"))).await.unwrap();
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 20));
}

#[tokio::test]
async fn is_lenient_where_browsers_are() {
    let odd = "HTTP/1.1 200\r\nX-Folded: a\r\n b\r\nX-Space : c\r\nno header at all\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(fetch(vec![send(odd)]).await.unwrap().body, b"ok");
    let many = "X-Many: 1\r\n".repeat(200);
    let many = fetch(vec![plain("200 OK", &many, b"")]).await.unwrap();
    assert_eq!(many.headers.len(), 201);
}

#[test]
fn names_the_setting_that_cannot_be_sent() {
    let build = |change: fn(&mut FetchSettings)| {
        let mut settings = settings();
        change(&mut settings);
        HttpFetcher::new(settings, Arc::new(FixedNames::default())).err()
    };
    let agent = build(|settings| settings.user_agent = "a\nb".into());
    assert!(matches!(agent, Some(SetupError::UserAgent(_))));
    let secret = build(|settings| settings.headers = vec![("X-Key".into(), "sec\nret".into())]).unwrap();
    assert!(secret.to_string().contains("X-Key") && !secret.to_string().contains("sec"));
    assert!(build(|settings| settings.headers = vec![("a b".into(), "c".into())]).is_some());
}
