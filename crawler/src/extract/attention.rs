//! What the emitter tells the reader: which of the following bytes matter.

use std::cell::Cell;

/// Where the tokenizer is, as far as the reader must know to pass over bytes without changing what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// HTML content: text never matters, and neither do end tags or the tags that [`super::tags`] does not name.
    Markup,
    /// In or below `<svg>` or `<math>`: as in HTML content, but the start and end tags that may lead back to HTML
    /// matter too.
    Foreign,
    /// In an element whose text is wanted (`<title>`).
    WantedText,
    /// Anywhere on a page whose text is asked for: text, tags and character references matter.
    Text,
    /// In an element that holds text alone (`<textarea>`, `<script>`, …), and nobody wants it.
    UnwantedText,
}

/// An element that has just begun, whose text is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextOf {
    /// The link of this number.
    Link(u32),
    /// The heading of the page.
    Heading,
}

/// Shared by the two ends of the tokenizer. Plain cells: both ends live in one call on one thread.
#[derive(Debug)]
pub(super) struct Attention {
    /// Where the tokenizer is.
    pub(super) region: Cell<Region>,
    /// Whether the attribute value being read is kept.
    pub(super) value: Cell<bool>,
    /// How many attributes the tag being read has so far.
    pub(super) attributes: Cell<u32>,
    /// What comes next, if its text is wanted.
    pub(super) text_of: Cell<Option<TextOf>>,
}

impl Attention {
    /// At the start of a document.
    pub(super) fn new() -> Self {
        Self {
            region: Cell::new(Region::Markup),
            value: Cell::new(false),
            attributes: Cell::new(0),
            text_of: Cell::new(None),
        }
    }
}
