//! [`page_look`]: what tells a log-in page from others, in one look.

use std::mem::take;

use html5gum::Token;
use memchr::memmem;

use super::{charset::decode, tokens::Tokens};
use crate::url::WebUrl;

/// The longest title that is compared, in bytes.
const LONGEST_TITLE: usize = 500;

/// What a page looks like, as far as log-ins go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageLook {
    /// Its title, white space collapsed.
    pub title: String,
    /// Whether it has a field for a password.
    pub asks_password: bool,
}

/// Looks at a page.
pub fn page_look(body: &[u8], content_type: Option<&str>, url: &WebUrl) -> PageLook {
    let text = decode(body, content_type, url);
    let html = &*text.html;
    // Most pages have no such field: then nothing behind the title is read.
    let may_ask = memmem::find(html, b"assword").or_else(|| memmem::find(html, b"ASSWORD")).is_some();
    let (mut title, mut asks_password) = (Title::NotYet, false);
    for token in Tokens::of(html) {
        match (token, &mut title) {
            (Token::StartTag(tag), Title::NotYet) if **tag.name == *b"title" => title = Title::Within(String::new()),
            (Token::EndTag(tag), Title::Within(text)) if **tag.name == *b"title" => title = Title::Whole(take(text)),
            (Token::String(part), Title::Within(text)) if text.len() < LONGEST_TITLE => {
                let part = String::from_utf8_lossy(&part);
                text.push_str(&part[..part.floor_char_boundary(LONGEST_TITLE)]);
            }
            (Token::StartTag(tag), _) if **tag.name == *b"input" => {
                let kind = tag.attributes.get(&b"type"[..]);
                asks_password |= kind.is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"password"));
            }
            _ => {}
        }
        if matches!(title, Title::Whole(_)) && (asks_password || !may_ask) {
            break;
        }
    }
    let (Title::Within(title) | Title::Whole(title)) = title else {
        return PageLook { title: String::new(), asks_password };
    };
    PageLook { title: title.split_whitespace().collect::<Vec<_>>().join(" "), asks_password }
}

/// What was read of a title.
enum Title {
    NotYet,
    Within(String),
    Whole(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(html: &str) -> (String, bool) {
        let look = page_look(html.as_bytes(), Some("text/html"), &WebUrl::parse("http://h/").unwrap());
        (look.title, look.asks_password)
    }

    #[test]
    fn title_and_field_are_found() {
        let form = "<title> Log\n in </title><form><input name=u><INPUT TYPE=' Password' name=p></form>";
        assert_eq!(look(form), ("Log in".into(), true));
        assert_eq!(look("<input type=password><title>x</title>"), ("x".into(), true));
        assert_eq!(look("<svg><title>no</title></svg><p>x"), ("no".into(), false), "as good as any other to compare");
        for none in
            ["", "<title>a", "<!-- <input type=password> -->", "<textarea><input type=password></textarea>", "password"]
        {
            assert!(!look(none).1, "{none}");
        }
    }
}
