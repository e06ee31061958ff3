//! Lists of what an export has.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::request::{ExportError, unwritable};
use crate::observe::escape;

/// A file with a JSON object a line.
pub(super) struct Lines {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Lines {
    pub(super) fn begin(folder: &Path, name: &str) -> Result<Self, ExportError> {
        let path = folder.join(name);
        let out = BufWriter::new(File::create(&path).map_err(unwritable(&path))?);
        Ok(Self { path, out })
    }

    pub(super) fn add(&mut self, line: &Value) -> Result<(), ExportError> {
        writeln!(self.out, "{}", escape::json(line)).map_err(unwritable(&self.path))
    }

    /// Has what was added survive a kill.
    pub(super) fn flush(&mut self) -> Result<(), ExportError> {
        self.out.flush().map_err(unwritable(&self.path))
    }

    pub(super) fn end(mut self) -> Result<(), ExportError> {
        self.out.flush().map_err(unwritable(&self.path))
    }
}
