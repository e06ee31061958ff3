//! `watch.json` of a crawl directory: what a watched crawl does, for whoever looks from outside.
//!
//! It is a file of its own: it can be read whatever has become of the database and of the process.

use std::{fs, io::ErrorKind, path::Path, str::FromStr};

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
    /// From when on that is late.
    late_after: Option<String>,
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
    let written = Written { state: word, at, late_after: state.late_after.and_then(shown), fault: state.fault.clone() };
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

fn moment(text: &str) -> Option<Moment> {
    let at = Timestamp::from_str(text).ok()?;
    u64::try_from(at.as_millisecond()).ok().map(Moment::from_millis)
}

fn parse(text: &str) -> Option<WatchState> {
    let Written { state, at, late_after, fault } = serde_json::from_str(text).ok()?;
    let late_after = late_after.as_deref().map(moment);
    let at = || at.as_deref().and_then(moment);
    let phase = match state {
        Word::Waiting => WatchPhase::Due(at()?),
        Word::Running => WatchPhase::Running(at()?),
        Word::Paused => WatchPhase::Paused,
        Word::Done => WatchPhase::Done,
    };
    // One that is not understood is no reason to be never late.
    let late_after = match late_after {
        Some(late_after) => Some(late_after?),
        None => None,
    };
    Some(WatchState { phase, late_after, fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let at = Moment::from_millis(1_767_225_600_500);
        for phase in [WatchPhase::Due(at), WatchPhase::Running(at), WatchPhase::Paused, WatchPhase::Done] {
            for fault in [None, Some("why \"so\"\n".to_owned())] {
                let state = WatchState { phase, late_after: fault.as_ref().map(|_| at), fault };
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
        for text in ["", "{}", "{\"state\":\"waiting\"}", "{\"state\":\"paused\",\"late_after\":\"soon\"}"] {
            fs::write(folder.path().join(NAME), text).unwrap();
            assert!(read(folder.path()).is_err_and(|why| why.contains("not understood")), "{text}");
        }
    }
}
