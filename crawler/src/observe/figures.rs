//! Figures as people read them: groups of three digits, the unit that fits, and no exponents.
//!
//! Does not know: what is counted or measured.

use std::time::Duration;

use jiff::Timestamp;

use crate::time::Moment;

/// A count in groups of three digits, such as `10,197`.
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted: `1 page`, `2 pages`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A time in the largest unit of which there is one, and the next smaller one: `12.3 s`, `2 min 5 s`, `3 h 12 min`, `2 d 4 h`.
pub fn time(seconds: f64) -> String {
    let tenths = seconds.max(0.0);
    if tenths < 59.95 {
        return format!("{tenths:.1} s");
    }
    whole_time(Duration::try_from_secs_f64(tenths.round()).unwrap_or(Duration::MAX).as_secs())
}

/// The same in whole seconds.
pub fn whole_time(seconds: u64) -> String {
    let units = [(86_400, 3_600, "d", "h"), (3_600, 60, "h", "min"), (60, 1, "min", "s")];
    let Some((large, small, name, smaller)) = units.into_iter().find(|(large, ..)| seconds >= *large) else {
        return format!("{seconds} s");
    };
    match seconds % large / small {
        0 => format!("{} {name}", seconds / large),
        rest => format!("{} {name} {rest} {smaller}", seconds / large),
    }
}

/// Bytes in the unit that fits, in steps of a thousand: `512 B`, `16.1 MB`.
pub fn size(bytes: u64) -> String {
    let units = [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} B"),
    }
}

/// A share of one as a percentage of two digits: `12 %`, `0.036 %`; what is smaller than a millionth is said to be.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent <= 0.0 {
        return "0 %".to_owned();
    }
    if percent < 0.0001 {
        return "under 0.0001 %".to_owned();
    }
    if percent >= 9.95 {
        return format!("{percent:.0} %");
    }
    let places = 1 + [1.0, 0.1, 0.01, 0.001].iter().filter(|least| percent < **least).count();
    let text = format!("{percent:.places$}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// An expected number of things: `about 0` where it is next to nothing, one digit behind the point below ten.
pub fn expected(number: f64) -> String {
    if number < 0.05 {
        "about 0".to_owned()
    } else if number < 9.95 {
        format!("{number:.1}")
    } else {
        grouped(&format!("{number:.0}"))
    }
}

/// A moment as RFC 3339 writes it; nothing for one that no calendar has.
pub fn rfc3339(moment: Moment) -> String {
    let at = i64::try_from(moment.millis()).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    at.map_or_else(String::new, |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_groups_of_three_digits() {
        let counts = [0, 999, 1_000, 10_197, 1_234_567, 1_000_000_000].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "10,197", "1,234,567", "1,000,000,000"]);
        let counted = [0, 1, 2].map(|number| counted(number, "page", "pages"));
        assert_eq!(counted, ["0 pages", "1 page", "2 pages"]);
    }

    #[test]
    fn times_and_sizes_have_the_unit_that_fits() {
        let times = [0.04, 12.34, 59.94, 59.96, 125.0, 3_600.0, 11_520.0, 187_200.0].map(time);
        assert_eq!(times, ["0.0 s", "12.3 s", "59.9 s", "1 min", "2 min 5 s", "1 h", "3 h 12 min", "2 d 4 h"]);
        let sizes = [0, 999, 1_000, 16_100_000, 611_000_000_000].map(size);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "16.1 MB", "611.0 GB"]);
    }

    #[test]
    fn rates_and_expectations_have_no_exponent() {
        let shares = [0.0, 1e-9, 0.000_36, 0.003_15, 0.05, 0.0995, 0.123, 1.0].map(share);
        assert_eq!(shares, ["0 %", "under 0.0001 %", "0.036 %", "0.32 %", "5 %", "10 %", "12 %", "100 %"]);
        let numbers = [2.3e-30, 0.04, 0.5, 9.94, 185.2, 12_345.0].map(expected);
        assert_eq!(numbers, ["about 0", "about 0", "0.5", "9.9", "185", "12,345"]);
    }
}
