//! [`Gauge`]: reads what is left of the machine that a crawl runs on. What follows from it, the limits of the core decide.

use std::fmt;

/// What was read; `None` where the machine does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineReading {
    /// Bytes free on the disk of the crawl directory.
    pub free_disk: Option<u64>,
    /// Bytes that it has in all.
    pub whole_disk: Option<u64>,
    /// Resident memory of this process, in bytes.
    pub memory: Option<u64>,
}

/// Of a small disk, one part in so many is enough.
const DISK_PART: u64 = 10;

impl MachineReading {
    /// Bytes free on the disk, and those that must be: the setting, or less on a small disk. `None` where the disk does not tell.
    pub fn disk(&self, setting: u64) -> Option<(u64, u64)> {
        let most = self.whole_disk.map_or(u64::MAX, |whole| whole / DISK_PART);
        Some((self.free_disk?, setting.min(most)))
    }
}

/// What reads it.
pub struct Gauge(Box<dyn Fn() -> MachineReading + Send>);

impl Gauge {
    /// One that reads in this way.
    pub fn new(read: impl Fn() -> MachineReading + Send + 'static) -> Self {
        Self(Box::new(read))
    }

    /// Reads it.
    pub fn read(&self) -> MachineReading {
        (self.0)()
    }
}

impl fmt::Debug for Gauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gauge")
    }
}
