//! Months of a schedule in seconds: the loop of `webloom watch` on a scripted clock, which is set, stops in suspend and changes its zone's
//! offset. The crawl is a stand-in that only takes time.

use std::{
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::sync::{mpsc, oneshot, watch};

use super::{
    plan::WatchPlan,
    rounds::{FirstRound, Outside, Rounds, WatchOrder},
    subject::{Running, SequenceStart, Subject, Visiting},
};
use crate::{
    cli::{CommandFailure, session::Round, signals},
    clock::WallTime,
    config::{Layers, Pause},
    engine::{RunEnd, StopSignal},
    schedule::{Hours, Upcoming, WatchPhase, WatchState, Zone},
    store::Revisit,
    time::Moment,
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// What the world does, so long after the start by a steady clock.
#[derive(Debug, Clone)]
enum Deed {
    /// Somebody sets the clock, by so many milliseconds.
    Set(i64),
    /// The machine sleeps for so long.
    Suspend(u64),
    /// Sequences take so long from now on.
    Lasts(u64),
    /// Settings are read again.
    Settings(&'static str),
    /// The next sequence is asked for.
    Begin,
    /// A signal ends it.
    Stop,
}

/// Both clocks, in milliseconds, and what is waited for.
#[derive(Debug, Default)]
struct World {
    steady: u64,
    wall: u64,
    /// How often the clock was set.
    sets: u64,
    lasts: u64,
    /// How the next visits between sequences end that nobody stops, if any are made: after ten minutes.
    visits: Vec<Option<RunEnd>>,
    /// Steady times at which something happens.
    awaited: Vec<u64>,
    /// When sequences began, and what they were.
    begun: Vec<(Moment, Round)>,
    lines: Vec<String>,
    /// The states that it said.
    states: Vec<WatchState>,
}

#[derive(Clone)]
struct Virtual(Arc<Mutex<World>>);

impl Virtual {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }

    /// Until so much steady time has passed.
    fn sleep(&self, millis: u64) -> impl Future<Output = ()> + use<> {
        let (this, until) = (self.clone(), self.world().steady + millis);
        std::future::poll_fn(move |_| {
            let mut world = this.world();
            if world.steady >= until {
                return Poll::Ready(());
            }
            world.awaited.push(until);
            Poll::Pending
        })
    }
}

impl WallTime for Virtual {
    fn now(&self) -> Moment {
        Moment::from_millis(self.world().wall)
    }

    async fn until(&self, moment: Moment) -> std::io::Result<()> {
        let sets = self.world().sets;
        std::future::poll_fn(|_| {
            let mut world = self.world();
            if world.wall >= moment.millis() || world.sets != sets {
                return Poll::Ready(Ok(()));
            }
            let due = world.steady.saturating_add(moment.millis() - world.wall);
            world.awaited.push(due);
            Poll::Pending
        })
        .await
    }
}

/// What takes time as a crawl does.
struct Fake(Virtual);

impl Fake {
    /// So long, but no longer than until a moment.
    fn running(&self, until: Option<Moment>, mut stop: StopSignal) -> Running<RunEnd> {
        let world = self.0.world();
        let left = until.map(|until| until.millis().saturating_sub(world.wall));
        let (lasts, end) = match left.filter(|left| *left < world.lasts) {
            Some(left) => (left, RunEnd::Budget),
            None => (world.lasts, RunEnd::Drained),
        };
        drop(world);
        let sleep = self.0.sleep(lasts);
        Box::pin(async move {
            tokio::select! {
                biased;
                signal = stop.asked() => Ok(RunEnd::Signal(signal)),
                () = sleep => Ok(end),
            }
        })
    }
}

impl Subject for Fake {
    type Given = &'static str;
    type Ended = RunEnd;
    type Visited = Option<RunEnd>;

    fn sequence(&mut self, start: SequenceStart, stop: StopSignal) -> Result<Running<RunEnd>, CommandFailure> {
        let now = self.0.now();
        self.0.world().begun.push((now, start.round));
        Ok(self.running(start.until, stop))
    }

    fn has_crawled(&mut self, ended: RunEnd, _: Moment) -> Result<RunEnd, CommandFailure> {
        self.tell(&format!("ended: {}", ended.as_str()));
        Ok(ended)
    }

    async fn look_ahead(&mut self, _: Moment) -> Result<(), CommandFailure> {
        Ok(())
    }

    fn next_visits(&self) -> Option<Moment> {
        self.0.world().visits.first().map(|_| Moment::EPOCH)
    }

    fn visit_due(&mut self, mut stop: StopSignal) -> Visiting<Option<RunEnd>> {
        let (finish, finished) = oneshot::channel();
        let end = self.0.world().visits.pop().flatten();
        let sleep = self.0.sleep(10 * MINUTE);
        let running = Box::pin(async move {
            tokio::select! {
                biased;
                signal = stop.asked() => Ok(Some(RunEnd::Signal(signal))),
                _ = finished => Ok(None),
                () = sleep => Ok(end),
            }
        });
        Visiting { running, finish }
    }

    fn has_visited(&mut self, visited: Option<RunEnd>) -> Option<RunEnd> {
        visited
    }

    async fn close(&mut self) -> Result<(), CommandFailure> {
        Ok(())
    }

    fn read_again(&mut self, given: &'static str) -> Result<WatchPlan, CommandFailure> {
        plan(given)
    }

    fn has_state(&self, state: &WatchState) {
        self.0.world().states.push(state.clone());
    }

    fn tell(&self, line: &str) {
        self.0.world().lines.push(line.to_owned());
    }

    fn complain(&self, line: &str) {
        self.tell(line);
    }

    fn print(&self, line: &str) -> Result<(), CommandFailure> {
        self.tell(line);
        Ok(())
    }
}

fn plan(schedule: &str) -> Result<WatchPlan, CommandFailure> {
    let settings = Layers::new().file_text("f", &format!("[schedule]\n{schedule}")).resolve()?.settings.schedule;
    let schedule = settings.schedule("name").map_err(|error| CommandFailure::Usage(error.to_string()))?;
    Ok(WatchPlan {
        schedule,
        overlap: settings.overlap,
        hours: Hours::new(Vec::new(), Zone::parse("UTC").unwrap()),
        paused: settings.pause == Pause::On,
    })
}

fn moment(text: &str) -> Moment {
    text.parse::<jiff::Timestamp>().unwrap().into()
}

/// What came of a schedule.
struct Came {
    begun: Vec<(Moment, Round)>,
    lines: Vec<String>,
    states: Vec<WatchState>,
    end: RunEnd,
}

impl Came {
    /// When sequences began, as clocks of a zone show it.
    fn shown(&self, zone: &str, form: &str) -> Vec<String> {
        let zone = Zone::parse(zone).unwrap();
        self.begun.iter().map(|(began, _)| zone.local(*began).strftime(form).to_string()).collect()
    }

    fn has(&self, line: &str) -> usize {
        self.lines.iter().filter(|there| there.contains(line)).count()
    }
}

/// Watches from a moment for so many days by the steady clock; the first sequence begins at once, and takes ten minutes.
fn watched(schedule: &str, from: &str, days: u64, script: &[(u64, Deed)]) -> Came {
    let world = World { wall: moment(from).millis(), lasts: 10 * MINUTE, ..World::default() };
    watched_in(world, Round::GoOn, schedule, (days, script))
}

/// The same in a world, beginning with this.
fn watched_in(world: World, round: Round, schedule: &str, (days, script): (u64, &[(u64, Deed)])) -> Came {
    let time = Virtual(Arc::new(Mutex::new(world)));
    let (stop, signals) = watch::channel(None);
    let (orders, receiver) = mpsc::channel(9);
    let mut outside = Outside { stop: signals::stopped_by(signals), orders: receiver, time: time.clone() };
    let beginning = FirstRound {
        plan: plan(schedule).unwrap(),
        upcoming: Upcoming::after(time.now()),
        round,
        revisit: Revisit::KnownFirst,
        most: None,
    };
    let mut rounds = Rounds::new(Fake(time.clone()), beginning);
    let mut script: Vec<_> = script.iter().cloned().chain([(days * DAY, Deed::Stop)]).rev().collect();
    let end = {
        let mut running = pin!(rounds.run(&mut outside));
        loop {
            time.world().awaited.clear();
            if let Poll::Ready(end) = poll(running.as_mut()) {
                break end.unwrap();
            }
            let mut world = time.world();
            let scripted = script.last().map(|(at, _)| *at);
            let next = world.awaited.iter().copied().chain(scripted).min().expect("something comes");
            assert!(next >= world.steady, "time does not go back");
            world.wall += next - world.steady;
            world.steady = next;
            drop(world);
            if scripted == Some(next) {
                let (_, deed) = script.pop().unwrap();
                let mut world = time.world();
                match deed {
                    Deed::Set(by) => {
                        world.wall = world.wall.checked_add_signed(by).unwrap();
                        world.sets += 1;
                    }
                    Deed::Suspend(by) => world.wall += by,
                    Deed::Lasts(lasts) => world.lasts = lasts,
                    Deed::Settings(text) => orders.try_send(WatchOrder::Settings(Box::new(text))).unwrap(),
                    Deed::Begin => orders.try_send(WatchOrder::Begin).unwrap(),
                    Deed::Stop => drop(stop.send(Some(15))),
                }
            }
        }
    };
    let World { begun, lines, states, .. } = &*time.world();
    Came { begun: begun.clone(), lines: lines.clone(), states: states.clone(), end }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn half_past_two_comes_once_on_each_day_of_a_year() {
    let came = watched("cron = \"30 2 * * *\"\ntz = \"Europe/Berlin\"", "2026-01-01T12:00:00Z", 365, &[]);
    assert_eq!((came.begun.len(), came.end), (366, RunEnd::Signal(15)), "and the one at the beginning");
    let days = came.shown("Europe/Berlin", "%m-%d");
    let mut once = days.clone();
    once.dedup();
    assert_eq!((days.len(), &days[0]), (once.len(), &"01-01".to_owned()));
    let times = came.shown("Europe/Berlin", "%m-%d %H:%M%:z");
    for time in ["03-28 02:30+01:00", "03-29 03:00+02:00", "10-25 02:30+02:00", "10-26 02:30+01:00"] {
        assert!(times.contains(&time.to_owned()), "{time}");
    }
    assert_eq!(times.iter().filter(|time| !time.contains("02:30")).count(), 2, "the first, and the one of the gap");
}

#[test]
fn an_interval_is_kept_for_months() {
    let came = watched("every = \"6h\"", "2026-01-01T00:00:00Z", 100, &[]);
    assert_eq!(came.begun.len(), 400);
    assert!(came.begun.windows(2).all(|pair| pair[1].0.since(pair[0].0) == Duration::from_hours(6)));
    assert_eq!(came.begun.iter().filter(|(_, round)| *round == Round::GoOn).count(), 1);
}

#[test]
fn what_a_machine_sleeps_through_is_made_up_for_once() {
    // It sleeps for two days while it waits, then for one in the middle of a sequence.
    let script = [(5 * HOUR, Deed::Suspend(2 * DAY)), (7 * HOUR + 5 * MINUTE, Deed::Suspend(DAY))];
    let came = watched("every = \"6h\"", "2026-01-01T00:00:00Z", 1, &script);
    let times = came.shown("UTC", "%d %H:%M");
    // The second sequence begins when the machine wakes. The third is due at 06:00.
    assert_eq!(times[..3], ["01 00:00", "03 05:00", "03 06:00"]);
    let mid = watched("every = \"6h\"", "2026-01-01T00:00:00Z", 2, &[(5 * MINUTE, Deed::Suspend(DAY))]);
    // What came due while the sequence slept is an overlap, and left out.
    assert_eq!(mid.shown("UTC", "%d %H:%M")[..3], ["01 00:00", "02 06:00", "02 12:00"]);
}

#[test]
fn a_clock_that_is_set_neither_repeats_a_start_nor_holds_one_back() {
    let daily = "cron = \"0 3 * * *\"";
    // An hour back, right after a start.
    let back = watched(daily, "2026-01-01T00:00:00Z", 3, &[(3 * HOUR + 30 * MINUTE, Deed::Set(-HOUR.cast_signed()))]);
    assert_eq!(back.shown("UTC", "%d %H:%M"), ["01 00:00", "01 03:00", "02 03:00", "03 03:00"]);
    // A month back: it had been wrong.
    let wrong = watched(daily, "2026-02-01T00:00:00Z", 3, &[(4 * HOUR, Deed::Set(-31 * DAY.cast_signed()))]);
    assert_eq!(wrong.shown("UTC", "%m-%d"), ["02-01", "02-01", "01-02", "01-03"]);
    // Three days on: they are made up for by one.
    let on = watched(daily, "2026-01-01T00:00:00Z", 2, &[(12 * HOUR, Deed::Set(3 * DAY.cast_signed()))]);
    assert_eq!(on.shown("UTC", "%d %H:%M"), ["01 00:00", "01 03:00", "04 12:00", "05 03:00"]);
    let every = watched("every = \"6h\"", "2026-01-01T00:00:00Z", 1, &[(7 * HOUR, Deed::Set(-DAY.cast_signed()))]);
    let hours: Vec<_> = every.begun.iter().map(|(began, _)| began.since(moment("2025-12-31T00:00:00Z"))).collect();
    assert_eq!(hours[1..4].iter().map(|hours| hours.as_secs() / 3600).collect::<Vec<_>>(), [30, 13, 19]);
}

#[test]
fn a_sequence_that_outlasts_its_interval_is_dealt_with_as_set() {
    for (overlap, expected, end) in [
        ("skip", ["00:00", "03:00", "06:00"], "drained"),
        ("queue", ["00:00", "02:30", "05:00"], "drained"),
        ("restart", ["00:00", "01:00", "02:00"], "budget"),
    ] {
        let schedule = format!("every = \"1h\"\noverlap = \"{overlap}\"");
        let came = watched(&schedule, "2026-01-01T00:00:00Z", 2, &[(0, Deed::Lasts(150 * MINUTE))]);
        // The first had begun before sequences took so long.
        assert_eq!(came.shown("UTC", "%H:%M")[1..4], expected.map(later), "{overlap}");
        assert!(came.has(&format!("ended: {end}")) > 15, "{overlap}");
    }
}

/// An hour later.
fn later(time: &str) -> String {
    let (hour, minute) = time.split_once(':').unwrap();
    format!("{:02}:{minute}", hour.parse::<u32>().unwrap() + 1)
}

#[test]
fn a_pause_holds_all_back_and_what_it_missed_is_made_up_for_once() {
    let script = [
        (150 * MINUTE, Deed::Settings("every = \"1h\"\npause = \"on\"")),
        (3 * HOUR, Deed::Begin),
        (10 * HOUR + 30 * MINUTE, Deed::Settings("every = \"1h\"")),
    ];
    let came = watched("every = \"1h\"", "2026-01-01T00:00:00Z", 1, &script);
    assert_eq!(came.shown("UTC", "%H:%M")[..5], ["00:00", "01:00", "02:00", "10:30", "11:00"]);
    assert_eq!((came.has("paused: nothing begins"), came.has("paused: no sequence begins")), (1, 1));
    let all = watched("every = \"1h\"\npause = \"on\"", "2026-01-01T00:00:00Z", 30, &[]);
    assert_eq!((all.begun.len(), all.end), (0, RunEnd::Signal(15)));
    let first = [(5 * HOUR, Deed::Settings("every = \"1h\""))];
    let late = watched("every = \"1h\"\npause = \"on\"", "2026-01-01T00:00:00Z", 1, &first);
    assert_eq!(late.shown("UTC", "%H:%M")[..2], ["05:00", "06:00"]);
}

#[test]
fn a_single_time_comes_once_whatever_the_rhythm_and_the_windows() {
    let windows = "windows = [\"00:00-02:00\"]";
    let daily = format!("cron = \"0 1 * * *\"\n{windows}\nalso_at = \"2026-01-02 05:00\"\ntz = \"Europe/Berlin\"");
    let came = watched(&daily, "2026-01-01T12:00:00Z", 3, &[]);
    let expected = ["01 13:00", "02 01:00", "02 05:00", "03 01:00", "04 01:00"];
    assert_eq!(came.shown("Europe/Berlin", "%d %H:%M"), expected);
    // It is set to a time that has just been, while the clock goes back an hour afterwards.
    let script = [
        (2 * HOUR, Deed::Settings("every = \"12h\"\nalso_at = \"2026-01-01T01:59:00Z\"")),
        (3 * HOUR, Deed::Set(-2 * HOUR.cast_signed())),
        (3 * HOUR + 1, Deed::Settings("every = \"12h\"\nalso_at = \"1999-01-01T00:00:00Z\"")),
    ];
    let now = watched("every = \"12h\"", "2026-01-01T00:00:00Z", 1, &script);
    assert_eq!(now.shown("UTC", "%d %H:%M")[..3], ["01 00:00", "01 02:00", "01 13:00"]);
    // One that comes due while a sequence runs begins after it, though starts of the rhythm are left out then.
    let script = [(5 * MINUTE, Deed::Settings("every = \"12h\"\nalso_at = \"2026-01-01T00:05:00Z\""))];
    let during = watched("every = \"12h\"", "2026-01-01T00:00:00Z", 1, &script);
    assert_eq!(during.shown("UTC", "%H:%M")[..3], ["00:00", "00:10", "12:05"]);
}

#[test]
fn what_is_asked_for_begins_now_or_right_after_what_runs() {
    let script = [(3 * HOUR, Deed::Begin), (3 * HOUR + MINUTE, Deed::Begin)];
    let came = watched("every = \"6h\"", "2026-01-01T00:00:00Z", 1, &script);
    assert_eq!(came.shown("UTC", "%H:%M")[..4], ["00:00", "03:00", "03:10", "09:10"]);
    assert_eq!(came.has("the next one begins right after it"), 1);
}

#[test]
fn visits_that_end_with_a_url_cache_that_is_full_or_too_old_have_the_next_sequence_begin() {
    let begins = |end, script: &[(u64, Deed)]| {
        let from = moment("2026-01-01T00:00:00Z").millis();
        let world = World { wall: from, lasts: 10 * MINUTE, visits: vec![end], ..World::default() };
        let came = watched_in(world, Round::Next(Revisit::KnownFirst), "every = \"6h\"", (1, script));
        (came.shown("UTC", "%H:%M")[..2].join(" "), came.begun[0].1)
    };
    let known = Round::Next(Revisit::KnownFirst);
    assert_eq!(begins(None, &[]), ("06:00 12:00".to_owned(), known));
    let anew = Round::Next(Revisit::Rediscover);
    for end in [RunEnd::Restart, RunEnd::Aged { drained: true }, RunEnd::Aged { drained: false }] {
        assert_eq!(begins(Some(end), &[]), ("00:10 06:10".to_owned(), anew), "{end:?}");
    }
}

#[test]
fn wrong_settings_change_nothing() {
    let script = [(90 * MINUTE, Deed::Settings("every = \"soon\"")), (200 * MINUTE, Deed::Settings("every = \"2h\""))];
    let came = watched("every = \"1h\"", "2026-01-01T00:00:00Z", 1, &script);
    assert_eq!(came.shown("UTC", "%H:%M")[..6], ["00:00", "01:00", "02:00", "03:00", "05:00", "07:00"]);
    assert_eq!((came.has("the old ones stay"), came.has("apply from the next")), (1, 1));
}

#[test]
fn it_says_what_it_does_and_what_is_wrong() {
    let at = |time: &str| moment(&format!("2026-01-01T{time}:00Z"));
    let script = [
        (30 * MINUTE, Deed::Settings("every = \"soon\"")),
        (40 * MINUTE, Deed::Settings("every = \"2h\"")),
        (150 * MINUTE, Deed::Settings("every = \"2h\"\npause = \"on\"")),
    ];
    let came = watched("every = \"1h\"", "2026-01-01T00:00:00Z", 1, &script);
    let states: Vec<_> = came
        .states
        .iter()
        .map(|it| {
            (it.phase, it.late_after.map(|late| late.millis() / HOUR - at("00:00").millis() / HOUR), it.fault.is_some())
        })
        .collect();
    assert_eq!(
        states,
        [
            (WatchPhase::Running(at("00:00")), Some(2), false),
            (WatchPhase::Due(at("01:00")), Some(3), false),
            (WatchPhase::Due(at("01:00")), Some(3), true),
            (WatchPhase::Due(at("01:00")), Some(5), false),
            (WatchPhase::Due(at("02:00")), Some(6), false),
            (WatchPhase::Running(at("02:00")), Some(6), false),
            (WatchPhase::Due(at("04:00")), Some(8), false),
            (WatchPhase::Due(at("04:00")), Some(8), false),
            (WatchPhase::Paused, None, false),
        ]
    );
}
