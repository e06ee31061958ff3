//! `webloom why`: why a URL is in a crawl, or is not.
//!
//! Owns: the arguments; [`answer`] judges what is known, [`document`] and [`sentences`] show it to programs and to people.

mod answer;
mod document;
mod sentences;

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use self::answer::UrlAnswer;
use super::{CommandFailure, directory, outcome, starts};
use crate::{
    config::Layers,
    observe::escape,
    store::{ReadSide, StoreError},
};

/// What leads to a URL is listed up to so many.
const MOST_PROPOSERS: usize = 100;

/// Arguments of `why`.
#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// Crawl directory
    dir: PathBuf,
    /// URL that is asked for
    url: String,
    /// Print the answer as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &WhyArgs) -> Result<ExitCode, CommandFailure> {
    let url = starts::read_whole(&args.url)?;
    let records = directory::records(&args.dir)?;
    let empty = || StoreError::Empty { path: args.dir.clone() };
    let facts = records.facts(&url, MOST_PROPOSERS)?.ok_or_else(empty)?;
    let stored = records.settings()?.ok_or_else(empty)?;
    let settings = Layers::new().stored(&stored).resolve()?.settings;
    let answer = UrlAnswer::of(url, facts, settings, || Ok(records.areas()?))?;
    if args.json {
        outcome::document(&document::of(&answer))?;
    } else {
        let lines = sentences::of(&answer, &args.dir);
        let lines: Vec<_> = lines.iter().map(|line| escape::text(line)).collect();
        outcome::print(&(lines.join("\n") + "\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
