//! Sitemaps and feeds that lie, loop or burst.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use webloom_tests::server::{Asked, Reply};

use super::{
    behaviour::{Behaviour, usual},
    origin,
};

/// Sitemaps are read, other than in most tests.
const ON: &[(&str, &str)] = &[("SOURCES_SITEMAPS", "on")];

fn xml(body: impl Into<Vec<u8>>) -> Reply {
    Reply::Whole(200, vec!["content-type: application/xml".to_owned()], body.into())
}

fn urlset(urls: impl IntoIterator<Item = String>) -> String {
    let entries = urls.into_iter().fold(String::new(), |mut entries, url| {
        let _ = write!(entries, "<url><loc>{url}</loc></url>");
        entries
    });
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

fn index(urls: impl IntoIterator<Item = String>) -> String {
    urlset(urls).replace("urlset", "sitemapindex").replace("<url>", "<sitemap>").replace("</url>", "</sitemap>")
}

/// A site whose `/sitemap.xml` is this, and whose `/x` is a page.
fn with_sitemap(asked: &Asked, sitemap: impl FnOnce(&str) -> Reply) -> Reply {
    match asked.target.as_str() {
        "/sitemap.xml" => sitemap(&origin(asked)),
        "/x" => Reply::html("x"),
        _ => usual(asked),
    }
}

/// A site with a sitemap that lists `/there` within these.
fn with_entry(asked: &Asked, before: &str, after: &str) -> Reply {
    with_sitemap(asked, |origin| xml(format!("{before}<url><loc>{origin}/there</loc></url>{after}")))
}

/// 10 MB of spaces in gzip.
fn bomb() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&vec![b' '; 100_000]).and_then(|()| packed.finish()).expect("memory").repeat(100)
}

/// Ten entities, each ten times the one before.
fn laughs(origin: &str) -> String {
    let entities = (1..10).fold(String::new(), |mut entities, level| {
        let _ = write!(entities, "<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10));
        entities
    });
    let entries = format!("<url><loc>{origin}/&e9;</loc></url><url><loc>{origin}/there</loc></url>");
    format!("<?xml version=\"1.0\"?><!DOCTYPE urlset [<!ENTITY e0 \"ha\">{entities}]><urlset>{entries}</urlset>")
}

/// The sitemap is one, and the page that only it lists is found.
const READ: &[&str] = &["/sitemap.xml stored 200", "/there stored 200", "/x stored 200"];
/// The sitemap is one, and lists nothing.
const EMPTY: &[&str] = &["/sitemap.xml stored 200", "/x stored 200"];
/// It is no sitemap, and not listed among the pages.
const NONE: &[&str] = &["/x stored 200"];

pub(super) const LISTS: &[Behaviour] = &[
    Behaviour::site("sitemap-of-itself", |asked| {
        with_sitemap(asked, |origin| xml(urlset(["/sitemap.xml", "/there"].map(|path| format!("{origin}{path}")))))
    })
    .set(ON)
    .gives(READ),
    Behaviour::site("sitemap-index-loop", |asked| match asked.target.as_str() {
        "/a.xml" => xml(index([format!("{}/sitemap.xml", origin(asked)), format!("{}/a.xml", origin(asked))])),
        _ => with_sitemap(asked, |origin| xml(index([format!("{origin}/a.xml")]))),
    })
    .set(ON)
    .gives(&["/sitemap.xml stored 200", "/a.xml stored 200", "/x stored 200"]),
    Behaviour::site("sitemap-index-without-end", |asked| match asked.target.as_str() {
        "/" | "/x" | "/good" | "/robots.txt" => with_sitemap(asked, |_| Reply::status(404)),
        target => xml(index([format!("{}{}", origin(asked), target.replace(".xml", "0.xml"))])),
    })
    .set(ON)
    .gives(&[
        "/sitemap.xml stored 200",
        "/sitemap0.xml stored 200",
        "/sitemap00.xml stored 200",
        "/sitemap000.xml stored 200",
        "/sitemap0000.xml stored 200",
        "/sitemap00000.xml stored 200 cut:links",
        "/x stored 200",
    ]),
    Behaviour::site("sitemap-bomb", |asked| with_sitemap(asked, |_| xml(bomb()))).set(ON).gives(NONE).retries(1),
    Behaviour::site("sitemap-too-many", |asked| {
        let entries = |origin: &str| {
            (0..50_000).map(|page| format!("http://elsewhere.test/{page}")).chain([format!("{origin}/hidden")])
        };
        with_sitemap(asked, |origin| xml(urlset(entries(origin).collect::<Vec<_>>())))
    })
    .set(ON)
    .gives(&["/sitemap.xml stored 200 cut:links", "/x stored 200"]),
    Behaviour::site("sitemap-of-others", |asked| {
        with_sitemap(asked, |origin| xml(urlset(["http://elsewhere.test/a".to_owned(), format!("{origin}/there")])))
    })
    .set(ON)
    .gives(READ),
    Behaviour::site("sitemap-page", |asked| {
        with_sitemap(asked, |_| Reply::html("<title>Oh no</title><a href=/hidden>"))
    })
    .set(ON)
    .gives(NONE)
    .retries(1),
    Behaviour::site("sitemap-as-page", |asked| {
        with_sitemap(asked, |origin| Reply::html(urlset([format!("{origin}/there")])))
    })
    .set(ON)
    .gives(READ),
    Behaviour::site("sitemap-wrong-namespace", |asked| {
        with_entry(asked, "<urlset xmlns='http://www.w3.org/1999/xhtml'>", "</urlset>")
    })
    .set(ON)
    .gives(READ),
    Behaviour::site("sitemap-cut", |asked| with_entry(asked, "<urlset>", "<url><loc>http://127.0.0.1/hid"))
        .set(ON)
        .gives(READ),
    Behaviour::site("sitemap-empty", |asked| with_sitemap(asked, |_| xml("<urlset/>"))).set(ON).gives(EMPTY),
    Behaviour::site("sitemap-of-no-bytes", |asked| with_sitemap(asked, |_| xml(""))).set(ON).gives(NONE).retries(1),
    Behaviour::site("sitemap-of-laughs", |asked| with_sitemap(asked, |origin| xml(laughs(origin))))
        .set(ON)
        .gives(READ)
        .strays(1),
    Behaviour::site("sitemap-of-files", |asked| {
        with_entry(
            asked,
            "<!DOCTYPE urlset [<!ENTITY f SYSTEM 'file:///etc/hostname'>]><urlset>",
            "<url><loc>&f;</loc></url></urlset>",
        )
    })
    .set(ON)
    .gives(READ)
    .strays(1),
    Behaviour::site("sitemap-in-utf16", |asked| {
        with_sitemap(asked, |origin| {
            let text = format!("\u{feff}{}", urlset([format!("{origin}/there")]));
            xml(text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>())
        })
    })
    .set(ON)
    .gives(READ),
    Behaviour::site("sitemap-of-text", |asked| {
        with_sitemap(asked, |origin| Reply::text(format!("\u{feff}{origin}/there\r\n\r\n{origin}/there#b\r\n")))
    })
    .set(ON)
    .gives(READ),
    Behaviour::site("sitemap-of-paths", |asked| with_sitemap(asked, |_| xml(urlset(["/there".to_owned()]))))
        .set(ON)
        .gives(READ),
    Behaviour::site("sitemap-redirects", |asked| match asked.target.as_str() {
        "/sitemap_index.xml" => xml(urlset([format!("{}/there", origin(asked))])),
        _ => with_sitemap(asked, |_| Reply::redirect(301, "/sitemap_index.xml")),
    })
    .set(ON)
    .gives(&["/sitemap_index.xml stored 200", "/there stored 200", "/x stored 200"])
    .retries(1),
    Behaviour::site("sitemap-redirects-home", |asked| with_sitemap(asked, |_| Reply::redirect(302, "/")))
        .set(ON)
        .gives(NONE)
        .retries(1),
    Behaviour::site("sitemap-fails", |asked| with_sitemap(asked, |_| Reply::status(500)))
        .set(ON)
        .gives(NONE)
        .retries(12),
    Behaviour::site("sitemap-fails-at-first", |asked| {
        with_sitemap(asked, |origin| match asked.before {
            0 => Reply::status(500),
            _ => xml(urlset([format!("{origin}/there")])),
        })
    })
    .set(ON)
    .gives(READ)
    .retries(2),
    Behaviour::site("sitemap-refused", |asked| with_sitemap(asked, |_| Reply::status(429)))
        .set(ON)
        .gives(NONE)
        .retries(20),
    Behaviour::site("sitemap-hangs-up", |asked| with_sitemap(asked, |_| Reply::hang_up()))
        .set(ON)
        .gives(NONE)
        .retries(20),
    Behaviour::site("sitemap-silent", |asked| {
        with_sitemap(asked, |_| Reply::Script(Box::new(|stream| io::copy(stream, &mut io::sink()).map(drop))))
    })
    .set(&[("SOURCES_SITEMAPS", "on"), ("FETCH_FIRST_BYTE_TIMEOUT", "200ms")])
    .gives(NONE)
    .retries(20),
    Behaviour::site("sitemaps-named-1001", |asked| match asked.target.as_str() {
        "/robots.txt" => {
            let lines = (0..1_001).map(|number| format!("Sitemap: http://elsewhere.test/{number}.xml\n"));
            Reply::text(lines.collect::<String>() + "Sitemap: /hidden.xml\n")
        }
        _ => with_sitemap(asked, |_| Reply::status(404)),
    })
    .set(ON)
    .gives(NONE),
    Behaviour::site("sitemap-named-and-missing", |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::text(format!("Sitemap: {}/map.xml\n", origin(asked))),
        _ => with_sitemap(asked, |_| Reply::status(404)),
    })
    .set(ON)
    .gives(&["/map.xml broken 404", "/x stored 200"]),
    Behaviour::page("feed-of-itself", |asked| {
        let item = |path: &str| format!("<item><link>{}{path}</link></item>", origin(asked));
        Reply::Whole(
            200,
            vec!["content-type: application/rss+xml".to_owned()],
            format!("<rss><channel>{}{}</channel></rss>", item("/x"), item("/there")).into(),
        )
    })
    .gives(&["/x stored 200", "/there stored 200"]),
    Behaviour::page("feed-broken", |_| {
        Reply::Whole(
            200,
            vec!["content-type: application/atom+xml".to_owned()],
            b"<feed><entry><link href='/there'/><entry>".to_vec(),
        )
    })
    .gives(&["/x stored 200", "/there stored 200"]),
];
