//! Lines of a summary that fit a terminal of 80 columns.
//!
//! Invariant: no line is wider than it may be, except a single word: a URL, a path, or a command, which can be copied whole.
//!
//! Does not know: what the lines say.

use unicode_width::UnicodeWidthStr;

/// Columns of a line at most.
pub const WIDTH: usize = 80;

/// Columns of a line's label, and before the further lines of what it labels.
const LABEL: usize = 12;

/// What is between a command and what it does. The command is one word.
const AFTER_COMMAND: &str = "   ";

/// Breaks the lines of a text that are wider than so many columns.
///
/// ```
/// use webloom::internals::observe::fold;
/// let lines = "kept in     docs\nnext        webloom crawl -d docs --again   crawls the site again\n";
/// assert_eq!(fold::lines(lines, 80), lines);
/// assert_eq!(fold::lines(lines, 50), "kept in     docs\nnext        webloom crawl -d docs --again\n            crawls the site again\n");
/// ```
pub fn lines(text: &str, width: usize) -> String {
    text.lines().map(|line| line_of(line, width) + "\n").collect()
}

/// Whether a line goes on with what the line above it says.
pub fn goes_on(line: &str) -> bool {
    line.starts_with(&" ".repeat(LABEL))
}

fn line_of(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let (label, rest) = line.split_at_checked(LABEL).unwrap_or(("", line));
    let (command, words) = match rest.split_once(AFTER_COMMAND) {
        Some((command, words)) => (Some(command), words),
        None => (None, rest),
    };
    let mut folded = label.to_owned();
    let mut column = label.width();
    for (number, word) in command.into_iter().chain(words.split(' ')).enumerate() {
        // The first word stays beside its label, and nothing beside a command.
        let follows_command = number == 1 && command.is_some();
        if number > 0 && (follows_command || column + 1 + word.width() > width) {
            folded += &format!("\n{:LABEL$}", "");
            column = LABEL;
        } else if number > 0 {
            folded.push(' ');
            column += 1;
        }
        folded += word;
        column += word.width();
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_wide_goes_on_below_its_label() {
        let text =
            "Complete: 5 pages in 1.0 s; 2 lost URLs are missing\nlinks       22 found: 8 admitted, 13 seen before\n";
        let folded = "Complete: 5 pages in 1.0 s; 2\n            lost URLs are\n            missing\n\
                      links       22 found: 8\n            admitted, 13 seen\n            before\n";
        assert_eq!(lines(text, 30), folded);
        assert_eq!(lines(text, WIDTH), text);
        assert_eq!(lines(folded, 30), folded);
    }

    #[test]
    fn a_word_is_never_broken() {
        let command = format!("webloom crawl -d {} --again", "d".repeat(90));
        let text = format!("next        {command}   crawls the site again\n");
        assert_eq!(lines(&text, WIDTH), format!("next        {command}\n            crawls the site again\n"));
        let path = format!("kept in     {}\n", "größer/".repeat(20));
        assert_eq!(lines(&path, WIDTH), path);
    }
}
