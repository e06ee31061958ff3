//! [`TextBuilder`]: turns pieces of a page into the lines of a text.

use std::borrow::Cow;

use super::{ElementPath, LONGEST_LINE, MOST_BYTES, Text};

/// How many bytes of a line wait at most before they are written.
const WAITING: usize = 4 * LONGEST_LINE;

/// Makes a text from pieces of it. A piece may end anywhere, within a character too; what is not UTF-8 becomes U+FFFD.
///
/// ```
/// use webloom::internals::text::TextBuilder;
/// let mut builder = TextBuilder::default();
/// builder.push(b"gr\xc3");
/// builder.push(b"\xbcn  und\n");
/// builder.push(b"gut");
/// builder.end_line();
/// assert_eq!(builder.finish().as_str(), "gr\u{fc}n und gut");
/// ```
#[derive(Debug, Default)]
pub struct TextBuilder {
    /// Lines, each with its line feed, and behind them the line that is being written.
    text: String,
    /// Where that line begins.
    line: usize,
    /// What comes next in it: words, with one space between them.
    waiting: Vec<u8>,
    /// In which elements that line is, and where each line before it is.
    place: ElementPath,
    places: Vec<ElementPath>,
    /// There is no more room.
    cut: bool,
}

/// A place between two lines, to go back to.
#[derive(Debug)]
pub struct Mark {
    length: usize,
    lines: usize,
    cut: bool,
}

impl TextBuilder {
    /// Adds to the line. White space in it, line feeds too, is a space.
    pub fn push(&mut self, piece: &[u8]) {
        if self.cut {
            return;
        }
        for (number, word) in piece.split(u8::is_ascii_whitespace).enumerate() {
            if number > 0 && self.waiting.last().is_some_and(|last| *last != b' ') {
                self.waiting.push(b' ');
            }
            self.waiting.extend_from_slice(word);
            if self.waiting.len() >= WAITING {
                self.write_some();
            }
        }
    }

    /// The line is complete.
    pub fn end_line(&mut self) {
        if !self.waiting.is_empty() {
            self.write(self.waiting.len());
        }
        self.break_line();
    }

    /// The lines from here on are in these elements.
    pub fn is_in(&mut self, place: ElementPath) {
        self.place = place;
    }

    /// Ends the line, and marks this place.
    pub fn mark(&mut self) -> Mark {
        self.end_line();
        Mark { length: self.text.len(), lines: self.places.len(), cut: self.cut }
    }

    /// Forgets what was added since this mark of the same builder.
    pub fn go_back(&mut self, mark: &Mark) {
        self.waiting.clear();
        self.text.truncate(mark.length);
        self.places.truncate(mark.lines);
        self.line = self.text.len();
        self.cut = mark.cut;
    }

    /// The text.
    pub fn finish(mut self) -> Text {
        self.end_line();
        self.text.truncate(self.text.trim_end().len());
        Text::of(self.text, self.places, self.cut)
    }

    /// Writes the words that are complete; where there is a single endless one, as much of it as there is.
    fn write_some(&mut self) {
        match self.waiting.iter().rposition(|byte| *byte == b' ') {
            Some(space) if space > 0 => self.write(space),
            _ => {
                self.write(whole_characters(&self.waiting));
                self.break_line();
            }
        }
    }

    /// Writes the first so many bytes of what waits.
    fn write(&mut self, length: usize) {
        let mut waiting = std::mem::take(&mut self.waiting);
        // To check UTF-8 is faster than to repair it.
        let bytes = &waiting[..length];
        let words = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        // Most lines are short and plain, and need not be taken apart.
        if self.text.len() == self.line
            && length <= LONGEST_LINE
            && words.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        {
            self.write_word(words.trim_ascii());
        } else {
            words.split(|c: char| c.is_whitespace() || c.is_control()).for_each(|word| self.write_word(word));
        }
        waiting.drain(..length);
        self.waiting = waiting;
    }

    fn write_word(&mut self, mut word: &str) {
        while !word.is_empty() {
            let before = self.text.len() - self.line;
            if before > 0 && before + 1 + word.len() > LONGEST_LINE {
                self.break_line();
                continue;
            }
            let (now, later) = word.split_at(word.floor_char_boundary(LONGEST_LINE));
            self.cut |= self.text.len() + 1 + now.len() > MOST_BYTES;
            if self.cut {
                return;
            }
            if before > 0 {
                self.text.push(' ');
            }
            self.text.push_str(now);
            word = later;
        }
    }

    fn break_line(&mut self) {
        if self.text.len() > self.line {
            self.text.push('\n');
            self.line = self.text.len();
            self.places.push(self.place);
        }
    }
}

/// How many of these bytes are not the beginning of a character whose end is missing.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.iter().rev().take(3).position(|byte| *byte >= 0xC0);
    bytes.len() - tail.map_or(0, |tail| tail + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(pieces: &[&[u8]]) -> Text {
        let mut builder = TextBuilder::default();
        for piece in pieces {
            builder.push(piece);
        }
        builder.finish()
    }

    #[test]
    fn white_space_is_one_space_wherever_pieces_end() {
        assert_eq!(text(&[b" a \n", b"\t b", b"c \xa0", b"\xc2", b"\xa0 d\0e "]).as_str(), "a bc \u{fffd} d e");
    }

    #[test]
    fn a_long_line_goes_on_in_the_next() {
        let words = "word ".repeat(5_000);
        let text = Text::from_lines([words.as_str(), "next"]);
        assert!(text.lines().all(|line| line.len() <= LONGEST_LINE && !line.ends_with(' ')));
        assert_eq!((text.words(), text.lines().last()), (5_001, Some("next")));
        assert_eq!(Text::from_stored(text.as_str()), text);
    }

    #[test]
    fn an_endless_word_is_cut_between_characters() {
        let word = "\u{20ac}".repeat(100_000);
        for piece in [1, 7, 5_000, word.len()] {
            let pieces: Vec<_> = word.as_bytes().chunks(piece).collect();
            let text = text(&pieces);
            assert!(text.lines().all(|line| line.len() <= LONGEST_LINE));
            assert_eq!(text.lines().collect::<String>(), word, "{piece}");
        }
    }

    #[test]
    fn a_text_has_an_end_and_says_so() {
        let line = "x".repeat(1000);
        let text = Text::from_lines(std::iter::repeat_n(line.as_str(), 2_000));
        assert!(text.was_cut() && text.as_str().len() <= MOST_BYTES && text.as_str().len() > MOST_BYTES - 2_000);
        assert!(text.lines().all(|one| one == line));
        assert!(!Text::from_stored(text.as_str()).was_cut());
        assert_eq!(Text::from_stored(text.as_str()), text);
    }

    #[test]
    fn going_back_forgets_what_came_since() {
        let mut builder = TextBuilder::default();
        builder.push(b"kept");
        let mark = builder.mark();
        builder.push(&b"dropped ".repeat(MOST_BYTES));
        builder.go_back(&mark);
        builder.push(b"too");
        let text = builder.finish();
        assert_eq!((text.as_str(), text.was_cut()), ("kept\ntoo", false));
    }

    proptest! {
        #[test]
        fn every_text_has_the_form(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20)) {
            let pieces: Vec<_> = pieces.iter().map(Vec::as_slice).collect();
            let whole = text(&[&pieces.concat()]);
            prop_assert_eq!(&text(&pieces), &whole);
            prop_assert_eq!(&Text::from_stored(whole.as_str()), &whole);
            prop_assert!(!whole.as_str().contains("  "));
            prop_assert!(whole.lines().all(|line| !line.is_empty() && line.trim() == line));
        }
    }
}
