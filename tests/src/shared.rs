//! Test data from outside the project, in a folder `shared/data` beside the checkout. A clone without it passes its
//! tests too.

use std::{
    io::{BufRead, BufReader, Read},
    path::PathBuf,
};

use anyhow::{Context, Result};

use crate::skip::skip;

/// The file `shared/data/NAME`, or `None` after printing the `skipped: …` line.
pub fn file(name: &str) -> Option<PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("{name} is not here (test data lies beside the project)"));
    None
}

/// The whole text of a data file, unpacked when its name ends in `.zst`.
///
/// # Errors
/// When the file cannot be read or is not UTF-8.
pub fn text(name: &str) -> Result<Option<String>> {
    let Some(path) = file(name) else { return Ok(None) };
    let mut text = String::new();
    reader(&path)?.read_to_string(&mut text).with_context(|| format!("read {}", path.display()))?;
    Ok(Some(text))
}

/// The lines of a data file, one at a time, unpacked when its name ends in `.zst`.
///
/// # Errors
/// When the file cannot be opened.
pub fn lines(name: &str) -> Result<Option<impl Iterator<Item = std::io::Result<String>>>> {
    let Some(path) = file(name) else { return Ok(None) };
    Ok(Some(BufReader::new(reader(&path)?).lines()))
}

fn reader(path: &std::path::Path) -> Result<Box<dyn Read>> {
    let file = std::fs::File::open(path).with_context(|| format!("open {}", path.display()))?;
    if path.extension().is_some_and(|end| end == "zst") {
        let mut decoder = zstd::stream::read::Decoder::new(file)?;
        decoder.window_log_max(27)?;
        return Ok(Box::new(decoder));
    }
    Ok(Box::new(file))
}
