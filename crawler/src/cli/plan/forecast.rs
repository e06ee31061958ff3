//! [`Forecast`]: what a crawl would take, by a look at its site.
//!
//! Pure. A host is asked for one page after another: each takes the pause and the time of an answer. Hosts are asked side by side, so the
//! one with most pages decides.

use std::time::Duration;

use super::first_look::FirstLook;
use crate::config::{PolitenessSettings, Settings, TextChoice};

/// Bytes of the database that a page takes, links included: 560 to 690 on three large manuals.
const RECORD: u64 = 700;

/// The text of a page takes one part in so many of its body: 6 to 15 on the same.
const TEXT_SHARE: u64 = 10;

/// Bytes of an empty database.
const EMPTY: u64 = 250_000;

/// No answer is there sooner, in seconds.
const SOONEST: f64 = 0.002;

/// What a crawl would take.
#[derive(Debug, PartialEq)]
pub(super) struct Forecast {
    /// Pages that it would fetch.
    pub(super) pages: u64,
    /// Whether these are only those that are known by now: no sitemap says how many there are, or not all were read.
    pub(super) at_least: bool,
    /// The budget of pages, where that is what ends it.
    pub(super) budget: Option<u64>,
    /// From the beginning of a request to that of the next one to the same host, in seconds.
    pub(super) pace: f64,
    /// How long it lasts, in seconds.
    pub(super) seconds: f64,
    /// Bytes of its database.
    pub(super) disk: u64,
    /// Bytes of the bodies, if all pages are as large as the start page.
    pub(super) traffic: Option<u64>,
}

impl Forecast {
    /// Of a crawl with these settings.
    pub(super) fn of(look: &FirstLook, settings: &Settings) -> Self {
        let limits = &settings.budget;
        let most_of_host = limits.max_pages_per_host.map_or(u64::MAX, std::num::NonZero::get);
        let hosts = look.hosts.values().map(|pages| (*pages).min(most_of_host));
        // Without a link there is the start alone.
        let known = if limits.max_depth == Some(0) { 1 } else { hosts.clone().sum() };
        let budget = limits.max_pages.map(std::num::NonZero::get).filter(|most| *most <= known);
        let pages = budget.unwrap_or(known);
        let pace = pace(look, settings);
        let largest = hosts.max().unwrap_or_default().min(pages) as f64;
        let is_deeper = limits.max_depth.is_none_or(|most| most > 1);
        let most_at_once = settings.politeness.max_rate.map_or(0.0, |rate| pages as f64 / f64::from(rate.get()));
        let bytes = look.start.bytes;
        let texts = if settings.change.text == TextChoice::On { bytes.unwrap_or_default() / TEXT_SHARE } else { 0 };
        Self {
            pages,
            at_least: budget.is_none() && ((look.sitemaps == 0 && is_deeper) || look.is_cut),
            budget,
            pace,
            seconds: (largest * pace).max(most_at_once),
            disk: EMPTY + pages * (RECORD + texts),
            traffic: bytes.map(|bytes| bytes * pages),
        }
    }
}

/// Seconds between two requests to the host of the start.
fn pace(look: &FirstLook, settings: &Settings) -> f64 {
    let politeness = &settings.politeness;
    let asked = look.crawl_delay().unwrap_or_default().min(politeness.max_delay);
    let requests = look.requests.max(1) as f64;
    if politeness.delay_follows {
        let answer = (look.seconds / requests / f64::from(1 + PolitenessSettings::DELAY_FACTOR)).max(SOONEST);
        let pause = politeness.pause_after(Duration::try_from_secs_f64(answer).unwrap_or(Duration::MAX)).max(asked);
        return answer + pause.as_secs_f64();
    }
    let pause = politeness.delay.max(asked).as_secs_f64();
    let answer = (look.seconds / requests - pause).max(SOONEST);
    // With several at a time, the pause is still between any two.
    pause + answer / f64::from(politeness.per_host.get())
}
