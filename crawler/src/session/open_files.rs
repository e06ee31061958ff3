//! [`OpenFiles`]: how many requests and idle connections the limit of open files has room for.

use std::num::NonZeroU32;

use rustix::process::{Resource, getrlimit, setrlimit};

use super::CommandFailure;
use crate::config::PolitenessSettings;

/// Files beside connections: the terminal, the runtime's, the database with its log, the lock, the sweep's, the reader of
/// the summary.
const OTHERS: u64 = 24;

/// A request may hold two: a look-up and a connection, or two connections of which the first to answer is taken.
const A_REQUEST: u64 = 2;

/// Idle connections at most, however many files may be open: each takes some 20 KB of memory.
const MOST_IDLE: u64 = 1_000;

/// Room for idle connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    /// Origins whose connections are kept.
    pub(crate) kept_origins: usize,
    /// Connections of each.
    pub(crate) kept_per_origin: usize,
}

/// As many files may be open as the system allows.
pub(crate) fn raise() {
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    // Where it is not allowed the limit stays as it was, and is reckoned with.
    let _ = setrlimit(Resource::Nofile, files);
}

impl OpenFiles {
    /// Shares the files that may be open between requests and idle connections. Where they are too few, there are fewer
    /// requests at once, and a warning.
    /// What the process has is shared among so many crawls.
    pub(crate) fn for_crawl(politeness: &mut PolitenessSettings, crawls: u64) -> Result<Self, CommandFailure> {
        Self::within(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) / crawls.max(1), politeness)
    }

    fn within(limit: u64, politeness: &mut PolitenessSettings) -> Result<Self, CommandFailure> {
        let free = limit.saturating_sub(OTHERS);
        let most = u32::try_from(free / (A_REQUEST + 1)).unwrap_or(u32::MAX);
        let Some(most) = NonZeroU32::new(most) else {
            let least = OTHERS + A_REQUEST + 1;
            let why =
                format!("only {limit} files may be open at once, but {least} are needed: raise the limit (ulimit -n)");
            return Err(CommandFailure::Usage(why));
        };
        if politeness.concurrency > most {
            let wanted = politeness.concurrency;
            tracing::warn!(
                files = limit,
                "at most {most} requests in flight instead of {wanted}, because few files may be open (ulimit -n)"
            );
            politeness.concurrency = most;
        }
        let idle = (free - A_REQUEST * u64::from(politeness.concurrency.get())).min(MOST_IDLE);
        let per_origin = u64::from(politeness.per_host.min(politeness.concurrency).get()).min(idle);
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Ok(Self { kept_origins: count(idle / per_origin.max(1)), kept_per_origin: count(per_origin) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn within(limit: u64, concurrency: u32, per_host: u32) -> Option<(u32, usize, usize)> {
        let mut politeness = Settings::default().politeness;
        politeness.concurrency = NonZeroU32::new(concurrency).unwrap();
        politeness.per_host = NonZeroU32::new(per_host).unwrap();
        let files = OpenFiles::within(limit, &mut politeness).ok()?;
        let concurrency = politeness.concurrency.get();
        let used = u64::from(concurrency) * A_REQUEST + (files.kept_origins * files.kept_per_origin) as u64 + OTHERS;
        assert!(used <= limit, "{used} of {limit}");
        Some((concurrency, files.kept_origins, files.kept_per_origin))
    }

    #[test]
    fn requests_and_idle_connections_share_what_there_is() {
        assert_eq!(within(1024, 64, 1), Some((64, 872, 1)));
        assert_eq!(within(1024, 64, 16), Some((64, 54, 16)));
        assert_eq!(within(20_000, 64, 2), Some((64, 500, 2)));
        assert_eq!(within(64, 64, 1), Some((13, 14, 1)));
        assert_eq!(within(64, 64, 64), Some((13, 1, 13)));
        assert_eq!(within(27, 1, 1), Some((1, 1, 1)));
        assert_eq!(within(26, 1, 1), None);
    }
}
