//! [`Tokens`]: the tokens of a page, where all of its tags are wanted.
//!
//! Owns: in which state the content of an element is read. In SVG and `MathML` it is read as markup, whatever its name is.

use html5gum::{Readable, Token, Tokenizer};

use super::tags::Tag;
use crate::syntax::Foreign;

/// The tokens of a page.
pub(super) struct Tokens<'h> {
    tokenizer: Tokenizer<<&'h [u8] as Readable<'h>>::Reader>,
    foreign: Foreign,
}

impl<'h> Tokens<'h> {
    /// Those of a page whose bytes are UTF-8, or nearly.
    pub(super) fn of(html: &'h [u8]) -> Self {
        Self { tokenizer: Tokenizer::new(html), foreign: Foreign::default() }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let Ok(token) = self.tokenizer.next()?;
        match &token {
            Token::StartTag(tag) => {
                let html = self.foreign.start(&tag.name, tag.self_closing);
                if let Some(state) = Tag::named(&tag.name).content().filter(|_| html) {
                    self.tokenizer.set_state(state);
                }
            }
            Token::EndTag(tag) => self.foreign.end(&tag.name),
            _ => {}
        }
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(html: &str) -> Vec<String> {
        let name =
            |token| if let Token::StartTag(tag) = token { Some(String::from_utf8(tag.name.0).unwrap()) } else { None };
        Tokens::of(html.as_bytes()).filter_map(name).collect()
    }

    #[test]
    fn content_is_read_as_browsers_read_it() {
        let html = "<title><no></title><script>'<no>'</script><style><no></style><textarea><no></textarea><p><iframe><no></iframe><b>";
        assert_eq!(names(html), ["title", "script", "style", "textarea", "p", "iframe", "b"]);
        let drawing = "<svg><title/><a><style/><g></style><script href=x /><i></svg><p>";
        assert_eq!(names(drawing), ["svg", "title", "a", "style", "g", "script", "i", "p"]);
        assert_eq!(names("<script/><no></script><p>"), ["script", "p"]);
        assert_eq!(names("<plaintext><no>"), ["plaintext"]);
    }
}
