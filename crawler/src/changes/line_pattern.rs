//! [`LinePattern`]: which words of a line move from one look at its page to the next.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Words of a line that may move; those behind them do not.
const MOST_WORDS: usize = 64;

/// Letters that must stay for a line to be known by them.
const FEWEST_LETTERS: usize = 4;

/// Names that move with a date, whole or by their first letters, and the halves of a day.
const NAMES: [&str; 21] = [
    "january",
    "february",
    "march",
    "april",
    "may",
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
    "am",
    "pm",
];

/// A line of which some words move: numbers, dates, tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LinePattern {
    /// Of what parts its words.
    pub(super) shape: u32,
    /// A bit for each word that moves, the lowest for the first.
    pub(super) moving: u64,
    /// Hash of the words that stay and are no values; 0 if they have too few letters to know the line by them.
    pub(super) label: u32,
    /// Hash of all that stays, the values too; 0 if that is another on each page.
    pub(super) rest: u32,
}

impl LinePattern {
    /// Of a line that was one and is the other a moment later; `None` where more than single words differ.
    pub(super) fn of(one: &str, other: &str) -> Option<Self> {
        let (words, others) = (words(one), words_of_shape(other, shape(one))?);
        let mut moving = 0;
        for (place, (word, other)) in words.iter().zip(&others).enumerate() {
            if word.text != other.text {
                let is_value = may_move(word.text) && may_move(other.text);
                if place >= MOST_WORDS || !is_value {
                    return None;
                }
                moving |= 1 << place;
            }
        }
        let moving = widened(&words, moving);
        (moving != 0).then(|| Self { shape: shape(one), moving, label: 0, rest: 0 }.labelled(one))
    }

    /// Whether all that moves in a line of it is a date or a time.
    pub(super) fn is_date(&self, line: &str) -> bool {
        let words = words(line);
        let mut moving = (0..words.len().min(MOST_WORDS)).filter(|place| self.moving & (1 << place) != 0);
        moving.all(|place| is_of_date(&words, place))
    }

    /// The same for all lines that are it, and for hardly any other; not 0.
    pub(super) fn kind(&self) -> u32 {
        (self.shape ^ self.rest.rotate_left(1)).max(1)
    }

    /// Whether a line is the other, but for what moves.
    pub(super) fn is_same(&self, line: &str, other: &str) -> bool {
        let (Some(one), Some(other)) = (words_of_shape(line, self.shape), words_of_shape(other, self.shape)) else {
            return false;
        };
        let moves = |place: usize| place < MOST_WORDS && self.moving & (1 << place) != 0;
        let is_value = |one: &Word<'_>, other: &Word<'_>| may_move(one.text) && may_move(other.text);
        let is_same = |place: usize, one, other| moves(place) && is_value(one, other);
        one.iter()
            .zip(&other)
            .enumerate()
            .all(|(place, (one, other))| one.text == other.text || is_same(place, one, other))
    }

    /// The same with what stays of a line of its shape.
    pub(super) fn labelled(self, line: &str) -> Self {
        let words = words(line);
        let rest = short(&staying(&words, self.moving).collect::<Vec<_>>().join(" "));
        Self { label: label(&words, self.moving), rest, ..self }
    }

    /// Whether a line that stays like this one has a name, and is known by it.
    pub(super) fn names(&self, line: &Self) -> bool {
        self.label != 0 && self.label == line.label && (self.rest == 0 || self.rest == line.rest)
    }

    /// Whether a line has the words that stay.
    pub(super) fn is_labelled(&self, line: &str) -> bool {
        shape(line) == self.shape && self.names(&self.labelled(line))
    }
}

/// A word of a line, with what parts it from the next.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    behind: &'a str,
}

/// The words of a line. A number is one word with the points and commas in it.
pub(super) fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let start = line.find(char::is_alphanumeric).unwrap_or(line.len());
    let mut rest = &line[start..];
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(word_end(rest));
        let next = behind.find(char::is_alphanumeric).unwrap_or(behind.len());
        words.push(Word { text, behind: &behind[..next] });
        rest = &behind[next..];
    }
    words
}

/// Where the word at the beginning ends.
fn word_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let word = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        end += word;
        let mut next = text[end..].chars();
        let joins = next.next().is_some_and(|mark| matches!(mark, '.' | ',' | '\''));
        let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
        if !(joins && is_digit(text[..end].chars().next_back()) && is_digit(next.next())) {
            return end;
        }
        end += 1;
    }
}

fn words_of_shape(line: &str, of: u32) -> Option<Vec<Word<'_>>> {
    (shape(line) == of).then(|| words(line))
}

/// Hash of what parts the words of a line.
pub(super) fn shape(line: &str) -> u32 {
    let start = line.find(char::is_alphanumeric).unwrap_or(line.len());
    let mut text = line[..start].to_owned();
    for word in words(line) {
        text.push('a');
        text.push_str(word.behind);
    }
    short(&text)
}

/// Whether a word may be a value: a number, a token, a name of a day or month.
pub(super) fn may_move(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit()) || is_name(word)
}

fn is_name(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_short = |name: &str| lower.len() >= 3 && lower.len() <= 4 && name.starts_with(&*lower);
    NAMES.iter().any(|name| *name == lower || is_short(name))
}

fn is_year(word: &str) -> bool {
    word.len() == 4
        && (word.starts_with("19") || word.starts_with("20"))
        && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word is a date such as 28.11.2026.
fn is_dotted_date(word: &str) -> bool {
    let mut parts = word.split('.');
    let [day, month, year] = [parts.next(), parts.next(), parts.next()].map(Option::unwrap_or_default);
    [day, month].iter().all(|part| part.len() <= 2) && is_year(year) && parts.next().is_none()
}

/// Whether a word is part of a date or a time.
fn is_of_date(words: &[Word<'_>], place: usize) -> bool {
    let word = words[place].text;
    let is_number = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    is_year(word) || is_name(word) || is_dotted_date(word) || (is_number && has_date_beside(words, place))
}

/// Whether a number has a year or the name of a month or day within two words, or is part of a time.
fn has_date_beside(words: &[Word<'_>], place: usize) -> bool {
    let beside = &words[place.saturating_sub(2)..words.len().min(place + 3)];
    let is_time = |place: Option<usize>| place.is_some_and(|place| words[place].behind == ":");
    beside.iter().any(|word| is_year(word.text) || is_name(word.text))
        || is_time(Some(place))
        || is_time(place.checked_sub(1))
}

/// The same words, and the values beside them: where seconds move, so do hours and days.
fn widened(words: &[Word<'_>], mut moving: u64) -> u64 {
    let is_of_date = |place: usize| {
        let word = words[place].text;
        let is_parted = |place: usize| words.get(place).is_some_and(|word| matches!(word.behind, "-" | "/" | "."));
        is_year(word) || is_name(word) || is_parted(place) || place.checked_sub(1).is_some_and(is_parted)
    };
    // A price beside a time is no part of it.
    let joined = |place: usize| {
        place + 1 < words.len().min(MOST_WORDS)
            && may_move(words[place].text)
            && may_move(words[place + 1].text)
            && match words[place].behind {
                ":" | "-" | "/" | "." => true,
                " " | ", " | "," => is_of_date(place) || is_of_date(place + 1),
                _ => false,
            }
    };
    for place in 0..words.len().min(MOST_WORDS) {
        if moving & (1 << place) != 0 && joined(place) {
            moving |= 1 << (place + 1);
        }
    }
    for place in (0..words.len().min(MOST_WORDS)).rev() {
        if moving & (1 << place) != 0 && place > 0 && joined(place - 1) {
            moving |= 1 << (place - 1);
        }
    }
    moving
}

/// Whether a line has a time to the second, as a clock does.
pub(super) fn has_seconds(line: &str) -> bool {
    words(line).windows(3).any(|words| {
        let [hours, minutes, seconds] = words else { return false };
        let is_number = seconds.text.starts_with(|letter: char| letter.is_ascii_digit());
        is_time([hours, minutes]) && minutes.behind == ":" && is_number
    })
}

/// Words that only say of what a time is.
const OF_TIME: usize = 4;

/// A line without the time of the day that it has, and the date beside that; `None` where it has none. Nothing is left of one that says
/// little else.
pub(super) fn without_time(line: &str) -> Option<String> {
    let words = words(line);
    let has_time =
        words.windows(2).any(|words| if let [hours, minutes] = words { is_time([hours, minutes]) } else { false });
    let stays = (0..words.len()).filter(|place| !is_of_date(&words, *place)).map(|place| words[place].text);
    let stays: Vec<_> = stays.collect();
    let says_more = stays.len() > OF_TIME || stays.iter().any(|word| may_move(word));
    has_time.then(|| if says_more { stays.join(" ") } else { String::new() })
}

fn is_time([hours, minutes]: [&Word<'_>; 2]) -> bool {
    hours.behind == ":"
        && hours.text.ends_with(|letter: char| letter.is_ascii_digit())
        && minutes.text.len() == 2
        && minutes.text.parse::<u8>().is_ok()
}

/// A value that stays is another one on another page, so it is none of the label.
fn label(words: &[Word<'_>], moving: u64) -> u32 {
    let kept: Vec<_> = staying(words, moving).filter(|word| !may_move(word)).collect();
    let letters = kept.iter().flat_map(|word| word.chars()).filter(|letter| letter.is_alphabetic()).count();
    if letters < FEWEST_LETTERS { 0 } else { short(&kept.join(" ")) }
}

fn staying<'a>(words: &[Word<'a>], moving: u64) -> impl Iterator<Item = &'a str> {
    let stays = move |place: usize| place >= MOST_WORDS || moving & (1 << place) == 0;
    words.iter().enumerate().filter(move |(place, _)| stays(*place)).map(|(_, word)| word.text)
}

/// A hash that fits into what is kept; never 0.
pub(super) fn short(text: &str) -> u32 {
    ((xxh3_64(text.as_bytes()) >> 32) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str, line: &str) -> Option<bool> {
        LinePattern::of(one, other).map(|pattern| pattern.is_same(one, line))
    }

    #[test]
    fn a_value_moves_and_what_is_beside_it_does_not() {
        assert_eq!(same("17 visitors", "18 visitors", "1,204 visitors"), Some(true));
        assert_eq!(same("17 visitors", "18 visitors", "18 readers"), Some(false));
        assert_eq!(same("12:03:11 - Price 17", "12:03:12 - Price 17", "09:59:00 - Price 17"), Some(true));
        assert_eq!(same("12:03:11 - Price 17", "12:03:12 - Price 17", "09:59:00 - Price 18"), Some(false));
        assert_eq!(same("17, 12:03:11", "17, 12:03:12", "18, 09:59:00"), Some(false));
        assert_eq!(same("2024-02-05 10:00:01", "2024-02-05 10:00:02", "2025-03-06 11:11:11"), Some(true));
        assert_eq!(same("token a7f3", "token 99b2", "token c001"), Some(true));
    }

    #[test]
    fn a_clock_is_a_date_too() {
        let clock = ["Mon, 5 Feb 2024 10:00:01", "Mon, 5 Feb 2024 10:00:02"];
        assert_eq!(same(clock[0], clock[1], "Tue, 12 March 2025 23:59:59"), Some(true));
        assert_eq!(same("3 May, 10:00:01 am", "3 May, 10:00:02 am", "4 June, 9:00:00 pm"), Some(true));
    }

    #[test]
    fn a_date_is_known_by_its_year_or_month() {
        let is_date = |one: &str, other: &str| LinePattern::of(one, other).is_some_and(|pattern| pattern.is_date(one));
        assert!(is_date("Today is 28 November 2026", "Today is 29 November 2026"));
        assert!(is_date("2026-11-30", "2026-12-01") && is_date("Sat, Nov 28", "Sun, Nov 29"));
        assert!(is_date("As of 09:15", "As of 10:40") && is_date("28.11.2026", "29.11.2026"));
        assert!(!is_date("Price 17 EUR", "Price 18 EUR") && !is_date("Version 1.2.3", "Version 1.2.4"));
        assert!(
            !is_date("In 2026: 170 users", "In 2026: 171 users") && !is_date("2026-11-28: 7,000", "2026-11-28: 7,001")
        );
    }

    #[test]
    fn a_clock_shows_seconds() {
        for line in ["10:00:01", "It is 9:05:00.123 now", "2024-02-05T10:00:01Z"] {
            assert!(has_seconds(line), "{line}");
        }
        for line in ["", "10:00", "Opening hours: 9:00, 14:00", "a::b::c", "1:2"] {
            assert!(!has_seconds(line), "{line}");
        }
    }

    #[test]
    fn words_are_no_values() {
        assert_eq!(LinePattern::of("it is red", "it is blue"), None);
        assert_eq!(LinePattern::of("one", "one and two"), None);
        assert_eq!(LinePattern::of("7", "7"), None);
        assert!(!is_name("mart") && is_name("Mar") && is_name("Sept") && is_name("sunday"));
    }

    #[test]
    fn a_line_is_known_by_the_words_that_stay() {
        let pattern = LinePattern::of("Visitors: 7", "Visitors: 8").unwrap();
        assert!(pattern.is_labelled("Visitors: 1,000") && !pattern.is_labelled("Readers: 7"));
        assert_eq!(LinePattern::of("(7)", "(8)").unwrap().label, 0);
    }
}
