//! `webloom healthcheck`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{CommandFailure, directory, outcome};
use crate::{clock::Clock, monitor::on_time};

/// Arguments of `healthcheck`.
#[derive(Debug, Args)]
pub(super) struct HealthcheckArgs {
    /// Crawl directories [default: those here and in ./crawls]
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
    for checked in dirs.iter().map(|dir| on_time::check(dir, now)) {
        outcome::print(&format!("{checked}\n"))?;
        is_well &= checked.is_well;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
