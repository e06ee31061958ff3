//! Servers that mean harm, or do not know better: each ends with a named outcome, and the rest of the site is stored.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts, serve};

const HOSTILE: [&str; 14] = [
    "/endless-headers",
    "/drip-headers",
    "/drip-body",
    "/bomb",
    "/garbage",
    "/angles",
    "/many-links",
    "/bad-charset",
    "/too-long",
    "/empty",
    "/nul",
    "/bad-gzip",
    "/bad-status",
    "/no-colon",
];

/// Writes the same again and again, with pauses, until the other side has had enough.
fn for_ever(stream: &mut TcpStream, piece: &[u8], pause: Duration) -> io::Result<()> {
    loop {
        stream.write_all(piece)?;
        thread::sleep(pause);
    }
}

fn script(write: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send + 'static) -> Reply {
    Reply::Script(Box::new(write))
}

fn raw(head: &str, body: &[u8]) -> Reply {
    Reply::Raw([format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes(), body].concat())
}

/// 50 MB of zeros in a few KB.
fn bomb() -> Reply {
    let packed = zstd::stream::encode_all(io::repeat(0).take(50_000_000), 3).expect("packs");
    Reply::Whole(200, vec!["content-type: text/html".into(), "content-encoding: zstd".into()], packed)
}

fn hostile(target: &str) -> Reply {
    let pause = Duration::from_millis(20);
    match target {
        "/endless-headers" => script(|stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            for_ever(stream, &b"x-more: and more\r\n".repeat(1000), Duration::ZERO)
        }),
        "/drip-headers" => script(move |stream| for_ever(stream, b"H", pause)),
        "/drip-body" => script(move |stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000000\r\n\r\n")?;
            for_ever(stream, b"x", pause)
        }),
        "/bomb" => bomb(),
        "/garbage" => Reply::Raw(b"\x00\x01\x02 SSH-2.0-nothing here is HTTP\r\n\r\n".to_vec()),
        "/angles" => Reply::html("<".repeat(10_000_000)),
        "/many-links" => Reply::links((0..100_000).map(|_| "http://elsewhere.invalid/")),
        "/bad-charset" => raw(
            "content-type: text/html; charset=klingon\r\ncontent-length: 29",
            b"<a href=/by-charset>\xff\xfe\x00</a>  ",
        ),
        "/too-long" => raw("content-length: 5000\r\ncontent-type: text/html", b"<a href=/cut>"),
        "/empty" => Reply::html(""),
        "/nul" => Reply::html("\0<a href=\"/by\0-nul\">\0</a>\0"),
        "/bad-gzip" => raw("content-encoding: gzip\r\ncontent-length: 9\r\ncontent-type: text/html", b"not gzip!"),
        "/bad-status" => Reply::Raw(b"HTTP/1.1 9999 Over\r\ncontent-length: 0\r\n\r\n".to_vec()),
        "/no-colon" => Reply::Raw(b"HTTP/1.1 200 OK\r\nthis is no header\r\n\r\nx".to_vec()),
        _ => Reply::status(404),
    }
}

fn server() -> Server {
    serve(|asked| match asked.target.as_str() {
        "/" => Reply::links(HOSTILE.into_iter().chain(["/good", &*format!("/{}", "u".repeat(3000))])),
        "/good" => Reply::links(["/last"]),
        "/last" => Reply::html("last"),
        target => hostile(target),
    })
}

#[test]
fn each_ends_with_a_named_outcome_and_the_rest_is_stored() {
    let server = server();
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--per-host", "8"]);
    let run = run.env("WEBLOOM_FETCH_FIRST_BYTE_TIMEOUT", "1s").env("WEBLOOM_FETCH_TOTAL_TIMEOUT", "3s");
    let summary = run.env("WEBLOOM_RETRY_ATTEMPTS", "2").run().expect(0).json();
    assert_eq!(summary["end"], "drained");
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!(summary["urls"]["refused"]["too_long"], 1);
    let pages = pages(&folder.crawl());
    let state = |path: &str| {
        let page = &pages[&server.url(path)];
        let word = |name: &str| page[name].as_str().unwrap_or("-").to_owned();
        format!("{path} {} {} {}", word("outcome"), word("reason"), word("truncated"))
    };
    let states: Vec<_> = HOSTILE.into_iter().chain(["/good", "/last", "/by-charset", "/cut"]).map(state).collect();
    let expected = [
        "/endless-headers failed protocol -",
        "/drip-headers failed timeout -",
        "/drip-body stored - time",
        "/bomb stored - expansion",
        "/garbage failed protocol -",
        "/angles stored - -",
        "/many-links stored - -",
        "/bad-charset stored - -",
        "/too-long stored - disconnect",
        "/empty stored - -",
        "/nul stored - -",
        "/bad-gzip stored - -",
        "/bad-status failed protocol -",
        "/no-colon stored - -",
        "/good stored - -",
        "/last stored - -",
        "/by-charset broken - -",
        "/cut broken - -",
    ];
    assert_eq!(states, expected);
}
