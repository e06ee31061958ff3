//! `webloom check`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;
use serde_json::{Value, json};

use super::{CommandFailure, directory, outcome};
use crate::{
    observe::escape,
    store::{CheckReport, Finding, ReadSide},
};

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Print the findings as one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CheckArgs) -> Result<ExitCode, CommandFailure> {
    let report = directory::records(&args.dir)?.check()?;
    if args.json {
        outcome::document(&document(&report))?;
    } else {
        outcome::print(&lines(&report))?;
    }
    Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn document(report: &CheckReport) -> Value {
    let finding =
        |finding: &Finding| json!({"invariant": finding.invariant, "count": finding.count, "example": finding.example});
    let findings: Vec<_> = report.findings.iter().map(finding).collect();
    let counts = &report.counts;
    let counts = json!({
        "admitted": counts.admitted, "queued": counts.queued, "leased": counts.leased, "finished": counts.finished,
        "abandoned": counts.abandoned,
    });
    json!({
        "clean": findings.is_empty(), "counts": counts, "visits": report.visits, "links": report.links,
        "links_without_row": report.links_without_row, "lost": report.lost, "lost_admitted": report.lost_admitted,
        "findings": findings,
    })
}

fn lines(report: &CheckReport) -> String {
    let counts = &report.counts;
    let mut text = format!(
        "{} admitted = {} queued + {} leased + {} finished + {} abandoned; {} visits, {} kept links, {} without a row\n",
        counts.admitted,
        counts.queued,
        counts.leased,
        counts.finished,
        counts.abandoned,
        report.visits,
        report.links,
        report.links_without_row,
    );
    if report.lost > 0 {
        text +=
            &format!("{} URLs recorded as lost, {} of them admitted after all\n", report.lost, report.lost_admitted);
    }
    for finding in &report.findings {
        let example = escape::text(&finding.example);
        text += &format!("broken: {} ({} rows, such as {example})\n", finding.invariant, finding.count);
    }
    text.push_str(if report.findings.is_empty() { "clean\n" } else { "not clean\n" });
    text
}
