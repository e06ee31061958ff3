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

    /// An image, with what is shown in its place, and where it is.
    fn image(&mut self, alt: &[u8], source: &[u8]);
}

/// What images say in the text of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageText {
    /// Nothing.
    #[default]
    Nothing,
    /// What is shown in their place.
    Alt,
    /// The same, and where they are, but for the query.
    Source,
}

/// Hears nothing, and costs nothing.
#[derive(Debug)]
pub(super) struct Deaf;

impl Listener for Deaf {
    const LISTENS: bool = false;

    fn opened(&mut self, _: &[u8]) {}
    fn closed(&mut self, _: &[u8]) {}
    fn text(&mut self, _: &[u8]) {}
    fn image(&mut self, _: &[u8], _: &[u8]) {}
}

/// Makes the lines of a page.
#[derive(Debug, Default)]
pub(super) struct LineBuilder {
    text: TextBuilder,
    /// How many elements are open in which a line feed ends a line.
    preformatted: usize,
    silent: Option<Silent>,
    images: ImageText,
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
    pub(super) fn new(images: ImageText) -> Self {
        Self { images, ..Self::default() }
    }

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
    fn open(&mut self, element: ElementPath) {
        if self.open.last().is_some_and(|block| block.innermost() == P) {
            self.open.pop();
        }
        let (ended, within) = ends(element);
        if !ended.is_empty() {
            let is_around = |block: &ElementPath| within.contains(&block.innermost());
            let first = self.open.iter().rposition(is_around).map_or(0, |around| around + 1);
            let sibling = self.open[first..].iter().position(|block| ended.contains(&block.innermost()));
            self.open.truncate(sibling.map_or(self.open.len(), |sibling| first + sibling));
        }
        if element != ElementPath::default() && self.open.len() < DEEPEST {
            self.open.push(self.path().with(element));
        }
        self.text.is_in(self.path());
    }

    fn close(&mut self, block: ElementPath) {
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
const GROUPS: [ElementPath; 3] = [THEAD, TBODY, TFOOT];

const LI: ElementPath = of(b"li");
const DT: ElementPath = of(b"dt");
const DD: ElementPath = of(b"dd");
const TD: ElementPath = of(b"td");
const TH: ElementPath = of(b"th");
const TR: ElementPath = of(b"tr");
const OPTION: ElementPath = of(b"option");
const THEAD: ElementPath = of(b"thead");
const TBODY: ElementPath = of(b"tbody");
const TFOOT: ElementPath = of(b"tfoot");

/// The blocks that this one ends, where they are open within the innermost of those behind them: their end tags may be left out.
const fn ends(element: ElementPath) -> (&'static [ElementPath], &'static [ElementPath]) {
    match element {
        LI => (&[LI], &LIST),
        DT | DD => (&[DT, DD], const { &[of(b"dl")] }),
        TD | TH => (&[TD, TH], const { &[TR, of(b"table")] }),
        TR => (&[TR], &TABLE),
        THEAD | TBODY | TFOOT => (&GROUPS, &TABLE),
        OPTION => (&[OPTION], const { &[of(b"select")] }),
        _ => (&[], &[]),
    }
}

impl Listener for LineBuilder {
    const LISTENS: bool = true;

    fn opened(&mut self, name: &[u8]) {
        let element = of(name);
        match &mut self.silent {
            // What is in `noscript` is raw text where scripts run.
            Some(silent) if silent.name == name && name != b"noscript" => silent.depth += 1,
            // No block is silent.
            None if element == ElementPath::default() => self.begin_silence(name),
            _ => {}
        }
        if is_block(element, name) {
            self.text.end_line();
            self.open(element);
        }
        self.preformatted += usize::from(is_preformatted(name));
    }

    fn closed(&mut self, name: &[u8]) {
        let element = of(name);
        if is_block(element, name) {
            self.text.end_line();
            self.close(element);
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

    fn image(&mut self, alt: &[u8], source: &[u8]) {
        let source = source.trim_ascii();
        match self.images {
            ImageText::Nothing => {}
            ImageText::Alt => {
                // An image parts words.
                for piece in [b" ", alt, b" "] {
                    self.text.push(piece);
                }
            }
            ImageText::Source => {
                let is_inline = source.len() >= 5 && source[..5].eq_ignore_ascii_case(b"data:");
                let end = if is_inline {
                    5
                } else {
                    source.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(source.len())
                };
                for piece in [b"![", alt, b"](", &source[..end], b")"] {
                    self.text.push(piece);
                }
            }
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

/// Whether an element divides the lines (HTML standard, 15.3): one that has a place, or one that holds no lines.
fn is_block(element: ElementPath, name: &[u8]) -> bool {
    element != ElementPath::default() || matches!(name, b"br" | b"hr" | b"frameset" | b"plaintext")
}
