//! [`edits`]: what was removed and added between two texts.

use super::align::align;
use crate::text::Text;

/// One place where a text changed: these lines became those. Not both are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit<'a> {
    /// Lines that are gone.
    pub removed: Vec<&'a str>,
    /// Lines that are there instead.
    pub added: Vec<&'a str>,
}

/// The edits between two texts, in order; none if they are equal. Where large parts have nothing in common, it is one
/// edit.
///
/// ```
/// use webloom::internals::{changes::edits, text::Text};
/// let (before, after) = (Text::from_lines(["a", "b", "c"]), Text::from_lines(["a", "B", "c", "d"]));
/// let edits = edits(&before, &after);
/// assert_eq!((&edits[0].removed[..], &edits[0].added[..]), (&["b"][..], &["B"][..]));
/// assert_eq!((&edits[1].removed[..], &edits[1].added[..]), (&[][..], &["d"][..]));
/// ```
pub fn edits<'a>(before: &'a Text, after: &'a Text) -> Vec<Edit<'a>> {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let changed = align(&before, &after).into_iter().filter(|run| !run.same);
    changed.map(|run| Edit { removed: before[run.before].to_vec(), added: after[run.after].to_vec() }).collect()
}

/// Whether a text has shrunk to a quarter or less, in bytes: as the text of a page that failed does.
pub fn shrunk(before: &Text, after: &Text) -> bool {
    !before.is_empty() && after.as_str().len() * 4 <= before.as_str().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &str) -> Text {
        Text::from_lines(lines.split(' '))
    }

    fn reported(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (text(before), text(after));
        edits(&before, &after)
            .iter()
            .map(|edit| format!("{}>{}", edit.removed.join(" "), edit.added.join(" ")))
            .collect()
    }

    #[test]
    fn edits_are_reported_in_order() {
        assert_eq!(reported("a b c", "a b c"), [""; 0]);
        assert_eq!(reported("", ""), [""; 0]);
        assert_eq!(reported("", "a b"), [">a b"]);
        assert_eq!(reported("a", ""), ["a>"]);
        assert_eq!(reported("a b c d e", "a x c e f"), ["b>x", "d>", ">f"]);
        assert_eq!(reported("x x x a", "x x a"), ["x>"]);
    }

    #[test]
    fn unique_lines_hold_a_text_together() {
        assert_eq!(reported("{ one } { two }", "{ new } { one } { two }"), [">new } {"]);
    }

    #[test]
    fn hostile_texts_take_bounded_time() {
        let lines = |count: usize, seed: usize| {
            let lines: Vec<_> =
                (0..count).map(|number| (number * (seed + 7919) % 997 % (seed + 40)).to_string()).collect();
            Text::from_lines(lines.iter().map(String::as_str))
        };
        let (before, after) = (lines(300_000, 3), lines(300_000, 11));
        assert!(!edits(&before, &after).is_empty());
        let reversed: Vec<_> = (0..100_000).rev().map(|number: u32| number.to_string()).collect();
        let sorted = Text::from_lines(reversed.iter().rev().map(String::as_str));
        assert!(!edits(&Text::from_lines(reversed.iter().map(String::as_str)), &sorted).is_empty());
    }

    #[test]
    fn a_quarter_or_less_is_shrunk() {
        let text = |length: usize| Text::from_lines(["x".repeat(length).as_str()]);
        assert!(shrunk(&text(400), &text(100)) && !shrunk(&text(400), &text(101)));
        assert!(shrunk(&text(1), &text(0)) && !shrunk(&text(0), &text(0)) && !shrunk(&text(0), &text(9)));
    }
}
