//! Keys: URLs as a crawler meets them, without end, or those of a file; no line of a file is longer than 1 MiB.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    ops::ControlFlow,
    path::Path,
};

use anyhow::{Context, Result, bail, ensure};
use urlcache::{HashSeed, UrlKey};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The secret under which these keys have their fingerprints.
const FINGERPRINT_SEED: u64 = 0x6b65_7973;

/// How far back a compressed file may refer: 2^27 bytes.
const WINDOW_LOG: u32 = 27;

/// Bytes of a line at most: a file without line ends, or one that was compressed to nothing, must not fill the memory.
const MOST_LINE: u64 = 1 << 20;

/// Bytes that are read at once.
const READ: usize = 1 << 16;

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

/// A file as a stream of bytes; one whose name ends in `.zst` is decompressed.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    let what = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(what)?;
    if path.extension().is_none_or(|extension| extension != "zst") {
        return Ok(Box::new(BufReader::with_capacity(READ, file)));
    }
    let mut decoder = zstd::Decoder::new(file).with_context(what)?;
    decoder.window_log_max(WINDOW_LOG).with_context(what)?;
    Ok(Box::new(BufReader::with_capacity(READ, decoder)))
}

/// Hands each line without its end to `take`, until that wants no more.
///
/// # Errors
/// The file cannot be read, a line is longer than 1 MiB, or `take` fails.
pub(crate) fn each_line(
    path: &Path,
    input: &mut dyn BufRead,
    mut take: impl FnMut(&[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut text = Vec::new();
    for number in 1_u64.. {
        text.clear();
        let read = input.take(MOST_LINE + 1).read_until(b'\n', &mut text);
        if read.with_context(|| format!("cannot read {}", path.display()))? == 0 {
            break;
        }
        if text.last() == Some(&b'\n') {
            text.pop();
        } else if text.len() as u64 > MOST_LINE {
            bail!("{}:{number}: the line is longer than {MOST_LINE} bytes", path.display());
        }
        if take(text.strip_suffix(b"\r").unwrap_or(&text))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The lines of a file, at most `most` of them; a file whose name ends in `.zst` is decompressed.
///
/// # Errors
/// The file cannot be read, is no UTF-8, has no line, or one that is longer than 1 MiB.
pub(crate) fn lines(path: &Path, most: usize) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    each_line(path, &mut *open(path)?, |line| {
        let text = std::str::from_utf8(line).with_context(|| format!("{}:{}", path.display(), lines.len() + 1))?;
        lines.push(text.to_owned());
        Ok(if lines.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
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
        std::fs::write(&packed, zstd::encode_all(&vec![0; 1 << 21][..], 3).unwrap()).unwrap();
        assert!(lines(&packed, 9).unwrap_err().to_string().contains(":1: the line is longer"));
    }
}
