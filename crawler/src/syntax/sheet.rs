//! URLs in style sheets: `url()`, `@import` and `image-set()`.
//!
//! Does not know: which rules of a style sheet apply.

use std::ops::Range;

use cssparser::{ParseError, Parser, Token};

/// A URL as it is written in a style sheet.
pub(crate) struct WrittenUrl<'c> {
    /// Without quotes and escapes.
    pub(crate) text: &'c str,
    /// The bytes of the whole token.
    pub(crate) range: Range<usize>,
    /// Whether it is a string; else it is a `url()` without quotes.
    pub(crate) is_string: bool,
    /// Whether a style sheet is there (`@import`).
    pub(crate) is_sheet: bool,
}

/// Shows each URL of a style sheet, or of the style of an element.
pub(crate) fn urls_of_sheet(css: &str, found: &mut dyn FnMut(WrittenUrl<'_>)) {
    read(&mut Parser::new(css), Place::Plain, &mut Rule::Other, found);
}

/// What a string means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing.
    Plain,
    /// In `url()`: something is there.
    Url,
    /// In `image-set()`: an image is there.
    Images,
}

/// What a rule says of the first URL in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// It is a style sheet.
    Import,
    /// It is only a name.
    Namespace,
    /// Nothing.
    Other,
}

impl Rule {
    fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "import" => Self::Import,
            "namespace" => Self::Namespace,
            _ => Self::Other,
        }
    }
}

/// Reads a block to its end. What is nested too deeply is read as if it were in the innermost block that is not.
fn read(parser: &mut Parser<'_>, place: Place, within: &mut Rule, found: &mut dyn FnMut(WrittenUrl<'_>)) {
    let mut rule = *within;
    loop {
        let start = parser.position().byte_index();
        let Ok(token) = parser.next_including_whitespace_and_comments() else { break };
        let token = token.clone();
        let range = start..parser.position().byte_index();
        let inner = match token {
            Token::AtKeyword(name) => {
                rule = Rule::named(&name);
                continue;
            }
            Token::Semicolon => {
                rule = Rule::Other;
                continue;
            }
            Token::UnquotedUrl(text) => {
                take((&text, range, false), &mut rule, found);
                continue;
            }
            Token::QuotedString(text) => {
                if place != Place::Plain || rule == Rule::Import {
                    take((&text, range, true), &mut rule, found);
                }
                continue;
            }
            Token::Function(name) if name.eq_ignore_ascii_case("url") || name.eq_ignore_ascii_case("src") => Place::Url,
            Token::Function(name) if name.to_ascii_lowercase().ends_with("image-set") => Place::Images,
            Token::CurlyBracketBlock => {
                rule = Rule::Other;
                Place::Plain
            }
            Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock => Place::Plain,
            _ => continue,
        };
        let mut inside = if inner == Place::Url { rule } else { Rule::Other };
        let nested = parser.parse_nested_block(|block| {
            read(block, inner, &mut inside, found);
            Ok::<(), ParseError<()>>(())
        });
        if inner == Place::Url && nested.is_ok() {
            rule = inside;
        }
    }
    *within = rule;
}

/// Takes a URL, if it is not only a name.
fn take((text, range, is_string): (&str, Range<usize>, bool), rule: &mut Rule, found: &mut dyn FnMut(WrittenUrl<'_>)) {
    if *rule != Rule::Namespace {
        found(WrittenUrl { text, range, is_string, is_sheet: *rule == Rule::Import });
    }
    if *rule == Rule::Import {
        *rule = Rule::Other;
    }
}
