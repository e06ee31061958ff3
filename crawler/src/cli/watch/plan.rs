//! [`WatchPlan`]: what the settings say of the sequences to come.

use super::super::{CommandFailure, session::ProgramSession};
use crate::{
    config::{Overlap, Pause},
    engine,
    schedule::{Hours, Schedule, ScheduleError},
};

/// What the settings say of sequences to come.
#[derive(Debug, Clone)]
pub(in crate::cli) struct WatchPlan {
    pub(in crate::cli) schedule: Schedule,
    pub(in crate::cli) overlap: Overlap,
    /// When requests are made.
    pub(in crate::cli) hours: Hours,
    /// Whether nothing begins for now.
    pub(in crate::cli) paused: bool,
}

impl WatchPlan {
    /// What the settings of a session say, and the session with one rhythm; `name` tells the crawl from others with the same one.
    ///
    /// # Errors
    /// When they are wrong, or there is no rhythm.
    pub(in crate::cli) fn of(
        mut session: ProgramSession,
        stored: Option<&str>,
        name: &str,
    ) -> Result<(ProgramSession, Self), CommandFailure> {
        let given = session.layers.clone();
        let all = stored.map_or_else(|| given.clone(), |stored| given.clone().stored(stored));
        session.layers = given.flags(&all.weaker_rhythm()?);
        let resolved = session.settings(stored)?;
        resolved.refuse_slow_sections()?;
        let settings = resolved.settings;
        engine::check(&settings, None)?;
        let schedule = settings.schedule.schedule(name).map_err(|error| {
            CommandFailure::Usage(match error {
                ScheduleError::NoRhythm => {
                    "say how often to crawl (--every 6h) or when (--cron '0 3 * * *')".to_owned()
                }
                other => other.to_string(),
            })
        })?;
        let paused = settings.schedule.pause == Pause::On;
        let hours = Hours::new(settings.politeness.hours, settings.schedule.tz);
        Ok((session, Self { schedule, overlap: settings.schedule.overlap, hours, paused }))
    }
}
