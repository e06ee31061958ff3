//! `webloom crawl --dry-run`: what would be done, on standard output.

use std::process::ExitCode;

use super::{CommandFailure, outcome, session::ProgramSession};
use crate::{
    config::{BudgetSettings, ScopeSettings, print_duration},
    observe::{escape, figures::counted},
    session::Start,
};

/// Starts that are shown, the first ones.
const SHOWN: usize = 5;

pub(super) fn run(session: &ProgramSession) -> Result<ExitCode, CommandFailure> {
    let plan = session.plan()?;
    let dir = session.dir.display().to_string();
    let does = match &plan.last {
        None => format!("begin a new crawl in {dir}"),
        Some(last) if plan.begins => format!("begin sequence {} of {dir}", last.sequence + 1),
        Some(last) if last.counts.queued == 0 => {
            format!("find nothing left to do in sequence {} of {dir}", last.sequence)
        }
        Some(last) => {
            let waiting = counted(last.counts.queued, "URL waits", "URLs wait");
            format!("go on with sequence {} of {dir}, where {waiting}", last.sequence)
        }
    };
    let mut lines = vec![("would", does)];
    let given: Vec<_> = session.starts.iter().chain(&session.added).collect();
    lines.extend(given.iter().take(SHOWN).map(|start| ("start", shown(start))));
    if given.len() > SHOWN {
        lines.push(("", format!("and {} more", given.len() - SHOWN)));
    }
    let settings = &plan.resolved.settings;
    lines.push(("scope", scope(&settings.scope)));
    lines.push(("ends", ends(&settings.budget)));
    let polite = &settings.politeness;
    lines.push(("delay", if polite.delay_follows { "auto".to_owned() } else { print_duration(polite.delay) }));
    let changed =
        plan.changes.iter().map(|change| format!("{} is {} (was {})", change.key, change.after, change.before));
    lines.extend(changed.map(|change| ("changed", change)));
    let lines: Vec<_> = lines.iter().map(|(name, text)| format!("{name:<10}{}", escape::text(text))).collect();
    outcome::print(&format!("{}\nNothing was written, and no request was sent.\n", lines.join("\n")))?;
    Ok(ExitCode::SUCCESS)
}

fn shown(start: &Start) -> String {
    let url = &start.url;
    if start.guessed { format!("{url}, or the same with http if that does not answer") } else { url.to_string() }
}

fn scope(scope: &ScopeSettings) -> String {
    let patterns = [("matches", &scope.include), ("does not match", &scope.exclude)];
    let patterns = patterns.into_iter().flat_map(|(word, list)| list.iter().map(move |one| format!("{word} {one}")));
    [scope.kind.as_str().to_owned()].into_iter().chain(patterns).collect::<Vec<_>>().join("; ")
}

/// What ends the crawl before everything is fetched.
fn ends(budget: &BudgetSettings) -> String {
    let limits = [
        budget.max_pages.map(|most| counted(most.get(), "page", "pages")),
        budget.max_bytes.map(|most| counted(most.get(), "byte", "bytes")),
        budget.max_time.map(print_duration),
        budget.max_depth.map(|most| format!("{} of links", counted(most.into(), "level", "levels"))),
        budget.max_pages_per_host.map(|most| format!("{} of each host", counted(most.get(), "page", "pages"))),
    ];
    let limits: Vec<_> = limits.into_iter().flatten().collect();
    if limits.is_empty() { "when nothing is left".to_owned() } else { format!("after {}", limits.join(", or ")) }
}
