//! Bodies that are not in the coding, type or charset that their headers name.

use std::io::Write;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use webloom_tests::server::Reply;

use super::{
    behaviour::{Behaviour, usual},
    page_with,
};

const LINK: &[u8] = b"<a href=/there>x</a>";

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(body).and_then(|()| packed.finish()).expect("memory")
}

/// A page in this coding, as is said.
fn coded(coding: &str, body: impl Into<Vec<u8>>) -> Reply {
    page_with("content-type: text/html", body).header(format!("content-encoding: {coding}"))
}

/// What is found behind a page that can be read.
const READ: &[&str] = &["/x stored 200", "/there stored 200"];

pub(super) const BODIES: &[Behaviour] = &[
    Behaviour::page("gzip", |_| coded("gzip", gzip(LINK))).gives(READ),
    Behaviour::page("gzip-by-its-old-name", |_| coded("x-GZIP", gzip(LINK))).gives(READ),
    Behaviour::page("gzip-that-is-none", |_| coded("gzip", LINK)).gives(READ),
    Behaviour::page("gzip-cut", |_| {
        let packed = gzip(&LINK.repeat(50));
        coded("gzip", &packed[..packed.len() - 9])
    })
    .gives(&["/x stored 200 cut:disconnect", "/there stored 200"])
    .retries(3),
    Behaviour::page("gzip-damaged", |_| {
        let mut packed = gzip(LINK);
        packed[14] ^= 0xff;
        coded("gzip", packed)
    })
    .gives(&["/x failed - decode"])
    .retries(3),
    Behaviour::page("gzip-then-junk", |_| coded("gzip", [&gzip(LINK)[..], b"junk"].concat())).gives(READ),
    Behaviour::page("gzip-in-parts", |_| coded("gzip", [gzip(&LINK[..9]), gzip(&LINK[9..])].concat())).gives(READ),
    Behaviour::page("gzip-twice", |_| coded("gzip, gzip", gzip(&gzip(LINK)))).gives(READ),
    Behaviour::page("gzip-twice-said-once", |_| coded("gzip", gzip(&gzip(LINK)))).gives(&["/x stored 200"]),
    Behaviour::page("gzip-unsaid", |_| page_with("content-type: text/html", gzip(LINK))).gives(&["/x stored 200"]),
    Behaviour::page("gzip-of-nothing", |_| coded("gzip", [])).gives(&["/x stored 200"]),
    Behaviour::page("gzip-bomb", |_| coded("gzip", gzip(&vec![0; 100_000]).repeat(500)))
        .gives(&["/x stored 200 cut:expansion"]),
    Behaviour::page("codings-20", |_| coded(&["gzip"; 20].join(", "), gzip(LINK))).gives(&["/x failed - decode"]),
    Behaviour::page("coding-unknown", |_| coded("klingon", LINK)).gives(READ),
    Behaviour::page("deflate-with-wrapper", |_| {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        coded("deflate", packed.write_all(LINK).and_then(|()| packed.finish()).expect("memory"))
    })
    .gives(READ),
    Behaviour::page("deflate-without-wrapper", |_| {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
        coded("deflate", packed.write_all(LINK).and_then(|()| packed.finish()).expect("memory"))
    })
    .gives(READ),
    Behaviour::page("deflate-that-is-none", |_| coded("deflate", LINK)).gives(&["/x failed - decode"]).retries(3),
    Behaviour::page("brotli-that-is-none", |_| coded("br", LINK)).gives(&["/x failed - decode"]).retries(3),
    Behaviour::page("zstd-in-frames", |_| {
        let frame = |part| zstd::stream::encode_all(part, 3).expect("memory");
        coded("zstd", [frame(&LINK[..9]), frame(&LINK[9..])].concat())
    })
    .gives(READ),
    Behaviour::page("picture-as-page", |_| page_with("content-type: text/html", *b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))
        .gives(&["/x stored 200"]),
    Behaviour::page("page-as-picture", |_| page_with("content-type: image/png", LINK)).gives(&["/x stored 200"]),
    Behaviour::page("page-as-text", |_| page_with("content-type: text/plain", LINK)).gives(&["/x stored 200"]),
    Behaviour::page("page-as-xhtml", |_| page_with("content-type: application/xhtml+xml", LINK)).gives(READ),
    Behaviour::page("page-without-type", |_| Reply::Whole(200, Vec::new(), [b"<!doctype html>", LINK].concat()))
        .gives(READ),
    Behaviour::page("text-without-type", |_| Reply::Whole(200, Vec::new(), [b"see ", LINK].concat()))
        .gives(&["/x stored 200"]),
    Behaviour::page("type-of-nonsense", |_| page_with("content-type: ;;=html,", LINK)).gives(READ),
    Behaviour::page("two-types", |_| page_with("content-type: text/html", LINK).header("content-type: image/png"))
        .gives(READ),
    Behaviour::page("type-in-capitals", |_| page_with("content-type: TEXT/HTML;CHARSET=\"UTF-8\"", LINK)).gives(READ),
    Behaviour::page("page-as-attachment", |_| Reply::html("<a href=/there>").header("content-disposition: attachment"))
        .gives(READ),
    Behaviour::site("charset-that-is-not-utf8", |asked| match asked.target.as_str() {
        "/x" => page_with("content-type: text/html; charset=utf-8", *b"<a href='/caf\xe9'>x</a><a href=/there>x</a>"),
        "/caf%EF%BF%BD" => Reply::html("a letter that is lost"),
        _ => usual(asked),
    })
    .gives(&["/x stored 200", "/caf%EF%BF%BD stored 200", "/there stored 200"]),
    Behaviour::page("charset-unsaid", |_| {
        page_with("content-type: text/html", *b"<title>caf\xe9</title><a href=/there>")
    })
    .gives(&["/x stored 200 title:caf\u{e9}", "/there stored 200"]),
    Behaviour::page("charset-unknown", |_| page_with("content-type: text/html; charset=klingon", LINK)).gives(READ),
    Behaviour::page("charset-of-meta", |_| {
        page_with("content-type: text/html; charset=utf-8", "<meta charset=koi8-r><title>\u{e4}</title><a href=/there>")
    })
    .gives(&["/x stored 200 title:\u{e4}", "/there stored 200"]),
    Behaviour::page("charset-utf16", |_| {
        let units = "\u{feff}<a href=/there>x</a>".encode_utf16().flat_map(u16::to_le_bytes);
        page_with("content-type: text/html; charset=utf-8", units.collect::<Vec<_>>())
    })
    .gives(READ),
    Behaviour::page("charset-utf16-that-is-none", |_| page_with("content-type: text/html; charset=utf-16", LINK))
        .gives(&["/x stored 200"]),
    Behaviour::page("charset-utf7", |_| {
        page_with("content-type: text/html; charset=utf-7", "+ADw-a href=/hidden+AD4-")
    })
    .gives(&["/x stored 200"]),
    Behaviour::page("mark-alone", |_| page_with("content-type: text/html", "\u{feff}")).gives(&["/x stored 200"]),
    Behaviour::page("empty", |_| Reply::html("")).gives(&["/x stored 200"]),
    Behaviour::page("nul-bytes", |_| Reply::html("\0<a\0 href=\"/there\">\0</a>\0<a href=/there>")).gives(READ),
    Behaviour::page("one-long-line", |_| Reply::html("x".repeat(5_000_000) + "<a href=/there>")).gives(READ),
    Behaviour::page("body-too-large", |_| {
        Reply::html("<a href=/there>".to_owned() + &"x".repeat(20_000) + "<a href=/hidden>")
    })
    .set(&[("FETCH_MAX_BODY", "10KB")])
    .gives(&["/x stored 200 cut:size", "/there stored 200"]),
];
