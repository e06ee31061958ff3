//! What a summary says of lost URLs and of revisits, as parts of its document.

use serde_json::{Value, json};
use urlcache::Interval;

use super::freshness::FreshnessFigures;
use crate::{
    observe::figures::{count, counted, share},
    store::{CheckedRevisits, Counters, StoredSummary, SweepCounts},
};

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
    let (answers, figures) = (summary.counters.by_status.get(&NOT_MODIFIED), FreshnessFigures::of(summary));
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
    let fresh = FreshnessFigures::of(summary).line();
    let answers = match found["not_modified"].as_u64() {
        None | Some(0) => return fresh,
        Some(answers) => counted(answers, "page", "pages"),
    };
    let checked = match found["audited"].as_u64() {
        None | Some(0) => "none of them checked".to_owned(),
        Some(audited) => format!(
            "{} of them checked, {} wrong (a rate of {} to {} with 95 % confidence)",
            count(audited),
            found["wrong"],
            share(figure("low")),
            share(figure("high")),
        ),
    };
    format!("revisits    {answers} not modified; {checked}\n{fresh}")
}
