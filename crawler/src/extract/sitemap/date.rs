//! Dates as sitemaps and feeds write them.

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    fmt::rfc2822,
    tz::TimeZone,
};

use crate::time::Moment;

/// The longest date that is read, in bytes.
const LONGEST: usize = 64;

/// The date and time formats of W3C (`2024`, `2024-10`, `2024-10-19`, with a time, with parts of a second, with a zone), and of RFC 822 and
/// its successors (`Sat, 19 Oct 2024 11:21:53 GMT`). What is left out is the least it can be; without a zone it is UTC. `None` for
/// anything else, and for what lies before 1970.
pub(super) fn parse(text: &str) -> Option<Moment> {
    let text = Some(text.trim()).filter(|text| text.len() <= LONGEST)?;
    let timestamp = w3c(text).or_else(|| rfc822(text))?;
    timestamp.as_millisecond().try_into().ok().map(Moment::from_millis)
}

fn w3c(text: &str) -> Option<Timestamp> {
    let text = &one_word(text);
    let local = || text.parse::<DateTime>().ok().or_else(|| month(text)).and_then(in_utc);
    text.parse().ok().or_else(local)
}

fn in_utc(local: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(local).ok()
}

/// `date time zone`, which some write in place of `dateTtimezone`.
fn one_word(text: &str) -> String {
    let mut words = text.split_ascii_whitespace();
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(date), Some(time), Some("UTC" | "GMT"), None) => format!("{date}T{time}Z"),
        (Some(date), Some(time), Some(zone), None) => format!("{date}T{time}{zone}"),
        _ => text.to_owned(),
    }
}

/// `2024-10` or `2024`.
fn month(text: &str) -> Option<DateTime> {
    let (year, month) = text.split_once('-').unwrap_or((text, "1"));
    let all_digits = [year, month].into_iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if year.len() != 4 || !all_digits {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
    Some(date.into())
}

fn rfc822(text: &str) -> Option<Timestamp> {
    let parser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
    let parse = |text: &str| parser.parse_timestamp(text).ok();
    let in_utc = |text: &str| parse(&format!("{} GMT", text.trim_end_matches("UTC").trim_end_matches('Z').trim_end()));
    parse(text).or_else(|| in_utc(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let moment = parse(text).unwrap_or_else(|| panic!("{text} is no date"));
        Timestamp::from_millisecond(moment.millis().try_into().unwrap()).unwrap().to_string()
    }

    #[test]
    fn reads_every_form_of_w3c() {
        for (text, utc) in [
            ("2024", "2024-01-01T00:00:00Z"),
            ("2024-10", "2024-10-01T00:00:00Z"),
            ("2024-10-19", "2024-10-19T00:00:00Z"),
            ("2024-10-19T11:21+02:00", "2024-10-19T09:21:00Z"),
            ("2024-10-19T11:21:53Z", "2024-10-19T11:21:53Z"),
            ("2024-10-19T11:21:53.45-05:00", "2024-10-19T16:21:53.45Z"),
            (" 2024-10-19T11:21:53+0000\n", "2024-10-19T11:21:53Z"),
            ("2024-10-19T11:21:53", "2024-10-19T11:21:53Z"),
            ("2024-10-19 11:21", "2024-10-19T11:21:00Z"),
            ("2024-10-19 11:21:53 +0100", "2024-10-19T10:21:53Z"),
            ("2024-10-19 11:21:53 UTC", "2024-10-19T11:21:53Z"),
        ] {
            assert_eq!(read(text), utc, "{text}");
        }
    }

    #[test]
    fn reads_the_dates_of_mail() {
        for (text, utc) in [
            ("Sat, 19 Oct 2024 11:21:53 GMT", "2024-10-19T11:21:53Z"),
            ("Mon, 19 Oct 2024 11:21:53 +0200", "2024-10-19T09:21:53Z"),
            ("19 Oct 2024 11:21 EST", "2024-10-19T16:21:00Z"),
            ("9 Oct 24 11:21:53 UT", "2024-10-09T11:21:53Z"),
            ("Sat, 19 Oct 2024 11:21:53 UTC", "2024-10-19T11:21:53Z"),
            ("Sat, 19 Oct 2024 11:21:53", "2024-10-19T11:21:53Z"),
        ] {
            assert_eq!(read(text), utc, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in
            ["", "yesterday", "YYYY-MM-DD", "0000-00-00", "2024-13", "2024-02-30", "24", "20x4", "1969-12-31", "-2024"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"2".repeat(1 << 20)), None);
    }
}
