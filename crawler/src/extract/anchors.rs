//! The anchors of a page: what its elements are named, and its links to names.

use std::{collections::HashSet, mem::take};

use html5gum::{StartTag, Token};
use memchr::memchr;
use percent_encoding::percent_decode_str;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::{Element, LinkLimits, base::Base, charset::decode, tokens::Tokens};
use crate::url::WebUrl;

/// Names of a page that are known; one with more is taken to have each.
const MOST_NAMES: usize = 100_000;

/// Bytes of a link's text that are kept.
const LONGEST_TEXT: usize = 200;

/// What begins that part of a fragment which names a text of the page.
const TEXT: &str = ":~:";

/// The names of a page's elements: their `id`, and the `name` of an `a`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorNames {
    /// 32 bits of a hash of each, sorted.
    hashes: Vec<u32>,
}

/// A link to a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchorLink {
    /// The page.
    pub url: WebUrl,
    /// The page and the name, as a URL.
    pub whole: Box<str>,
    /// Where it was found first.
    pub element: Element,
    /// Its text there, white space collapsed, at most 200 bytes.
    pub text: String,
}

/// What a page says of anchors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageAnchors {
    /// The names of its elements; `None` where there are too many.
    pub names: Option<AnchorNames>,
    /// Its links to names, each once, but for those that it has itself.
    pub links: Vec<AnchorLink>,
}

impl AnchorNames {
    /// Those with these hashes.
    pub fn of_hashes(hashes: impl IntoIterator<Item = u32>) -> Self {
        let mut hashes: Vec<u32> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self { hashes }
    }

    /// Their hashes, the least first.
    pub fn hashes(&self) -> &[u32] {
        &self.hashes
    }

    /// Whether a browser finds this fragment of a URL (HTML standard, 7.4.6.3): as it is, or decoded; `top` and none are always there.
    pub fn have(&self, fragment: &str) -> bool {
        let fragment = fragment.split(TEXT).next().unwrap_or_default();
        let decoded = percent_decode_str(fragment).decode_utf8_lossy();
        let is_there = |name: &str| self.hashes.binary_search(&hash(name.as_bytes())).is_ok();
        fragment.is_empty() || decoded.eq_ignore_ascii_case("top") || is_there(fragment) || is_there(&decoded)
    }
}

/// Must never change: it is kept.
fn hash(name: &[u8]) -> u32 {
    let [a, b, c, d, ..] = xxh3_64(name).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The anchors of a page, and its links to names within these limits. A fragment that begins with `!` or `/` is for the page's scripts.
pub fn anchors(body: &[u8], content_type: Option<&str>, url: &WebUrl, limits: LinkLimits) -> PageAnchors {
    let decoded = decode(body, content_type, url);
    let mut reader = Reader { most: limits.links, ..Reader::default() };
    for token in Tokens::of(&decoded.html) {
        match token {
            Token::StartTag(tag) => reader.opened(tag),
            Token::EndTag(tag) if &**tag.name == b"a" => reader.in_link = false,
            Token::String(text) if reader.in_link => reader.text(&text),
            _ => {}
        }
    }
    reader.finish(url, limits)
}

/// What is found of a page.
#[derive(Debug, Default)]
struct Reader {
    base: Option<Vec<u8>>,
    names: HashSet<u32>,
    links: Vec<Written>,
    /// What they are written as.
    seen: HashSet<u64>,
    /// So many links are kept.
    most: usize,
    /// Whether text is that of the last link.
    in_link: bool,
}

/// A link as it is written.
#[derive(Debug)]
struct Written {
    href: Vec<u8>,
    element: Element,
    text: Vec<u8>,
}

impl Reader {
    fn opened(&mut self, mut tag: StartTag<()>) {
        let name = &**tag.name;
        let [is_link, is_area] = [name == b"a", name == b"area"];
        let own = ["id", "name"].into_iter().take(1 + usize::from(is_link));
        for value in own.filter_map(|attribute| tag.attributes.get(attribute.as_bytes())) {
            if self.names.len() <= MOST_NAMES {
                self.names.insert(hash(value));
            }
        }
        if name == b"base" && self.base.is_none() {
            self.base = tag.attributes.get(&b"href"[..]).map(|href| href.to_vec());
        }
        self.in_link &= !is_link;
        if !is_link && !is_area {
            return;
        }
        let element = Element::of_anchor(name);
        let names =
            |href: &[u8]| memchr(b'#', href).is_some_and(|at| !matches!(href.get(at + 1), None | Some(b'!' | b'/')));
        let href = tag.attributes.get_mut(&b"href"[..]).filter(|href| names(href.trim_ascii()));
        if let Some(href) = href
            && self.links.len() < self.most
            && self.seen.insert(xxh3_64(href))
        {
            self.links.push(Written { href: take(&mut href.value.0), element, text: Vec::new() });
            self.in_link = is_link;
        }
    }

    fn text(&mut self, text: &[u8]) {
        if let Some(link) = self.links.last_mut() {
            let room = (2 * LONGEST_TEXT).saturating_sub(link.text.len());
            link.text.extend_from_slice(&text[..text.len().min(room)]);
        }
    }

    fn finish(self, page: &WebUrl, limits: LinkLimits) -> PageAnchors {
        let base = Base::of(self.base.as_deref(), page);
        let names = AnchorNames::of_hashes(self.names);
        let mut found = PageAnchors::default();
        let mut seen = HashSet::new();
        let mut bytes = 0;
        for link in self.links {
            let Some((url, whole)) = resolve(&base, &link.href) else { continue };
            let fragment = &whole[url.as_str().len() + 1..];
            if (url == *page && names.have(fragment)) || !seen.insert(whole.clone()) {
                continue;
            }
            bytes += whole.len();
            if bytes > limits.bytes {
                break;
            }
            let text = String::from_utf8_lossy(&link.text);
            let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
            found.links.push(AnchorLink { url, whole, element: link.element, text });
        }
        found.names = (names.hashes.len() <= MOST_NAMES).then_some(names);
        found
    }
}

/// The page that a reference leads to, and the same with the fragment.
fn resolve(base: &Base, href: &[u8]) -> Option<(WebUrl, Box<str>)> {
    let href = href.trim_ascii();
    let at = href.iter().position(|byte| *byte == b'#')?;
    let url = base.join(&href[..at])?.without_credentials();
    let mut whole = Url::parse(url.as_str()).ok()?;
    whole.set_fragment(Some(&String::from_utf8_lossy(&href[at + 1..])));
    Some((url, whole.as_str().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> PageAnchors {
        anchors(html.as_bytes(), Some("text/html"), &WebUrl::parse("http://h/d/p?q").unwrap(), LinkLimits::NONE)
    }

    fn links(html: &str) -> Vec<String> {
        let shown =
            |link: AnchorLink| format!("{} {} {}", link.element.as_str(), &link.whole["http://h".len()..], link.text);
        read(html).links.into_iter().map(shown).collect()
    }

    #[test]
    fn links_to_names_are_found() {
        let html = "<a href=q#one>to  <b>one</b>\n</a>, <a href=#none></a><a href='q#one'>again</a><a href=q>x</a>
            <area href='/r#two'><a href='q#!/route'></a><a href='q#'></a><a href=ftp://h/#x></a><link href=y#z>
            <svg><title/><style/><a href=q#drawn>drawn</a></svg><script>'<a href=q#no>'</script><!--<a href=q#no>--><a href='q#\u{e4} b'>umlaut";
        assert_eq!(
            links(html),
            ["a /d/q#one to one", "a /d/p?q#none ", "area /r#two ", "a /d/q#drawn drawn", "a /d/q#%C3%A4%20b umlaut"]
        );
    }

    #[test]
    fn names_of_the_page_itself_are_there() {
        let html = "<a href=#a>1</a><a href=#b>2</a><a href=#top>3</a><a href=#c>4</a><a href=#%c3%a4>5</a><a href='#d%20e'>6</a>
            <a href='#a:~:text=x'>7</a><a href=#:~:text=x>8</a><a href='p?q#a'>9</a><a href='p#a'>10</a>
            <p id=a><a name=b>x</a><p name=c><svg id='\u{e4}'></svg><div id='d e'>";
        assert_eq!(links(html), ["a /d/p?q#c 4", "a /d/p#a 10"]);
        assert_eq!(links("<base href=/other><a href=#a></a><p id=a>"), ["a /other#a "]);
    }

    #[test]
    fn a_page_has_the_names_of_its_elements() {
        let names = read("<p id=x><a name='y z'></a><p ID=Case><p id=x>").names.unwrap();
        assert_eq!(names.hashes().len(), 3);
        assert!(["x", "y%20z", "y z", "Case", "", "TOP"].iter().all(|name| names.have(name)));
        assert!(!["case", "y", "z"].iter().any(|name| names.have(name)));
        assert_eq!(AnchorNames::of_hashes(names.hashes().iter().copied()), names);
        assert_eq!(hash(b"id"), 2_253_634_179, "databases hold it");
        let many = (0..=MOST_NAMES).fold(String::new(), |html, number| html + "<p id=" + &number.to_string() + ">");
        assert_eq!(read(&many).names, None);
    }
}
