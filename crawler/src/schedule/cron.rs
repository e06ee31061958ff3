//! [`CronLine`]: fixed times, and intervals of minutes, as cron writes them.

use croner::{
    Cron, Direction,
    errors::CronError,
    parser::{CronParser, Seconds, Year},
};

use super::{ScheduleError, Zone};
use crate::time::Moment;

/// Fixed times of a day that a line may name. Of more of them, it is taken as one of those that go on all day.
const MOST_TIMES: usize = 48;

/// 2000-01-01: every day of the calendar comes within the years after it.
const ANY_DAY: Moment = Moment::from_millis(946_684_800_000);

/// A cron line: five fields (minute, hour, day of the month, month, day of the week), six with seconds first, or one of
/// `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly`.
///
/// A line that names fixed times of a day runs once for each on each day it names: right after the gap where clocks leave the
/// time out in spring, and the first time where they show it twice in autumn. A line with `*` or a step in its hours, minutes or
/// seconds runs whenever clocks show such a time.
///
/// ```
/// use webloom::internals::{schedule::{CronLine, Zone}, time::Moment};
/// let line = CronLine::parse("0 3 * * *")?;
/// let next = line.next_after(Moment::EPOCH, &Zone::parse("UTC")?);
/// assert_eq!(next, Moment::from_millis(3 * 3_600_000));
/// # Ok::<(), webloom::internals::schedule::ScheduleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronLine(Vec<Cron>);

impl CronLine {
    /// Reads a line.
    ///
    /// # Errors
    /// [`ScheduleError::Cron`] that says what is wrong, [`ScheduleError::Never`] for one like that of 30 February.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let whole = parse(text)?;
        let line = Self(fixed_times(&whole, text).unwrap_or_else(|| vec![whole]));
        let from = Zone::parse("UTC")?.local(ANY_DAY);
        let comes = line.0.iter().all(|times| times.find_next_occurrence(&from, false).is_ok());
        if comes { Ok(line) } else { Err(ScheduleError::Never) }
    }

    /// The first time after a moment.
    pub fn next_after(&self, moment: Moment, zone: &Zone) -> Moment {
        let found = self.0.iter().filter_map(|times| search(times, moment, zone, Direction::Forward));
        found.min().unwrap_or(Moment::from_millis(u64::MAX))
    }

    /// The last time that has come at a moment.
    pub(super) fn last_by(&self, moment: Moment, zone: &Zone) -> Option<Moment> {
        self.0.iter().filter_map(|times| search(times, moment, zone, Direction::Backward)).max()
    }
}

fn parse(text: &str) -> Result<Cron, ScheduleError> {
    let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
    parser.parse(text).map_err(|error| {
        let problem = match error {
            CronError::EmptyPattern => "it is empty".to_owned(),
            CronError::InvalidPattern(why) | CronError::IllegalCharacters(why) | CronError::ComponentError(why) => why,
            other => other.to_string(),
        };
        let problem = problem.trim_end_matches('.');
        let lower = problem.chars().take(1).flat_map(char::to_lowercase).chain(problem.chars().skip(1));
        ScheduleError::Cron(lower.collect())
    })
}

/// A line for each fixed time of a day: only what has one time a day is one of fixed times for the parser.
fn fixed_times(whole: &Cron, text: &str) -> Option<Vec<Cron>> {
    let pattern = &whole.pattern;
    let fields = [&pattern.seconds, &pattern.minutes, &pattern.hours];
    let fixed = fields.iter().all(|field| field.step == 1 && !field.from_wildcard);
    let [seconds, minutes, hours] = fields.map(croner::CronComponent::values);
    let many = seconds.len() * minutes.len() * hours.len();
    let written: Vec<_> = text.split_whitespace().collect();
    let days = written.get(written.len().checked_sub(3)?..)?.join(" ");
    if !fixed || !(2..=MOST_TIMES).contains(&many) {
        return None;
    }
    let times = hours.iter().flat_map(|hour| minutes.iter().map(move |minute| (hour, minute)));
    let times = times.flat_map(|(hour, minute)| seconds.iter().map(move |second| (hour, minute, second)));
    times.map(|(hour, minute, second)| parse(&format!("{second} {minute} {hour} {days}")).ok()).collect()
}

/// The nearest time after a moment, or at or before it; `None` beyond the calendar.
fn search(times: &Cron, from: Moment, zone: &Zone, direction: Direction) -> Option<Moment> {
    let start = zone.local(from);
    let found = match direction {
        Direction::Forward => times.find_next_occurrence(&start, false),
        Direction::Backward => times.find_previous_occurrence(&start, true),
    };
    found.ok().map(|found| found.timestamp().into())
}
