//! `webloom forget`.

use std::{
    io::{IsTerminal, stdin},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use regex::Regex;

use super::{
    CommandFailure,
    directory::{self, CrawlDirectory},
    outcome,
};
use crate::{
    observe::{escape, figures::counted},
    store::{ReadSide as _, RemovedUrls},
};

/// URLs that are shown before the question.
const SHOWN: usize = 10;

/// Arguments of `forget`.
#[derive(Debug, Args)]
pub(super) struct ForgetArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Regular expression: URLs that match it are removed
    #[arg(value_name = "REGEX")]
    pattern: Regex,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn run(args: &ForgetArgs) -> Result<ExitCode, CommandFailure> {
    let (mut count, mut shown) = (0_u64, Vec::new());
    directory::records(&args.dir)?.urls(|url| {
        if args.pattern.is_match(url) {
            count += 1;
            if shown.len() < SHOWN {
                shown.push(escape::text(url).into_owned());
            }
        }
    })?;
    // What was only checked may match as well.
    if !args.yes && stdin().is_terminal() && !confirmed(count, &shown)? {
        outcome::tell("nothing was removed");
        return Ok(ExitCode::FAILURE);
    }
    let removed = CrawlDirectory::open(&args.dir)?.remove_urls(&args.pattern)?;
    let report = directory::records(&args.dir)?.check()?;
    if let Some(finding) = report.findings.first() {
        let why = format!("{}: {}", finding.invariant, finding.example);
        return Err(CommandFailure::Usage(format!("the URLs were removed, but `webloom check` finds: {why}")));
    }
    outcome::print(&said(&removed))?;
    Ok(if removed.urls == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn confirmed(count: u64, shown: &[String]) -> Result<bool, CommandFailure> {
    let more = count - shown.len() as u64;
    let lines: String = shown.iter().map(|url| url.to_owned() + "\n").collect();
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    let what = if count > 0 { counted(count, "URL", "URLs") } else { "what was only checked".to_owned() };
    eprint!("{lines}{more}Remove {what} for good? [y/N] ");
    let mut answer = String::new();
    stdin()
        .read_line(&mut answer)
        .map_err(|error| CommandFailure::Usage(format!("cannot read the answer: {error}")))?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn said(removed: &RemovedUrls) -> String {
    if removed.urls == 0 {
        return "no URL matches\n".to_owned();
    }
    let [urls, answers] =
        [counted(removed.urls, "URL", "URLs"), counted(removed.answers, "archived answer", "archived answers")];
    let links = counted(removed.pages_with_links, "copy of a page", "copies of pages");
    format!(
        "removed {urls} and {answers}; links to them left out of {links}\ndatabase, index and archive rewritten and checked\n"
    )
}
