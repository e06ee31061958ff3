//! Snapshots: a cache as bytes, and back.
//!
//! Owns the format, version 1: the mark `URLCACHE`, the version (u32), a body, and the xxh3-64 of all before it. Numbers
//! are little-endian; the body is the cache's counts, then its filters, one inside the other, each after a tag byte.
//! Invariants: whatever the bytes are, reading neither panics nor allocates more than they justify; what is read answers
//! as what was written; what can be counted (bits set, tags stored) is counted anew, not believed.
//!
//! A snapshot holds the hash seed: it is as secret as that.

mod reader;

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use crate::exact::ExactCache;
use crate::filtered::FilterCache;
use crate::port::UrlCache;
pub(crate) use reader::SnapshotReader;

const MARK: &[u8; 8] = b"URLCACHE";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// Bytes of mark and version, and of the checksum at the end.
const FRAME: (usize, usize) = (12, 8);

/// The first byte of a body.
const EXACT: u8 = 0;
const FILTERED: u8 = 1;
const EXACT_ROTATING: u8 = 2;

/// A cache that can be written down.
///
/// ```
/// use urlcache::{Answer, ExactCache, Snapshot, UrlCache, UrlKey, restore};
///
/// let mut cache = ExactCache::new();
/// let key = UrlKey { bytes: b"http://h/", hash: 1 << 90 };
/// cache.insert(key);
/// let mut again = restore(&cache.snapshot())?;
/// assert_eq!(again.insert(key), Answer::Seen);
/// # Ok::<(), urlcache::SnapshotError>(())
/// ```
pub trait Snapshot: UrlCache {
    /// The cache as bytes.
    fn snapshot(&self) -> Vec<u8>;
}

/// Why bytes are no snapshot.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SnapshotError {
    /// They do not begin like one.
    #[error("this is not a snapshot of a URL cache")]
    Foreign,
    /// They were written by a later version of the library.
    #[error("the snapshot has format {found}, this library reads {VERSION}")]
    Newer {
        /// The format's number.
        found: u32,
    },
    /// They are cut short or changed.
    #[error("the snapshot is damaged: its checksum does not match")]
    Damaged,
    /// The checksum fits, and yet it means nothing.
    #[error("the snapshot makes no sense: {0}")]
    Senseless(&'static str),
    /// There is no memory for what it holds.
    #[error("no memory for a snapshot of {bytes} bytes")]
    Memory {
        /// Its length.
        bytes: usize,
    },
}

/// The cache that a snapshot holds.
///
/// # Errors
/// [`SnapshotError`].
pub fn restore(bytes: &[u8]) -> Result<Box<dyn Snapshot>, SnapshotError> {
    let mut body = SnapshotReader::new(body(bytes)?);
    let cache: Box<dyn Snapshot> = match body.u8()? {
        EXACT => Box::new(ExactCache::read(&mut body)?),
        EXACT_ROTATING => Box::new(ExactCache::read_rotating(&mut body)?),
        FILTERED => Box::new(FilterCache::read(&mut body)?),
        _ => return Err(SnapshotError::Senseless("unknown kind of cache")),
    };
    body.end()?;
    Ok(cache)
}

/// The same bytes with a checksum that fits, so that a fuzzer gets beyond it. For tests.
#[doc(hidden)]
pub fn reseal(bytes: &[u8]) -> Vec<u8> {
    let body = bytes.get(..bytes.len().saturating_sub(FRAME.1)).unwrap_or_default();
    [body, &xxh3_64(body).to_le_bytes()].concat()
}

/// What lies between the version and the checksum, both of which fit.
fn body(bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    let (head, tail) = FRAME;
    let rest = bytes.strip_prefix(MARK).ok_or(SnapshotError::Foreign)?;
    let version = rest.first_chunk().ok_or(SnapshotError::Damaged)?;
    let found = u32::from_le_bytes(*version);
    if found > VERSION {
        return Err(SnapshotError::Newer { found });
    }
    let (before, sum) = bytes.split_last_chunk::<8>().ok_or(SnapshotError::Damaged)?;
    if bytes.len() < head + tail || found != VERSION || xxh3_64(before) != u64::from_le_bytes(*sum) {
        return Err(SnapshotError::Damaged);
    }
    Ok(&before[head..])
}

/// The number of a choice: its place in the list, which only ever grows at its end.
pub(crate) fn number<T: Copy + PartialEq>(choices: &[T], choice: T) -> u8 {
    let place = choices.iter().position(|other| *other == choice);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX)
}

/// The choice of a number.
pub(crate) fn named<T: Copy>(choices: &[T], number: u8) -> Result<T, SnapshotError> {
    choices.get(usize::from(number)).copied().ok_or(SnapshotError::Senseless("an unknown choice"))
}

/// A snapshot around what `write` writes.
fn framed(kind: u8, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = [&MARK[..], &VERSION.to_le_bytes(), &[kind]].concat();
    write(&mut bytes);
    let sum = xxh3_64(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

impl Snapshot for ExactCache {
    fn snapshot(&self) -> Vec<u8> {
        framed(if self.rotates() { EXACT_ROTATING } else { EXACT }, |out| self.write(out))
    }
}

impl Snapshot for FilterCache {
    fn snapshot(&self) -> Vec<u8> {
        framed(FILTERED, |out| self.write(out))
    }
}

#[cfg(test)]
mod tests;
