//! What a summary says of lost URLs: as part of the document, and in words.

use serde_json::{Value, json};
use urlcache::Interval;

use super::freshness::Figures;
use crate::store::{CheckedRevisits, Counters, StoredSummary, SweepCounts};

/// The status of an answer without a body: the copy is still good.
const NOT_MODIFIED: u16 = 304;

/// Of the interval in which the rate of wrong answers lies.
const CONFIDENCE: f64 = 0.95;

/// The URL cache's figures when it was left, with what the rows tell of lost URLs, and the sums of what it did; null before
/// that.
pub(super) fn cache(summary: &StoredSummary) -> Value {
    let stored = summary.cache.as_deref().and_then(|cache| serde_json::from_str(cache).ok());
    let mut cache: Value = stored.unwrap_or_default();
    if let Some(figures) = cache.as_object_mut() {
        if let Some(audit) = figures.get_mut("audit").and_then(Value::as_object_mut) {
            audit.insert("rescued".to_owned(), summary.lost.audit_rescued.into());
        }
        let counts = &summary.lost.sweep;
        let sweep = counts.links.map(|links| sweep(counts, links, summary.counters.rescue_fetches));
        figures.insert("sweep".to_owned(), sweep.unwrap_or_default());
        let Counters { rebuilds, growths, rotations, forgotten, .. } = summary.counters;
        let resets = json!({"rebuild": rebuilds, "grow": growths, "rotate": rotations});
        figures.extend([("resets".to_owned(), resets), ("forgotten".to_owned(), forgotten.into())]);
    }
    cache
}

fn sweep(counts: &SweepCounts, links: u64, fetched_again: u64) -> Value {
    json!({
        "links": links, "lost": counts.lost, "rescued": counts.rescued, "found": counts.found,
        "missed_with_them": counts.missed_with_them, "no_longer_linked": counts.no_longer_linked,
        "parent_unreachable": counts.parent_unreachable, "fetched_again": fetched_again,
    })
}

/// What servers said of pages that they had before, what was found where that was checked, and how fresh copies were; null
/// where nothing was asked for once more.
pub(super) fn revisits(summary: &StoredSummary) -> Value {
    let (answers, figures) = (summary.counters.by_status.get(&NOT_MODIFIED), Figures::of(summary));
    if answers.is_none() && figures.is_empty() {
        return Value::Null;
    }
    let answers = answers.copied().unwrap_or_default();
    let CheckedRevisits { audited, wrong } = summary.checked;
    let rate = (audited > 0).then(|| wrong as f64 / audited as f64);
    let interval = Interval::exact(wrong, audited, CONFIDENCE);
    let mut document = json!({"not_modified": answers, "audited": audited, "wrong": wrong, "rate": rate,
                              "low": rate.map(|_| interval.low), "high": rate.map(|_| interval.high)});
    if let Some(members) = document.as_object_mut() {
        members.extend(figures.document());
    }
    document
}

/// The same for people.
pub(super) fn revisit_line(summary: &StoredSummary) -> String {
    let found = revisits(summary);
    let figure = |name: &str| found[name].as_f64().unwrap_or_default();
    let fresh = Figures::of(summary).line();
    match (found["not_modified"].as_u64(), found["audited"].as_u64()) {
        (None | Some(0), _) => fresh,
        (Some(answers), None | Some(0)) => {
            format!("revisits  {answers} not modified, none of them checked\n{fresh}")
        }
        (Some(answers), Some(audited)) => format!(
            "revisits  {answers} not modified; {audited} of them checked, {} wrong; the rate is {:.2e} to {:.2e} (95 %)\n{fresh}",
            found["wrong"],
            figure("low"),
            figure("high"),
        ),
    }
}

/// The lines for people.
pub(super) fn lines(summary: &StoredSummary, cache: &Value) -> String {
    format!("lost      {}\n          {}\n", audit_words(&cache["audit"]), sweep_words(summary))
}

fn audit_words(audit: &Value) -> String {
    let Some(checked) = audit["checked"].as_u64() else { return "no audit: the rate is not measured".to_owned() };
    let figure = |name: &str| audit[name].as_f64().unwrap_or_default();
    let share = if figure("share") < 1.0 { format!(" (a sample of {})", figure("share")) } else { String::new() };
    format!(
        "audit: {} of {checked} new URLs{share} mistaken for seen, {} rescued; the rate is {} to {:.2e} (95 %)",
        audit["false_positives"],
        audit["rescued"],
        if figure("low") > 0.0 { format!("{:.2e}", figure("low")) } else { "0".to_owned() },
        figure("high"),
    )
}

fn sweep_words(summary: &StoredSummary) -> String {
    let SweepCounts { links, lost, rescued, found, missed_with_them, no_longer_linked, parent_unreachable } =
        summary.lost.sweep;
    let mut text = match (links, lost) {
        (None, 0) => return format!("{}; nothing proves that no URL was lost", why_no_sweep(summary)),
        (None, _) => format!("sweep: {lost} URLs lost so far; it has not come to its end"),
        (Some(links), 0) => {
            return format!("sweep: each of {links} kept links leads to a known URL: nothing was lost");
        }
        (Some(links), _) => format!("sweep: {lost} URLs lost, among {links} kept links"),
    };
    let fates = [
        (rescued, "rescued"),
        (found, "let in by another link"),
        (missed_with_them, "more found behind them"),
        (no_longer_linked, "no longer linked"),
        (parent_unreachable, "whose page could not be fetched again"),
    ];
    for (count, fate) in fates.iter().filter(|(count, _)| *count > 0) {
        text += &format!("; {count} {fate}");
    }
    text
}

fn why_no_sweep(summary: &StoredSummary) -> &'static str {
    let settings = summary.settings.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let off = settings.is_some_and(|settings| settings["cache"]["sweep"] == "off");
    if off { "no sweep" } else { "no sweep yet: it follows when nothing is left to fetch" }
}
