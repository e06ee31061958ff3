//! Real sites: documentation from Debian packages, fetched by `apt-get download` and unpacked, not installed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{shared, skip::skip};

/// A documentation package on disk, ready to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Name of the package.
    pub package: String,
    /// Version that was fetched.
    pub version: String,
    /// Version that the oracle was made from.
    pub listed_version: String,
    /// Folder to serve.
    pub root: PathBuf,
    /// Path of the start page, with a leading `/`.
    pub start: String,
}

impl Site {
    /// Whether the oracle was made from this version.
    pub fn is_as_listed(&self) -> bool {
        self.version == self.listed_version
    }
}

/// The site of a listed package, fetched once and kept in `target/sites/PACKAGE`; `None` after saying `skipped: …`,
/// when the list is not here or the package cannot be downloaded. Prints both versions when they differ.
///
/// # Errors
/// When the list does not name the package, or what was downloaded cannot be unpacked.
pub fn site(package: &str) -> Result<Option<Site>> {
    let Some(list) = shared::text("sites/sites-dev.json")? else { return Ok(None) };
    let list: Vec<Value> = serde_json::from_str(&list)?;
    let listed = list.iter().find(|site| site["package"] == package);
    let text = |field: &str| listed.and_then(|site| site[field].as_str()).map(str::to_owned);
    let field = |name: &str| text(name).with_context(|| format!("sites-dev.json has no {name} of {package}"));
    let listed_version = field("version")?;
    let root = field("root")?;
    let start = format!("/{}", field("start")?);
    let home = target()?.join("sites").join(package);
    if !home.exists() && !fetch(package, &home)? {
        return Ok(None);
    }
    let version = fs::read_to_string(home.join("version"))?;
    if version != listed_version {
        println!("{package}: version {version} was fetched, the list is of {listed_version}");
    }
    Ok(Some(Site { package: package.to_owned(), version, listed_version, root: home.join("files").join(root), start }))
}

/// Cargo's target directory: programs are two folders below it. The mark that cargo leaves there is missing where somebody else made it.
fn target() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(3);
    Ok(target.with_context(|| format!("no target directory above {}", program.display()))?.to_owned())
}

/// Downloads and unpacks beside `home`, then moves the whole into place: a test that runs at the same time sees all or
/// nothing.
fn fetch(package: &str, home: &Path) -> Result<bool> {
    let parent = home.parent().context("a site has a folder")?;
    fs::create_dir_all(parent)?;
    let work = tempfile::tempdir_in(parent)?;
    let download = Command::new("apt-get").args(["download", "-q", package]).current_dir(&work).output();
    match download {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            let reason = String::from_utf8_lossy(&output.stderr);
            skip(&format!("apt-get download {package}: {}", reason.trim().lines().last().unwrap_or_default()));
            return Ok(false);
        }
        Err(error) => {
            skip(&format!("apt-get download {package}: {error}"));
            return Ok(false);
        }
    }
    unpack(&work.keep(), home)?;
    Ok(true)
}

fn unpack(work: &Path, home: &Path) -> Result<()> {
    let deb = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "deb");
    let entry = fs::read_dir(work)?.filter_map(Result::ok).find(deb).context("apt-get left no .deb file")?;
    run(Command::new("dpkg").arg("-x").arg(entry.path()).arg(work.join("files")))?;
    let version = run(Command::new("dpkg-deb").arg("-f").arg(entry.path()).arg("Version"))?;
    fs::write(work.join("version"), version.trim())?;
    fs::remove_file(entry.path())?;
    match fs::rename(work, home) {
        Err(_) if home.exists() => Ok(fs::remove_dir_all(work)?),
        moved => moved.with_context(|| format!("move {} to {}", work.display(), home.display())),
    }
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}
