//! What came from elsewhere, made harmless before it is shown.
//!
//! Titles, content types, reasons and addresses are whatever a server says, and a crawl directory may come from anybody.
//! Shown as they are, some characters steer the terminal, others turn text around or hide in it, and a spreadsheet takes
//! a cell for a formula. Invariant: no text returned here holds a character that misleads, but for the line breaks
//! that are asked for.
//!
//! Does not know: where text comes from and where it goes.

use std::{borrow::Cow, fmt::Write};

use serde::Serialize;

/// Text on one line: each character that misleads as an escape, such as `\u{1b}`. No other is changed.
///
/// ```
/// use webloom::internals::observe::escape;
/// assert_eq!(escape::text("a\u{1b}[2Jb\tc"), "a\\u{1b}[2Jb\\tc");
/// assert_eq!(escape::text("größer"), "größer");
/// ```
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, misleads, |out, c| out.extend(c.escape_default()))
}

/// The same for text of several lines.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && misleads(c), |out, c| out.extend(c.escape_default()))
}

/// JSON on one line, in which each character that misleads is an escape of JSON's own: it reads back as what it was.
///
/// ```
/// use webloom::internals::observe::escape;
/// let shown = escape::json(&"\u{1b}\u{202e}");
/// assert_eq!(shown, r#""\u001b\u202e""#);
/// assert_eq!(serde_json::from_str::<String>(&shown)?, "\u{1b}\u{202e}");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn json(value: &impl Serialize) -> String {
    let whole = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    written_json(&whole).into_owned()
}

/// The same for JSON that is written already: outside of its texts nothing misleads.
pub(super) fn written_json(whole: &str) -> Cow<'_, str> {
    escaped(
        whole,
        |c| c != '\n' && misleads(c),
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a String takes all");
            }
        },
    )
}

/// A CSV cell (RFC 4180). One that a spreadsheet would take for a formula has a `'` before it, as OWASP advises ("CSV
/// Injection"); a number is none.
///
/// ```
/// use webloom::internals::observe::escape;
/// assert_eq!(escape::csv("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
/// assert_eq!((escape::csv("-3.5"), escape::csv("a,b")), ("-3.5".to_owned(), "\"a,b\"".to_owned()));
/// ```
pub fn csv(cell: &str) -> String {
    // What begins with a tab or a line break begins with a backslash once it is escaped.
    let mut shown = text(cell).into_owned();
    if is_formula(cell) {
        shown.insert(0, '\'');
    }
    // Spreadsheets of some countries divide cells at semicolons.
    let quoted = shown.bytes().any(|b| matches!(b, b'"' | b',' | b';'));
    if quoted { format!("\"{}\"", shown.replace('"', "\"\"")) } else { shown }
}

/// Whether a terminal, or a reader's eye, would take a character for something other than text: controls (C0, DEL, C1),
/// marks that turn the direction of text, separators of lines, and what has no width.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn escaped(text: &str, which: impl Fn(char) -> bool, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    // Nearly all that is shown is printable ASCII, which is recognized without decoding it.
    let plain = text.bytes().all(|b| matches!(b, b' '..=b'~'));
    if plain || !text.contains(&which) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if which(c) { escape(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Full-width forms are read as their ASCII twins.
fn is_formula(cell: &str) -> bool {
    let signs = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    cell.trim_start().starts_with(signs) && !is_number(cell)
}

fn is_number(cell: &str) -> bool {
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_misleads_is_escaped() {
        let some = ['\0', '\u{1b}', '\u{7f}', '\u{9b}', '\u{61c}', '\u{200b}', '\u{200e}', '\u{2028}', '\u{202e}']
            .into_iter()
            .chain(['\u{2066}', '\u{2069}', '\u{feff}', '\u{e0041}', '\n', '\r', '\t']);
        for c in some {
            let given = format!("a{c}b");
            assert!(text(&given).is_ascii() && text(&given).contains('\\'), "{}", text(&given));
            assert!(csv(&given).is_ascii() && !csv(&given).contains(c), "{}", csv(&given));
            assert_eq!(lines(&given).contains(c), c == '\n');
            let shown = json(&given);
            assert!(shown.is_ascii() && !shown.contains(c), "{shown}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), given);
        }
    }

    #[test]
    fn what_does_not_mislead_stays() {
        for plain in ["", "plain", "C:\\new", "größer 中文 👍", "a'b", "{\"a\": 1}"] {
            assert_eq!((text(plain), lines(plain)), (plain.into(), plain.into()));
        }
        assert_eq!(json(&"中文"), "\"中文\"");
    }

    #[test]
    fn a_cell_is_no_formula() {
        for formula in ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "  =1", "\u{ff1d}1", "-inf", "+", "-"] {
            assert_eq!(csv(formula), format!("'{formula}"));
        }
        for (cell, shown) in [("\t=1", "'\\t=1"), ("\r=1", "'\\r=1"), ("=\"a\",b", "\"'=\"\"a\"\",b\"")] {
            assert_eq!(csv(cell), shown);
        }
        for plain in ["", "a b", "a=b", "-5", "+5.25", "3", "2026-01-01T00:00:00Z", "https://h/?a=-1"] {
            assert_eq!(csv(plain), plain);
        }
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
