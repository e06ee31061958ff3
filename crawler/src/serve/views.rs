//! What people see: the search, its results, an archived page in its frame, and what has changed.

use serde_json::Value;

use super::{answers::CrawlReport, archived};
use crate::{
    monitor::page::html::{escaped, table, terms, time},
    store::{LinkEnd, LinkLine},
};

pub(super) const STYLE: &str = include_str!("serve.css");

/// The policy of these pages: nothing runs in them, and what is in a frame may not leave the archive.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; frame-src 'self'; base-uri 'none'; \
    form-action 'self'; frame-ancestors 'self'";

/// A whole page.
fn document(title: &str, query: &str, main: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/serve.css\"></head><body>\
         <header><a class=\"home\" href=\"/\">Webloom</a><form action=\"/\" role=\"search\"><label for=\"q\">Search</label>\
         <input id=\"q\" name=\"q\" type=\"search\" value=\"{}\"><button>Search</button></form><nav><a href=\"/changes\">Changes</a>\
         <a href=\"/report\">Report</a><a href=\"/openapi.json\">API</a></nav></header><main>{main}</main></body></html>\n",
        escaped(title),
        escaped(query)
    )
}

/// The page of a URL here.
fn page_path(url: &str) -> String {
    format!("/page?url={}", encoded(url))
}

/// A value in a query.
fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The start page.
pub(super) fn start(status: &Value, starts: &str) -> String {
    let pages = status["pages"]["stored"].as_u64().unwrap_or(0);
    let main = format!(
        "<h1>{}</h1><p>{pages} pages in crawl sequence {}. Search them above, or look at what has <a href=\"/changes\">changed</a>.</p>",
        escaped(starts),
        status["sequence"]
    );
    document("Webloom", "", &main)
}

/// What a search found.
pub(super) fn results(found: &Value) -> String {
    let query = word(found, "query");
    let hits: Vec<String> = found["hits"].as_array().into_iter().flatten().map(hit).collect();
    let total = found["total"].as_u64().unwrap_or(0);
    let main = format!(
        "<h1>{total} {} with {}</h1><ol class=\"hits\">{}</ol>",
        if total == 1 { "page" } else { "pages" },
        escaped(query),
        hits.concat()
    );
    document(&format!("{query} - Webloom"), query, &main)
}

fn hit(hit: &Value) -> String {
    let url = word(hit, "url");
    let title = Some(word(hit, "title")).filter(|title| !title.is_empty()).unwrap_or(url);
    format!(
        "<li><a href=\"{}\">{}</a><p class=\"url\">{}</p><p>{}</p></li>",
        page_path(url),
        escaped(title),
        escaped(url),
        escaped(word(hit, "snippet"))
    )
}

/// An archived page in its frame, with when it was fetched and how it has changed since.
pub(super) fn page(page: &Value, sequence: Option<u32>, changes: &[Value]) -> String {
    let url = word(page, "url");
    let title = Some(word(page, "title")).filter(|title| !title.is_empty()).unwrap_or(url);
    let of_page: Vec<_> = changes.iter().filter(|change| word(change, "url") == url).collect();
    let change = |change: &&Value| {
        let number = &change["sequence"];
        let path = format!("{}&amp;sequence={number}", page_path(url));
        format!(
            "<li>{} {} (<a href=\"{path}\">sequence {number}</a>)</li>",
            time(word(change, "at")),
            escaped(word(change, "change"))
        )
    };
    let listed: String = of_page.iter().rev().take(10).map(change).collect();
    let below = if listed.is_empty() {
        String::new()
    } else {
        format!("<details><summary>Changes</summary><ul>{listed}</ul></details>")
    };
    let asked = sequence.map_or(String::new(), |sequence| format!("&amp;sequence={sequence}"));
    let link = encoded(url);
    let main = format!(
        "<div class=\"banner\"><h1>{}</h1><p class=\"url\">{}</p><p>Archived copy of {}, sequence {}. <a href=\"/markdown?url={link}{asked}\">Markdown</a>, \
         <a href=\"/raw?url={link}{asked}\">source</a></p>{below}</div>\
         <iframe title=\"Archived page\" sandbox=\"allow-scripts\" src=\"{}\"></iframe>",
        escaped(title),
        escaped(url),
        time(word(page, "fetched_at")),
        page["sequence"],
        escaped(&archived::path(sequence, url)),
    );
    document(&format!("{title} - archived"), "", &main)
}

/// The list of changes.
pub(super) fn changes<'c>(changes: impl Iterator<Item = &'c Value>) -> String {
    document("Changes - Webloom", "", &format!("<h1>Changes</h1>{}", change_table(changes)))
}

fn change_table<'c>(changes: impl Iterator<Item = &'c Value>) -> String {
    let row = |change: &Value| {
        let pages = change["count"].as_u64().map_or(String::new(), |count| format!(" ({count} pages)"));
        let what = escaped(word(change, "change")) + &pages;
        [time(word(change, "at")), what, linked(word(change, "url"))]
    };
    table(["When", "Change", "URL"], changes.map(row))
}

/// A link to a page of the archive.
fn linked(url: &str) -> String {
    format!("<a href=\"{}\">{}</a>", page_path(url), escaped(url))
}

/// What a sequence reports: its summary, what has changed, and links to what is broken.
pub(super) fn report(report: &CrawlReport) -> String {
    let CrawlReport { sequence, summary, changes, broken, is_cut } = report;
    let row = |link: &LinkLine| {
        let LinkEnd { url, status, outcome, reason, redirect } = &link.to;
        let found = redirect.as_ref().and_then(|found| found.status.map(|status| (status, &found.outcome)));
        let (status, outcome) = found.map_or((*status, outcome), |(status, outcome)| (Some(status), outcome));
        let why = [status.map(|status| status.to_string()), outcome.clone(), reason.clone()];
        let why = why.into_iter().flatten().collect::<Vec<_>>().join(", ");
        [escaped(url.as_deref().unwrap_or("a lost URL")), escaped(&why), linked(&link.from)]
    };
    let part = |title: &str, count: usize, table: String| match count {
        0 => format!("<h2>{title}</h2><p>none</p>"),
        _ => format!("<h2>{title}</h2>{table}"),
    };
    // Each line but the first has its name in the first column.
    let mut lines = summary.lines();
    let result = escaped(lines.next().unwrap_or_default());
    let named = lines.filter_map(|line| line.split_once("  ").or(line.split_once(' ')));
    let summary = terms(&named.map(|(name, what)| (name, what.trim().to_owned())).collect::<Vec<_>>());
    let broken_links = table(["URL", "Why", "On page"], broken.iter().map(row));
    let more = if *is_cut { "<p>There are more: <code>webloom links --broken</code> lists all.</p>" } else { "" };
    let main = format!(
        "<h1>Crawl sequence {sequence}</h1><p>{result}</p>{summary}{}{}{more}",
        part("Changes", changes.len(), change_table(changes.iter())),
        part("Broken links", broken.len(), broken_links),
    );
    document("Report - Webloom", "", &main)
}

/// That something is not there, or not possible.
pub(super) fn message(text: &str) -> String {
    document("Webloom", "", &format!("<h1>{}</h1>", escaped(text)))
}

/// The same within a frame.
pub(super) fn bare(url: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><title>Not archived</title><p>This is not in the archive:</p><p>{}</p></html>\n",
        escaped(url)
    )
}
