//! [`FailPoint`]: dying on purpose between two durable steps.

use std::{str::FromStr, sync::atomic::AtomicU64, sync::atomic::Ordering};

use thiserror::Error;

/// The named moments at which a process can be made to kill itself, for tests of kill and resume.
const NAMES: &[&str] = &[
    "after_create",
    "after_begin_sequence",
    "after_due",
    "after_links_to_check",
    "after_unsure_pages",
    "before_step",
    "inside_step",
    "after_step",
    "before_commit",
    "after_commit",
    "before_checkpoint",
    "after_checkpoint",
    "before_refill",
    "before_replay",
    "after_replay",
    "before_sweep",
    "inside_sweep",
    "after_sweep",
    "before_end",
    "inside_end",
    "after_end",
    "before_close",
];

/// Kills this process at the n-th passage of a named moment, as `kill -9` would. Given as `NAME:N`.
#[derive(Debug)]
pub struct FailPoint {
    name: &'static str,
    left: AtomicU64,
}

/// A text that is no `NAME:N`.
#[derive(Debug, Error)]
#[error("fail point {0:?} is not NAME:N with N from 1 and a known NAME")]
pub struct BadFailPoint(String);

impl FailPoint {
    /// The names there are.
    pub fn names() -> &'static [&'static str] {
        NAMES
    }

    /// Dies if this is the moment.
    pub(super) fn pass(point: Option<&Self>, name: &'static str) {
        debug_assert!(NAMES.contains(&name));
        if let Some(point) = point.filter(|point| point.name == name)
            && point.left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            std::process::abort();
        }
    }
}

impl FromStr for FailPoint {
    type Err = BadFailPoint;

    fn from_str(text: &str) -> Result<Self, BadFailPoint> {
        let bad = || BadFailPoint(text.to_owned());
        let (name, count) = text.split_once(':').ok_or_else(bad)?;
        let name = NAMES.iter().find(|known| **known == name).ok_or_else(bad)?;
        let count: u64 = count.parse().ok().filter(|count| *count > 0).ok_or_else(bad)?;
        Ok(Self { name, left: AtomicU64::new(count) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_name_and_count() {
        assert!("before_commit:3".parse::<FailPoint>().is_ok());
        for bad in ["before_commit", "before_commit:0", "nowhere:1", ""] {
            assert!(bad.parse::<FailPoint>().is_err(), "{bad}");
        }
    }
}
