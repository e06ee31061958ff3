//! The part of a page that is shown with it.

use super::Query;
use crate::text::Text;

/// Characters of a snippet, about.
const LENGTH: usize = 200;

/// Characters before the first word that was asked for.
const BEFORE: usize = 60;

/// The line with most of what was asked for, cut around the first of it; the first line, if there is none.
pub fn snippet(text: &Text, query: &Query) -> String {
    let word = |text: &str| text.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let asked: Vec<String> = query.terms().iter().map(|term| word(&term.text)).collect();
    let mut best = (0, text.lines().next().unwrap_or_default(), 0);
    for line in text.lines() {
        let lower = line.to_lowercase();
        let places: Vec<usize> = asked.iter().filter_map(|term| lower.find(term)).collect();
        if places.len() > best.0 {
            let first = places.iter().copied().min().unwrap_or(0);
            best = (places.len(), line, lower[..first].chars().count());
        }
        if best.0 == asked.len() {
            break;
        }
    }
    cut(best.1, best.2)
}

/// About [`LENGTH`] characters of a line, from a word some characters before the one at `at`.
fn cut(line: &str, at: usize) -> String {
    let begin = at.saturating_sub(BEFORE);
    let from = place(line, begin);
    // Not in the middle of a word, if one begins soon.
    let from = if begin == 0 {
        0
    } else {
        line[from..].find(' ').filter(|space| *space < BEFORE).map_or(from, |space| from + space + 1)
    };
    let shown = &line[from..from + place(&line[from..], LENGTH)];
    let whole = from + shown.len() == line.len();
    let shown = if whole { shown } else { shown.rsplit_once(' ').map_or(shown, |(before, _)| before) };
    let (front, end) = (if from > 0 { "… " } else { "" }, if whole { "" } else { " …" });
    format!("{front}{shown}{end}")
}

/// Where a character is, by its number.
fn place(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_most_words_is_shown_around_the_first() {
        let long = format!("{}the Needle and a thread {}", "some words ".repeat(30), "and more ".repeat(40));
        let text = Text::from_lines(["First line", "a needle", &long, "thread"]);
        let shown = snippet(&text, &Query::parse("needle thread"));
        assert!(
            shown.starts_with("… ") && shown.ends_with(" …") && shown.contains("the Needle and a thread"),
            "{shown}"
        );
        assert!(shown.chars().count() < LENGTH + 5);
        assert_eq!(snippet(&text, &Query::parse("nothing")), "First line");
        assert_eq!(snippet(&text, &Query::parse("-needle()")), "a needle");
        assert_eq!(snippet(&Text::default(), &Query::parse("x")), "");
        assert_eq!(snippet(&Text::from_lines(["ein Wort über İx ßen"]), &Query::parse("über")), "ein Wort über İx ßen");
        assert!(snippet(&Text::from_lines([&*"語".repeat(900)]), &Query::parse("語")).chars().count() < LENGTH + 5);
    }
}
