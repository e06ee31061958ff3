//! What is sent, and what of an answer is passed on.

use super::server::{plain, send};
use super::*;
use crate::fetch::http::SetupError;

#[tokio::test]
async fn sends_what_a_polite_crawler_sends() {
    let server = Server::start(vec![vec![plain("200 OK", "", b"")]]).await;
    let mut settings = settings();
    settings.headers = vec![("Accept-Language".into(), "de".into()), ("accept".into(), "text/html".into())];
    settings.headers_for = vec![server.address().to_string()];
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
async fn given_headers_go_to_their_hosts_alone() {
    let server = Server::start(vec![vec![plain("200 OK", "", b"")]]).await;
    let mut settings = settings();
    settings.headers = vec![("Authorization".into(), "secret".into())];
    settings.headers_for = vec!["other.example".into()];
    fetcher(settings, FixedNames::default()).fetch(request(&server.url("/"))).await.unwrap();
    assert!(!server.requests().remove(0).to_lowercase().contains("authorization"));
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
async fn sends_credentials_of_the_url_to_its_host() {
    let server = Server::start(vec![vec![plain("401 Unauthorized", "", b"")]]).await;
    let url = server.url("/").replace("http://", "http://me:p%40ss@");
    assert_eq!(fetcher(settings(), FixedNames::default()).fetch(request(&url)).await.unwrap().status, 401);
    assert!(server.requests()[0].contains("uthorization: Basic bWU6cEBzcw==\r\n"), "{:?}", server.requests());
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
