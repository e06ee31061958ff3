//! [`pattern`]: a regular expression for all versions of a line.

use std::fmt::Write;

/// Names that rotate with a date.
const NAMES: [&str; 19] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mon", "tue", "wed", "thu",
    "fri", "sat", "sun",
];

/// How far a pattern goes beyond the versions that it is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternReach {
    /// Each number, and each name of a day or month beside one, may be another.
    Wide,
    /// Only what differs between the versions may be another.
    Close,
}

/// Words and what parts them, in turn.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|letter: char| letter.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(char::is_alphanumeric)
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is the name of a day or month, whole or the first letters of it.
fn is_name(token: &str) -> bool {
    let whole = [
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let lower = token.to_ascii_lowercase();
    NAMES.contains(&lower.as_str()) || whole.contains(&lower.as_str())
}

/// What lines have in common that differ in words alone: what parts these. Equal shapes can have one pattern.
pub(super) fn shape(line: &str) -> String {
    let parts: Vec<_> = tokens(line).into_iter().map(|token| if is_word(token) { "a" } else { token }).collect();
    parts.concat()
}

/// Whether all that differs between versions is a number, a date or a token: each word that differs has a digit in it, or is the
/// name of a day or month.
pub(super) fn differs_in_numbers(versions: &[&str]) -> bool {
    let Some((first, others)) = versions.split_first() else { return false };
    let (shape_of_first, first) = (shape(first), tokens(first));
    let differs = |token: &str| token.bytes().any(|byte| byte.is_ascii_digit()) || is_name(token);
    others.iter().all(|other| {
        let pairs = tokens(other).into_iter().zip(&first);
        shape(other) == shape_of_first
            && pairs.filter(|(one, other)| one != *other).all(|(one, other)| differs(one) && differs(other))
    })
}

/// What matches all versions, from the beginning to the end of a line; `None` where there is too little that they have in common.
pub(super) fn pattern(versions: &[&str], reach: PatternReach) -> Option<String> {
    let all: Vec<Vec<&str>> = versions.iter().map(|line| tokens(line)).collect();
    let first = all.first()?;
    if versions.iter().any(|line| shape(line) != shape(versions[0])) {
        return around(&all);
    }
    let has_number = first.iter().any(|token| is_number(token));
    let mut pattern = String::from("^");
    let (mut kept, mut open) = (0, false);
    for place in 0..first.len() {
        let words: Vec<&str> = all.iter().map(|tokens| tokens[place]).collect();
        let differ = words.iter().any(|word| *word != words[0]);
        let wide = reach == PatternReach::Wide && has_number;
        let class = if !differ && !(wide && (is_number(words[0]) || is_name(words[0])) && is_word(words[0])) {
            kept += if is_word(words[0]) && !is_number(words[0]) { words[0].chars().count() } else { 0 };
            regex::escape(words[0])
        } else if words.iter().all(|word| is_number(word)) {
            "[0-9]+".to_owned()
        } else if words.iter().all(|word| is_name(word)) {
            "[A-Za-z]+".to_owned()
        } else {
            open = true;
            "[0-9\\p{L}]+".to_owned()
        };
        write!(pattern, "{class}").ok()?;
    }
    (kept >= 2 || !open).then(|| pattern + "$")
}

/// What is equal at the beginning and the end of all versions, with anything between.
fn around(all: &[Vec<&str>]) -> Option<String> {
    let first = all.first()?;
    let shortest = all.iter().map(Vec::len).min()?;
    let same = |place: usize| all.iter().all(|tokens| tokens[place] == first[place]);
    let from_end = |tokens: &[&str], place: usize| tokens[tokens.len() - 1 - place].to_owned();
    let same_from_end = |place: usize| all.iter().all(|tokens| from_end(tokens, place) == from_end(first, place));
    let start = (0..shortest).take_while(|place| same(*place)).count();
    let end = (0..shortest - start).take_while(|place| same_from_end(*place)).count();
    let (head, tail) = (first[..start].concat(), first[first.len() - end..].concat());
    let letters = head.chars().chain(tail.chars()).filter(|letter| letter.is_alphabetic()).count();
    (letters >= 4).then(|| format!("^{}.*{}$", regex::escape(&head), regex::escape(&tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(versions: &[&str]) -> [Option<String>; 2] {
        [PatternReach::Wide, PatternReach::Close].map(|reach| pattern(versions, reach))
    }

    fn some(wide: &str, close: &str) -> [Option<String>; 2] {
        [Some(wide.to_owned()), Some(close.to_owned())]
    }

    #[test]
    fn what_differs_is_left_open() {
        assert_eq!(both(&["7 views", "12 views"]), some("^[0-9]+ views$", "^[0-9]+ views$"));
        assert_eq!(
            both(&["Updated 1 May 2024", "Updated 2 May 2024"]),
            some("^Updated [0-9]+ [A-Za-z]+ [0-9]+$", "^Updated [0-9]+ May 2024$")
        );
        assert_eq!(
            both(&["Session f00ba7", "Session 99aacc"]),
            some("^Session [0-9\\p{L}]+$", "^Session [0-9\\p{L}]+$")
        );
        assert_eq!(both(&["(v1.2) a", "(v1.3) a"]), some("^\\(v1\\.[0-9]+\\) a$", "^\\(v1\\.[0-9]+\\) a$"));
    }

    #[test]
    fn versions_of_many_shapes_have_what_is_around() {
        let around = "^Quote of the day: .*$";
        assert_eq!(both(&["Quote of the day: to be", "Quote of the day: or not, then"]), some(around, around));
        assert_eq!(both(&["to be", "or not to"]), [None, None]);
        assert_eq!(both(&["one", "another"]), [None, None], "it is any word");
        assert_eq!(both(&[]), [None, None]);
    }

    #[test]
    fn numbers_dates_and_tokens_are_distinguished_from_words() {
        assert!(differs_in_numbers(&["12 May", "13 June"]) && differs_in_numbers(&["id a1", "id b2"]));
        assert!(!differs_in_numbers(&["it is red", "it is blue"]) && !differs_in_numbers(&["1 a", "1"]));
    }
}
