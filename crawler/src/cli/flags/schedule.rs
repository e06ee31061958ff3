//! [`ScheduleFlags`]: the flags of a watched crawl.
//!
//! Does not know: how start times follow from them.

use clap::Args;

use super::values::{list, text};
use crate::config::{RawSettings, RawValue, SecretText, SecretValue};

/// When sequences begin.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Schedule")]
pub struct ScheduleFlags {
    /// Interval between starts, such as 6h [default: none]
    ///
    /// The interval goes from the start of one crawl sequence to the start of the next. Give this or --cron.
    #[arg(long, value_name = "DURATION", conflicts_with = "cron")]
    every: Option<String>,
    /// Start times as a cron line [default: none]
    ///
    /// Minute, hour, day of the month, month and day of the week, such as '0 3 * * *' for 3 o'clock every day. Also
    /// @hourly, @daily, @weekly, @monthly and @yearly. Give this or --every.
    #[arg(long, value_name = "LINE")]
    cron: Option<String>,
    /// Time zone of --cron and --window, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// Part of the week in which sequences may start; may be repeated [default: none]
    ///
    /// Such as 'mon-fri 22:00-06:00'. A sequence that is due outside all windows waits until the next one opens. A
    /// sequence that is running when a window closes goes on.
    #[arg(long, value_name = "WINDOW")]
    window: Vec<String>,
    /// What to do if a sequence is still running when the next one is due [default: skip]
    ///
    /// `skip` leaves out the next one. `queue` starts it when the running one ends. `restart` stops the running one and
    /// starts the next one at once.
    #[arg(long, value_name = "skip|queue|restart")]
    overlap: Option<String>,
    /// Move each start by up to a tenth of the interval [default: off]
    ///
    /// Use it if many crawls have the same schedule, so that they do not all start at once.
    #[arg(long, value_name = "on|off")]
    spread: Option<String>,
    /// Ask for this URL after each sequence [default: none]
    ///
    /// Whoever listens there hears that the watch lives, such as a service that warns you when nothing comes. Webloom tries three
    /// times, for 10 seconds each, and never prints the URL.
    #[arg(long, value_name = "URL")]
    heartbeat: Option<SecretText>,
    /// Also visit single pages in between [default: off]
    ///
    /// Between two sequences, Webloom visits the pages that are most likely to have changed. --policy and --budget say
    /// which ones and how many. Use --adaptive=off to switch it off again.
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", require_equals = true)]
    adaptive: Option<String>,
    /// How --adaptive divides its visits among the pages [default: optimal]
    ///
    /// `fixed` visits all pages in turn. `multiplicative` shortens the interval of a page after a change and lengthens
    /// it if nothing has changed. `optimal` estimates how often each page changes and aims at the greatest expected
    /// freshness.
    #[arg(long, value_name = "fixed|multiplicative|optimal")]
    policy: Option<String>,
    /// Number of visits that --adaptive may make [default: 1000/day]
    #[arg(long, value_name = "N/day|N/hour")]
    budget: Option<String>,
    /// Visit matching pages at an interval of their own; may be repeated [default: none]
    ///
    /// Such as '/news/=1h'. The first rule that matches the URL of a page sets its interval. These visits do not count
    /// against --budget.
    #[arg(long, value_name = "REGEX=INTERVAL")]
    section: Vec<String>,
}

impl ScheduleFlags {
    /// The layer of settings that these flags are.
    pub fn overlay(&self) -> RawSettings {
        let mut raw = RawSettings::default();
        raw.schedule.every = text(self.every.as_ref());
        raw.schedule.cron = text(self.cron.as_ref());
        raw.schedule.tz = text(self.tz.as_ref());
        raw.schedule.windows = list(&self.window);
        raw.schedule.overlap = text(self.overlap.as_ref());
        raw.schedule.spread = text(self.spread.as_ref());
        raw.schedule.heartbeat = self.heartbeat.as_ref().map(|url| SecretValue::new(RawValue::text(url.reveal())));
        raw.revisit.adaptive = text(self.adaptive.as_ref());
        raw.revisit.policy = text(self.policy.as_ref());
        raw.revisit.budget = text(self.budget.as_ref());
        raw.revisit.sections = list(&self.section);
        raw
    }
}
