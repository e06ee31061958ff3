//! Bodies: coded, chunked, broken.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::server::{plain, send};
use super::*;
use crate::fetch::Truncation;
use crate::fetch::decode::tests::{brotli, gzip, raw, zlib, zstd};

const PAGE: &[u8] = b"<html><a href=\"next.html\">next</a></html>";

fn coded(coding: &str, body: &[u8]) -> Act {
    plain("200 OK", &format!("Content-Encoding: {coding}\r\n"), body)
}

/// The body and why it is cut.
async fn body(acts: Vec<Act>) -> (Vec<u8>, Option<Truncation>) {
    let response = fetch(acts).await.unwrap();
    (response.body, response.truncated)
}

#[tokio::test]
async fn decodes_what_it_asked_for() {
    for (coding, bytes) in [
        ("gzip", gzip(PAGE)),
        ("x-gzip", gzip(PAGE)),
        ("gzip", [gzip(&PAGE[..9]), gzip(&PAGE[9..])].concat()),
        ("deflate", zlib(PAGE)),
        ("deflate", raw(PAGE)),
        ("br", brotli(PAGE)),
        ("zstd", zstd(PAGE)),
        ("gzip, br", brotli(&gzip(PAGE))),
        ("gzip\r\nContent-Encoding: deflate", zlib(&gzip(PAGE))),
        ("identity", PAGE.to_vec()),
        ("utf-8", PAGE.to_vec()),
    ] {
        let response = fetch(vec![coded(coding, &bytes)]).await.unwrap();
        assert_eq!((response.body.as_slice(), response.truncated), (PAGE, None), "{coding}");
        assert_eq!(response.wire_bytes, bytes.len() as u64);
        assert!(response.header("content-encoding").is_some(), "headers stay as received");
    }
}

#[tokio::test]
async fn a_corrupt_body_is_an_error() {
    let mut bytes = gzip(&PAGE.repeat(100));
    let half = bytes.len() / 2;
    bytes[half..].fill(0);
    assert_eq!(name(&fetch(vec![coded("gzip", &bytes)]).await), "decode");
    assert_eq!(name(&fetch(vec![coded("br", PAGE)]).await), "decode");
    assert_eq!(name(&fetch(vec![coded("gzip, gzip, gzip, gzip", PAGE)]).await), "decode");
}

#[tokio::test]
async fn a_bomb_ends_at_its_expansion() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let zeros = vec![0; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&zeros).unwrap();
    }
    // 64 MiB, and the same member again and again: as long as anybody listens.
    let bomb = encoder.finish().unwrap();
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let server = Server::start(vec![vec![send(head), Act::Flood(bomb)]]).await;
    let request = FetchRequest { max_body: 10 << 30, ..request(&server.url("/")) };
    let response = fetcher(settings(), FixedNames::default()).fetch(request).await.unwrap();
    assert_eq!((response.status, response.truncated), (200, Some(Truncation::Expansion)));
    assert!(response.body.len() < 64 << 20 && response.body.iter().all(|byte| *byte == 0));
}

#[tokio::test]
async fn an_endless_body_ends_at_its_size() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\n"] {
        let (body, cut) = body(vec![send(head), Act::Flood(vec![b'x'; 1000])]).await;
        assert_eq!((body.len(), cut), (100_000, Some(Truncation::Size)));
    }
}

#[tokio::test]
async fn a_body_ends_with_its_connection_if_nothing_else_is_said() {
    assert_eq!(body(vec![send("HTTP/1.1 200 OK\r\n\r\npage")]).await, (b"page".to_vec(), None));
    assert_eq!(body(vec![send("HTTP/1.0 200 OK\r\n\r\npage")]).await, (b"page".to_vec(), None));
    assert_eq!(body(vec![send("HTTP/1.1 200 OK\r\n\r\n")]).await, (b"".to_vec(), None));
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".as_slice();
    let early = [head, &gzip(PAGE)[..30]].concat();
    assert_eq!(body(vec![Act::Send(early)]).await.1, Some(Truncation::Disconnect));
}

#[tokio::test]
async fn a_body_shorter_than_promised_is_kept_and_named() {
    let short = |head: &str| vec![send(&format!("HTTP/1.1 200 OK\r\n{head}"))];
    let cut = (b"page".to_vec(), Some(Truncation::Disconnect));
    assert_eq!(body(short("Content-Length: 10\r\n\r\npage")).await, cut);
    assert_eq!(body(short("Transfer-Encoding: chunked\r\n\r\n4\r\npage\r\n")).await, cut);
    assert_eq!(body(short("Transfer-Encoding: chunked\r\n\r\n4\r\npage\r\nnot a length\r\n")).await, cut);
    let mut reset = short("Content-Length: 10\r\n\r\npage");
    reset.push(Act::Reset);
    assert!(matches!(fetch(reset).await, Ok(FetchResponse { truncated: Some(Truncation::Disconnect), .. }) | Err(_)));
}

#[tokio::test]
async fn a_success_without_the_first_byte_of_its_body_is_none() {
    let nothing = |status: &str| vec![send(&format!("HTTP/1.1 {status}\r\nContent-Length: 10\r\n\r\n"))];
    assert_eq!(name(&fetch(nothing("200 OK")).await), "closed");
    let moved = fetch(nothing("302 Found\r\nLocation: /x")).await.unwrap();
    assert_eq!((moved.location(), moved.truncated), (Some("/x"), Some(Truncation::Disconnect)));
    let garbage = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n";
    assert_eq!(name(&fetch(vec![send(garbage)]).await), "protocol");
}

#[tokio::test]
async fn bytes_beyond_the_promised_length_are_nobodys() {
    let script = vec![send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage and more"), Act::Hold];
    let server = Server::start(vec![script, vec![plain("200 OK", "", b"second")]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    assert_eq!(fetcher.fetch(request(&server.url("/"))).await.unwrap().body, b"page");
    assert_eq!(fetcher.fetch(request(&server.url("/"))).await.unwrap().body, b"second");
}
