//! `webloom healthcheck`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{CommandFailure, directory, outcome};
use crate::{clock::Clock, monitor::OnTime};

/// Arguments of `healthcheck`.
#[derive(Debug, Args)]
pub(super) struct HealthcheckArgs {
    /// Crawl directories [default: those in this folder and in ./crawls]
    dirs: Vec<PathBuf>,
}

pub(super) fn run(args: HealthcheckArgs) -> Result<ExitCode, CommandFailure> {
    let dirs = if args.dirs.is_empty() { directory::here() } else { args.dirs };
    if dirs.is_empty() {
        outcome::tell("there is no crawl here");
        return Ok(ExitCode::FAILURE);
    }
    let now = Clock::start().now();
    let mut is_well = true;
    for dir in dirs {
        let found = OnTime::of_directory(&dir, now);
        outcome::print(&format!("{}: {}\n", dir.display(), found.why))?;
        is_well &= found.is_well;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
