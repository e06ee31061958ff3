//! Archived pages as a browser shows them: all that they refer to leads to the archive.
//!
//! Invariant: what is shown has a policy under which it has an origin of its own, loads from the archive alone and asks for nothing. The
//! frame that it is in keeps it from going elsewhere.

use super::answers::ArchivedPage;
use crate::{
    media_type,
    rewrite::{self, RewrittenPage},
    url::WebUrl,
};

/// Where archived pages are, followed by the sequence and the URL.
pub(super) const PREFIX: &str = "/replay/";

/// The policy of archived pages.
pub(super) const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; media-src 'self'; frame-src 'self'; connect-src 'none'; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// A larger page is shown as it is; its links lead nowhere.
const LONGEST: usize = 4 << 20;

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
    let shown = match page.body.len() {
        length if length > LONGEST => None,
        _ if page.is_html() => html(&page.text(), &page.url, sequence).map(|html| ("text/html", html)),
        _ if media_type::is_style_sheet(Some(sent)) => {
            style(&page.text(), &page.url, sequence).map(|style| ("text/css", style))
        }
        _ => None,
    };
    if let Some((kind, text)) = shown {
        return (format!("{kind}; charset=utf-8"), text.into_bytes());
    }
    // A header holds no other characters.
    let is_plain = sent.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    (if is_plain { sent.to_owned() } else { "application/octet-stream".to_owned() }, page.body.clone())
}

/// With what it refers to in the archive.
fn html(text: &str, page: &WebUrl, sequence: Option<u32>) -> Option<String> {
    let page = RewrittenPage { url: &url::Url::parse(page.as_str()).ok()?, head: "" };
    Some(rewrite::html(text, &page, &mut |url, _| Some(path(sequence, url.as_str()))))
}

fn style(text: &str, sheet: &WebUrl, sequence: Option<u32>) -> Option<String> {
    let sheet = url::Url::parse(sheet.as_str()).ok()?;
    Some(rewrite::style_sheet(text, &sheet, &mut |url| Some(path(sequence, url.as_str()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_to_the_archive() {
        let page = WebUrl::parse("http://h/a/b").unwrap();
        let shown = |text: &str| html(text, &page, Some(3)).unwrap();
        let cases = [
            ("<a href=c>", "href=\"/replay/3/http://h/a/c\""),
            ("<a href='/c?d=e#f'>", "href=\"/replay/3/http://h/c?d=e#f\""),
            ("<img src=//other/x.png srcset='y.png 2x, /z.png'>", "src=\"/replay/3/http://other/x.png\""),
            ("<img srcset='y.png 2x, /z.png'>", "/replay/3/http://h/a/y.png 2x, /replay/3/http://h/z.png"),
            ("<base href=/q/><a href=c>", "href=\"/replay/3/http://h/q/c\""),
            ("<p style='background:url(x.png)'>", "url(&quot;/replay/3/http://h/a/x.png&quot;)"),
            ("<style>@import 'y.css'; p { background: url(\"/x.png\") }</style>", "url(\"/replay/3/http://h/x.png"),
            ("<a href='#top'>", "href='#top'"),
            ("<meta http-equiv=refresh content='0;url=//x/'>", "content=\"0; url=/replay/3/http://x/\""),
        ];
        for (text, expected) in cases {
            assert!(shown(text).contains(expected), "{text} {}", shown(text));
        }
        for (text, absent) in [
            ("<meta http-equiv=x content='0;url=http://x/'>", "http-equiv"),
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
