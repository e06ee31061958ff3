//! Durations and sizes as people write them.

use std::time::Duration;

/// Units of a duration in milliseconds, the largest first.
const DURATIONS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

/// Units of a size in bytes, the largest first.
const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1000),
    ("B", 1),
];

/// Reads whole numbers with `d`, `h`, `m`, `s` or `ms`, the larger units first (`1h30m`); a plain number is seconds.
///
/// ```
/// use std::time::Duration;
/// use webloom::internals::config::parse_duration;
/// assert_eq!(parse_duration("1h30m"), Some(Duration::from_secs(5400)));
/// assert_eq!(parse_duration("500ms"), Some(Duration::from_millis(500)));
/// assert_eq!(parse_duration("2"), Some(Duration::from_secs(2)));
/// assert_eq!(parse_duration("1m1h"), None);
/// ```
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return seconds.checked_mul(1000).map(Duration::from_millis);
    }
    let mut rest = text;
    let mut total = 0_u64;
    let mut allowed = DURATIONS.iter();
    while !rest.is_empty() {
        let (number, unit, after) = next_part(rest)?;
        let (_, millis) = allowed.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.checked_mul(*millis)?)?;
        rest = after;
    }
    (!text.is_empty()).then(|| Duration::from_millis(total))
}

/// The shortest text that [`parse_duration`] reads back, to the millisecond.
///
/// ```
/// use std::time::Duration;
/// use webloom::internals::config::print_duration;
/// assert_eq!(print_duration(Duration::from_millis(90_500)), "1m30s500ms");
/// assert_eq!(print_duration(Duration::ZERO), "0s");
/// ```
pub fn print_duration(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let parts = DURATIONS.into_iter().map(|(unit, millis)| {
        let number = rest / millis;
        rest %= millis;
        if number == 0 { String::new() } else { format!("{number}{unit}") }
    });
    let text: String = parts.collect();
    if text.is_empty() { "0s".into() } else { text }
}

/// Reads a whole number of bytes with `B`, `KB` to `TB` (powers of 1000), `KiB` to `TiB` (powers of 1024) or no unit.
///
/// ```
/// use webloom::internals::config::parse_size;
/// assert_eq!(parse_size("64MiB"), Some(67_108_864));
/// assert_eq!(parse_size("10 MB"), Some(10_000_000));
/// assert_eq!(parse_size("10M"), None);
/// ```
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(bytes) = text.parse() {
        return Some(bytes);
    }
    let (number, unit, after) = next_part(text)?;
    let (_, bytes) = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    after.is_empty().then(|| number.checked_mul(*bytes)).flatten()
}

/// The text with the largest unit that divides `bytes`; [`parse_size`] reads it back.
///
/// ```
/// assert_eq!(webloom::internals::config::print_size(16 << 20), "16MiB");
/// ```
pub fn print_size(bytes: u64) -> String {
    let (unit, size) =
        SIZES.iter().find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size)).unwrap_or(&("B", 1));
    format!("{}{unit}", bytes / size)
}

/// The number at the start of `text`, its unit, and what follows.
fn next_part(text: &str) -> Option<(u64, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, rest) = text.split_at(digits);
    let rest = rest.trim_start();
    let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at(letters);
    Some((number.parse().ok()?, unit, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn durations_print_and_parse_back(millis in prop_oneof![0_u64..100_000, any::<u64>()]) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(parse_duration(&print_duration(duration)), Some(duration));
        }

        #[test]
        fn sizes_print_and_parse_back(number in 0_u64..10_000, unit in 0..SIZES.len(), odd in any::<u64>()) {
            for bytes in [number * SIZES[unit].1, odd] {
                prop_assert_eq!(parse_size(&print_size(bytes)), Some(bytes));
            }
        }

        #[test]
        fn no_text_makes_them_panic(text in "[0-9]{0,22}(ms|[a-zA-Z]{0,3})?[0-9 .\\-]{0,3}[a-z]{0,2}", any in ".*") {
            for text in [text, any] {
                let _ = (parse_duration(&text), parse_size(&text));
            }
        }
    }

    #[test]
    fn refuses_what_is_not_one() {
        for text in ["", "s", "-1s", "1.5s", "1x", "1s1s", "1s 2", "99999999999999999999s", "18446744073709551615"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        for text in ["", "B", "-1", "1.5MB", "1MB1", "16777216TiB", "1Mb!"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
