//! `webloom retry`.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Args;
use regex::Regex;

use super::{
    CommandFailure, access, directory,
    flags::{CrawlFlags, OutputFlags},
    listing::{self, StatusRange, one_of},
    outcome,
    session::{self, ProgramSession},
};
use crate::{
    clock::Clock,
    config::parse_duration,
    observe::figures::counted,
    session::Caller as _,
    store::{LastSequence, PageOutcome, ReadSide as _, RetryCounts, RetryFilter, StoreError},
    time::Moment,
};

/// Arguments of `retry`.
#[derive(Debug, Args)]
pub(super) struct RetryArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Only URLs with these outcomes, separated by commas
    ///
    /// A broken URL answered with an error, a failed one did not answer, and an abandoned one was forbidden by robots.txt or
    /// could not be asked for. For URLs that robots.txt forbade, Webloom reads the robots.txt again.
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        value_parser = one_of(RetryFilter::OUTCOMES, PageOutcome::as_str),
        default_value = "broken,failed"
    )]
    outcome: Vec<PageOutcome>,
    /// Only URLs with this status: 503, or 5xx
    #[arg(long, value_name = "CODE", value_parser = listing::status)]
    status: Option<StatusRange>,
    /// Only URLs that were asked for longer ago, such as 1d
    #[arg(long, value_name = "TIME", value_parser = age)]
    older: Option<Duration>,
    /// Only URLs that match this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<Regex>,
    /// Say how many URLs that would be, and do nothing
    #[arg(long, conflicts_with = "json")]
    dry_run: bool,
    #[command(flatten)]
    flags: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl RetryArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.output.quiet
    }

    fn filter(&self, now: Moment) -> RetryFilter {
        RetryFilter {
            outcomes: self.outcome.clone(),
            status: self.status.clone(),
            matching: self.matching.clone(),
            until: self.older.map(|age| now - age),
        }
    }
}

pub(super) fn run(args: RetryArgs) -> Result<ExitCode, CommandFailure> {
    let filter = args.filter(Clock::start().now());
    let records = directory::records(&args.dir)?;
    let layers = session::layers(&args.flags).flags(&args.output.overlay());
    session::refuse_mixed(&args.output, &layers)?;
    let auth = access::auth(args.flags.auth())?;
    let mut session = ProgramSession { auth, ..ProgramSession::of(args.dir.clone(), layers, args.output) };
    // What is refused is refused before anything is queued.
    session.plan()?;
    if args.dry_run {
        let counts = said(&records.retries(&filter)?);
        let would = counts.map_or(NONE.to_owned(), |counts| format!("would ask again for {counts}"));
        outcome::print(&format!("{would}\nNothing was written, and no request was sent.\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let dir = &args.dir;
    let crawl = directory::open(dir, None)?;
    let last = crawl.last_sequence()?.ok_or_else(|| StoreError::Empty { path: dir.clone() })?;
    if !last.is_over() {
        let (dir, LastSequence { number, .. }) = (dir.display(), last);
        let why = "is not finished: resume it first, with";
        return Err(CommandFailure::Usage(format!("{dir}: sequence {number} {why} `webloom crawl -d {dir}`")));
    }
    let Some(counts) = said(&crawl.retry(&filter)?) else {
        outcome::tell(NONE);
        return Ok(ExitCode::SUCCESS);
    };
    session.caller.note(&format!("{}: asks again for {counts}", dir.display()));
    session.lock = Some(crawl.lock());
    drop(crawl);
    session.run()
}

/// What is said where nothing passes.
const NONE: &str = "no URL matches";

/// How many URLs are asked for again; `None` if none is.
fn said(counts: &RetryCounts) -> Option<String> {
    let all = counts.values().sum();
    let each: Vec<_> = counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    (all > 0).then(|| format!("{}: {}", counted(all, "URL", "URLs"), each.join(", ")))
}

fn age(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| "give a time such as 1d, 2h30m or 90s".to_owned())
}
