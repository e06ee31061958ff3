//! Memory of this process, as the system counts it, and of tables, as they are made.

use std::{collections::HashSet, fs};

/// The most memory that was resident at once, in bytes; `None` where the system does not tell.
pub(crate) fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Bytes of the table of a hash set of the standard library: a power of two of places, of which 7 in 8 may be taken, with a byte of
/// tags each.
pub(crate) fn of_hash_set<T>(set: &HashSet<T>) -> u64 {
    (set.capacity() as u64 * 8).div_ceil(7).next_power_of_two() * (size_of::<T>() as u64 + 1)
}
