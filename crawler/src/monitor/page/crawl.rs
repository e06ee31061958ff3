//! What is shown of a crawl.

use std::sync::Arc;

use super::{
    super::{
        on_time::OnTime,
        readings::{CrawlRead, SequenceRead},
    },
    freshness,
    html::{escaped, link, table, terms, time},
};
use crate::{
    engine::Progress,
    observe::{
        figures::{count, expected, rfc3339, size, whole_time},
        pace::Pace,
    },
    time::Moment,
};

/// A crawl, and what is known of it.
pub(super) struct CrawlSection<'a> {
    /// Its place among the others.
    pub(super) number: usize,
    pub(super) name: &'a Arc<str>,
    pub(super) on_time: &'a OnTime,
    /// What its directory holds, if that could be read.
    pub(super) read: Option<&'a CrawlRead>,
    pub(super) pace: &'a Pace,
}

impl CrawlSection<'_> {
    pub(super) fn html(&self) -> String {
        let Self { number, name, on_time, .. } = self;
        let class = if on_time.is_well { "well" } else { "faulty" };
        let mut html = format!(
            "<section aria-labelledby=\"crawl{number}\"><h2 id=\"crawl{number}\">{}</h2>\
             <p id=\"state{number}\" data-live class=\"{class}\">{}</p>",
            escaped(name),
            escaped(&on_time.why)
        );
        let Some(read) = self.read else { return html + "<p>Its crawl directory holds nothing yet.</p></section>" };
        html += &self.live("figures", "Progress", &self.figures(read));
        if let Some(last) = &read.last {
            html += &self.live("hosts", "Hosts that do not answer", &hosts(last));
            html += &self.live("changes", "Last changes", &changes(last));
            html += &self.live("losses", "Losses", &losses(read, last));
            html += &self.live("freshness", "Freshness over time", &freshness::figure(&last.sequences));
        }
        html + "</section>"
    }

    /// A part that is kept up to date. What can be scrolled can be reached by keyboard.
    fn live(&self, part: &str, heading: &str, content: &str) -> String {
        let id = format!("{part}{}", self.number);
        format!(
            "<h3 id=\"{id}-heading\">{heading}</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-labelledby=\"crawl{} {id}-heading\"><div id=\"{id}\" data-live>{content}</div></div>",
            self.number
        )
    }

    fn figures(&self, read: &CrawlRead) -> String {
        let last = read.last.as_ref();
        let at = |pointer| last.and_then(|last| last.whole(pointer));
        let dash = || "-".to_owned();
        let now = |of: fn(&Progress) -> u64, pointer| {
            let number = read.figures.as_ref().map(of).or_else(|| at(pointer));
            number.map_or_else(|| "unknown".to_owned(), count)
        };
        let mut rows =
            vec![("sequence", at("/sequence").map_or_else(|| "none yet".to_owned(), |number| number.to_string()))];
        rows.push(("pages stored", now(|figures| figures.pages, "/pages/stored")));
        rows.push(("URLs queued", now(|figures| figures.queued, "/counts/queued")));
        rows.push(("requests in flight", now(|figures| figures.in_flight, "/counts/leased")));
        rows.push(("URLs a second", self.pace.rate().map_or_else(dash, |rate| format!("{rate:.1}"))));
        rows.push(("time left", self.pace.left().map_or_else(dash, |left| whole_time(left.as_secs()))));
        rows.push(("broken", at("/pages/broken").map_or_else(|| "unknown".to_owned(), count)));
        rows.push(("received in all", size(read.counters.bytes_in)));
        terms(&rows)
    }
}

fn hosts(last: &SequenceRead) -> String {
    let hosts = last.hosts();
    if hosts.is_empty() {
        return "<p>All hosts answer.</p>".to_owned();
    }
    let row = |host: &serde_json::Value| {
        let text = |name| host[name].as_str().unwrap_or_default();
        let waiting = host["waiting"].as_u64().unwrap_or_default();
        [escaped(text("host")), escaped(text("cause")), time(text("since")), count(waiting)]
    };
    table(["host", "why", "since", "URLs that wait"], hosts.iter().map(row))
}

fn changes(last: &SequenceRead) -> String {
    if last.changes_shown.is_empty() {
        return "<p>No change was reported yet.</p>".to_owned();
    }
    let row = |line: &crate::store::ChangeLine| {
        let at = time(&rfc3339(Moment::from_millis(line.at).whole_second()));
        let url = if line.url.starts_with("http") { link(&line.url) } else { escaped(&line.url) };
        let more = line.to.as_deref().map(|to| format!(" to {}", link(to)));
        let count = line.count.map(|pages| format!(" ({} pages)", count(pages)));
        let url = url + &more.unwrap_or_default() + &count.unwrap_or_default();
        [at, escaped(&line.change.as_str().replace('_', " ")), url]
    };
    table(["seen", "change", "page"], last.changes_shown.iter().map(row))
}

fn losses(read: &CrawlRead, last: &SequenceRead) -> String {
    let whole = |pointer| last.whole(pointer).map_or_else(|| "not known yet".to_owned(), count);
    let expected_now =
        read.figures.as_ref().map(|figures| figures.expected_lost).or_else(|| last.at("/cache/expected_lost"));
    let budget = last.budget_lost.map_or_else(|| "no budget".to_owned(), |budget| format!("{budget}"));
    terms(&[
        ("expected to be lost", expected_now.map_or_else(|| "none".to_owned(), expected)),
        ("loss budget", budget),
        ("seen lost by the audit, and let in", whole("/cache/audit/rescued")),
        ("found lost by the sweep", whole("/cache/sweep/lost")),
        ("of these rescued", whole("/cache/sweep/rescued")),
    ])
}
