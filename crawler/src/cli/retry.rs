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
    config::{BudgetSettings, parse_duration},
    observe::figures::counted,
    session::Caller as _,
    store::{Counters, PageOutcome, ReadSide as _, RetryCounts, RetryFilter, is_over},
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
    let budget = session.plan()?.resolved.settings.budget;
    let last = directory::summary(&args.dir)?;
    let dir = args.dir.display();
    if !is_over(last.end.as_deref()) {
        let (number, why) = (last.sequence, "is not finished: resume it first, with");
        return Err(CommandFailure::Usage(format!("{dir}: sequence {number} {why} `webloom crawl -d {dir}`")));
    }
    if let Some(flag) = spent(&budget, &last.counters) {
        return Err(CommandFailure::Usage(format!(
            "{dir}: nothing could be fetched, for {flag} is reached: give a larger one"
        )));
    }
    let Some(counts) = said(&records.retries(&filter)?) else {
        outcome::tell(NONE);
        return Ok(ExitCode::SUCCESS);
    };
    if args.dry_run {
        outcome::print(&format!("would ask again for {counts}\nNothing was written, and no request was sent.\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    session.caller.note(&format!("{dir}: asks again for {counts}"));
    session.retry = Some(filter);
    session.run()
}

/// The budget that leaves room for no page.
fn spent(budget: &BudgetSettings, counters: &Counters) -> Option<&'static str> {
    let pages = budget.max_pages.is_some_and(|most| counters.stored >= most.get());
    let bytes = budget.max_bytes.is_some_and(|most| counters.bytes_in >= most.get());
    if pages { Some("--max-pages") } else { bytes.then_some("--max-bytes") }
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
