//! What is kept of an answer: its head, and its body as it was sent.

use super::server::{plain, send};
use super::*;
use crate::fetch::decode::tests::{brotli, gzip};
use crate::fetch::{Keep, Truncation};

const ALL: Keep = Keep { raw_head: true, body_as_sent: true };

/// Odd in every way that a parser forgives.
const ODD: &str = "HTTP/1.1 200 Quite  all right!\r\nSeRvEr:   odd/1.0  \r\nset-cookie: a=1\r\nX-Folded: one\r\n two\r\n\
    Set-Cookie: b=2\r\nX-Space : s\r\nno header at all\r\nX-Bytes: \u{e4}\r\nCONTENT-LENGTH: 4\r\n\r\n";

fn keeping(url: &str) -> FetchRequest {
    FetchRequest { keep: ALL, ..request(url) }
}

/// What is reported of it: names in lower case, those of the same name together, a space for a line break.
const ODD_KEPT: &str = "HTTP/1.1 200 Quite  all right!\r\nserver: odd/1.0\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\
    x-folded: one two\r\nx-space: s\r\nx-bytes: \u{e4}\r\ncontent-length: 4\r\n\r\n";

#[tokio::test]
async fn a_head_is_made_of_what_was_understood() {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n";
    let old = "HTTP/1.0 404 \nConnection: keep-alive\nContent-length: 0\n\n";
    let old_kept = "HTTP/1.0 404 \r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n";
    let foreign = "HTTP/1.1 200 Sch\u{f6}n\r\nContent-Length: 0\r\n\r\n";
    let script = [send(&format!("{interim}{ODD}page")), send(old), send(foreign), plain("200 OK", "", b"x")];
    let server = Server::start(vec![script.into_iter().flat_map(|answer| [answer, Act::Next]).collect()]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    for (head, status) in [
        (ODD_KEPT, 200),
        (old_kept, 404),
        ("HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n", 200),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n", 200),
    ] {
        let response = fetcher.fetch(keeping(&server.url("/"))).await.unwrap();
        let raw = response.raw_head.unwrap();
        assert_eq!((std::str::from_utf8(&raw.bytes).unwrap(), raw.as_sent, response.status), (head, false, status));
    }
    assert_eq!(server.connections(), 1, "it needs no connection of its own");
}

#[tokio::test]
async fn what_is_not_asked_for_is_not_kept() {
    let page = || plain("200 OK", "Content-Encoding: gzip\r\n", &gzip(b"page"));
    let server = Server::start(vec![vec![page()]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let response = fetcher.fetch(request(&server.url("/"))).await.unwrap();
    assert!(response.raw_head.is_none() && response.body_as_sent().is_none());
}

#[tokio::test]
async fn a_body_is_kept_before_it_is_decoded() {
    for (coding, bytes) in [
        ("gzip", gzip(b"page")),
        ("gzip, br", brotli(&gzip(b"page"))),
        ("gzip", [gzip(b"page"), b"rest".to_vec()].concat()),
    ] {
        let server =
            Server::start(vec![vec![plain("200 OK", &format!("Content-Encoding: {coding}\r\n"), &bytes)]]).await;
        let response = fetcher(settings(), FixedNames::default()).fetch(keeping(&server.url("/"))).await.unwrap();
        assert_eq!((&*response.body, response.body_as_sent()), (b"page".as_slice(), Some(&*bytes)), "{coding}");
        assert_eq!(response.wire_bytes, bytes.len() as u64);
    }
    for coding in ["", "Content-Encoding: compress\r\n"] {
        let server = Server::start(vec![vec![plain("200 OK", coding, b"as it is")]]).await;
        let response = fetcher(settings(), FixedNames::default()).fetch(keeping(&server.url("/"))).await.unwrap();
        assert_eq!(response.body_as_sent(), Some(b"as it is".as_slice()));
    }
}

#[tokio::test]
async fn chunks_are_no_part_of_it() {
    let bytes = gzip(b"page");
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n".as_slice();
    let (one, two) = bytes.split_at(9);
    let chunk = |bytes: &[u8]| [format!("{:x};ext=1\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    let answer = [head, &chunk(one), &chunk(two), b"0\r\nX-Trailer: 1\r\n\r\n"].concat();
    let server = Server::start(vec![vec![Act::Send(answer)]]).await;
    let response = fetcher(settings(), FixedNames::default()).fetch(keeping(&server.url("/"))).await.unwrap();
    assert_eq!((&*response.body, response.body_as_sent()), (b"page".as_slice(), Some(&*bytes)));
    let raw = response.raw_head.unwrap().bytes.to_ascii_lowercase();
    assert_eq!(raw, head.to_ascii_lowercase());
}

#[tokio::test]
async fn bytes_as_sent_count_against_the_limit() {
    // What cannot be compressed is longer for it: the body would fit, its sent form does not.
    let mut noise = 1_u64;
    let body: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (noise >> 56) as u8
    })
    .take(100_000)
    .collect();
    let bytes = gzip(&body);
    assert!(bytes.len() > body.len());
    let server = Server::start(vec![vec![plain("200 OK", "Content-Encoding: gzip\r\n", &bytes)]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let whole = fetcher.fetch(request(&server.url("/"))).await.unwrap();
    assert_eq!((whole.body.len(), whole.truncated), (100_000, None));
    let cut = fetcher.fetch(keeping(&server.url("/"))).await.unwrap();
    assert_eq!((cut.body_as_sent().unwrap().len(), cut.truncated), (100_000, Some(Truncation::Size)));
    assert!(cut.body.len() <= 100_000 && body.starts_with(&cut.body));
}

#[tokio::test]
async fn bytes_as_sent_take_room_with_the_body() {
    // Each alone is small enough to need none.
    let (body, sent) = (vec![b'x'; 200 << 10], 100 << 10);
    let mut stored = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    std::io::Write::write_all(&mut stored, &body).unwrap();
    let bytes = stored.finish().unwrap();
    assert!(bytes.len() > sent);
    let server = Server::start(vec![vec![plain("200 OK", "Content-Encoding: gzip\r\n", &bytes)]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    let most = |request| FetchRequest { max_body: 1 << 20, ..request };
    let plain = fetcher.fetch(most(request(&server.url("/")))).await.unwrap();
    assert!(plain.room.is_none() && plain.truncated.is_none());
    let kept = fetcher.fetch(most(keeping(&server.url("/")))).await.unwrap();
    assert!(!kept.room.is_none() && kept.truncated.is_none());
}
