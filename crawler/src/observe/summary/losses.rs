//! What a summary says to people of the URL cache and of lost URLs: expected, measured and verified.
//!
//! Invariants: what was not measured or proved is said to be so; no figure has an exponent.

use serde_json::Value;
use urlcache::LossFigure;

use crate::{
    observe::{
        escape,
        figures::{count, counted, expected, share, size},
    },
    store::{Counters, StoredSummary, SweepCounts},
};

/// Of fewer URLs that were checked, the interval of the rate is wide, and the summary says why.
const FEW: u64 = 30;

/// The lines; none where there is no URL cache yet.
pub(super) fn lines(summary: &StoredSummary, cache: &Value) -> Option<String> {
    let audit = audit_line(&cache["audit"]);
    let lost = lost_line(cache, summary.is_proved())?;
    Some(format!("{}{lost}{audit}{}", cache_line(summary, cache)?, verified_line(summary)))
}

fn cache_line(summary: &StoredSummary, cache: &Value) -> Option<String> {
    let [strategy, layout] = [cache["strategy"].as_str()?, cache["layout"].as_str()?].map(escape::text);
    let name = if strategy == layout { strategy.into_owned() } else { format!("{strategy} ({layout})") };
    let items = counted(cache["items"].as_u64()?, "URL", "URLs");
    let bytes = size(cache["bits"].as_u64()? / 8);
    Some(format!("URL cache   {name}: {bytes} for {items}{}\n", resets(&summary.counters)))
}

/// What the reset policy did, if it had to.
fn resets(counters: &Counters) -> String {
    let Counters { rebuilds, growths, rotations, forgotten, .. } = *counters;
    let done = [(rebuilds, "rebuilt larger"), (growths, "enlarged"), (rotations, "rotated")];
    let mut text = String::new();
    for (times, what) in done.into_iter().filter(|(times, _)| *times > 0) {
        let times = if times == 1 { "once".to_owned() } else { format!("{} times", count(times)) };
        text += &format!("; {what} {times}");
    }
    if forgotten > 0 {
        text += &format!(", {} found by the URL table", counted(forgotten, "duplicate", "duplicates"));
    }
    text
}

/// Expected losses beside their budget; `proved`, where the sweep has found all of them.
fn lost_line(cache: &Value, proved: bool) -> Option<String> {
    let figure = cache["expected_lost_is"].as_str();
    if figure == Some(LossFigure::Unknown.name()) {
        let strategy = escape::text(cache["strategy"].as_str()?);
        return Some(format!("lost URLs   no figure: {strategy} keeps no account of them, and no budget\n"));
    }
    let lost = cache["expected_lost"].as_f64()?;
    let budget = match cache["budget_lost"].as_f64() {
        None => "no budget".to_owned(),
        Some(budget) if lost > budget && proved => format!("budget {budget}: OVER BUDGET, but none is missing"),
        Some(budget) if lost > budget => format!("budget {budget}: OVER BUDGET"),
        Some(budget) => format!("budget {budget}"),
    };
    if figure == Some(LossFigure::AtLeast.name()) {
        return Some(format!("lost URLs   at least {}: the filter is full; {budget}\n", expected(lost)));
    }
    Some(format!("lost URLs   {} expected, {budget}\n", expected(lost)))
}

/// The rate that the audit measured; nothing where it had nothing to measure.
fn audit_line(audit: &Value) -> String {
    let Some(checked) = audit["checked"].as_u64() else {
        return "audited     no: the false-positive rate is not measured (--audit-sample 0)\n".to_owned();
    };
    if checked == 0 {
        return String::new();
    }
    let [low, high] = ["low", "high"].map(|name| share(audit[name].as_f64().unwrap_or_default()));
    let found = audit["false_positives"].as_u64().unwrap_or_default();
    let sampled = if audit["share"].as_f64().is_some_and(|share| share < 1.0) { " sampled" } else { "" };
    let rate = if found == 0 {
        format!("<= {high} (95 % confidence)")
    } else {
        format!("{} ({low} to {high} with 95 % confidence)", share(found as f64 / checked as f64))
    };
    let rescued = match audit["rescued"].as_u64() {
        None | Some(0) => String::new(),
        Some(rescued) => format!(", {} of them admitted after all", count(rescued)),
    };
    let few = if checked < FEW { "; too few to tell much" } else { "" };
    let [found, checked] = [found, checked].map(count);
    format!(
        "audited     measured false-positive rate {rate}: {found} of {checked}{sampled} new URLs refused{rescued}{few}\n"
    )
}

fn verified_line(summary: &StoredSummary) -> String {
    let SweepCounts { links, lost, rescued, found, missed_with_them, no_longer_linked, parent_unreachable } =
        summary.lost.sweep;
    let mut text = match (links, lost) {
        (None, 0) => return format!("unverified  {}\n", why_no_sweep(summary)),
        (None, _) => {
            format!("unverified  {} found so far; the sweep has not finished", counted(lost, "lost URL", "lost URLs"))
        }
        (Some(0), 0) => return "verified    there are no in-scope links to check\n".to_owned(),
        (Some(links), 0) => {
            return format!("verified    all {} in-scope links lead to a known URL: nothing was lost\n", count(links));
        }
        (Some(links), _) => {
            format!(
                "swept       {} found among {} in-scope links",
                counted(lost, "lost URL", "lost URLs"),
                count(links)
            )
        }
    };
    let fates = [
        (rescued, "fetched after all"),
        (found, "found by another link"),
        (missed_with_them, "more found through them"),
        (no_longer_linked, "no longer linked"),
        (parent_unreachable, "linked from pages that could not be read again"),
    ];
    for (number, fate) in fates.iter().filter(|(number, _)| *number > 0) {
        text += &format!("; {} {fate}", count(*number));
    }
    text + "\n"
}

fn why_no_sweep(summary: &StoredSummary) -> &'static str {
    let settings = summary.settings.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    match settings {
        Some(settings) if settings["cache"]["sweep"] == "off" => "the sweep is off (--sweep)",
        _ => "the sweep follows when nothing is left to fetch",
    }
}
