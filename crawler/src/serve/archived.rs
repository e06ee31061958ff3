//! Archived pages as a browser shows them: all that they refer to leads to the archive.
//!
//! Invariant: what is shown has a policy under which it has an origin of its own, loads from the archive alone and asks for nothing. The
//! frame that it is in keeps it from going elsewhere.

use regex::Regex;
use scraper::{Html, Node};
use std::sync::LazyLock;

use super::answers::ArchivedPage;
use crate::url::WebUrl;

/// Where archived pages are, followed by the sequence and the URL.
pub(super) const PREFIX: &str = "/replay/";

/// The policy of archived pages.
pub(super) const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; media-src 'self'; frame-src 'self'; connect-src 'none'; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// A larger page is shown as it is; its links lead nowhere.
const LONGEST: usize = 4 << 20;

/// Attributes with a URL.
const URLS: [&str; 8] = ["href", "src", "poster", "data", "action", "formaction", "background", "data-src"];

/// Attributes that would have a browser refuse what was rewritten.
const DROPPED: [&str; 3] = ["integrity", "crossorigin", "nonce"];

static IN_STYLES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i)(url\(\s*['"]?|@import\s+['"])([^'")\s]+)"#).expect("this is a pattern"));

/// The path of the archived copy of a URL.
pub(super) fn path(sequence: Option<u32>, url: &str) -> String {
    let sequence = sequence.map_or_else(|| "-".to_owned(), |sequence| sequence.to_string());
    format!("{PREFIX}{sequence}/{url}")
}

/// The sequence and the URL of such a path.
pub(super) fn asked(path_and_query: &str) -> Option<(Option<u32>, &str)> {
    let (sequence, url) = path_and_query.strip_prefix(PREFIX)?.split_once('/')?;
    Some((if sequence == "-" { None } else { Some(sequence.parse().ok()?) }, url))
}

/// A page as it is shown: its type and its bytes.
pub(super) fn shown(page: &ArchivedPage, sequence: Option<u32>) -> (String, Vec<u8>) {
    let sent = page.copy.content_type.as_deref().unwrap_or("application/octet-stream");
    let kind = sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if page.is_html() && page.body.len() <= LONGEST {
        return ("text/html; charset=utf-8".to_owned(), html(&page.text(), &page.url, sequence).into_bytes());
    }
    if kind == "text/css" && page.body.len() <= LONGEST {
        return ("text/css; charset=utf-8".to_owned(), style(&page.text(), &page.url, sequence).into_bytes());
    }
    // A header holds no other characters.
    let is_plain = sent.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    (if is_plain { sent.to_owned() } else { "application/octet-stream".to_owned() }, page.body.clone())
}

fn html(text: &str, page: &WebUrl, sequence: Option<u32>) -> String {
    let mut document = Html::parse_document(text);
    let base = base(&document, page);
    for node in document.tree.values_mut() {
        let Node::Element(element) = node else { continue };
        let is_base = element.name() == "base";
        let is_meta = element.name() == "meta";
        element.attrs.retain(|(name, _)| {
            let name = name.local.as_ref();
            !(DROPPED.contains(&name) || is_base && name == "href" || is_meta && name == "http-equiv")
        });
        for (name, value) in &mut element.attrs {
            let new = match name.local.as_ref() {
                "srcset" | "imagesrcset" => Some(source_set(value, &base, sequence)),
                "style" => Some(style(value, &base, sequence)),
                name if URLS.contains(&name) => target(value, &base, sequence),
                _ => None,
            };
            if let Some(new) = new {
                *value = new.into();
            }
        }
    }
    for node in document.tree.values_mut() {
        if let Node::Text(text) = node
            && text.contains("url(")
        {
            text.text = style(&text.text, &base, sequence).into();
        }
    }
    document.html()
}

/// The URL against which those of a document are read.
fn base(document: &Html, page: &WebUrl) -> WebUrl {
    let elements = document.tree.values().filter_map(Node::as_element);
    let given = elements.filter(|element| element.name() == "base").find_map(|element| element.attr("href"));
    given.and_then(|given| page.join(given).ok()).unwrap_or_else(|| page.clone())
}

/// Where a reference leads in the archive; `None` if it stays as it is. Scripts do not run by a link.
fn target(value: &str, base: &WebUrl, sequence: Option<u32>) -> Option<String> {
    let value = value.trim();
    if value.starts_with('#') || value.is_empty() {
        return None;
    }
    let lower: String = value.chars().take(11).collect::<String>().to_ascii_lowercase();
    if lower.starts_with("data:") || lower.starts_with("javascript:") || lower.starts_with("mailto:") {
        return None;
    }
    let fragment = value.split_once('#').map_or(String::new(), |(_, fragment)| format!("#{fragment}"));
    let url = base.join(value).ok()?;
    Some(path(sequence, url.as_str()) + &fragment)
}

fn source_set(value: &str, base: &WebUrl, sequence: Option<u32>) -> String {
    let one = |candidate: &str| {
        let candidate = candidate.trim();
        let (url, rest) = candidate.split_once(' ').unwrap_or((candidate, ""));
        format!("{} {rest}", target(url, base, sequence).unwrap_or_else(|| url.to_owned()))
    };
    value.split(',').map(one).collect::<Vec<_>>().join(", ")
}

fn style(text: &str, base: &WebUrl, sequence: Option<u32>) -> String {
    let replaced = IN_STYLES.replace_all(text, |found: &regex::Captures<'_>| {
        let url = target(&found[2], base, sequence).unwrap_or_else(|| found[2].to_owned());
        format!("{}{url}", &found[1])
    });
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_to_the_archive() {
        let page = WebUrl::parse("http://h/a/b").unwrap();
        let shown = |text: &str| html(text, &page, Some(3));
        let cases = [
            ("<a href=c>", "href=\"/replay/3/http://h/a/c\""),
            ("<a href='/c?d=e#f'>", "href=\"/replay/3/http://h/c?d=e#f\""),
            ("<img src=//other/x.png srcset='y.png 2x, /z.png'>", "src=\"/replay/3/http://other/x.png\""),
            ("<img srcset='y.png 2x, /z.png'>", "/replay/3/http://h/a/y.png 2x, /replay/3/http://h/z.png"),
            ("<base href=/q/><a href=c>", "href=\"/replay/3/http://h/q/c\""),
            ("<p style='background:url(x.png)'>", "url(/replay/3/http://h/a/x.png)"),
            ("<style>@import 'y.css'; p { background: url(\"/x.png\") }</style>", "url(\"/replay/3/http://h/x.png"),
            ("<a href='#top'>", "href=\"#top\""),
        ];
        for (text, expected) in cases {
            assert!(shown(text).contains(expected), "{text} {}", shown(text));
        }
        for (text, absent) in [
            ("<meta http-equiv=refresh content='0;url=http://x/'>", "http-equiv"),
            ("<script integrity=x src=y></script>", "integrity"),
            ("<base href=http://x/>", "<base href"),
        ] {
            assert!(!shown(text).contains(absent), "{}", shown(text));
        }
        assert_eq!(asked("/replay/3/http://h/c?d=e"), Some((Some(3), "http://h/c?d=e")));
        assert_eq!(asked("/replay/-/http://h/"), Some((None, "http://h/")));
        assert_eq!(asked("/replay/x/http://h/"), None);
    }
}
