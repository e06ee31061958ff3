//! [`HtmlTokens`]: the tags and texts of a page, with the attributes that matter.
//!
//! Owns: in which state the content of an element is read. In SVG and `MathML` it is read as markup, whatever its name is.

use html5gum::{
    Readable, Span, State, Tokenizer,
    emitters::callback::{Callback, CallbackEmitter, CallbackEvent},
};

use super::tags::{Attr, Tag};

/// The longest attribute that is kept, in bytes.
const LONGEST_ATTRIBUTE: usize = 8192;

/// The attributes of an element, in the order of the page.
pub(super) type TagAttributes = Vec<(Attr, Box<str>)>;

/// A part of a page.
#[derive(Debug)]
pub(super) enum Token {
    /// The start of an element.
    Start(StartTag),
    /// The end of one.
    End(Tag),
    /// Text between tags.
    Text(String),
}

/// The start of an element.
#[derive(Debug)]
pub(super) struct StartTag {
    /// Its name.
    pub(super) tag: Tag,
    /// Its attributes.
    pub(super) attributes: TagAttributes,
    /// Whether the tag ended in `/>`.
    pub(super) is_closed: bool,
}

/// The tokens of a page.
pub(super) struct HtmlTokens<'h> {
    tokenizer: Tokenizer<<&'h [u8] as Readable<'h>>::Reader, CallbackEmitter<Collector, Token>>,
    foreign: usize,
}

impl<'h> HtmlTokens<'h> {
    /// Those of a page.
    pub(super) fn of(html: &'h str) -> Self {
        let emitter = CallbackEmitter::new(Collector::default());
        Self { tokenizer: Tokenizer::new_with_emitter(html.as_bytes(), emitter), foreign: 0 }
    }

    /// Keeps count of how deep in SVG and `MathML` the page is.
    fn follow(&mut self, token: &Token) {
        let is_foreign = |tag: &Tag| matches!(tag, Tag::Svg | Tag::Math);
        match token {
            Token::Start(start) if is_foreign(&start.tag) && !start.is_closed => self.foreign += 1,
            Token::End(tag) if is_foreign(tag) => self.foreign = self.foreign.saturating_sub(1),
            Token::Start(start) if self.foreign == 0 => {
                if let Some(state) = content_state(start.tag) {
                    self.tokenizer.set_state(state);
                }
            }
            _ => {}
        }
    }
}

impl Iterator for HtmlTokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let Ok(token) = self.tokenizer.next()?;
        self.follow(&token);
        Some(token)
    }
}

/// How the content of an element is read, where it is not markup.
fn content_state(tag: Tag) -> Option<State> {
    match tag {
        Tag::Title | Tag::Textarea => Some(State::RcData),
        Tag::Script => Some(State::ScriptData),
        Tag::Style | Tag::Xmp | Tag::Iframe | Tag::Noembed | Tag::Noframes => Some(State::RawText),
        Tag::Plaintext => Some(State::PlainText),
        _ => None,
    }
}

/// Gathers the parts of a tag.
#[derive(Debug, Default)]
struct Collector {
    tag: Option<Tag>,
    attributes: TagAttributes,
    wanted: Option<Attr>,
}

impl Collector {
    /// Takes the name of an attribute: of two with one name, the first counts.
    fn name(&mut self, name: &[u8]) {
        self.keep(b"");
        self.wanted = Attr::named(name).filter(|attr| self.attributes.iter().all(|(known, _)| known != attr));
    }

    /// Keeps the attribute whose name was read.
    fn keep(&mut self, value: &[u8]) {
        if let Some(attr) = self.wanted.take().filter(|_| value.len() <= LONGEST_ATTRIBUTE) {
            self.attributes.push((attr, String::from_utf8_lossy(value).into()));
        }
    }
}

impl Callback<Token, ()> for Collector {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Token> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.attributes.clear();
                self.wanted = None;
                self.tag = Some(Tag::named(name).unwrap_or(Tag::Other));
            }
            CallbackEvent::AttributeName { name } => self.name(name),
            CallbackEvent::AttributeValue { value } => self.keep(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                self.keep(b"");
                let attributes = std::mem::take(&mut self.attributes);
                let tag = self.tag.take().unwrap_or(Tag::Other);
                return Some(Token::Start(StartTag { tag, attributes, is_closed: self_closing }));
            }
            CallbackEvent::EndTag { name } => return Some(Token::End(Tag::named(name).unwrap_or(Tag::Other))),
            CallbackEvent::String { value } => return Some(Token::Text(String::from_utf8_lossy(value).into_owned())),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(html: &str) -> Vec<Tag> {
        HtmlTokens::of(html)
            .filter_map(|token| if let Token::Start(start) = token { Some(start.tag) } else { None })
            .collect()
    }

    #[test]
    fn content_is_read_as_browsers_read_it() {
        assert_eq!(
            starts("<title><b></title><script>'<b>'</script><style><b></style><p>"),
            [Tag::Title, Tag::Script, Tag::Style, Tag::P]
        );
        assert_eq!(starts("<svg><title/><a></svg><p>"), [Tag::Svg, Tag::Title, Tag::A, Tag::P]);
    }

    #[test]
    fn the_first_of_two_attributes_counts() {
        let Some(Token::Start(start)) = HtmlTokens::of("<a id=1 x=y id=2 hidden class='c'>").next() else {
            panic!("a tag")
        };
        let values: Vec<_> = start.attributes.iter().map(|(attr, value)| (*attr, &**value)).collect();
        assert_eq!(values, [(Attr::Id, "1"), (Attr::Hidden, ""), (Attr::Class, "c")]);
    }
}
