//! Whether a watched crawl is on time. `webloom healthcheck` and the management port both say it by this rule.
//!
//! Does not know: when a sequence or a page is due (the watch writes that down), and who asks.

use std::path::Path;

use super::state_file;
use crate::{
    config::Layers,
    observe::figures,
    schedule::{Late, WatchPhase, WatchState},
    session::{
        CommandFailure,
        directory::{self, CrawlDirectory},
    },
    store::ReadSide as _,
    time::Moment,
};

/// Whether a crawl is on time.
#[derive(Debug, Clone)]
pub(crate) struct OnTime {
    /// Whether nothing is late.
    pub(crate) is_well: bool,
    /// What it does, or what is wrong.
    pub(crate) why: String,
}

impl OnTime {
    /// Whether the crawl of a directory is, by what the watch has written there.
    pub(crate) fn of_directory(dir: &Path, now: Moment) -> Self {
        let of = |is_well, why| Self { is_well, why };
        match state_file::read(dir) {
            Err(why) => of(false, why),
            Ok(None) if CrawlDirectory::exists(dir) => of(true, "is not watched".to_owned()),
            Ok(None) => of(false, "holds no crawl".to_owned()),
            Ok(Some(state)) => Self::of(dir, &state, now),
        }
    }

    /// Whether a crawl in this state is.
    pub(super) fn of(dir: &Path, state: &WatchState, now: Moment) -> Self {
        match problem(dir, state, now) {
            Some(why) => Self { is_well: false, why },
            None => Self { is_well: true, why: phase(state.phase) },
        }
    }
}

/// What a crawl does that is on time.
fn phase(phase: WatchPhase) -> String {
    match phase {
        WatchPhase::Due(due) => format!("on time: the next sequence is due at {}", shown(due)),
        WatchPhase::Running(since) => format!("on time: a sequence has been running since {}", shown(since)),
        WatchPhase::Paused => "paused".to_owned(),
        WatchPhase::Done => "done: all sequences were run that were asked for".to_owned(),
    }
}

/// What is wrong, if anything is.
fn problem(dir: &Path, state: &WatchState, now: Moment) -> Option<String> {
    match state.late(now) {
        Some(Late::Fault(why)) => Some(why),
        Some(Late::Start(due)) => Some(format!("late: a sequence was due at {}, and has not begun", shown(due))),
        Some(Late::End(since)) => {
            Some(format!("late: a sequence has been running since {}, for more than two intervals", shown(since)))
        }
        None => late_page(dir, state, now).unwrap_or_else(|failure| Some(failure.to_string())),
    }
}

/// Whether pages with an interval of their own wait for too long.
fn late_page(dir: &Path, state: &WatchState, now: Moment) -> Result<Option<String>, CommandFailure> {
    if !CrawlDirectory::exists(dir) {
        return Ok(None);
    }
    let records = directory::records(dir)?;
    let Some(settings) = records.settings()? else { return Ok(None) };
    let settings = Layers::new().stored(&settings).resolve()?.settings;
    if settings.revisit.sections.is_empty() || !settings.politeness.hours.is_empty() {
        return Ok(None);
    }
    let visited = records.longest_unvisited(&settings.revisit.sections)?;
    let rules = settings.revisit.sections.rules().iter().zip(visited);
    let due = rules.filter_map(|(rule, visited)| Some((rule, visited? + rule.interval)));
    let late = due.filter(|(rule, due)| state.is_page_late(*due, rule.interval, now)).min_by_key(|(_, due)| *due);
    Ok(late.map(|(rule, due)| format!("late: a page of {} was due at {}", rule.pattern, shown(due))))
}

fn shown(moment: Moment) -> String {
    figures::rfc3339(moment.whole_second())
}
