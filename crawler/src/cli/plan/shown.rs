//! How a forecast is shown: in lines, and as one JSON document.

use std::time::Duration;

use serde_json::{Value, json};

use super::{first_look::FirstLook, forecast::Forecast};
use crate::{
    cli::listing::without_login,
    config::print_duration,
    observe::figures::{self, count, counted, size, whole_time},
    store::PageLine,
};

pub(super) fn lines(look: &FirstLook, forecast: &Forecast) -> String {
    let about = if forecast.at_least { "at least" } else { "about" };
    let time = whole_time(duration(forecast.seconds).as_secs().max(1));
    let pace = figures::time(forecast.pace);
    let traffic = |bytes| format!("{about} {}, if all pages are as large as the start page", size(bytes));
    let rows = [
        ("start", Some(start(look))),
        ("robots.txt", Some(robots(look))),
        ("links", Some(format!("{} in scope on the start page", counted(look.linked, "URL", "URLs")))),
        ("sitemaps", Some(sitemaps(look))),
        ("pages", Some(pages(look, forecast, about))),
        ("time", Some(format!("{about} {time}, with a request to each host every {pace}"))),
        ("disk", Some(format!("{about} {}", size(forecast.disk)))),
        ("traffic", forecast.traffic.map(traffic)),
    ];
    rows.into_iter().filter_map(|(name, text)| Some(format!("{name:<12}{}\n", text?))).collect()
}

fn sitemaps(look: &FirstLook) -> String {
    let more = counted(look.listed, "more URL", "more URLs");
    match (look.sitemaps, look.is_cut) {
        (0, false) => "none".to_owned(),
        (read, false) => format!("{} read, with {more} in scope", count(read)),
        (read, true) => {
            format!("{} read, with {more} in scope; there was no time for others (--max-time)", count(read))
        }
    }
}

fn pages(look: &FirstLook, forecast: &Forecast, about: &str) -> String {
    let pages = count(forecast.pages);
    match forecast.budget {
        Some(_) => format!("{pages}, by --max-pages; {} are known", counted(look.known(), "URL", "URLs")),
        None if look.sitemaps == 0 && !look.is_cut => format!("{about} {pages}: no sitemap says how many there are"),
        None => format!("{about} {pages}"),
    }
}

/// The page to which the start leads.
fn start(look: &FirstLook) -> String {
    let PageLine { url, status, bytes, head, .. } = &look.start;
    let url = url.as_deref().map(without_login).unwrap_or_default();
    let parts = [
        status.map(|status| status.to_string()),
        bytes.map(size),
        head.title.as_deref().map(|title| format!("{title:?}")),
        head.language.as_deref().map(str::to_owned),
        head.robots.as_str().map(str::to_owned),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("{url} ({})", parts.join(", "))
}

fn robots(look: &FirstLook) -> String {
    let Some(robots) = &look.robots else { return "was not read".to_owned() };
    match (robots.status, look.crawl_delay()) {
        (Some(200..=299), Some(delay)) => format!("asks for a pause of {} (Crawl-delay)", print_duration(delay)),
        (Some(200..=299), None) => "asks for no pause".to_owned(),
        (Some(status), _) => format!("none ({status})"),
        (None, _) => "no answer".to_owned(),
    }
}

fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// The same as one JSON document.
pub(super) fn document(look: &FirstLook, forecast: &Forecast) -> Value {
    let FirstLook { start, robots, .. } = look;
    let Forecast { pages, at_least, budget, pace, seconds, disk, traffic } = forecast;
    json!({
        "start": {
            "url": start.url.as_deref().map(without_login), "status": start.status, "bytes": start.bytes,
            "title": start.head.title, "language": start.head.language, "robots": start.head.robots.as_str(),
        },
        "robots": {
            "status": robots.as_ref().and_then(|robots| robots.status),
            "crawl_delay_seconds": look.crawl_delay().map(|delay| delay.as_secs_f64()),
        },
        "links": look.linked,
        "sitemaps": { "read": look.sitemaps, "more_urls": look.listed, "complete": !look.is_cut },
        "hosts": look.hosts,
        "pages": pages,
        "at_least": at_least,
        "budget": budget,
        "seconds_a_request": pace,
        "seconds": seconds,
        "disk_bytes": disk,
        "traffic_bytes": traffic,
    })
}
