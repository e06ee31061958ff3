//! `webloom crawl`.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, ValueEnum};

use super::{
    Failure,
    flags::{CrawlFlags, OutputFlags},
    session::{self, Round, Session},
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
    /// Crawl it again: begin the next crawl sequence, in which every page is asked for once more
    #[arg(long)]
    again: bool,
    /// How the next sequence finds its pages; rediscover: by links from the starts, as if nothing were known [default:
    /// rediscover]
    #[arg(long, value_enum, value_name = "HOW", requires = "again")]
    revisit: Option<Revisit>,
    #[command(flatten)]
    flags: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
}

/// How a further sequence finds its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Revisit {
    Rediscover,
}

pub(super) fn run(args: CrawlArgs) -> Result<ExitCode, Failure> {
    let (starts, added) = (starts::read(&args.starts)?, starts::read(&args.add)?);
    let dir = match args.dir {
        Some(dir) => dir,
        None => default_dir(starts.first().or(added.first()))?,
    };
    let layers = session::layers(&args.flags).flags(&args.output.overlay());
    let round = match (args.again, args.revisit) {
        (true, None | Some(Revisit::Rediscover)) => Round::Next,
        (false, _) => Round::GoOn,
    };
    Session { dir, starts, added, round, layers, output: args.output }.run()
}

fn default_dir(first: Option<&Start>) -> Result<PathBuf, Failure> {
    let first =
        first.ok_or_else(|| Failure::Usage("give a start URL, or --dir with a crawl to go on with".to_owned()))?;
    Ok(PathBuf::from("crawls").join(first.url.authority().replace(':', "_")))
}
