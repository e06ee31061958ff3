//! `webloom crawl`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{
    Failure,
    flags::{CrawlFlags, OutputFlags},
    session::{self, Session},
    starts,
};
use crate::engine::Start;

/// Arguments of `crawl`.
#[derive(Debug, Args)]
pub(super) struct CrawlArgs {
    /// Start URL, a host (https is tried, then http), or @FILE with one of them a line
    #[arg(value_name = "START")]
    starts: Vec<String>,
    /// Crawl directory, made when it is not there [default: ./crawls/HOST of the first start]
    #[arg(short, long)]
    dir: Option<PathBuf>,
    /// Add a start URL to the crawl, whatever the directory holds; may be given several times
    #[arg(long, value_name = "URL")]
    add: Vec<String>,
    #[command(flatten)]
    flags: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
}

pub(super) fn run(args: CrawlArgs) -> Result<ExitCode, Failure> {
    let (starts, added) = (starts::read(&args.starts)?, starts::read(&args.add)?);
    let dir = match args.dir {
        Some(dir) => dir,
        None => default_dir(starts.first().or(added.first()))?,
    };
    let layers = session::layers(&args.flags).flags(&args.output.overlay());
    Session { dir, starts, added, layers, output: args.output }.run()
}

fn default_dir(first: Option<&Start>) -> Result<PathBuf, Failure> {
    let first =
        first.ok_or_else(|| Failure::Usage("give a start URL, or --dir with a crawl to go on with".to_owned()))?;
    Ok(PathBuf::from("crawls").join(first.url.authority().replace(':', "_")))
}
