//! What a crawl may take of this machine: how its settings fit into the memory, and what reads how much there is.

use std::path::Path;

use super::{CommandFailure, open_files::OpenFiles};
use crate::{
    config::{LEAST_MEMORY, MemoryChoice, Settings},
    engine::{Gauge, MachineReading},
    observe::{cgroup, figures::size, process},
};

/// Of what a container allows, the process takes so much, in percent: the rest is the system's.
const CONTAINER_PERCENT: u64 = 90;

/// The URL cache may take one part in so many of the memory,
const CACHE_PART: u64 = 4;
/// and the queue one in so many,
const QUEUE_PART: u64 = 8;
/// where a URL takes this many bytes.
const QUEUED_URL: u64 = 300;

/// A crawl beside others takes this much at least.
const LEAST_SHARE: u64 = 4 << 20;

/// Reads how much there is for the crawl in a directory.
pub(crate) fn gauge(dir: &Path) -> Gauge {
    let dir = dir.to_owned();
    Gauge::new(move || {
        // Some file systems do not say how large they are.
        let disk = rustix::fs::statvfs(&dir).ok().filter(|disk| disk.f_blocks > 0);
        let bytes = |blocks: u64, of: u64| blocks.saturating_mul(of);
        MachineReading {
            free_disk: disk.as_ref().map(|disk| bytes(disk.f_bavail, disk.f_frsize)),
            whole_disk: disk.as_ref().map(|disk| bytes(disk.f_blocks, disk.f_frsize)),
            memory: process::memory(),
        }
    })
}

/// Has the settings of a crawl, one of so many in this process, fit into the memory, and into the files that may be open.
pub(crate) fn fit(settings: &mut Settings, crawls: u64) -> Result<OpenFiles, CommandFailure> {
    fit_into(settings, crawls, cgroup::memory_limit())?;
    OpenFiles::for_crawl(&mut settings.politeness, crawls)
}

fn fit_into(settings: &mut Settings, crawls: u64, container: Option<u64>) -> Result<(), CommandFailure> {
    let most = match (settings.machine.max_memory, container) {
        (MemoryChoice::Unlimited, _) | (MemoryChoice::Container, None) => return Ok(()),
        (MemoryChoice::Most(most), _) => most,
        (MemoryChoice::Container, Some(limit)) if limit < LEAST_MEMORY => {
            let (limit, least) = (size(limit), size(LEAST_MEMORY));
            let why =
                format!("this container allows {limit} of memory, but at least {least} are needed: raise its limit");
            return Err(CommandFailure::Usage(why));
        }
        (MemoryChoice::Container, Some(limit)) => limit / 100 * CONTAINER_PERCENT,
    };
    settings.machine.max_memory = MemoryChoice::Most(most);
    let share = most / crawls.max(1);
    // A cache that cannot lose a URL would end the crawl instead.
    if settings.cache.strategy != urlcache::Strategy::Exact {
        settings.cache.max_memory.get_or_insert(share / CACHE_PART);
    }
    let queued = (share / QUEUE_PART / QUEUED_URL).max(u64::from(settings.frontier.heads_per_host));
    settings.frontier.heads =
        u32::try_from(queued).map_or(settings.frontier.heads, |most| most.min(settings.frontier.heads));
    if share < LEAST_SHARE {
        tracing::warn!(most, crawls, "this is little memory for so many crawls: each takes some 3 MB at least");
    }
    let (cache, queued) = (settings.cache.max_memory, settings.frontier.heads);
    tracing::info!(
        most,
        cache,
        queued,
        "memory is limited (machine.max_memory), and so are the URL cache and the queued URLs in memory"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Memory of the URL cache, and queued URLs.
    fn fitted(most: MemoryChoice, crawls: u64, container: Option<u64>) -> Result<(Option<u64>, u32), String> {
        let mut settings = Settings::default();
        settings.machine.max_memory = most;
        fit_into(&mut settings, crawls, container).map_err(|failure| failure.to_string())?;
        Ok((settings.cache.max_memory, settings.frontier.heads))
    }

    #[test]
    fn cache_and_queue_get_their_parts() {
        let free = Ok((None, 100_000));
        assert_eq!(fitted(MemoryChoice::Container, 1, None), free);
        assert_eq!(fitted(MemoryChoice::Unlimited, 1, Some(64 * MIB)), free);
        assert_eq!(fitted(MemoryChoice::Most(64 * MIB), 1, None), Ok((Some(16 * MIB), 27_962)));
        assert_eq!(fitted(MemoryChoice::Most(64 * MIB), 2, None), Ok((Some(8 * MIB), 13_981)));
        assert_eq!(fitted(MemoryChoice::Most(64 * MIB), 1_000, None), Ok((Some(16_777), 1_000)));
        assert_eq!(fitted(MemoryChoice::Container, 1, Some(1_000 * MIB)), Ok((Some(235_929_600), 100_000)));
        let refused = fitted(MemoryChoice::Container, 1, Some(LEAST_MEMORY - 1)).unwrap_err();
        assert!(refused.contains("at least 33.6 MB"), "{refused}");
    }
}
