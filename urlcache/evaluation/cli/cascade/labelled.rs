//! Files of keys with their classes: a line each, read as a stream, plain or compressed.
//!
//! Owns the form of a line: key, delimiter, class; the last delimiter of the line counts, so that a key may contain it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::lines::Lines;

/// Where the keys and classes are.
#[derive(Debug, Clone, Args)]
pub(super) struct Delimiter {
    /// Byte between key and class; the last one of a line counts [default: the tab]
    #[arg(long, value_name = "BYTE", default_value = "\\t", hide_default_value = true, value_parser = delimiter)]
    pub(super) delimiter: u8,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if *byte != b'\n' && *byte != b'\r' => Ok(*byte),
        _ => Err("a delimiter is one byte, or \\t for the tab".to_owned()),
    }
}

/// A line of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// The first is 1.
    pub(super) number: u64,
    pub(super) key: &'a [u8],
    pub(super) class: &'a [u8],
}

/// A file of keys with their classes.
#[derive(Debug)]
pub(super) struct Labelled {
    pub(super) path: PathBuf,
    pub(super) delimiter: u8,
}

impl Labelled {
    /// Hands each line to `take`, in order. Empty lines are left out.
    ///
    /// # Errors
    /// The file cannot be read, a line has no class, or `take` fails.
    pub(super) fn each(&self, mut take: impl FnMut(Line<'_>) -> Result<()>) -> Result<()> {
        let mut lines = Lines::of(&self.path)?;
        for number in 1.. {
            let Some(text) = lines.next()? else { break };
            if text.is_empty() {
                continue;
            }
            let Some(at) = text.iter().rposition(|byte| *byte == self.delimiter) else {
                bail!("{}: the line has no {:?} between key and class", lines.place(), char::from(self.delimiter));
            };
            if at + 1 == text.len() {
                bail!("{}: no class after the key", lines.place());
            }
            let [key, class] = [&text[..at], &text[at + 1..]];
            take(Line { number, key, class })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Result<Vec<(u64, String, String)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut lines = Vec::new();
        let labelled = Labelled { path, delimiter: b'\t' };
        labelled.each(|line| {
            lines.push((line.number, text(line.key), text(line.class)));
            Ok(())
        })?;
        Ok(lines)
    }

    #[test]
    fn lines_end_anyhow_and_the_last_delimiter_counts() {
        let expected = [(1, "a", "x"), (2, "b\tc", "y"), (4, "", "z"), (5, "d", "x")];
        let expected: Vec<_> =
            expected.into_iter().map(|(number, key, class)| (number, key.to_owned(), class.to_owned())).collect();
        let text = b"a\tx\r\nb\tc\ty\n\n\tz\nd\tx";
        assert_eq!(read("plain", text).unwrap(), expected);
        assert_eq!(read("packed.zst", &zstd::encode_all(&text[..], 3).unwrap()).unwrap(), expected);
    }

    #[test]
    fn faults_name_their_line() {
        let long = vec![b'a'; 1 << 21];
        let packed = zstd::encode_all(&long[..], 3).unwrap();
        let cases: [(&str, &[u8], &str); 4] = [
            ("plain", b"a\tx\nno class\n", ":2: the line has no '\\t'"),
            ("plain", b"a\t\n", ":1: no class"),
            ("plain", &long, ":1: the line is longer"),
            ("packed.zst", &packed, ":1: the line is longer"),
        ];
        for (name, bytes, message) in cases {
            assert!(format!("{:#}", read(name, bytes).unwrap_err()).contains(message), "{message}");
        }
        assert!(read("broken.zst", b"no zstd").is_err());
    }

    #[test]
    fn a_delimiter_is_one_byte() {
        assert_eq!((delimiter(","), delimiter("\\t"), delimiter(" ")), (Ok(b','), Ok(b'\t'), Ok(b' ')));
        assert!(["", "ab", "\n", "ü"].into_iter().all(|text| delimiter(text).is_err()));
    }
}
