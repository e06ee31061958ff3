//! The flags that say what a crawl may take of this machine.

use clap::Args;

use super::values::text;
use crate::config::RawSettings;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "This machine")]
pub(super) struct MachineFlags {
    /// Most memory of the whole process [default: auto]
    ///
    /// `auto` is nine tenths of what the container allows, and no limit where there is none. The URL cache and the queue are made to
    /// fit. When memory is short, fewer requests are made at once.
    #[arg(long, value_name = "SIZE|auto|unlimited")]
    max_memory: Option<String>,
    /// Room that is left free on the disk of the crawl directory [default: 64MiB]
    ///
    /// If there is less, nothing is fetched until there is more.
    #[arg(long, value_name = "SIZE|none")]
    min_free_disk: Option<String>,
}

impl MachineFlags {
    pub(super) fn apply(&self, raw: &mut RawSettings) {
        raw.machine.max_memory = text(self.max_memory.as_ref());
        raw.machine.min_free_disk = text(self.min_free_disk.as_ref());
    }
}
