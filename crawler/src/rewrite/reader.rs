//! From the tokens of a page to its [`Markup`].
//!
//! Owns: where attributes and the texts of `style` elements are, as browsers find them, and in which state the content of an element is
//! read.
//!
//! Does not know: what else the tree of the page would change, and what becomes of the parts.

use std::{convert::Infallible, ops::Range};

use html5gum::{
    Emitter, ForwardingEmitter, Span, State, Tokenizer,
    emitters::callback::{Callback, CallbackEmitter, CallbackEvent},
};

use super::markup::{ATTRIBUTES, Markup, Part, PartKind};
use crate::syntax::Foreign;

/// What is changed in a page.
pub(super) fn read(html: &str, is_xml: bool) -> Markup {
    let mut markup = Markup { head: if html.starts_with('\u{feff}') { 3 } else { 0 }, ..Markup::default() };
    let emitter = Switching(CallbackEmitter::new(Reader { is_xml, ..Reader::of(html, &mut markup) }));
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    markup
}

/// Gives tags to the reader, and has the tokenizer read on as it says.
struct Switching<'h>(CallbackEmitter<Reader<'h>, Infallible, usize>);

impl ForwardingEmitter for Switching<'_> {
    type Token = Infallible;

    fn inner(&mut self) -> &mut impl Emitter<Token = Infallible> {
        &mut self.0
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_eof(&mut self) {
        self.0.emit_eof();
        self.0.callback_mut().text_ends(usize::MAX);
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let _ = self.0.emit_current_tag();
        self.0.callback_mut().content.take()
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.0.callback_mut().foreign.is_foreign()
    }
}

/// Reads the tags of a page.
struct Reader<'h> {
    html: &'h str,
    markup: &'h mut Markup,
    /// Whether each tag may close itself.
    is_xml: bool,
    /// The first part of the tag that is read.
    tag_parts: usize,
    /// What the tag is an equivalent of: a header.
    equivalent: String,
    foreign: Foreign,
    /// What the page has begun with so far.
    begun: Begun,
    /// The name of the start tag that is read; empty outside of one.
    tag: String,
    /// Which rows of [`ATTRIBUTES`] it has had.
    had: [bool; ATTRIBUTES.len()],
    /// The row of the attribute that is read, and where that begins.
    attribute: Option<(usize, usize)>,
    /// How the content of the tag is read, where it is not markup.
    content: Option<State>,
    /// The style sheet that is read: what it is, and where its text begins.
    sheet: Option<(PartKind, usize)>,
    sheet_text: Vec<u8>,
}

/// What may stand before the content of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Begun {
    Nothing,
    Doctype,
    Html,
    Head,
    /// What comes later is nowhere before the content.
    Content,
}

impl<'h> Reader<'h> {
    fn of(html: &'h str, markup: &'h mut Markup) -> Self {
        Self {
            html,
            markup,
            is_xml: false,
            tag_parts: 0,
            equivalent: String::new(),
            foreign: Foreign::default(),
            begun: Begun::Nothing,
            tag: String::new(),
            had: [false; ATTRIBUTES.len()],
            attribute: None,
            content: None,
            sheet: None,
            sheet_text: Vec::new(),
        }
    }

    fn begins(&mut self, what: Begun, end: usize) {
        if what == Begun::Content {
            self.begun = what;
        }
        // A doctype may be left open.
        if what > self.begun && self.html.get(..end).is_some_and(|before| before.ends_with('>')) {
            (self.begun, self.markup.head) = (what, end);
        }
    }

    fn attribute_begins(&mut self, name: &[u8], at: usize) {
        let fits = |row: &(&str, &str, PartKind)| row.1.as_bytes() == name && (row.0.is_empty() || row.0 == self.tag);
        let row = if self.tag.is_empty() { None } else { ATTRIBUTES.iter().position(fits) };
        self.attribute = row.map(|row| (row, at));
    }

    fn attribute_ends(&mut self, value: &[u8]) {
        let Some((row, start)) = self.attribute.take() else { return };
        let (of, _, kind) = ATTRIBUTES[row];
        let had = std::mem::replace(&mut self.had[row], true);
        let value = String::from_utf8_lossy(value);
        if of == "base" && !had && !self.foreign.is_foreign() {
            self.markup.base.get_or_insert_with(|| value.to_string());
        }
        if of == "meta" && kind == PartKind::Dropped && !had {
            self.equivalent = value.trim().to_ascii_lowercase();
        }
        let written = written_value(self.html.as_bytes(), start);
        // Of two attributes with one name, browsers take the first; if that is left out, they would take the second.
        if kind == PartKind::Dropped {
            self.push(kind, start..written.end, String::new());
        } else if !had && !value.is_empty() {
            self.push(kind, written, value.into_owned());
        }
    }

    fn tag_ends(&mut self, self_closing: bool, end: usize) {
        let is_html = self.foreign.start(self.tag.as_bytes(), self_closing);
        let is_empty = self.is_xml && self_closing;
        self.content = content(&self.tag).filter(|_| is_html && !is_empty);
        if self.tag == "meta" {
            // What it says is looked at where it says after how long another page follows, which stays then.
            let refreshes = self.equivalent == "refresh";
            let mut at = 0;
            self.markup.parts.retain(|part| {
                at += 1;
                let stays = if part.kind == PartKind::Refresh {
                    refreshes
                } else {
                    part.kind != PartKind::Dropped || !refreshes
                };
                at <= self.tag_parts || stays
            });
        }
        if self.tag == "style" && !is_empty && (is_html || !self_closing) {
            self.sheet = Some((if is_html { PartKind::Sheet } else { PartKind::DrawnSheet }, end));
        }
        match &*self.tag {
            "html" => self.begins(Begun::Html, end),
            "head" => self.begins(Begun::Head, end),
            _ => self.begins(Begun::Content, end),
        }
        self.tag.clear();
    }

    /// Takes the text of a style sheet up to here. What follows in it begins elsewhere.
    fn text_ends(&mut self, end: usize) {
        let text = std::mem::take(&mut self.sheet_text);
        let Some((kind, start)) = self.sheet.take().filter(|_| !text.is_empty()) else { return };
        let range = start..end.min(self.html.len());
        let text = match kind {
            PartKind::Sheet => self.html.get(range.clone()).unwrap_or_default().to_owned(),
            _ => String::from_utf8_lossy(&text).into_owned(),
        };
        self.push(kind, range, text);
    }

    fn push(&mut self, kind: PartKind, range: Range<usize>, text: String) {
        self.markup.parts.push(Part { kind, range, text });
    }
}

impl Callback<Infallible, usize> for Reader<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.text_ends(span.start);
                self.tag = String::from_utf8_lossy(name).into_owned();
                self.had = [false; ATTRIBUTES.len()];
                self.attribute = None;
                self.tag_parts = self.markup.parts.len();
                self.equivalent.clear();
            }
            CallbackEvent::AttributeName { name } => {
                self.attribute_ends(b"");
                self.attribute_begins(name, span.start);
            }
            CallbackEvent::AttributeValue { value } => self.attribute_ends(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                self.attribute_ends(b"");
                self.tag_ends(self_closing, span.end);
            }
            CallbackEvent::String { value } => {
                if self.sheet.is_some() {
                    self.sheet_text.extend_from_slice(value);
                }
                if !value.trim_ascii().is_empty() {
                    self.begins(Begun::Content, span.end);
                }
            }
            CallbackEvent::EndTag { name } => {
                self.begins(Begun::Content, span.end);
                self.text_ends(span.start);
                self.foreign.end(name);
                self.tag.clear();
            }
            CallbackEvent::Comment { .. } => {
                let kind = self.sheet.map(|(kind, _)| kind);
                self.text_ends(span.start);
                self.sheet = kind.map(|kind| (kind, span.end));
            }
            CallbackEvent::Doctype { .. } => self.begins(Begun::Doctype, span.end),
            CallbackEvent::Error(_) => {}
        }
        None
    }
}

/// How the content of an HTML element is read, where it is not markup (HTML standard, 13.2.6.4; scripts off).
fn content(tag: &str) -> Option<State> {
    match tag {
        "title" | "textarea" => Some(State::RcData),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => Some(State::RawText),
        "script" => Some(State::ScriptData),
        "plaintext" => Some(State::PlainText),
        _ => None,
    }
}

/// Where the value of the attribute is that begins at `start`, with its quotes; empty and at the end of the attribute if it has none
/// (HTML standard, 13.2.5.33 to 13.2.5.38).
fn written_value(html: &[u8], start: usize) -> Range<usize> {
    let is_space = |byte: u8| byte.is_ascii_whitespace();
    let skip = |at: usize, passes: &dyn Fn(u8) -> bool| {
        html.get(at..)
            .unwrap_or_default()
            .iter()
            .position(|byte| !passes(*byte))
            .map_or(html.len(), |length| at + length)
    };
    // The first byte belongs to the name, even if it is `=`.
    let name_end = skip(start + 1, &|byte| !is_space(byte) && !matches!(byte, b'/' | b'>' | b'='));
    let equals = skip(name_end, &is_space);
    if html.get(equals) != Some(&b'=') {
        return name_end..name_end;
    }
    let value = skip(equals + 1, &is_space);
    let end = match html.get(value) {
        Some(quote @ (b'"' | b'\'')) => skip(value + 1, &|byte| byte != *quote) + 1,
        _ => skip(value, &|byte| !is_space(byte) && byte != b'>'),
    };
    value..end.min(html.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(html: &str) -> Vec<(PartKind, &str, String)> {
        read(html, false).parts.into_iter().map(|part| (part.kind, &html[part.range], part.text)).collect()
    }

    #[test]
    fn values_are_where_browsers_find_them() {
        let cases = [
            ("<a href=x>", "x", "x"),
            ("<a HREF = 'a&amp;b'>", "'a&amp;b'", "a&b"),
            ("<a\r\nhref\r=\r\n\"x\r\ny\"/>", "\"x\r\ny\"", "x\ny"),
            ("<a b='>' / href=x/>", "x/", "x/"),
            ("<a b=\"c\"href='d'e>", "'d'", "d"),
            ("<\u{e4}><a \u{e4}=\u{e4} href=\u{e4}\0>", "\u{e4}\0", "\u{e4}\u{fffd}"),
            ("<a =href=y href=x>", "x", "x"),
            ("<a href=x href=y>", "x", "x"),
            ("\r\n\r<p>&amp;<!-- a\r\n --><a href=x>", "x", "x"),
        ];
        for (html, written, text) in cases {
            assert_eq!(parts(html), [(PartKind::Url, written, text.to_owned())], "{html:?}");
        }
        for html in ["<a href>", "<a href= >", "</a href=x>", "<a href=\"x", "<!-- <a href=x> -->", "<a-href=x>"] {
            assert_eq!(parts(html), [], "{html:?}");
        }
    }

    #[test]
    fn content_is_read_as_browsers_read_it() {
        let hidden = "<a href=no>";
        for tag in ["title", "textarea", "script", "xmp", "iframe", "noembed", "noframes"] {
            let html = format!("<{tag}>{hidden}</{tag}><a href=x>");
            assert_eq!(parts(&html), [(PartKind::Url, "x", "x".to_owned())], "{html:?}");
        }
        let markup = ["<noscript><a href=x></noscript>", "<svg><title><a href=x>", "<svg><script/></svg><a href=x>"];
        let html = ["<script><!--<script></script><a href=no></script><a href=x>"];
        let cdata = ["<svg><script><![CDATA[ > <a href=no> ]]></script><a href=x>", "<plaintext/a><a href=no>"];
        for html in markup.into_iter().chain(html).chain(cdata) {
            let expected = if html.contains("plain") { vec![] } else { vec![(PartKind::Url, "x", "x".to_owned())] };
            assert_eq!(parts(html), expected, "{html:?}");
        }
    }

    #[test]
    fn texts_of_style_elements_are_found() {
        let cases = [
            ("<style>a\r\n&amp;<b></style>c", (PartKind::Sheet, "a\r\n&amp;<b>", "a\r\n&amp;<b>")),
            ("<style/>a", (PartKind::Sheet, "a", "a")),
            ("<svg><style>a&amp;<![CDATA[<b>]]>c</style>", (PartKind::DrawnSheet, "a&amp;<![CDATA[<b>]]>c", "a&<b>c")),
            ("<svg><style><!-- a -->b", (PartKind::DrawnSheet, "b", "b")),
            ("<svg><foreignObject><style>a&amp;", (PartKind::Sheet, "a&amp;", "a&amp;")),
        ];
        for (html, (kind, written, text)) in cases {
            assert_eq!(parts(html), [(kind, written, text.to_owned())], "{html:?}");
        }
        assert_eq!(parts("<svg><style/>a"), []);
    }

    #[test]
    fn the_head_begins_behind_what_announces_it() {
        for (html, before) in [
            ("<p>", ""),
            ("\u{feff}<p>", "\u{feff}"),
            ("<!-- a --><!doctype html><p>", "<!-- a --><!doctype html>"),
            ("<!doctype html><html lang=en><p>", "<!doctype html><html lang=en>"),
            ("<html><head a='>'><title></title><head>", "<html><head a='>'>"),
            ("<!doctype html><script></script><html><head>", "<!doctype html>"),
            ("<title>x</title><img><head>", ""),
            ("<p><!doctype html>", ""),
            ("<svg><desc></desc><head>", ""),
            ("text<head>", ""),
            ("<!-- <head> --><header>", ""),
            ("<html> <!-- a -->\n<head>", "<html> <!-- a -->\n<head>"),
            ("<html><!doctype html", "<html>"),
            ("<!doctype html", ""),
        ] {
            assert_eq!(&html[..read(html, false).head], before);
        }
    }
}
