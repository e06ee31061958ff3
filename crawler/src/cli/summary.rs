//! The summary of a sequence: one JSON document for scripts, a few lines for people.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Failure, directory, loss};
use crate::{
    health::Wait,
    observe::escape,
    store::{AilingHost, Counters, PageCounts, ReadSide, StoreError, StoredSummary},
    time::Moment,
};

/// Reads the summary of a crawl directory's last sequence.
pub(super) fn read(dir: &Path) -> Result<StoredSummary, Failure> {
    let summary = directory::records(dir)?.summary()?;
    summary.ok_or_else(|| StoreError::Empty { path: dir.to_owned() }.into())
}

/// The document of `--json`.
pub(super) fn document(summary: &StoredSummary) -> Value {
    let StoredSummary { counters, counts, pages, .. } = summary;
    let cache = loss::cache(summary);
    let ran = |figure: f64| (summary.runs > 0).then_some(figure);
    let abandoned: u64 = summary.abandoned.values().sum();
    json!({
        "end": summary.end, "sequence": summary.sequence, "runs": summary.runs,
        "seconds": ran(summary.seconds), "cpu_seconds": ran(summary.cpu_seconds),
        "peak_memory_bytes": summary.peak_memory,
        "pages": {
            "stored": pages.stored, "html": pages.html, "new": pages.new, "changed": pages.changed,
            "unchanged": pages.unchanged, "gone": pages.gone, "broken": pages.broken, "failed": pages.failed, "truncated": pages.truncated, "recovered": summary.lost.recovered,
        },
        "urls": {
            "candidates": counters.candidates, "admitted": counts.admitted, "duplicate": counters.duplicate,
            "refused": counters.refused, "abandoned": summary.abandoned,
        },
        "counts": {
            "admitted": counts.admitted, "queued": counts.queued, "leased": counts.leased,
            "finished": counts.finished, "abandoned": abandoned,
        },
        "hosts": summary.hosts.iter().map(|host| json!({
            "host": host.origin, "health": health(summary, host), "since": rfc3339(host.health.since),
            "cause": host.health.cause.to_string(), "waiting": host.waiting,
        })).collect::<Vec<_>>(),
        "ailing_hosts": summary.ailing_hosts,
        "requests": {
            "sent": counters.requests, "bytes_in": counters.bytes_in,
            "by_status": counters.by_status, "errors": counters.errors,
        },
        "told": (summary.sequence > 0).then_some(summary.told), "revisit": loss::revisits(summary),
        "cache": cache,
    })
}

/// The word for the health of a host that is not well.
fn health(summary: &StoredSummary, host: &AilingHost) -> &'static str {
    let given_up = matches!(summary.end.as_deref(), Some("unreachable" | "failed"));
    match host.health.wait {
        Wait::Paused => "paused",
        _ if given_up => "unreachable",
        Wait::BackOff | Wait::Asked => "backing_off",
    }
}

/// A moment as RFC 3339 writes it.
fn rfc3339(moment: Moment) -> String {
    i64::try_from(moment.millis())
        .ok()
        .and_then(|millis| Timestamp::from_millisecond(millis).ok())
        .map_or_else(String::new, |at| at.to_string())
}

/// The hosts that do not answer, with causes and what waits for them.
pub(super) fn silent_hosts(summary: &StoredSummary, most: usize) -> String {
    let named = summary.hosts.iter().take(most).map(|host| {
        let (origin, cause) = (escape::text(&host.origin), host.health.cause);
        let urls = if host.waiting == 1 { "URL waits" } else { "URLs wait" };
        format!(
            "{origin} ({cause} since {}; {} {urls}): {}",
            rfc3339(host.health.since),
            host.waiting,
            cause.explained()
        )
    });
    let mut named: Vec<_> = named.collect();
    let rest = summary.ailing_hosts.saturating_sub(named.len() as u64);
    if rest > 0 {
        named.push(format!("{rest} more"));
    }
    named.join("; ")
}

/// The lines for people.
pub(super) fn lines(summary: &StoredSummary, dir: &Path) -> String {
    let StoredSummary { counters, counts, pages, .. } = summary;
    let end = escape::text(summary.end.as_deref().unwrap_or("still running, or killed"));
    let cumulative = if summary.runs > 1 { format!(" over {} runs", summary.runs) } else { String::new() };
    let again = if summary.sequence > 0 { format!("sequence {}: ", summary.sequence) } else { String::new() };
    let mut text = format!(
        "{again}{end} in {:.1} s{cumulative} ({:.1} CPU s)\n\
         pages     {} stored ({} HTML), {} broken, {} failed, {} truncated\n{}\
         URLs      {} admitted of {} candidates; {} queued, {} abandoned{}\n\
         requests  {} sent, {:.1} MB received\n",
        summary.seconds,
        summary.cpu_seconds,
        pages.stored,
        pages.html,
        pages.broken,
        pages.failed,
        pages.truncated,
        changes(summary),
        counts.admitted,
        counters.candidates,
        counts.queued,
        counts.abandoned,
        refused(summary),
        counters.requests,
        counters.bytes_in as f64 / 1e6,
    );
    if summary.told > 0 {
        let (told, sequence) = (summary.told, summary.sequence);
        let changes = if told == 1 { "change" } else { "changes" };
        let dir = escape::text(&dir.display().to_string()).into_owned();
        text += &format!("told      {told} {changes}: webloom changes {dir} --since {sequence}\n");
    }
    text += &loss::revisit_line(summary);
    if let Some(line) = cache_line(summary) {
        text.push_str(&line);
    }
    if summary.ailing_hosts > 0 {
        text += &format!("no answer {}\n", silent_hosts(summary, 5));
    }
    text += &format!("kept in   {}\n", escape::text(&dir.display().to_string()));
    text
}

/// What a further sequence found changed; of the first there is nothing to say.
fn changes(summary: &StoredSummary) -> String {
    let PageCounts { new, changed, unchanged, gone, .. } = summary.pages;
    let line = format!("changes   {new} new, {changed} changed, {unchanged} unchanged, {gone} gone\n");
    if summary.sequence > 0 { line } else { String::new() }
}

fn refused(summary: &StoredSummary) -> String {
    let reasons: Vec<_> =
        summary.counters.refused.iter().map(|(reason, count)| format!("{count} {}", escape::text(reason))).collect();
    if reasons.is_empty() { String::new() } else { format!("; refused: {}", reasons.join(", ")) }
}

fn cache_line(summary: &StoredSummary) -> Option<String> {
    let cache = loss::cache(summary);
    let budget = cache["budget_lost"].as_f64().map_or("none".to_owned(), |budget| budget.to_string());
    Some(format!(
        "URL cache {} ({}), {} URLs in {} KiB; expected lost {:.2e} of a budget of {budget}{}\n{}",
        escape::text(cache["strategy"].as_str()?),
        escape::text(cache["layout"].as_str()?),
        cache["items"],
        cache["bits"].as_u64()? / 8 / 1024,
        cache["expected_lost"].as_f64()?,
        resets(&summary.counters),
        loss::lines(summary, &cache),
    ))
}

/// What the reset policy did, if it had to.
fn resets(counters: &Counters) -> String {
    let Counters { rebuilds, growths, rotations, forgotten, .. } = *counters;
    let done = [(rebuilds, "rebuilt"), (growths, "enlarged"), (rotations, "rotated")];
    let mut text = String::new();
    for (times, what) in done.into_iter().filter(|(times, _)| *times > 0) {
        let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        text += &format!("; {what} {times}");
    }
    if forgotten > 0 {
        text += &format!(", {forgotten} duplicates found by the URL table");
    }
    text
}
