//! What style sheets load: `url()` and `@import`.
//!
//! Owns: the styles of pages (`style` elements and attributes), and style sheets of their own.
//!
//! Does not know: which rules of a style sheet apply.

use std::collections::HashSet;

use html5gum::Token as HtmlToken;

use super::{LinkLimits, tokens::Tokens};
use crate::{
    syntax::{WrittenUrl, urls_of_sheet},
    url::WebUrl,
};

/// Something that a style sheet loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetPart {
    /// Where it is, without a fragment.
    pub url: WebUrl,
    /// Whether it is a style sheet too.
    pub is_sheet: bool,
}

/// The same as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct WrittenPart {
    pub(super) text: String,
    pub(super) is_sheet: bool,
}

/// What a style sheet loads within these limits, each once.
pub fn sheet_parts(body: &[u8], url: &WebUrl, limits: LinkLimits) -> Vec<SheetPart> {
    let mut seen = HashSet::new();
    let mut parts = Vec::new();
    let mut bytes = 0;
    for WrittenPart { text, is_sheet } in of_css(&String::from_utf8_lossy(body)) {
        let Ok(url) = url.join(&text) else { continue };
        if !seen.insert((url.clone(), is_sheet)) {
            continue;
        }
        bytes += url.as_str().len();
        if parts.len() >= limits.links || bytes > limits.bytes {
            break;
        }
        parts.push(SheetPart { url: url.without_credentials(), is_sheet });
    }
    parts
}

/// What the styles of a page load, as it is written. Few pages have any, so they are looked for first.
pub(super) fn of_page(html: &[u8]) -> Vec<WrittenPart> {
    let has = |word: &str| html.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()));
    if !has("url(") && !has("@import") {
        return Vec::new();
    }
    let (mut parts, mut sheet) = (Vec::new(), None::<Vec<u8>>);
    for token in Tokens::of(html) {
        match token {
            HtmlToken::StartTag(tag) => {
                if let Some(style) = tag.attributes.get(&b"style"[..]) {
                    parts.extend(of_css(&String::from_utf8_lossy(style)));
                }
                sheet = (&**tag.name == b"style").then(Vec::new);
            }
            HtmlToken::String(text) => {
                if let Some(sheet) = &mut sheet {
                    sheet.extend_from_slice(&text);
                }
            }
            HtmlToken::EndTag(_) => {
                if let Some(sheet) = sheet.take() {
                    parts.extend(of_css(&String::from_utf8_lossy(&sheet)));
                }
            }
            _ => {}
        }
    }
    parts.extend(sheet.into_iter().flat_map(|sheet| of_css(&String::from_utf8_lossy(&sheet))));
    parts
}

/// What a style sheet or a declaration loads.
fn of_css(css: &str) -> Vec<WrittenPart> {
    let mut found = Vec::new();
    urls_of_sheet(css, &mut |WrittenUrl { text, is_sheet, .. }| {
        let text = text.trim();
        // A fragment alone names a part of the page, and `data:` holds what it names.
        let is_data = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
        if !text.is_empty() && !text.starts_with('#') && !is_data {
            found.push(WrittenPart { text: text.to_owned(), is_sheet });
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(css: &str) -> Vec<String> {
        let url = WebUrl::parse("http://h/css/s.css").unwrap();
        let shown = |part: SheetPart| {
            let kind = if part.is_sheet { "sheet " } else { "" };
            format!("{kind}{}", &part.url.as_str()["http://h".len()..])
        };
        sheet_parts(css.as_bytes(), &url, LinkLimits::NONE).into_iter().map(shown).collect()
    }

    #[test]
    fn what_a_style_sheet_loads_is_found() {
        let css = r#"@charset "utf-8"; @import "a.css"; @import url(b.css) screen; @import url("c.css") layer("x");
            @namespace svg url(http://www.w3.org/2000/svg); @NAMESPACE "http://h/no";
            /* url(no.png) */ body { background: url( d.png ), URL('e.png#x'); content: "no.png"; filter: url(#f) }
            @media print { @font-face { src: url(f.woff2) format("woff2"), local("no") } }
            .i { background: image-set("g.png" 1x, url(h.png) 2x type("image/no")); --x: url(i.png); cursor: url(data:,x) }
            .j { background: url(d.png) } .k { background: url(un closed }"#;
        let expected = [
            "sheet /css/a.css",
            "sheet /css/b.css",
            "sheet /css/c.css",
            "/css/d.png",
            "/css/e.png",
            "/css/f.woff2",
            "/css/g.png",
            "/css/h.png",
            "/css/i.png",
        ];
        assert_eq!(parts(css), expected);
    }

    #[test]
    fn styles_of_a_page_are_read() {
        let html = "<style>p { background: url(a.png) }</style><p style='background: URL(\"b.png\")'>url(no.png)<script>'url(no)'</script>";
        let texts: Vec<String> = of_page(html.as_bytes()).into_iter().map(|part| part.text).collect();
        assert_eq!(texts, ["a.png", "b.png"]);
        assert_eq!(of_page(b"<style>@import 'c.css'"), [WrittenPart { text: "c.css".to_owned(), is_sheet: true }]);
        assert!(of_page(b"<p>nothing").is_empty());
    }

    #[test]
    fn hostile_sheets_take_no_longer_than_they_are() {
        for css in ["{", "(", "url(", "@import ", "\\", "/*", "a{b:url(x)}", "image-set(", "\"", "@import url("] {
            sheet_parts(css.repeat(100_000).as_bytes(), &WebUrl::parse("http://h/").unwrap(), LinkLimits::of(1_000));
        }
    }
}
