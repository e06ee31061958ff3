//! `watch.json` of a crawl directory: what a watched crawl does, for whoever looks from outside.
//!
//! It is a file of its own: it can be read whatever has become of the database and of the process.

use std::{fs, io::ErrorKind, path::Path, str::FromStr, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    observe::figures::rfc3339,
    schedule::{WatchPhase, WatchState},
    time::Moment,
};

/// The name of the file.
pub(crate) const NAME: &str = "watch.json";

/// What the file holds. Times are as RFC 3339 writes them.
#[derive(Serialize, Deserialize)]
struct Written {
    state: Word,
    /// Since when a sequence has been running, or when the next one is due.
    at: Option<String>,
    /// From one start to the next, in milliseconds.
    interval_ms: u64,
    /// What keeps it from going on.
    fault: Option<String>,
}

/// What it does.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Waiting,
    Running,
    Paused,
    Done,
}

/// What the file says of a crawl in this state.
pub(crate) fn text(state: &WatchState) -> String {
    let shown = |moment: Moment| Some(rfc3339(moment));
    let (word, at) = match state.phase {
        WatchPhase::Due(due) => (Word::Waiting, shown(due)),
        WatchPhase::Running(since) => (Word::Running, shown(since)),
        WatchPhase::Paused => (Word::Paused, None),
        WatchPhase::Done => (Word::Done, None),
    };
    let interval_ms = u64::try_from(state.interval.as_millis()).unwrap_or(u64::MAX);
    let written = Written { state: word, at, interval_ms, fault: state.fault.clone() };
    serde_json::to_string(&written).unwrap_or_default() + "\n"
}

/// What the crawl of a directory does; `None` if it was never watched.
///
/// # Errors
/// When the file cannot be read, or is not understood.
pub(super) fn read(dir: &Path) -> Result<Option<WatchState>, String> {
    match fs::read_to_string(dir.join(NAME)) {
        Ok(text) => parse(&text).map(Some).ok_or_else(|| format!("its {NAME} is not understood")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("its {NAME} cannot be read: {error}")),
    }
}

fn parse(text: &str) -> Option<WatchState> {
    let Written { state, at, interval_ms, fault } = serde_json::from_str(text).ok()?;
    let at = || {
        let at = Timestamp::from_str(at.as_deref()?).ok()?;
        u64::try_from(at.as_millisecond()).ok().map(Moment::from_millis)
    };
    let phase = match state {
        Word::Waiting => WatchPhase::Due(at()?),
        Word::Running => WatchPhase::Running(at()?),
        Word::Paused => WatchPhase::Paused,
        Word::Done => WatchPhase::Done,
    };
    Some(WatchState { interval: Duration::from_millis(interval_ms), phase, fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let at = Moment::from_millis(1_767_225_600_500);
        for phase in [WatchPhase::Due(at), WatchPhase::Running(at), WatchPhase::Paused, WatchPhase::Done] {
            for fault in [None, Some("why \"so\"\n".to_owned())] {
                let state = WatchState { interval: Duration::from_millis(1500), phase, fault };
                let text = text(&state);
                assert_eq!(parse(&text), Some(state), "{text}");
                assert_eq!(text.lines().count(), 1);
            }
        }
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()), Ok(None));
        for text in ["", "{}", "{\"state\":\"waiting\",\"interval_ms\":1}", "{\"state\":\"asleep\",\"interval_ms\":1}"]
        {
            fs::write(folder.path().join(NAME), text).unwrap();
            assert!(read(folder.path()).is_err_and(|why| why.contains("not understood")), "{text}");
        }
    }
}
