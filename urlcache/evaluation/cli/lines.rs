//! Lines of files and of standard input: plain or compressed, one at a time, none of them without end.
//!
//! Invariant: never more than one line is in memory, and no line is longer than [`MOST`] bytes. It knows no meaning of a line.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use anyhow::{Context, Result, bail};

/// Bytes of a line at most: a file without line ends, or one that was compressed to nothing, must not fill the memory.
const MOST: u64 = 1 << 20;

/// How far back a compressed file may refer: 2^27 bytes.
const WINDOW_LOG: u32 = 27;

/// Bytes that are read at once.
const READ: usize = 1 << 16;

/// The byte-order mark that some programs write before UTF-8; it is no part of the first line.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// What is read line by line.
pub(crate) struct Lines {
    name: String,
    input: Box<dyn BufRead>,
    text: Vec<u8>,
    number: u64,
}

impl Lines {
    /// Those of a file; one whose name ends in `.zst` is decompressed.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        let what = || format!("cannot read {}", path.display());
        let file = File::open(path).with_context(what)?;
        let input: Box<dyn BufRead> = if path.extension().is_some_and(|extension| extension == "zst") {
            let mut decoder = zstd::Decoder::new(file).with_context(what)?;
            decoder.window_log_max(WINDOW_LOG).with_context(what)?;
            Box::new(BufReader::with_capacity(READ, decoder))
        } else {
            Box::new(BufReader::with_capacity(READ, file))
        };
        Ok(Self { name: path.display().to_string(), input, text: Vec::new(), number: 0 })
    }

    /// Those of standard input.
    pub(crate) fn of_stdin() -> Self {
        let (name, input) = ("standard input".to_owned(), Box::new(io::stdin().lock()));
        Self { name, input, text: Vec::new(), number: 0 }
    }

    /// The next one, without its end.
    ///
    /// # Errors
    /// It cannot be read, or is longer than 1 MiB.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>> {
        self.text.clear();
        self.number += 1;
        let read = self.input.by_ref().take(MOST + 1).read_until(b'\n', &mut self.text);
        if read.with_context(|| format!("cannot read {}", self.name))? == 0 {
            return Ok(None);
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        } else if self.text.len() as u64 > MOST {
            bail!("{}: the line is longer than {MOST} bytes", self.place());
        }
        let line = self.text.strip_suffix(b"\r").unwrap_or(&self.text);
        Ok(Some(line.strip_prefix(MARK).filter(|_| self.number == 1).unwrap_or(line)))
    }

    /// The number of the line that was read last; the first is 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where that line is, for an error.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.name, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Result<Vec<String>> {
        let (mut lines, mut all) = (Lines::of(path)?, Vec::new());
        while let Some(line) = lines.next()? {
            all.push(String::from_utf8_lossy(line).into_owned());
        }
        Ok(all)
    }

    #[test]
    fn lines_end_anyhow_and_none_is_endless() {
        let folder = tempfile::tempdir().unwrap();
        let [plain, packed] = ["lines", "lines.zst"].map(|name| folder.path().join(name));
        let text = "\u{feff}a\r\n\nb\nc".as_bytes();
        std::fs::write(&plain, text).unwrap();
        std::fs::write(&packed, zstd::encode_all(text, 3).unwrap()).unwrap();
        assert_eq!(read(&plain).unwrap(), ["a", "", "b", "c"]);
        assert_eq!(read(&packed).unwrap(), ["a", "", "b", "c"]);
        let mut endless = b"a\n".to_vec();
        endless.resize(1 << 21, 0);
        std::fs::write(&packed, zstd::encode_all(&endless[..], 3).unwrap()).unwrap();
        assert!(read(&packed).unwrap_err().to_string().ends_with("lines.zst:2: the line is longer than 1048576 bytes"));
        std::fs::write(&packed, "no zstd").unwrap();
        assert!(read(&packed).is_err() && read(&folder.path().join("missing")).is_err());
    }
}
