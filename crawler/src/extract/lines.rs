//! Listeners to a page while its links are collected: [`LineBuilder`] makes its text, [`Deaf`] nothing.
//!
//! A block is a line. Names of elements alone decide which are blocks, and which show nothing, as in a browser without
//! styles and with scripts on. Content that styles, scripts or the attribute `hidden` hide is part of the text: to know
//! where a hidden element ends takes a tree ([`super::Omitted`] has one: `[hidden]`).
//!
//! An element that shows nothing and is never closed must not swallow the rest of the page: its content is forgotten
//! when it ends, not before.

use crate::text::{ElementPath, Mark, Text, TextBuilder};

/// Takes what the tokenizer finds and nothing collects.
pub(super) trait Listener {
    /// Whether text is heard at all. If not, the reader passes over it.
    const LISTENS: bool;

    /// The start tag of an HTML element, by its lower-case name.
    fn opened(&mut self, name: &[u8]);

    /// An end tag.
    fn closed(&mut self, name: &[u8]);

    /// A piece of text that is shown.
    fn text(&mut self, text: &[u8]);
}

/// Hears nothing, and costs nothing.
#[derive(Debug)]
pub(super) struct Deaf;

impl Listener for Deaf {
    const LISTENS: bool = false;

    fn opened(&mut self, _: &[u8]) {}
    fn closed(&mut self, _: &[u8]) {}
    fn text(&mut self, _: &[u8]) {}
}

/// Makes the lines of a page.
#[derive(Debug, Default)]
pub(super) struct LineBuilder {
    text: TextBuilder,
    /// How many elements are open in which a line feed ends a line.
    preformatted: usize,
    silent: Option<Silent>,
    /// The open blocks, [`DEEPEST`] at most, each as the path of what is in it.
    open: Vec<ElementPath>,
}

/// Blocks of which it is known where they end; those in them are nowhere else than they are.
const DEEPEST: usize = 100;

/// The outermost open element that shows nothing.
#[derive(Debug)]
struct Silent {
    name: &'static [u8],
    /// How many of this name are open.
    depth: usize,
    /// Where it began.
    mark: Mark,
    preformatted: usize,
}

impl LineBuilder {
    /// The text.
    pub(super) fn finish(self) -> Text {
        self.text.finish()
    }

    fn begin_silence(&mut self, name: &[u8]) {
        if let Some(name) = SILENT.into_iter().find(|silent| *silent == name) {
            let mark = self.text.mark();
            self.silent = Some(Silent { name, depth: 1, mark, preformatted: self.preformatted });
        }
    }

    /// A block begins, which ends those that it cannot be in.
    fn open(&mut self, name: &[u8]) {
        if self.open.last().is_some_and(|block| block.innermost() == P) {
            self.open.pop();
        }
        let (ended, within) = ends(name);
        if !ended.is_empty() {
            let is_around = |block: &ElementPath| within.contains(&block.innermost());
            let first = self.open.iter().rposition(is_around).map_or(0, |around| around + 1);
            let sibling = self.open[first..].iter().position(|block| ended.contains(&block.innermost()));
            self.open.truncate(sibling.map_or(self.open.len(), |sibling| first + sibling));
        }
        let path = self.path().inside(name);
        if path != self.path() && self.open.len() < DEEPEST {
            self.open.push(path);
        }
        self.text.is_in(self.path());
    }

    fn close(&mut self, name: &[u8]) {
        let block = of(name);
        if let Some(open) = self.open.iter().rposition(|open| open.innermost() == block) {
            self.open.truncate(open);
            self.text.is_in(self.path());
        }
    }

    fn path(&self) -> ElementPath {
        self.open.last().copied().unwrap_or_default()
    }
}

const fn of(name: &[u8]) -> ElementPath {
    ElementPath::of_number(0).inside(name)
}

const P: ElementPath = of(b"p");
const LIST: [ElementPath; 4] = [of(b"ul"), of(b"ol"), of(b"menu"), of(b"dir")];
const TABLE: [ElementPath; 1] = [of(b"table")];
const GROUPS: [ElementPath; 3] = [of(b"thead"), of(b"tbody"), of(b"tfoot")];

/// The blocks that one of this name ends, where they are open within the innermost of those behind them: their end tags may be left out.
const fn ends(name: &[u8]) -> (&'static [ElementPath], &'static [ElementPath]) {
    match name {
        b"li" => (const { &[of(b"li")] }, &LIST),
        b"dt" | b"dd" => (const { &[of(b"dt"), of(b"dd")] }, const { &[of(b"dl")] }),
        b"td" | b"th" => (const { &[of(b"td"), of(b"th")] }, const { &[of(b"tr"), of(b"table")] }),
        b"tr" => (const { &[of(b"tr")] }, &TABLE),
        b"thead" | b"tbody" | b"tfoot" => (&GROUPS, &TABLE),
        b"option" => (const { &[of(b"option")] }, const { &[of(b"select")] }),
        _ => (&[], &[]),
    }
}

impl Listener for LineBuilder {
    const LISTENS: bool = true;

    fn opened(&mut self, name: &[u8]) {
        match &mut self.silent {
            // What is in `noscript` is raw text where scripts run.
            Some(silent) if silent.name == name && name != b"noscript" => silent.depth += 1,
            Some(_) => {}
            None => self.begin_silence(name),
        }
        if is_block(name) {
            self.text.end_line();
            self.open(name);
        }
        self.preformatted += usize::from(is_preformatted(name));
    }

    fn closed(&mut self, name: &[u8]) {
        if is_block(name) {
            self.text.end_line();
            self.close(name);
        }
        self.preformatted = self.preformatted.saturating_sub(usize::from(is_preformatted(name)));
        let Some(silent) = self.silent.as_mut().filter(|silent| silent.name == name) else { return };
        silent.depth -= 1;
        if silent.depth == 0 {
            self.text.go_back(&silent.mark);
            self.preformatted = silent.preformatted;
            self.silent = None;
        }
    }

    fn text(&mut self, text: &[u8]) {
        if self.preformatted == 0 {
            return self.text.push(text);
        }
        for (number, line) in text.split(|byte| matches!(byte, b'\n' | b'\r')).enumerate() {
            if number > 0 {
                self.text.end_line();
            }
            self.text.push(line);
        }
    }
}

/// The elements that show nothing of the markup in them, in a browser that can do all that is asked of it.
const SILENT: [&[u8]; 7] = [b"noscript", b"template", b"object", b"audio", b"video", b"canvas", b"datalist"];

/// Whether an element's text alone is shown: markup in it is text too.
pub(super) fn is_shown_raw(name: &[u8]) -> bool {
    matches!(name, b"textarea" | b"xmp" | b"plaintext")
}

fn is_preformatted(name: &[u8]) -> bool {
    is_shown_raw(name) || matches!(name, b"pre" | b"listing")
}

/// The elements that stand by themselves (HTML standard, 15.3), and the parts of tables, lists and forms.
fn is_block(name: &[u8]) -> bool {
    match name {
        [b'h', level] => matches!(level, b'1'..=b'6' | b'r'),
        [_] => name == b"p",
        [_, _] => matches!(name, b"br" | b"dd" | b"dl" | b"dt" | b"li" | b"ol" | b"td" | b"th" | b"tr" | b"ul"),
        [_, _, _] => matches!(name, b"dir" | b"div" | b"nav" | b"pre" | b"xmp"),
        [_, _, _, _] => matches!(name, b"body" | b"form" | b"head" | b"html" | b"main" | b"menu"),
        _ => matches!(
            name,
            b"address"
                | b"article"
                | b"aside"
                | b"blockquote"
                | b"button"
                | b"caption"
                | b"center"
                | b"details"
                | b"dialog"
                | b"fieldset"
                | b"figcaption"
                | b"figure"
                | b"footer"
                | b"frameset"
                | b"header"
                | b"hgroup"
                | b"legend"
                | b"listing"
                | b"optgroup"
                | b"option"
                | b"plaintext"
                | b"search"
                | b"section"
                | b"select"
                | b"summary"
                | b"table"
                | b"tbody"
                | b"textarea"
                | b"tfoot"
                | b"thead"
        ),
    }
}
