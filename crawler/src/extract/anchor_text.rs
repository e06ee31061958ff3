//! The text of a link or of a heading: the text between its tags, or else the `alt` texts of its images.
//!
//! Owns: where the content of a link ends (at `</a>`, or where the next link begins), and how much of it is read and kept.
//!
//! Invariants: at most [`MOST_READ`] bytes after the tag are read for one link, so the time is linear in the links of a page; white space
//! is one space; at most [`LONGEST_TEXT`] bytes are kept, cut between two characters.
//!
//! Does not know: where the link leads.

use std::borrow::Cow;

use html5gum::{Token, Tokenizer};
use memchr::memchr;

use super::{
    attributes::{Attributes, name_end},
    tags::Tag,
};

/// How many bytes of a text are kept.
const LONGEST_TEXT: usize = 200;

/// How many bytes of a page are looked at for one text.
const MOST_READ: usize = 2048;

/// Words with one space between them, up to some length.
#[derive(Debug, Default)]
struct Words {
    text: String,
    space: bool,
}

impl Words {
    fn push(&mut self, piece: &str) {
        for (number, word) in piece.split(char::is_whitespace).enumerate() {
            self.space |= number > 0;
            if self.is_full() {
                return;
            }
            if word.is_empty() {
                continue;
            }
            if std::mem::take(&mut self.space) && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
    }

    /// What comes next is another word.
    fn divide(&mut self) {
        self.space = true;
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn is_full(&self) -> bool {
        self.text.len() >= LONGEST_TEXT
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.floor_char_boundary(LONGEST_TEXT));
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

/// The text of a link, by what follows its start tag.
pub(super) fn of_content(html: &[u8]) -> String {
    plain(html, is_link).unwrap_or_else(|| read(html, is_link))
}

/// The text of an `h1`, by what follows its start tag.
pub(super) fn of_heading(html: &[u8]) -> String {
    plain(html, is_heading).unwrap_or_else(|| read(html, is_heading))
}

/// The text of an attribute's value.
pub(super) fn of_value(value: &[u8]) -> String {
    let mut words = Words::default();
    words.push(&String::from_utf8_lossy(value));
    words.finish()
}

/// The text where nothing is between the tags but text as it is, images, and tags that mean nothing: so it is of most links.
fn plain(html: &[u8], ends: impl Fn(&[u8]) -> bool) -> Option<String> {
    let mut rest = window(html);
    let mut words = Words::default();
    let mut names = Words::default();
    loop {
        let text = &rest[..memchr(b'<', rest)?];
        if text.iter().any(|byte| matches!(byte, b'&' | 0)) {
            return None;
        }
        words.push(&self::text(text));
        rest = &rest[text.len()..];
        let closing = rest.get(1)? == &b'/';
        let start = 1 + usize::from(closing);
        let end = name_end(rest, start);
        let name = &rest[start..end];
        let tag = Tag::named(name);
        if ends(name) {
            return Some(if words.is_empty() { names.finish() } else { words.finish() });
        }
        let is_read = matches!(tag, Tag::Anchor | Tag::Embedded | Tag::Form | Tag::Heading | Tag::Other)
            && name.first().is_some_and(u8::is_ascii_alphabetic);
        if !is_read || is_hidden(name) {
            return None;
        }
        let mut attributes = Attributes::new(rest, end);
        let mut alt = None;
        for attribute in (&mut attributes).filter(|attribute| attribute.name.eq_ignore_ascii_case(b"alt")) {
            alt.get_or_insert(attribute);
        }
        if let Some(alt) = alt.filter(|_| !closing && is_image(name)) {
            names.divide();
            names.push(&alt.is_plain().then(|| self::text(alt.value))?);
        }
        if divides(name) {
            words.divide();
        }
        rest = &rest[attributes.end()?..];
    }
}

/// The text with all that may stand in it.
fn read(html: &[u8], ends: impl Fn(&[u8]) -> bool) -> String {
    let mut words = Words::default();
    let mut names = Words::default();
    let mut hidden = None;
    for token in Tokenizer::new(window(html)) {
        let Ok(token) = token;
        match token {
            Token::StartTag(_) if hidden.is_some() => {}
            Token::StartTag(tag) if ends(&tag.name) => break,
            Token::StartTag(tag) if is_hidden(&tag.name) && !tag.self_closing => hidden = Some(tag.name),
            Token::StartTag(tag) => match (&**tag.name, tag.attributes.get(&b"alt"[..])) {
                (name, Some(alt)) if is_image(name) => {
                    names.divide();
                    names.push(&text(alt));
                }
                (name, _) if divides(name) => words.divide(),
                _ => {}
            },
            Token::EndTag(tag) if hidden.as_ref() == Some(&tag.name) => hidden = None,
            Token::EndTag(tag) if hidden.is_none() && ends(&tag.name) => break,
            Token::EndTag(tag) if divides(&tag.name) => words.divide(),
            Token::String(piece) if hidden.is_none() => words.push(&text(&piece)),
            _ => {}
        }
        if words.is_full() {
            break;
        }
    }
    let words = words.finish();
    if words.is_empty() { names.finish() } else { words }
}

/// What is looked at, cut between two characters.
fn window(html: &[u8]) -> &[u8] {
    let Some(window) = html.get(..MOST_READ) else { return html };
    let inside = html.get(MOST_READ).is_some_and(|next| next & 0xC0 == 0x80);
    let start = window.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or_default();
    if inside { &window[..start] } else { window }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn is_link(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"a")
}

/// Any heading ends another.
fn is_heading(name: &[u8]) -> bool {
    matches!(name, [b'h' | b'H', b'1'..=b'6'])
}

/// Whether its `alt` is shown in its place.
fn is_image(name: &[u8]) -> bool {
    [&b"img"[..], b"input"].iter().any(|image| name.eq_ignore_ascii_case(image))
}

/// Elements whose content is no text.
fn is_hidden(name: &[u8]) -> bool {
    [&b"script"[..], b"style", b"template"].iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
}

/// Elements that are a line of their own: the texts before and behind them are not one word.
fn divides(name: &[u8]) -> bool {
    let mut lower = [0; 3];
    let Some(lower) = lower.get_mut(..name.len()) else { return false };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    match &*lower {
        [b'h', b'1'..=b'6'] => true,
        name => {
            matches!(
                name,
                b"p" | b"br" | b"hr" | b"div" | b"li" | b"ul" | b"ol" | b"dt" | b"dd" | b"td" | b"th" | b"tr"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn is_what_is_between_the_tags() {
        for (html, text) in [
            (" plain  text\n</a> behind", "plain text"),
            ("a <b>bold</b>er&amp; &lt;word&gt;</A x> behind", "a bolder& <word>"),
            ("not closed <a href=x>next", "not closed"),
            ("one<br>two<p>three</p>four</a>", "one two three four"),
            ("<script>var x = '</b>'</script>shown<style>a{}</style></a>", "shown"),
            ("<abbr>a</abbr></a>", "a"),
            ("1 < 2</a>", "1 < 2"),
            ("&nbsp;</a>", ""),
            ("</a>", ""),
            ("", ""),
        ] {
            assert_eq!(of_content(html.as_bytes()), text, "{html}");
        }
    }

    #[test]
    fn an_image_gives_its_name_where_there_is_no_text() {
        assert_eq!(of_content(b"<img src=a alt='Home  page'><img alt=two></a>"), "Home page two");
        assert_eq!(of_content(b"<img alt=Home> Start</a>"), "Start");
        assert_eq!(of_content(b"<img src=a></a>"), "");
    }

    #[test]
    fn is_cut_between_two_characters() {
        let long = "\u{e4}\u{20ac}".repeat(100);
        let text = of_content(format!("{long}</a>").as_bytes());
        assert!(long.starts_with(&text) && (196..=200).contains(&text.len()), "{}", text.len());
        let spread = "<b>\u{20ac}</b>".repeat(1000);
        assert!(of_content(spread.as_bytes()).chars().all(|c| c == '\u{20ac}'));
        assert_eq!(of_content(format!("{}</a>", " x".repeat(500)).as_bytes()).len(), 199);
    }

    /// Pieces of links, and the spots where tokenizers go wrong.
    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let pieces = [
            "<b>",
            "</b>",
            "<br/>",
            "<P class='>'>",
            "<code a=b>",
            "<",
            ">",
            "</",
            "</ b>",
            "<1",
            "&amp;",
            "&",
            "'",
            "a",
            " b ",
            "\u{e4}",
            "</a>",
            "</A x>",
            "<a>",
            "</aa>",
            "<area alt=x>",
            "</h2>",
            "<img alt=i>",
            "<!-- -->",
            "<script>",
            "</script>",
            "<template>",
            "<svg>",
            "<?x>",
            "\n",
            "\0",
        ];
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..14)
            .prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn the_short_way_finds_what_the_tokenizer_finds(html in soup()) {
            if let Some(text) = plain(&html, is_link) {
                prop_assert_eq!(text, read(&html, is_link));
            }
            if let Some(text) = plain(&html, is_heading) {
                prop_assert_eq!(text, read(&html, is_heading));
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_short_text(html in prop::collection::vec(any::<u8>(), 0..400)) {
            let text = of_content(&html);
            prop_assert!(text.len() <= LONGEST_TEXT);
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), text);
        }

        #[test]
        fn a_long_text_is_the_same_both_ways(text in "[a-z \\n\u{e4}]{0,300}") {
            let html = format!("x {text}</a>");
            prop_assert_eq!(plain(html.as_bytes(), is_link).unwrap(), read(html.as_bytes(), is_link));
        }
    }
}
