//! `webloom status`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{Failure, outcome, summary};

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &StatusArgs) -> Result<ExitCode, Failure> {
    let summary = summary::read(&args.dir)?;
    if args.json {
        outcome::document(&summary::document(&summary))?;
    } else {
        outcome::print(&summary::lines(&summary, &args.dir))?;
    }
    Ok(ExitCode::SUCCESS)
}
