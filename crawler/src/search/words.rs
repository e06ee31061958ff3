//! Cutting text without spaces between its words.

use std::borrow::Cow;

/// The text with spaces where a word may begin. Chinese, Japanese, Korean and Thai are cut into pairs of characters that overlap, and the
/// last character of such a run is a word as well: then each word of two characters or more is a phrase of pairs, and each single
/// character is the beginning of one.
///
/// ```
/// use webloom::internals::search::words;
/// assert_eq!(words("Rust 程式語言"), "Rust 程式 式語 語言 言");
/// ```
pub fn words(text: &str) -> Cow<'_, str> {
    if !may_be_unspaced(text.as_bytes()) || !text.chars().any(is_unspaced) {
        return Cow::Borrowed(text);
    }
    let mut cut = String::with_capacity(text.len() * 2);
    let mut rest = text.chars().peekable();
    let mut in_run = false;
    while let Some(this) = rest.next() {
        if !is_unspaced(this) {
            if in_run && this != ' ' {
                cut.push(' ');
            }
            in_run = false;
            cut.push(this);
            continue;
        }
        if !cut.is_empty() && !cut.ends_with(' ') {
            cut.push(' ');
        }
        cut.push(this);
        cut.extend(rest.peek().filter(|next| is_unspaced(**next)));
        in_run = true;
    }
    Cow::Owned(cut)
}

/// Whether a byte begins a letter that may be written without spaces: what most texts have is none, dashes and quotes (0xe2) among it. All
/// bytes of a part are looked at, which is faster than to stop at the first.
fn may_be_unspaced(text: &[u8]) -> bool {
    let begins = |byte: &u8| *byte >= 0xe0 && *byte != 0xe2;
    text.chunks(256).any(|part| part.iter().fold(false, |any, byte| any | begins(byte)))
}

/// Whether words of its script follow one another without a space, or are short enough to be found by pairs.
pub(super) fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0e00}'..='\u{0e7f}' | '\u{1100}'..='\u{11ff}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
        && letter.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_into_pairs() {
        let cases = [
            ("plain text", "plain text"),
            ("a \u{2013} 語言", "a \u{2013} 語言 言"),
            ("語", "語"),
            ("語言", "語言 言"),
            ("a語言b", "a 語言 言 b"),
            ("한국어 책", "한국 국어 어 책"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
