//! Keys: URLs as a crawler meets them, without end, or those of a file.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use urlcache::{HashSeed, UrlKey};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::lines::Lines;

/// The secret under which these keys have their fingerprints.
const FINGERPRINT_SEED: u64 = 0x6b65_7973;

/// URL number `index`, of 71 bytes: a million hosts' worth of folders, so that segments repeat.
pub(crate) fn url(index: u64) -> String {
    let mixed = HashSeed::new(index).derive(0, 0).value();
    format!("https://docs{:03}.example.org/library/{:06x}/{mixed:016x}-{index:011}.html", index % 997, mixed >> 44)
}

/// The key of a URL.
#[inline]
pub(crate) fn key(url: &str) -> UrlKey<'_> {
    UrlKey { bytes: url.as_bytes(), hash: xxh3_128_with_seed(url.as_bytes(), FINGERPRINT_SEED) }
}

/// The lines of a file, at most `most` of them; a file whose name ends in `.zst` is decompressed.
///
/// # Errors
/// The file cannot be read, is no UTF-8, has no line, or one that is longer than 1 MiB.
pub(crate) fn lines(path: &Path, most: usize) -> Result<Vec<String>> {
    let (mut input, mut lines) = (Lines::of(path)?, Vec::new());
    while lines.len() < most
        && let Some(line) = input.next()?
    {
        let text = std::str::from_utf8(line).map(str::to_owned);
        lines.push(text.with_context(|| format!("cannot read {}", input.place()))?);
    }
    ensure!(!lines.is_empty(), "{} has no line", path.display());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_plain_and_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let [plain, packed, empty] = ["urls.txt", "urls.txt.zst", "empty"].map(|name| folder.path().join(name));
        std::fs::write(&plain, "http://h/1\nhttp://h/2\n").unwrap();
        std::fs::write(&packed, zstd::encode_all(&b"http://h/1\nhttp://h/2\n"[..], 3).unwrap()).unwrap();
        std::fs::write(&empty, "").unwrap();
        assert_eq!(lines(&plain, 9).unwrap(), ["http://h/1", "http://h/2"]);
        assert_eq!(lines(&packed, 1).unwrap(), ["http://h/1"]);
        for path in [&empty, &folder.path().join("missing")] {
            assert!(lines(path, 9).unwrap_err().to_string().contains(&path.display().to_string()));
        }
        std::fs::write(&packed, zstd::encode_all(&b"a\n\xff\n"[..], 3).unwrap()).unwrap();
        assert!(lines(&packed, 9).unwrap_err().to_string().contains("urls.txt.zst:2"));
    }
}
