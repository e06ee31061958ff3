//! `[schedule]`.

use std::{fmt, marker::PhantomData, time::Duration};

use crate::{
    config::{
        reader::KeyReader,
        rules::{DurationRange, Each, OneOf, Parsed, Unless, words},
    },
    schedule::{CronLine, Once, Rhythm, Schedule, ScheduleError, Window, Zone},
    url::WebUrl,
};

pub(in crate::config) const EVERY: &str = "schedule.every";
pub(in crate::config) const CRON: &str = "schedule.cron";

const CRON_LINES: Parsed<Option<CronLine>> =
    Parsed { allowed: "a cron line such as \"0 3 * * *\" or \"@daily\", or \"none\"", parse: cron };

const TIMES: Parsed<Option<Once>> = Parsed {
    allowed: "a time such as \"2026-03-01T05:00:00Z\", or \"2026-03-01 05:00\" in the time zone schedule.tz, or \"none\"",
    parse: once,
};

const ZONES: Parsed<Zone> =
    Parsed { allowed: "a name such as Europe/Berlin or UTC", parse: |text| shown(Zone::parse(text)) };

pub(super) const WINDOWS: Each<Window> =
    Each(Parsed { allowed: "a window such as \"mon-fri 22:00-06:00\"", parse: |text| shown(Window::parse(text)) });

const HEARTBEAT: Parsed<HeartbeatUrl> = Parsed { allowed: "an http or https URL", parse: heartbeat };

words! {
    /// What becomes of a start that is due while a sequence runs.
    Overlap {
        /// It is left out.
        Skip = "skip",
        /// It comes right after.
        Queue = "queue",
        /// It comes at once.
        Restart = "restart",
    }
}

words! {
    /// Whether starts are moved to the crawl's place among others.
    Spread {
        /// They are.
        On = "on",
        /// They are not.
        Off = "off",
    }
}

words! {
    /// Whether sequences are held back for now.
    Pause {
        /// None begins.
        On = "on",
        /// They come as they are due.
        Off = "off",
    }
}

/// When the next sequence begins.
#[derive(Debug, Clone)]
pub struct ScheduleSettings {
    /// Time from one start to the next.
    pub every: Option<Duration>,
    /// Times of start.
    pub cron: Option<CronLine>,
    /// The zone of cron line and windows.
    pub tz: Zone,
    /// Parts of the week in which sequences may begin; empty where there is no such limit.
    pub windows: Vec<Window>,
    /// What becomes of a start that is due while a sequence runs.
    pub overlap: Overlap,
    /// Whether starts are moved.
    pub spread: Spread,
    /// One more start.
    pub also_at: Option<Once>,
    /// Whether nothing begins for now.
    pub pause: Pause,
    /// What is asked for after each sequence.
    pub heartbeat: Option<HeartbeatUrl>,
}

/// A URL that lets whoever listens there know that all is well. Who knows it can say so too: it does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct HeartbeatUrl(pub WebUrl);

impl fmt::Debug for HeartbeatUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeartbeatUrl(secret)")
    }
}

impl ScheduleSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let span = DurationRange(Duration::from_secs(1)..=Duration::from_hours(24 * 3650));
        Self {
            every: reader.read(EVERY, &Unless { word: "none", rule: span }),
            cron: reader.read(CRON, &CRON_LINES),
            tz: reader.read("schedule.tz", &ZONES),
            windows: reader.read("schedule.windows", &WINDOWS),
            overlap: reader.read("schedule.overlap", &OneOf(PhantomData)),
            spread: reader.read("schedule.spread", &OneOf(PhantomData)),
            also_at: reader.read("schedule.also_at", &TIMES),
            pause: reader.read("schedule.pause", &OneOf(PhantomData)),
            heartbeat: reader.read("schedule.heartbeat", &Unless { word: "none", rule: HEARTBEAT }),
        }
    }

    /// The schedule of a crawl that has this name among others.
    ///
    /// # Errors
    /// [`ScheduleError`] when neither `every` nor `cron` is set, or both are.
    pub fn schedule(&self, name: &str) -> Result<Schedule, ScheduleError> {
        let rhythm = Rhythm::one_of(self.every, self.cron.clone())?;
        let schedule = Schedule::new(rhythm, self.tz.clone()).within(self.windows.clone()).also(self.also_at.as_ref());
        Ok(if self.spread == Spread::On { schedule.spread_by(name) } else { schedule })
    }
}

fn cron(text: &str) -> Result<Option<CronLine>, String> {
    if text == "none" { Ok(None) } else { shown(CronLine::parse(text)).map(Some) }
}

fn heartbeat(text: &str) -> Result<HeartbeatUrl, String> {
    WebUrl::parse(text).map(HeartbeatUrl).map_err(|_| "it is no such URL".to_owned())
}

fn once(text: &str) -> Result<Option<Once>, String> {
    if text == "none" { Ok(None) } else { shown(Once::parse(text)).map(Some) }
}

fn shown<T>(parsed: Result<T, ScheduleError>) -> Result<T, String> {
    parsed.map_err(|error| error.to_string())
}
