//! The oracle for a site whose version is not the listed one: `tests/oracle/walk.py`, which walks the files.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{debian::Site, oracle::Oracle, skip::skip};

/// Whose habits the walk has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habits {
    /// A web server's: an address is what the URL standard makes of it, and a stray `%` is a bad request.
    Server,
    /// Those of the lists: an address is a file's path, so doubled slashes are one and a stray `%` is a character.
    Lists,
}

/// Walks a site, or takes the result of an earlier walk of the same files by the same script, which is kept beside the
/// site (a large one takes half a minute); `None` after saying `skipped: …`, when Python is not here.
///
/// # Errors
/// When the script fails.
pub fn walk(site: &Site, habits: Habits) -> Result<Option<Oracle>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/walk.py");
    let kept = kept(site, habits, &fs::read_to_string(&script)?)?;
    if let Ok(text) = fs::read_to_string(&kept) {
        return Oracle::parse(&text).map(Some);
    }
    let mut command = Command::new("python3");
    command.arg(&script).arg(&site.root).arg(&site.start);
    if habits == Habits::Lists {
        command.arg("--as-lists");
    }
    let Ok(output) = command.output() else {
        skip("python3 is not here (it walks the files of a site)");
        return Ok(None);
    };
    ensure!(output.status.success(), "walk.py: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let oracle = Oracle::parse(&text)?;
    let parts = tempfile::NamedTempFile::new_in(kept.parent().context("a walk is kept in a folder")?)?;
    fs::write(&parts, text)?;
    parts.persist(&kept)?;
    Ok(Some(oracle))
}

/// Where the result is kept: its name changes with the script.
fn kept(site: &Site, habits: Habits, script: &str) -> Result<PathBuf> {
    let mark = script.bytes().fold(0_u64, |mark, byte| mark.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
    let home = site.root.ancestors().find(|folder| folder.join("version").is_file());
    let home = home.with_context(|| format!("no package above {}", site.root.display()))?;
    Ok(home.join(format!("walk-{habits:?}-{mark:016x}.tsv")))
}
