//! What broken and hostile texts do: nothing that others do not.

use scraper::{Html, Node};

use super::{tests::changed, *};

fn page() -> Url {
    Url::parse("http://h/a/b").unwrap()
}

fn led(text: &str) -> String {
    changed(text, &page(), &mut |url| Some(format!("/r/{url}")))
}

const SNIPPETS: [&str; 6] = [
    "<!DOCTYPE html><html lang=en><head><meta charset='latin1'><base href=\"/q/\"><title>a &amp; <b></title><link rel=stylesheet href=s.css integrity='x' crossorigin>",
    "<script nonce=x src='a.js'></script><script>if (a<b) '<img src=x>'; <!-- <script> --></script><noscript><img src=x></noscript>",
    "<img srcset='a.png 1x, data:,b 2x' style=\"background:url(&quot;x&quot;)\" src = y / data-src=z><style>@import 'x'; a{b:url(c)}</style>",
    "<svg viewBox='0 0 1 1'><style><![CDATA[a{b:url(c)}]]></style><title>t</title><use xlink:href=#x /><foreignObject><style>p{}</style></foreignObject></svg>",
    "<iframe srcdoc='<a href=x nonce=y><style>a{b:url(c)}'></iframe><textarea><a href=x></textarea><!-- c --><p a='b'nonce=\"c\"d>\r\n\u{e4}\u{fffd}",
    "<a b=c nonce =d href=e =f nonce><form/action=g nonce><math><mi><a href=x></mi></math><plaintext><a href=x>",
];

/// Numbers that are the same each time (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

/// Pages that are mostly broken, so many of them.
fn mutated(pages: usize) -> impl Iterator<Item = String> {
    const LETTERS: &[u8] = b"<>/=\"'& \r\n\0-!a;[]";
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    (0..pages).map(move |_| {
        let mut bytes = Vec::new();
        for _ in 0..=numbers.below(3) {
            bytes.extend(SNIPPETS[numbers.below(SNIPPETS.len())].as_bytes());
        }
        for _ in 0..numbers.below(8) {
            let at = numbers.below(bytes.len());
            match numbers.below(4) {
                0 => bytes[at] = LETTERS[numbers.below(LETTERS.len())],
                1 => bytes.insert(at, LETTERS[numbers.below(LETTERS.len())]),
                2 => drop(bytes.drain(at + 1..(at + 1 + numbers.below(20)).min(bytes.len()))),
                _ => bytes.truncate(at.max(1)),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[test]
fn what_was_rewritten_is_rewritten_the_same_way() {
    for text in mutated(20_000) {
        let once = changed(&text, &page(), &mut |_| None);
        assert_eq!(changed(&once, &page(), &mut |_| None), once, "{text}");
        assert_eq!(style_sheet(&text, &page(), &mut |_| None), text);
    }
}

/// What a parser that builds a tree finds: elements, texts and comments. `read` is what becomes of a reference with this base.
fn found(text: &str, read: impl Fn(&Url, &str) -> String) -> Vec<String> {
    const URLS: [&str; 4] = ["href", "src", "data-src", "action"];
    const CHANGED: [&str; 10] =
        ["integrity", "crossorigin", "nonce", "http-equiv", "charset", "content", "rel", "style", "srcset", "srcdoc"];
    let document = Html::parse_document(text);
    let mut elements = document.tree.values().filter_map(Node::as_element);
    let base = elements.find_map(|element| element.attr("href").filter(|_| element.name() == "base"));
    let base = base.and_then(|base| page().join(base).ok()).unwrap_or_else(page);
    let node = |node: &Node| match node {
        Node::Element(element) => {
            let is_kept = |name: &str| !CHANGED.contains(&name) && (element.name(), name) != ("base", "href");
            let value = |name, value: &str| if URLS.contains(&name) { read(&base, value) } else { value.to_owned() };
            let kept = element.attrs().filter(|(name, _)| is_kept(name));
            let kept: Vec<String> = kept.map(|(name, text)| format!("{name}={}", value(name, text))).collect();
            format!("<{} {kept:?}>", element.name())
        }
        Node::Text(text) if !text.contains("url(") && !text.contains("@import") => text.to_string(),
        Node::Comment(text) => format!("<!--{}-->", &**text),
        _ => String::new(),
    };
    document.tree.nodes().map(|one| node(one.value())).collect()
}

#[test]
fn references_are_those_that_a_parser_finds() {
    let lead = |base: &Url, value: &str| {
        let written = value.trim_matches(|letter| letter <= ' ');
        let url = base.join(written).ok().filter(|url| url.scheme() == "http");
        let url = url.filter(|_| !written.is_empty() && !written.starts_with('#'));
        url.map_or_else(|| value.to_owned(), |url| format!("/r/{url}"))
    };
    // It reads `noscript` as text, and knows more of where SVG ends.
    let is_read_alike = |text: &String| ["<svg", "<math", "<noscript"].iter().all(|tag| !text.contains(tag));
    for text in mutated(6_000).filter(is_read_alike) {
        let text = format!("<!doctype html><head><meta charset=latin1>{text}");
        let new = led(&text);
        assert_eq!(found(&text, lead), found(&new, |_, value| value.to_owned()), "{text}\n{new}");
    }
}

/// Some kibibytes: what takes longer than in proportion takes minutes.
const LONG: usize = 256 << 10;

#[test]
fn hostile_pages_take_no_longer_than_they_are() {
    let repeated = |part: &str| part.repeat(LONG / part.len());
    for part in [
        "<div>",
        "<",
        "<a ",
        "<a href=x>",
        "<a b",
        "<!--",
        "</",
        "&",
        "&lt",
        "<svg>",
        "<svg><p>",
        "<math><mi>",
        "<style>",
        "<style>a{b:url(x)}</style>",
        "<svg><style>a{b:url(x)}</style>",
        "<script><!--<script>",
        "<p style=a:url(x)>",
        "<p style='((('>",
        "<base href=x>",
        "<meta charset=x>",
        "<p nonce>",
        "<img srcset='x,x 1x, y'>",
        "\r\n",
        "\0",
        "<iframe srcdoc='<a href=x>'>",
        "<![CDATA[",
        "<svg><![CDATA[>]]",
        "<!doctype ",
        "<a\n/=",
    ] {
        led(&repeated(part));
    }
    for (before, part, after) in [
        ("<a ", "b=c ", ">"),
        ("<a ", "href=x ", ">"),
        ("<a ", "nonce= ", ">"),
        ("<a href='", "../", "'>"),
        ("<a href='http://", "\u{e4}.", "'>"),
        ("<a nonce", " ", ">"),
        ("<style>", "url(x)", ""),
        ("<style>", "(", ""),
        ("<p style='", "{(", "'>"),
        ("<img srcset='", "x, ", "'>"),
        ("<img srcset='", "a( ", "'>"),
        ("<iframe srcdoc=\"", "<iframe srcdoc='<p>'>", "\">"),
        ("<svg><style>", "a<!-- -->", "</style>"),
    ] {
        led(&format!("{before}{}{after}", repeated(part)));
    }
    let long_base = format!("<base href='{}'>{}", repeated("/x"), repeated("<a href=x>"));
    assert!(led(&long_base).len() < 128 * LONG);
}

#[test]
fn hostile_style_sheets_take_no_longer_than_they_are() {
    for part in
        ["{", "(", "[(", "url(", "url(x)", "@import ", "\\(", "(/*", "a{b:url(x)}", "image-set(", "(\"", "@import url("]
    {
        style_sheet(&part.repeat(LONG / part.len()), &page(), &mut |url| Some(format!("/r/{url}")));
    }
}
