//! What a page says: its visible text, in lines.
//!
//! Owns: the form of a text ([`Text`]), how one is made from pieces ([`TextBuilder`]), and by which rule it was made
//! ([`TextRule`]), and in which elements a line is ([`ElementPath`]).
//!
//! Invariants: a line is a block of the page. It is not empty, holds no control character, no white space but single
//! spaces between its words, and at most [`LONGEST_LINE`] bytes; a text holds at most [`MOST_BYTES`]. So the lines of a
//! text, joined by line feeds, are that text: this is how it is stored.
//!
//! Does not know: markup, what of a text is worth comparing, or where texts are kept.

mod builder;
mod place;
mod rule;

pub use builder::{Mark, TextBuilder};
pub use place::ElementPath;
pub use rule::{RuledText, TextRule};

/// The longest line, in bytes. A block with more goes on in the next line.
pub const LONGEST_LINE: usize = 4 * 1024;

/// The longest text, in bytes. Of a page that says more, this is the beginning.
pub const MOST_BYTES: usize = 1024 * 1024;

/// A text in lines. Two texts are equal if their lines are, wherever these are on the page.
///
/// ```
/// use webloom::internals::text::Text;
/// let text = Text::from_lines(["  A   head ", "", "and\twords"]);
/// assert_eq!(text.lines().collect::<Vec<_>>(), ["A head", "and words"]);
/// assert_eq!(text.words(), 4);
/// assert_eq!(Text::from_stored(text.as_str()), text);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Text {
    lines: Box<str>,
    /// In which elements each line is; none where that is not known.
    places: Box<[ElementPath]>,
    cut: bool,
}

impl Text {
    /// From lines in any form: each is brought into the form of a line, and left out if nothing is left of it.
    pub fn from_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut builder = TextBuilder::default();
        for line in lines {
            builder.push(line.as_bytes());
            builder.end_line();
        }
        builder.finish()
    }

    /// The same from lines with their places.
    pub fn from_placed<'a>(lines: impl IntoIterator<Item = (&'a str, ElementPath)>) -> Self {
        let mut builder = TextBuilder::default();
        for (line, place) in lines {
            builder.is_in(place);
            builder.push(line.as_bytes());
            builder.end_line();
        }
        builder.finish()
    }

    /// From what [`Text::as_str`] gave. Anything else is brought into the form of a text: what is on disk is not
    /// trusted. Whether the text [was cut](Text::was_cut) is not stored with it.
    pub fn from_stored(stored: &str) -> Self {
        Self::from_lines(stored.lines())
    }

    fn of(lines: String, places: Vec<ElementPath>, cut: bool) -> Self {
        Self { lines: lines.into(), places: places.into(), cut }
    }

    /// The same with these places of its lines; without any if there are not as many.
    #[must_use]
    pub fn at(self, places: Vec<ElementPath>) -> Self {
        let fit = places.len() == self.lines().count();
        Self { places: if fit { places.into() } else { Box::default() }, ..self }
    }

    /// In which elements each line is; nothing where that is not known.
    pub fn places(&self) -> &[ElementPath] {
        &self.places
    }

    /// Its lines joined by line feeds, without one at the end: the stored form.
    pub fn as_str(&self) -> &str {
        &self.lines
    }

    /// Each line, in order.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.lines()
    }

    /// Each line with its place, as far as that is known.
    pub fn placed(&self) -> impl Iterator<Item = (&str, ElementPath)> {
        self.lines().zip(self.places.iter().copied().chain(std::iter::repeat(ElementPath::default())))
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many words there are: what is between white space.
    pub fn words(&self) -> usize {
        self.lines.split_ascii_whitespace().count()
    }

    /// Whether the page says more than a text holds.
    pub fn was_cut(&self) -> bool {
        self.cut
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

impl Eq for Text {}

/// The stored form.
impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.lines.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_an_empty_text() {
        for text in
            [Text::default(), Text::from_lines([]), Text::from_lines(["", " \t\u{a0}\u{7}"]), Text::from_stored("")]
        {
            assert!(text.is_empty() && text.lines().next().is_none() && text.words() == 0);
        }
    }

    #[test]
    fn what_is_stored_comes_back() {
        let text = Text::from_lines(["one line", "zwei \u{fc}", "3"]);
        assert_eq!(text.as_str(), "one line\nzwei \u{fc}\n3");
        assert_eq!(Text::from_stored(text.as_str()), text);
        assert_eq!(String::from(text.clone()), text.as_str());
        assert_eq!(Text::from_stored("a\r\n\r\n  b\0c \r\n").as_str(), "a\nb c");
    }
}
