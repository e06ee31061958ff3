//! Sitemaps and feeds, as other crawlers read them.

use std::collections::HashSet;

use anyhow::{Context, Result};
use data_encoding::BASE64;
use serde_json::Value;
use webloom::internals::{
    extract::sitemap::{self, SourceEntry, SourceKind, SourceLimits, SourceList},
    time::Moment,
    url::WebUrl,
};
use webloom_tests::{conformance::ConformanceSet, shared};

#[test]
fn reads_sitemaps_and_feeds() -> Result<()> {
    let Some(text) = shared::text("sitemaps/sitemaps-dev.json")? else { return Ok(()) };
    let cases: Value = serde_json::from_str(&text)?;
    let mut set = ConformanceSet::new("sitemaps", include_str!("sitemaps-deviations.tsv"));
    for (index, case) in cases["sitemaps"].as_array().context("no sitemaps")?.iter().enumerate() {
        set.case(&format!("sitemap-{index}"), judge(case)?);
    }
    for (index, case) in cases["dates"].as_array().context("no dates")?.iter().enumerate() {
        set.case(&format!("date-{index}"), judge_date(case)?);
    }
    set.finish(0.05);
    Ok(())
}

/// Cuts of each document.
const CUTS: usize = 200;

#[test]
fn a_beginning_has_no_url_that_the_whole_does_not_have() -> Result<()> {
    let Some(text) = shared::text("sitemaps/sitemaps-dev.json")? else { return Ok(()) };
    let cases: Value = serde_json::from_str(&text)?;
    for case in cases["sitemaps"].as_array().context("no sitemaps")? {
        let (url, body) = document(case)?;
        let whole = every(&sitemap::read(&body, None, &url, &SourceLimits::default()));
        for cut in (0..body.len()).step_by(body.len() / CUTS + 1) {
            let beginning = every(&sitemap::read_beginning(&body[..cut], None, &url, &SourceLimits::default()));
            let invented: Vec<_> = beginning.difference(&whole).collect();
            assert!(invented.is_empty(), "{} at {cut}: {invented:?}", case["name"]);
        }
    }
    Ok(())
}

fn every(list: &SourceList) -> HashSet<WebUrl> {
    list.entries.iter().chain(&list.sitemaps).map(|entry| entry.url.clone()).collect()
}

fn document(case: &Value) -> Result<(WebUrl, Vec<u8>)> {
    let body = match case["body"].as_str() {
        Some(body) => body.into(),
        None => BASE64.decode(case["body_b64"].as_str().context("no body")?.as_bytes())?,
    };
    Ok((WebUrl::parse(case["url"].as_str().context("no url")?)?, body))
}

fn judge(case: &Value) -> Result<Result<(), String>> {
    let (url, body) = document(case)?;
    let list = sitemap::read(&body, case["content_type"].as_str(), &url, &SourceLimits::default());
    if case["expected"] == "error" {
        // To report a fault, and what could be read, is as good.
        return Ok(Ok(()));
    }
    Ok(compare(case, &list, &url))
}

fn compare(case: &Value, list: &SourceList, url: &WebUrl) -> Result<(), String> {
    let kind = list.kind.map(SourceKind::word);
    if kind != case["kind"].as_str() {
        return Err(format!("kind: {kind:?}, expected {}", case["kind"]));
    }
    let entries = if list.kind == Some(SourceKind::Index) { &list.sitemaps } else { &list.entries };
    let found: Vec<_> = entries.iter().map(|entry| entry.url.clone()).collect();
    let expected = case["urls"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let expected: Vec<_> = expected.filter_map(|text| url.join(text).ok()).collect();
    if found != expected || Some(found.len() as u64) != case["count"].as_u64() {
        return Err(format!("urls: {found:?}, expected {expected:?}"));
    }
    case["lastmod"].as_array().map_or(Ok(()), |dates| compare_dates(dates, entries))
}

fn compare_dates(dates: &[Value], entries: &[SourceEntry]) -> Result<(), String> {
    for (date, entry) in dates.iter().zip(entries) {
        let expected = date.as_str().map(millis);
        let found = entry.lastmod.map(Moment::millis);
        if expected != found {
            return Err(format!("lastmod of {}: {found:?}, expected {date}", entry.url));
        }
    }
    Ok(())
}

fn judge_date(case: &Value) -> Result<Result<(), String>> {
    let (input, utc) = (case["input"].as_str().context("no input")?, case["utc"].as_str().context("no utc")?);
    let url = WebUrl::parse("http://h/")?;
    let body = format!("<urlset><url><loc>/</loc><lastmod>{input}</lastmod></url></urlset>");
    let list = sitemap::read(body.as_bytes(), None, &url, &SourceLimits::default());
    Ok(compare_dates(&[utc.into()], &list.entries).and(list.entries.first().map(drop).ok_or("no entry".into())))
}

/// A date of the cases, which write dates without a time, too.
fn millis(text: &str) -> u64 {
    let padded = format!("{text}{}", &"0000-01-01T00:00:00Z"[text.len().min(20)..]);
    let whole = if text.len() < 20 { &padded } else { text };
    let timestamp: jiff::Timestamp = whole.parse().unwrap_or_else(|error| panic!("{whole}: {error}"));
    timestamp.as_millisecond().try_into().expect("after 1970")
}
