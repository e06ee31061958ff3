//! [`Window`]: a part of the week in which sequences may begin.

use jiff::{
    ToSpan,
    civil::{Date, Time, Weekday},
};

use super::{ScheduleError, Zone};
use crate::time::Moment;

const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// A window: the days on which it opens, from when and until when. One that ends before it begins, by the clock, closes on the
/// day after.
///
/// ```
/// use webloom::internals::schedule::Window;
/// Window::parse("mon-fri 22:00-06:00")?;
/// Window::parse("sat,sun 00:00-24:00")?;
/// Window::parse("01:00-05:30")?;
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    days: Vec<Weekday>,
    opens: Time,
    closes: Time,
    /// Whether it closes on the day after the one it opens on.
    overnight: bool,
}

/// A window on a day, as moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) opens: Moment,
    pub(super) closes: Moment,
}

impl Opening {
    pub(super) fn holds(self, moment: Moment) -> bool {
        self.opens <= moment && moment < self.closes
    }
}

impl Window {
    /// Reads `mon-fri 22:00-06:00`: days with commas or a dash between (every day, if there are none), and two times.
    ///
    /// # Errors
    /// [`ScheduleError::Window`] that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let wrong = ScheduleError::Window;
        let mut parts = text.split_whitespace().rev();
        let times = parts.next().and_then(|times| times.split_once('-'));
        let (opens, closes) = times.ok_or(wrong("there are no times, such as 22:00-06:00"))?;
        let times = time(opens).filter(|_| opens != "24:00").zip(time(closes));
        let (opens, closes) = times.ok_or(wrong("a time is hours and minutes, from 00:00 to 24:00"))?;
        let days = parts.next().map_or_else(|| Some(DAYS.map(|(_, day)| day).to_vec()), days);
        let days = days.ok_or(wrong("days are mon, tue, wed, thu, fri, sat and sun, with commas or a dash between"))?;
        if parts.next().is_some() {
            return Err(wrong("there is something other than days and times"));
        }
        let all_day = closes == Time::midnight();
        if opens == closes && !all_day {
            return Err(wrong("it ends when it begins"));
        }
        Ok(Self { days, opens, closes, overnight: closes <= opens })
    }

    /// When it is open, from the day before a date to the week after it.
    pub(super) fn openings<'a>(&'a self, around: Date, zone: &'a Zone) -> impl Iterator<Item = Opening> + 'a {
        let dates = (-1..=8).filter_map(move |days| around.checked_add(days.days()).ok());
        dates.filter(|date| self.days.contains(&date.weekday())).filter_map(|date| {
            let last = if self.overnight { date.checked_add(1.day()).ok()? } else { date };
            let opens = zone.first(date.to_datetime(self.opens))?;
            let closes = zone.first(last.to_datetime(self.closes))?;
            // Where clocks leave all of it out there is none.
            (opens < closes).then_some(Opening { opens, closes })
        })
    }
}

/// Hours and minutes; 24:00 is the midnight after.
fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let is_number = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) {
        return None;
    }
    if text == "24:00" {
        return Some(Time::midnight());
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

fn days(text: &str) -> Option<Vec<Weekday>> {
    let lists: Option<Vec<_>> = text.split(',').map(some_days).collect();
    Some(lists?.concat())
}

/// One day, or those from one to another, over the end of the week too.
fn some_days(text: &str) -> Option<Vec<Weekday>> {
    let place = |name: &str| DAYS.iter().position(|(day, _)| day.eq_ignore_ascii_case(name));
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (place(first)?, place(last)?);
    let many = (last + DAYS.len() - first) % DAYS.len();
    Some((first..=first + many).map(|at| DAYS[at % DAYS.len()].1).collect())
}
