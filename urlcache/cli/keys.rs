//! Keys: URLs as a crawler meets them, without end, or those of a file.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use urlcache::{HashSeed, UrlKey};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The secret under which these keys have their fingerprints.
const FINGERPRINT_SEED: u64 = 0x6b65_7973;

/// How far back a compressed file may refer: 2^27 bytes.
const WINDOW_LOG: u32 = 27;

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
/// The file cannot be read, is no UTF-8, or has no line.
pub(crate) fn lines(path: &Path, most: usize) -> Result<Vec<String>> {
    let what = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(what)?;
    let bytes: Box<dyn Read> = if path.extension().is_some_and(|extension| extension == "zst") {
        let mut decoder = zstd::Decoder::new(file).with_context(what)?;
        decoder.window_log_max(WINDOW_LOG).with_context(what)?;
        Box::new(decoder)
    } else {
        Box::new(file)
    };
    let lines = BufReader::new(bytes).lines().take(most);
    let lines: Vec<String> = lines.collect::<Result<_, _>>().with_context(what)?;
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
    }
}
