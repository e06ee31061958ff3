//! Schedules over seasons, in windows, and as the wall clock jumps.

use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::time::Moment;

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

fn at(text: &str) -> Moment {
    text.parse::<Timestamp>().unwrap().into()
}

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn cron(line: &str, zone_name: &str) -> Schedule {
    Schedule::new(Rhythm::Cron(CronLine::parse(line).unwrap()), zone(zone_name))
}

fn every(interval: Duration) -> Schedule {
    Schedule::new(Rhythm::one_of(Some(interval), None).unwrap(), zone("UTC"))
}

fn windows(texts: &[&str]) -> Vec<Window> {
    texts.iter().map(|text| Window::parse(text).unwrap()).collect()
}

/// The starts after a moment, as clocks in the zone show them.
fn starts(schedule: &Schedule, from: &str, many: usize) -> Vec<String> {
    let first = schedule.next_after(at(from));
    let starts = std::iter::successors(Some(first), |start| Some(schedule.next_after(*start)));
    starts.take(many).map(|start| schedule.local(start).strftime("%m-%d %H:%M%:z").to_string()).collect()
}

#[test]
fn a_fixed_time_runs_once_on_the_days_on_which_clocks_change() {
    for (line, zone, from, expected) in [
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T00:00Z",
            ["03-28 02:30+01:00", "03-29 03:00+02:00", "03-30 02:30+02:00"],
        ),
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-10-24T00:00Z",
            ["10-24 02:30+02:00", "10-25 02:30+02:00", "10-26 02:30+01:00"],
        ),
        (
            "30 2 * * *",
            "America/New_York",
            "2026-03-07T00:00Z",
            ["03-07 02:30-05:00", "03-08 03:00-04:00", "03-09 02:30-04:00"],
        ),
        (
            "30 1 * * *",
            "America/New_York",
            "2026-10-31T00:00Z",
            ["10-31 01:30-04:00", "11-01 01:30-04:00", "11-02 01:30-05:00"],
        ),
        // Half an hour: from 02:00 to 02:30 in October, from 02:00 back to 01:30 in April.
        (
            "15 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-02T12:00Z",
            ["10-03 02:15+10:30", "10-04 02:30+11:00", "10-05 02:15+11:00"],
        ),
        (
            "45 1 * * *",
            "Australia/Lord_Howe",
            "2026-04-03T12:00Z",
            ["04-04 01:45+11:00", "04-05 01:45+11:00", "04-06 01:45+10:30"],
        ),
        (
            "30 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-02T12:00Z",
            ["10-03 02:30+10:30", "10-04 02:30+11:00", "10-05 02:30+11:00"],
        ),
    ] {
        assert_eq!(starts(&cron(line, zone), from, 3), expected, "{line} {zone} {from}");
    }
}

#[test]
fn so_do_several_fixed_times() {
    let twice = cron("15,45 2,14 * * *", "Europe/Berlin");
    let spring = ["03-29 03:00+02:00", "03-29 14:15+02:00", "03-29 14:45+02:00", "03-30 02:15+02:00"];
    assert_eq!(starts(&twice, "2026-03-28T23:00Z", 4), spring);
    let autumn = ["10-25 02:15+02:00", "10-25 02:45+02:00", "10-25 14:15+01:00"];
    assert_eq!(starts(&twice, "2026-10-24T22:00Z", 3), autumn);
}

#[test]
fn what_goes_on_all_day_follows_the_clocks() {
    let half_hourly = cron("*/30 * * * *", "Europe/Berlin");
    let spring = ["03-29 01:30+01:00", "03-29 03:00+02:00", "03-29 03:30+02:00"];
    assert_eq!(starts(&half_hourly, "2026-03-29T00:15Z", 3), spring);
    let autumn = ["10-25 02:30+02:00", "10-25 02:00+01:00", "10-25 02:30+01:00", "10-25 03:00+01:00"];
    assert_eq!(starts(&half_hourly, "2026-10-25T00:15Z", 4), autumn);
}

#[test]
fn the_calendar_is_kept() {
    for (line, from, expected) in [
        ("0 0 29 2 *", "2026-01-01T00:00Z", ["02-29 00:00+00:00", "02-29 00:00+00:00"]),
        ("0 0 31 * *", "2026-01-31T00:00Z", ["03-31 00:00+00:00", "05-31 00:00+00:00"]),
        ("0 0 L * *", "2028-02-01T00:00Z", ["02-29 00:00+00:00", "03-31 00:00+00:00"]),
        ("@daily", "2026-12-30T00:00Z", ["12-31 00:00+00:00", "01-01 00:00+00:00"]),
        ("@hourly", "2026-12-31T22:59Z", ["12-31 23:00+00:00", "01-01 00:00+00:00"]),
        ("@weekly", "2026-11-22T00:00Z", ["11-29 00:00+00:00", "12-06 00:00+00:00"]),
        ("0 3 * * mon", "2026-11-22T00:00Z", ["11-23 03:00+00:00", "11-30 03:00+00:00"]),
        ("*/20 * * * * *", "2026-11-22T00:00Z", ["11-22 00:00+00:00", "11-22 00:00+00:00"]),
    ] {
        assert_eq!(starts(&cron(line, "UTC"), from, 2), expected, "{line}");
    }
    let leap = cron("0 0 29 2 *", "UTC").next_after(at("2026-01-01T00:00Z"));
    assert_eq!(leap, at("2028-02-29T00:00Z"));
}

#[test]
fn what_is_none_is_refused_with_its_fault() {
    for line in ["", "every day", "61 * * * *", "* * * *", "0 3 * * * * 2027", "0 3 * * funday", "5-x * * * *"] {
        let refused = CronLine::parse(line);
        assert!(matches!(&refused, Err(ScheduleError::Cron(why)) if !why.is_empty()), "{line}: {refused:?}");
    }
    for line in ["0 0 30 2 *", "0 0 31 4,6 *"] {
        let refused = CronLine::parse(line);
        assert!(matches!(refused, Err(ScheduleError::Never | ScheduleError::Cron(_))), "{line}: {refused:?}");
    }
    for name in ["", "Mars/Olympus", "Europe/Berlinn", "+01:00"] {
        assert_eq!(Zone::parse(name), Err(ScheduleError::Zone), "{name}");
    }
    for text in
        ["", "mon", "22:00", "22:00-22:00", "25:00-26:00", "24:00-06:00", "mon-xyz 1:00-2:00", "a mon 01:00-02:00"]
    {
        assert!(matches!(Window::parse(text), Err(ScheduleError::Window(_))), "{text}");
    }
    assert_eq!(Rhythm::one_of(None, None), Err(ScheduleError::NoRhythm));
    let short = Duration::from_millis(999);
    assert_eq!(Rhythm::one_of(Some(short), None), Err(ScheduleError::TooShort(short)));
    assert_eq!(Rhythm::one_of(Some(Duration::ZERO), None), Err(ScheduleError::TooShort(Duration::ZERO)));
    let daily = CronLine::parse("@daily").ok();
    assert_eq!(Rhythm::one_of(Some(DAY), daily), Err(ScheduleError::TwoRhythms));
}

#[test]
fn a_start_outside_the_windows_waits_for_the_next_one() {
    let nights = every(HOUR).within(windows(&["mon-fri 22:00-06:00"]));
    // 2026-11-20 is a Friday.
    let friday = ["11-20 22:00+00:00", "11-20 23:00+00:00", "11-21 00:00+00:00"];
    assert_eq!(starts(&nights, "2026-11-20T09:00Z", 3), friday);
    let weekend = ["11-21 05:00+00:00", "11-23 22:00+00:00", "11-23 23:00+00:00"];
    assert_eq!(starts(&nights, "2026-11-21T04:00Z", 3), weekend);
    let two = cron("15 * * * *", "Europe/Berlin").within(windows(&["sat,sun 00:00-24:00", "12:00-13:00"]));
    let lunch = ["11-20 12:00+01:00", "11-20 12:15+01:00", "11-21 00:00+01:00"];
    assert_eq!(starts(&two, "2026-11-20T08:00Z", 3), lunch);
    // One that clocks leave out, in part or whole, on that day.
    let spring = every(HOUR).within(windows(&["02:15-02:45"]));
    let berlin = Schedule::new(Rhythm::Every(HOUR), zone("Europe/Berlin")).within(windows(&["02:15-02:45"]));
    assert_eq!(starts(&spring, "2026-03-28T12:00Z", 1), ["03-29 02:15+00:00"]);
    assert_eq!(starts(&berlin, "2026-03-28T12:00Z", 1), ["03-30 02:15+02:00"]);
    let half = Schedule::new(Rhythm::Every(HOUR), zone("Europe/Berlin")).within(windows(&["02:15-04:00"]));
    assert_eq!(starts(&half, "2026-03-28T12:00Z", 1), ["03-29 03:00+02:00"]);
}

#[test]
fn a_name_has_its_place_in_a_tenth_of_the_interval() {
    let days = [cron("0 3 * * *", "Europe/Berlin"), every(DAY)];
    for plain in days {
        let mut moved = Vec::new();
        for name in ["http://a/", "http://b/", "http://c/", "http://d/"] {
            let spread = plain.clone().spread_by(name);
            let from = at("2026-11-20T12:00Z");
            let (first, still) = (plain.next_after(from), spread.next_after(from));
            let apart = still.since(first).max(first.since(still));
            assert!(apart <= DAY / 10, "{name}: {apart:?}");
            // Whatever start of that day it is counted from, and however late it was.
            let second = spread.next_after(still);
            assert_eq!(second.since(still), DAY);
            for late in [MINUTE, HOUR] {
                assert_eq!(spread.next_after(still + late), second);
            }
            moved.push(still);
        }
        moved.sort_unstable();
        moved.dedup();
        assert_eq!(moved.len(), 4);
    }
    let held = every(HOUR).within(windows(&["22:00-23:00"])).spread_by("http://a/");
    let start = held.next_after(at("2026-11-20T12:00Z"));
    assert!(start.since(at("2026-11-20T22:00Z")) <= 6 * MINUTE && start > at("2026-11-20T22:00Z"));
}

#[test]
fn what_was_missed_is_made_up_for_once() {
    let began = at("2026-11-20T03:00Z");
    for schedule in [every(DAY), cron("0 3 * * *", "UTC")] {
        let mut upcoming = Upcoming::after(began);
        assert_eq!(upcoming.due(&schedule, began + HOUR), Due::At(began + DAY));
        let much_later = began + 10 * DAY + HOUR;
        assert_eq!(upcoming.due(&schedule, much_later), Due::Now);
        assert_eq!(upcoming.due(&schedule, much_later), Due::At(began + 11 * DAY), "the rhythm goes on");
    }
    // A year of seconds is no loop.
    let mut upcoming = Upcoming::after(began);
    assert_eq!(upcoming.due(&every(Duration::from_secs(1)), began + 365 * DAY), Due::Now);
    let second = cron("* * * * * *", "UTC");
    assert_eq!(Upcoming::after(began).due(&second, began + 365 * DAY), Due::Now);
}

#[test]
fn what_is_made_up_for_waits_for_its_window() {
    let nights = every(6 * HOUR).within(windows(&["22:00-04:00"]));
    let mut upcoming = Upcoming::after(at("2026-11-20T22:00Z"));
    let opens = at("2026-11-22T22:00Z");
    assert_eq!(upcoming.due(&nights, at("2026-11-22T10:00Z")), Due::At(opens));
    assert_eq!(upcoming.due(&nights, opens), Due::Now);
    assert!(matches!(upcoming.due(&nights, opens), Due::At(next) if next > opens));
}

#[test]
fn starts_that_a_long_sequence_has_covered_are_left_out() {
    let began = at("2026-11-20T03:00Z");
    let mut upcoming = Upcoming::after(began);
    let hourly = every(HOUR);
    upcoming.skip_missed(&hourly, began + 150 * MINUTE);
    assert_eq!(upcoming.due(&hourly, began + 150 * MINUTE), Due::At(began + 3 * HOUR));
}

#[test]
fn a_clock_set_back_neither_repeats_a_start_nor_stops_them() {
    let began = at("2026-11-20T03:00Z");
    // A second, as time servers do it.
    for schedule in [every(DAY), cron("0 3 * * *", "UTC")] {
        let mut upcoming = Upcoming::after(began);
        let before = began - Duration::from_secs(1);
        let Due::At(next) = upcoming.due(&schedule, before) else { panic!("it is repeated") };
        assert!(next.since(before) <= DAY + Duration::from_secs(1) && next > began, "{next:?}");
    }
    // A year: the clock had been wrong when the sequence began.
    for schedule in [every(DAY), cron("0 3 * * *", "UTC")] {
        let mut upcoming = Upcoming::after(began + 365 * DAY);
        assert_eq!(upcoming.due(&schedule, began), Due::At(began + DAY));
        // It is not put off each time somebody looks.
        assert_eq!(upcoming.due(&schedule, began + HOUR), Due::At(began + DAY));
        assert_eq!(upcoming.due(&schedule, began + DAY), Due::Now);
    }
}

fn a_rhythm() -> impl Strategy<Value = Schedule> {
    let lines = ["0 3 * * *", "30 2 * * *", "*/7 * * * *", "0 9-17 * * mon-fri", "15 1,2,3 1,15 * *", "45 23 L * *"];
    let zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"];
    let lines = proptest::sample::select(lines.to_vec()).prop_map(|line| Rhythm::Cron(CronLine::parse(line).unwrap()));
    let spans = (1000_u64..200_000_000).prop_map(|millis| Rhythm::Every(Duration::from_millis(millis)));
    let held = proptest::sample::subsequence(vec!["mon-fri 22:00-06:00", "sat,sun 02:30-03:00", "12:15-12:45"], 0..=3);
    let zones = proptest::sample::select(zones.to_vec());
    (prop_oneof![lines, spans], zones, held, proptest::option::of("[a-z]{1,5}")).prop_map(
        |(rhythm, name, held, place)| {
            let schedule = Schedule::new(rhythm, zone(name)).within(windows(&held));
            place.map_or(schedule.clone(), |place| schedule.spread_by(&place))
        },
    )
}

proptest! {
    #[test]
    fn a_start_comes_after_the_one_before_and_none_in_between(
        schedule in a_rhythm(),
        day in 0_u32..800,
        within in 0_u64..86_400_000,
    ) {
        let from = at("2026-01-01T00:00Z") + DAY * day + Duration::from_millis(within);
        let next = schedule.next_after(from);
        prop_assert!(next > from);
        prop_assert_eq!(schedule.within_windows(next), next, "it lies in a window");
        prop_assert!(schedule.next_after(next) > next);
        prop_assert_eq!(schedule.missed(from, next - Duration::from_millis(1)), None);
        let counted = schedule.missed(from, next).unwrap();
        prop_assert!(counted <= next && schedule.next_after(counted) > next);
    }

    #[test]
    fn a_year_of_looking_now_and_then_loses_no_start(
        schedule in a_rhythm(),
        looks in proptest::collection::vec(1_u64..4_000_000, 20..60),
    ) {
        let mut now = at("2026-01-01T00:00Z");
        let mut upcoming = Upcoming::after(now);
        let mut last = now;
        for look in looks {
            // It looks at the time it was given, and also whenever it is woken.
            now = match upcoming.due(&schedule, now) {
                Due::Now => return Err(TestCaseError::fail("two starts at once")),
                Due::At(next) => {
                    prop_assert!(next > now);
                    let woken = now + Duration::from_millis(look * 100);
                    if woken < next { woken } else { next + Duration::from_millis(look % 500) }
                }
            };
            if upcoming.due(&schedule, now) == Due::Now {
                // One that began late is counted from when it was due.
                prop_assert!(schedule.next_after(last - Duration::from_millis(500)) <= now, "too early");
                last = now;
            }
        }
    }
}

proptest! {
    #[test]
    fn a_clock_that_jumps_holds_no_start_back(
        every_hours in proptest::option::of(1_u32..48),
        jumps in proptest::collection::vec((any::<bool>(), 0_u64..40_000_000_000), 1..30),
    ) {
        let (schedule, longest) = match every_hours {
            Some(hours) => (every(HOUR * hours), HOUR * hours),
            // A day with an hour more, and half of one by which a small step back may put the next start off.
            None => (cron("0 3 * * *", "Europe/Berlin"), 37 * HOUR + HOUR / 2),
        };
        let mut now = at("2026-06-01T00:00Z");
        let mut upcoming = Upcoming::after(now);
        for (forward, millis) in jumps {
            // Of all lengths, up to a year.
            let jump = Duration::from_millis(millis >> (millis % 30));
            now = if forward { now + jump } else { now - jump };
            let mut due = upcoming.due(&schedule, now);
            if due == Due::Now {
                due = upcoming.due(&schedule, now);
            }
            let Due::At(next) = due else { return Err(TestCaseError::fail("one start makes up for all")) };
            prop_assert!(next > now && next.since(now) <= longest, "{now:?} {next:?}");
            prop_assert_eq!(upcoming.due(&schedule, next), Due::Now);
            upcoming = Upcoming::after(next);
        }
    }
}

#[test]
fn a_simulated_year_has_all_its_starts() {
    for (line, zone, expected) in [
        ("30 2 * * *", "Europe/Berlin", 365),
        ("30 1 * * *", "America/New_York", 365),
        ("45 1 * * *", "Australia/Lord_Howe", 365),
        ("0 */6 * * *", "Europe/Berlin", 4 * 365),
        ("30 1,2,3 * * *", "Europe/Berlin", 3 * 365),
        ("0 0 31 * *", "UTC", 7),
    ] {
        for place in [None, Some("http://a/")] {
            let schedule = cron(line, zone);
            let schedule = place.map_or(schedule.clone(), |place| schedule.spread_by(place));
            let (mut start, mut many) = (at("2026-01-01T00:00:00Z"), 0);
            let end = at("2027-01-01T00:00:00Z");
            while start < end {
                start = schedule.next_after(start);
                many += usize::from(start < end);
            }
            assert!(many.abs_diff(expected) <= 1, "{line} {zone} {place:?}: {many}");
        }
    }
}
