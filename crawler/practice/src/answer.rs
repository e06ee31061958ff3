//! [`Answer`]: the site's response to one request, and how its pages are written.

use encoding_rs::WINDOWS_1252;

use super::{
    PracticeSite, articles,
    file_kind::FileKind,
    hard_pages::{Charset, HardPage},
    resource::{self, HIDDEN, Resource},
    spelling::{Anchor, mix},
    versions,
};

/// A response, before any compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Header names (lower case) and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body, decoded.
    pub body: Vec<u8>,
    /// How a server may send the body.
    pub coding: Coding,
}

/// How a server may send a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// As it is.
    Identity,
    /// Compressed by gzip, where the client accepts that.
    GzipIfAccepted,
}

const UTF8_HTML: &str = "text/html; charset=utf-8";

/// The first paragraph that an edit adds; no page has so many of its own.
const EDITED: u32 = 500;

const WORDS: [&str; 16] = [
    "web", "loom", "thread", "page", "crawl", "frontier", "link", "host", "visit", "digest", "budget", "lease",
    "scope", "queue", "filter", "answer",
];

impl PracticeSite {
    /// What the site answers to a request for this path and query, whatever was asked before.
    pub fn answer(&self, path_and_query: &str) -> Answer {
        of(self, path_and_query)
    }
}

fn of(site: &PracticeSite, path: &str) -> Answer {
    let resource = resource::at(site, path);
    match &resource {
        Resource::Article(number) => article(site, *number, &resource::anchors(site, &resource)),
        Resource::HardPage(hard_page) => self::hard_page(site, hard_page),
        Resource::File(kind) => file(*kind, path),
        Resource::Hop(hop) => moved(hop.status, &hop.location),
        Resource::Robots => body("text/plain", robots(site)),
        Resource::Sitemap => body("application/xml", sitemap(site)),
        Resource::Broken(status) => Answer { status: *status, ..body(UTF8_HTML, page("Not here", "", "")) },
        Resource::Leaf => body(UTF8_HTML, page(&escaped(path), "", "<p>Nothing but <a href=\"/\">the way home</a>.")),
        _ => listing(path, &resource::anchors(site, &resource)),
    }
}

fn body(content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    let headers = vec![("content-type", content_type.to_owned())];
    Answer { status: 200, headers, body: body.into(), coding: Coding::Identity }
}

fn moved(status: u16, location: &str) -> Answer {
    let text = format!("<p>It is <a href=\"{}\">there</a>.", escaped(location));
    let mut answer = body(UTF8_HTML, page("Moved", "", &text));
    answer.status = status;
    answer.headers.push(("location", location.to_owned()));
    answer
}

fn listing(path: &str, anchors: &[Anchor]) -> Answer {
    let items: Vec<_> = anchors.iter().map(|anchor| tag(anchor, 0)).collect();
    let text = format!("<ul>\n<li>{}\n</ul>", items.join("\n<li>"));
    Answer { coding: Coding::GzipIfAccepted, ..body(UTF8_HTML, page(&format!("Practice {path}"), "", &text)) }
}

fn article(site: &PracticeSite, number: u32, anchors: &[Anchor]) -> Answer {
    let (charset, meta) = match number % 11 {
        5 => (Charset::Windows1252Header, ""),
        6 => (Charset::Windows1252Meta, "<meta charset=\"windows-1252\">"),
        _ => (Charset::Utf8, ""),
    };
    let base = articles::base(number).map_or(String::new(), |base| format!("<base href=\"{base}\">"));
    let mut text = String::with_capacity(4096);
    for (at, anchor) in (0..).zip(anchors) {
        text.push_str("<p>");
        text.push_str(&prose(site.shape.seed, number, at));
        text.push_str(&tag(anchor, number + at));
        text.push('\n');
    }
    let edits = versions::edits(site, number);
    if edits > 0 {
        text += &format!("<p>Edit {edits}: {}\n", prose(site.shape.seed, number, EDITED + edits));
    }
    let html = page(&format!("Page {number}"), &format!("{meta}{base}"), &text);
    let coding = if number.is_multiple_of(3) { Coding::GzipIfAccepted } else { Coding::Identity };
    Answer { coding, ..encoded(&html, charset) }
}

fn hard_page(site: &PracticeSite, hard_page: &HardPage) -> Answer {
    let mut answer = encoded(&hard_page.html.replace("{origin}", &site.origin), hard_page.charset);
    answer.headers.extend(hard_page.x_robots_tag.map(|tag| ("x-robots-tag", tag.to_owned())));
    answer
}

fn encoded(html: &str, charset: Charset) -> Answer {
    let windows_1252 = || WINDOWS_1252.encode(html).0.into_owned();
    match charset {
        Charset::Utf8 => body(UTF8_HTML, html),
        Charset::Windows1252Header => body("text/html; charset=windows-1252", windows_1252()),
        Charset::Windows1252Meta => body("text/html", windows_1252()),
        Charset::Utf8Mark => body("text/html; charset=windows-1252", format!("\u{feff}{html}")),
        Charset::Utf16Mark => {
            let units = format!("\u{feff}{html}");
            body("text/html", units.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        }
    }
}

/// Files hold text that looks like links, which nobody may follow.
fn file(kind: FileKind, path: &str) -> Answer {
    let lure = format!("{path}: <a href=\"{HIDDEN}in-a-file\">not a link</a>\n");
    match kind {
        FileKind::Css => body("text/css", format!("/* {lure} */\np {{ color: #333 }}\n")),
        FileKind::Png => body("image/png", [b"\x89PNG\r\n\x1a\n", lure.as_bytes()].concat()),
        FileKind::Text => body("text/plain; charset=utf-8", lure),
        FileKind::Pdf => body("application/pdf", format!("%PDF-1.4\n% {lure}%%EOF\n")),
    }
}

fn robots(site: &PracticeSite) -> String {
    format!(
        "# Practice\nUser-agent: otherbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\nAllow: /private/open/\n\
         Disallow: /search?\nDisallow: /*.cgi$\n\nSitemap: {}/sitemap.xml\n",
        site.origin
    )
}

fn sitemap(site: &PracticeSite) -> String {
    let origin = &site.origin;
    let first = escaped(&articles::path(site, 0));
    let entries = ["/", "/hub", &first].map(|path| format!("<url><loc>{origin}{path}</loc></url>\n")).concat();
    let namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
    format!("<?xml version=\"1.0\"?>\n<urlset xmlns=\"{namespace}\">\n{entries}</urlset>\n")
}

fn page(title: &str, head: &str, body: &str) -> String {
    let head = format!("<head><title>{title}</title>{head}</head>");
    format!("<!doctype html>\n<html lang=\"en\">{head}\n<body><h1>{title}</h1>\n{body}</body></html>\n")
}

fn prose(seed: u64, number: u32, paragraph: u32) -> String {
    let word = |at| WORDS[mix(seed, number, 10_000 + paragraph * 16 + at) as usize % WORDS.len()];
    (0..16).flat_map(|at| [word(at), " "]).collect()
}

/// An anchor in one of the ways HTML can write it.
fn tag(anchor: &Anchor, form: u32) -> String {
    let href = escaped(&anchor.href);
    match form % 5 {
        0 => format!("<a class=\"x\" href='{href}'>that</a>"),
        1 if !href.contains([' ', '=']) => format!("<A HREF={href}>that</A>"),
        2 => format!("<a\n href = \"{}\">that</a>", href.replace('/', "&#x2F;")),
        3 => format!("<a href=\"{}\" title=\"a > b\">that</a>", anchor.href),
        _ => format!("<a href=\"{href}\">that</a>"),
    }
}

/// Text for an attribute or an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    fn text(site: &PracticeSite, path: &str) -> String {
        String::from_utf8(site.answer(path).body).unwrap()
    }

    #[test]
    fn redirects_carry_their_location() {
        let answer = PracticeSite::new(Shape::demo()).answer("/hard/moved/308");
        assert_eq!(answer.status, 308);
        assert!(answer.headers.contains(&("location", "/found/moved-308#part".to_owned())));
    }

    #[test]
    fn charsets_are_what_they_claim() {
        let site = PracticeSite::new(Shape::demo());
        let header = site.answer("/hard/charset/header.html");
        assert!(header.body.windows(4).any(|bytes| bytes == b"caf\xe9"), "one byte a letter");
        assert!(site.answer("/hard/charset/mark.html").body.starts_with("\u{feff}<".as_bytes()));
        assert!(site.answer("/hard/charset/utf-16.html").body.starts_with(b"\xff\xfe<\0"));
    }

    #[test]
    fn robots_txt_says_where_the_sitemap_is() {
        let site = PracticeSite::new(Shape::demo()).at("http://127.0.0.1:9");
        assert!(text(&site, "/robots.txt").contains("Sitemap: http://127.0.0.1:9/sitemap.xml\n"));
        assert!(text(&site, "/sitemap.xml").contains("<loc>http://127.0.0.1:9/hub</loc>"));
    }

    #[test]
    fn paths_cannot_break_out_of_a_page() {
        let site = PracticeSite::new(Shape::demo());
        assert!(!text(&site, "/found/<a href=/hidden/x>").contains("<a href=/hidden"));
    }
}
