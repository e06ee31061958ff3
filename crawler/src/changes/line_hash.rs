//! The hash of a line, and the values that it leaves free for marks.

use xxhash_rust::xxh3::xxh3_64;

/// What tells a line that was removed from one that was added.
pub(super) const REMOVED: u64 = 1;

/// The end of an edit in the kept form.
pub(super) const END: u64 = 0;

/// Of a line; never that of the end, and never with the last bit.
pub(super) fn hash(line: &str) -> u64 {
    (xxh3_64(line.as_bytes()) & !REMOVED).max(2)
}
