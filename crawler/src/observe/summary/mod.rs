//! The summary of a sequence: one JSON document for scripts, a few lines for people.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    config::Layers,
    engine::RunEnd,
    health::Wait,
    observe::{
        escape,
        figures::{count, counted, rfc3339, size, time},
        terminal::Tone,
    },
    store::{NoiseFigures, PageCounts, StoredSummary, UnhealthyHost},
    time::Moment,
};
use verdict::Ending;

pub mod freshness;
mod link_checks;
mod loss;
mod losses;
#[cfg(test)]
mod tests;
mod verdict;

/// A summary for people.
pub struct SummaryText {
    /// With a line break at its end.
    pub text: String,
    /// How the sequence ended.
    pub tone: Tone,
}

/// How a summary is shown to people.
pub struct SummaryView<'a> {
    /// The crawl directory.
    pub dir: &'a Path,
    /// How the run ended, where it has just done so.
    pub ended: Option<RunEnd>,
    /// Whether it says what to do next.
    pub next: bool,
    /// The flag that is missing where no start gave a page.
    pub missing: Option<&'static str>,
}

/// The document of `--json`.
pub fn document(summary: &StoredSummary) -> Value {
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
            "unchanged": pages.unchanged, "gone": pages.gone, "broken": pages.broken, "failed": pages.failed, "truncated": pages.truncated, "needs_js": pages.needs_js,
            "recovered": summary.lost.recovered,
        },
        "urls": {
            "candidates": counters.candidates, "admitted": counts.admitted, "duplicate": counters.duplicate,
            "refused": counters.refused, "rewritten": counters.rewritten, "abandoned": summary.abandoned,
        },
        "counts": {
            "admitted": counts.admitted, "queued": counts.queued, "leased": counts.leased,
            "finished": counts.finished, "abandoned": abandoned,
        },
        "hosts": summary.hosts.iter().map(|host| json!({
            "host": host.origin, "health": health(summary, host), "since": rfc3339(host.health.since),
            "cause": host.health.cause.to_string(), "waiting": host.waiting,
        })).collect::<Vec<_>>(),
        "ailing_hosts": summary.unhealthy_hosts,
        "requests": {
            "sent": counters.requests, "bytes_in": counters.bytes_in,
            "by_status": counters.by_status, "errors": counters.errors,
        },
        "told": (summary.sequence > 0).then_some(summary.reported),
        "pending": (summary.sequence > 0).then_some(summary.pending), "revisit": loss::revisits(summary), "noise": noise(summary),
        "link_check": link_checks::document(&summary.link_checks), "cache": cache,
    })
}

/// What moves by itself: lines that were not reported, pages that were fetched once more, and the share of the lines that differed on
/// these which that withdrew: so many of the lines of pages that were not fetched once more are likely to be false.
fn noise(summary: &StoredSummary) -> Value {
    let NoiseFigures { hidden, looked, withdrawn } = summary.noise;
    let share = (looked > 0).then(|| withdrawn as f64 / looked as f64);
    json!({"masked_lines": hidden, "second_looks": summary.counters.second_looks, "withdrawn_share": share})
}

/// The word for the health of a host that is not well.
fn health(summary: &StoredSummary, host: &UnhealthyHost) -> &'static str {
    let given_up = matches!(summary.end.as_deref(), Some("unreachable" | "failed"));
    match host.health.wait {
        Wait::Paused => "paused",
        _ if given_up => "unreachable",
        Wait::BackOff | Wait::Asked => "backing_off",
    }
}

/// The hosts that do not answer, with causes and what waits for them.
pub fn silent_hosts(summary: &StoredSummary, most: usize) -> String {
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
    let rest = summary.unhealthy_hosts.saturating_sub(named.len() as u64);
    if rest > 0 {
        named.push(format!("{rest} more"));
    }
    named.join("; ")
}

/// The lines for people: a verdict, figures that add up, and what to do next.
pub fn lines(summary: &StoredSummary, shown: &SummaryView<'_>) -> SummaryText {
    let settings = summary.settings.as_deref().and_then(|text| Layers::new().stored(text).resolve().ok());
    let settings = settings.as_ref().map(|resolved| &resolved.settings);
    let now = Moment::from(Timestamp::now());
    let ending = Ending { summary, settings, ended: shown.ended, now };
    let mut text = format!("{}\n", ending.verdict());
    text += &changes(summary);
    text += &urls(summary);
    text += &found(summary);
    text += &link_checks::line(&summary.link_checks);
    text += &requests(summary);
    text += &loss::revisit_line(summary);
    if summary.end.as_deref() != Some("failed") {
        text += &losses::lines(summary, &loss::cache(summary)).unwrap_or_default();
    }
    text += &note(summary);
    if summary.unhealthy_hosts > 0 {
        text += &format!("no answer   {}\n", silent_hosts(summary, 5));
    }
    text += &format!("kept in     {}\n", escape::text(&shown.dir.display().to_string()));
    if shown.next {
        text += &format!("next        {}\n", escape::text(&ending.next(shown.dir, shown.missing)));
    }
    SummaryText { text, tone: ending.tone() }
}

/// Why a crawl that has ended holds so little.
fn note(summary: &StoredSummary) -> String {
    let no_links = summary.lost.sweep.links == Some(0);
    let PageCounts { stored, html, needs_js, .. } = summary.pages;
    match html {
        _ if stored == 0 => String::new(),
        0 => "note        none of the pages is HTML: no links were followed\n".to_owned(),
        _ if needs_js > 0 => {
            let shells =
                if needs_js == 1 { "looks like an empty shell: it needs" } else { "look like empty shells: they need" };
            format!(
                "note        {} of {} {shells} scripts, which Webloom does not run (needs_js)\n",
                count(needs_js),
                counted(html, "HTML page", "HTML pages")
            )
        }
        _ if no_links => "note        no links were found: Webloom does not see links that scripts add\n".to_owned(),
        _ => String::new(),
    }
}

/// What a further sequence found changed; of the first there is nothing to say.
fn changes(summary: &StoredSummary) -> String {
    if summary.sequence == 0 {
        return String::new();
    }
    let PageCounts { new, changed, unchanged, gone, .. } = summary.pages;
    let [new, changed, unchanged, gone] = [new, changed, unchanged, gone].map(count);
    let pending = match summary.pending {
        0 => String::new(),
        pending => format!("; {} for a second look", counted(pending, "waits", "wait")),
    };
    format!("changes     {new} new, {changed} changed, {unchanged} unchanged, {gone} gone{pending}\n")
}

/// What became of every URL: the parts add up to the whole.
fn urls(summary: &StoredSummary) -> String {
    let StoredSummary { counts, pages, .. } = summary;
    let redirects = counts.finished.saturating_sub(pages.stored + pages.broken + pages.failed);
    let mut html = format!("{} HTML", count(pages.html));
    if pages.truncated > 0 {
        html += &format!(", {} cut short", count(pages.truncated));
    }
    let mut text =
        format!("URLs        {} = {} ({html})", count(counts.admitted), counted(pages.stored, "page", "pages"));
    let parts = [
        (redirects, "redirect", "redirects"),
        (pages.broken - pages.gone.min(pages.broken), "broken", "broken"),
        (pages.gone, "gone", "gone"),
        (pages.failed, "without an answer", "without an answer"),
        (counts.abandoned, "left out", "left out"),
        (counts.queued, "waiting", "waiting"),
        (counts.leased, "in flight", "in flight"),
    ];
    for (number, one, many) in parts.into_iter().filter(|(number, ..)| *number > 0) {
        text += &format!(" + {}", counted(number, one, many));
    }
    let reasons: Vec<_> = summary
        .abandoned
        .iter()
        .map(|(reason, number)| format!("{} {}", count(*number), escape::text(reason)))
        .collect();
    if !reasons.is_empty() {
        text += &format!("; left out: {}", reasons.join(", "));
    }
    text + "\n"
}

/// How many candidates there were, and what admission said of them.
fn found(summary: &StoredSummary) -> String {
    let counters = &summary.counters;
    let mut text = format!(
        "links       {} found: {} admitted, {} seen before",
        count(counters.candidates),
        count(summary.counts.admitted),
        count(counters.duplicate)
    );
    for (reason, number) in &counters.refused {
        let why = if reason == "scope" { "out of scope".into() } else { escape::text(reason) };
        text += &format!(", {} {why}", count(*number));
    }
    text + "\n"
}

fn requests(summary: &StoredSummary) -> String {
    let StoredSummary { counters, .. } = summary;
    let memory = summary.peak_memory.map(|bytes| format!(", {} of memory", size(bytes))).unwrap_or_default();
    let unanswered = match counters.errors.values().sum() {
        0 => String::new(),
        errors => format!(", {} without an answer", count(errors)),
    };
    let runs = if summary.runs > 1 { format!(", in {} runs", count(summary.runs)) } else { String::new() };
    format!(
        "requests    {} sent{unanswered}, {} received, {} of CPU{memory}{runs}\n",
        count(counters.requests),
        size(counters.bytes_in),
        time(summary.cpu_seconds),
    )
}
