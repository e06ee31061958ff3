//! `webloom backup`.

use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use tempfile::Builder;

use super::{CommandFailure, directory, outcome};
use crate::{observe::figures::size, store::ReadSide};

/// Arguments of `backup`.
#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// Crawl directory
    dir: PathBuf,
    /// New file for the copy
    file: PathBuf,
}

pub(super) fn run(args: &BackupArgs) -> Result<ExitCode, CommandFailure> {
    let records = directory::records(&args.dir)?;
    let file = args.file.display();
    if args.file.exists() {
        return Err(CommandFailure::Usage(format!("{file} exists: give the name of a new file")));
    }
    let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = || CommandFailure::system("cannot write the copy");
    // It has its name once it is whole. Only its owner may read it, as the database itself.
    let copy = Builder::new().prefix(".webloom-").tempfile_in(folder).map_err(cannot())?;
    records.backup(copy.path())?;
    copy.as_file().sync_all().map_err(cannot())?;
    let bytes = copy.as_file().metadata().map_err(cannot())?.len();
    copy.persist_noclobber(&args.file).map_err(io::Error::from).map_err(cannot())?;
    outcome::print(&format!("{file}: {}\n", size(bytes)))?;
    Ok(ExitCode::SUCCESS)
}
