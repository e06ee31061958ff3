//! [`Edits`]: a text in which some parts are replaced.

use std::ops::Range;

/// A text whose parts are replaced from its beginning to its end.
pub(super) struct Edits<'t> {
    text: &'t str,
    written: String,
    /// How much of the text is written.
    done: usize,
}

impl<'t> Edits<'t> {
    /// Those of a text.
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, written: String::new(), done: 0 }
    }

    /// Replaces the bytes at `range`. They follow those that were replaced before, and are whole characters; others stay.
    pub(super) fn replace(&mut self, range: Range<usize>, new: &str) {
        if let Some(kept) = self.text.get(self.done..range.start)
            && self.text.get(range.clone()).is_some()
        {
            self.written.push_str(kept);
            self.written.push_str(new);
            self.done = range.end;
        }
    }

    /// The text with its replacements; `None` if there are none.
    pub(super) fn changed(mut self) -> Option<String> {
        if self.done == 0 && self.written.is_empty() {
            return None;
        }
        self.written.push_str(&self.text[self.done..]);
        Some(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_replaced_stays() {
        let mut edits = Edits::of("aäbc");
        for (range, new) in [(0..1, "x"), (2..3, "no"), (3..3, "y"), (1..2, "no"), (4..9, "no"), (4..5, "")] {
            edits.replace(range, new);
        }
        assert_eq!(edits.changed().as_deref(), Some("xäyb"));
        assert_eq!(Edits::of("a").changed(), None);
    }
}
