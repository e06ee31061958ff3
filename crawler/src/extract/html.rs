//! [`is_html`]: whether a response is a page.

/// How far into an XML document its `<html` is looked for.
const XML_HEAD: usize = 1024;

/// The tags a page may start with.
const FIRST_TAGS: [&[u8]; 18] = [
    b"!doctype html",
    b"html",
    b"head",
    b"script",
    b"iframe",
    b"h1",
    b"div",
    b"font",
    b"table",
    b"a",
    b"style",
    b"title",
    b"b",
    b"body",
    b"br",
    b"p",
    b"meta",
    b"link",
];

/// Whether a response is a page whose links can be read: `text/html` or `application/xhtml+xml` by its `Content-Type`,
/// or, when it has none, by how its body starts (MIME Sniffing standard, 7.1; and XHTML after an XML declaration).
///
/// ```
/// use webloom::internals::extract::is_html;
/// assert!(is_html(Some("Text/HTML; charset=utf-8"), b""));
/// assert!(!is_html(Some("application/pdf"), b"<html>"));
/// assert!(is_html(None, b" <!doctype html>"));
/// ```
pub fn is_html(content_type: Option<&str>, body: &[u8]) -> bool {
    let essence = content_type.and_then(|value| value.split([';', ',']).next()).unwrap_or_default().trim();
    if essence.is_empty() {
        return looks_like_html(body);
    }
    ["text/html", "application/xhtml+xml"].iter().any(|html| essence.eq_ignore_ascii_case(html))
}

fn looks_like_html(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    if starts_with(body, b"<?xml") {
        return body[..body.len().min(XML_HEAD)].windows(5).any(|window| starts_with(window, b"<html"));
    }
    let Some(tag) = body.strip_prefix(b"<") else { return false };
    let starts = |name: &&[u8]| starts_with(tag, name) && ends_tag_name(tag.get(name.len()));
    tag.starts_with(b"!--") || FIRST_TAGS.iter().any(starts)
}

fn starts_with(body: &[u8], lower: &[u8]) -> bool {
    body.get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower))
}

fn ends_tag_name(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_type_is_believed() {
        for html in ["text/html", " TEXT/HTML ;charset=x", "application/xhtml+xml", "text/html,text/html"] {
            assert!(is_html(Some(html), b"%PDF"), "{html}");
        }
        for other in ["text/plain", "application/xml", "text/htmlx", "text"] {
            assert!(!is_html(Some(other), b"<html>"), "{other}");
        }
    }

    #[test]
    fn without_one_the_body_tells() {
        for html in [
            "\u{feff}<HTML>",
            "\n <p>",
            "<!-- x",
            "<a href=x>",
            "<?xml version='1.0'?>\n<html xmlns=''>",
            "<meta charset=x>",
        ] {
            assert!(is_html(None, html.as_bytes()) && is_html(Some(""), html.as_bytes()), "{html}");
        }
        for other in ["", "plain", "<pre", "<article>", "<?xml version='1.0'?><rss/>", "{}"] {
            assert!(!is_html(None, other.as_bytes()), "{other}");
        }
    }
}
