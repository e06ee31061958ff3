//! Links of small cases and of real pages, as html5lib and ada-url find them.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use data_encoding::BASE64;
use serde_json::Value;
use webloom::internals::{
    extract::{MetaRobots, PageReferences, everything, links},
    url::WebUrl,
};
use webloom_tests::{conformance::ConformanceSet, shared};

#[test]
fn finds_the_links_of_small_cases() -> Result<()> {
    let Some(text) = shared::text("links/links-cases-dev.json")? else { return Ok(()) };
    let cases: Vec<Value> = serde_json::from_str(&text)?;
    let mut set = ConformanceSet::new("link cases", include_str!("links-cases-deviations.tsv"));
    for (index, case) in cases.iter().enumerate() {
        set.case(&format!("case-{index}"), judge(case)?);
    }
    set.finish(0.05);
    Ok(())
}

#[test]
fn finds_the_links_of_real_pages() -> Result<()> {
    let Some(lines) = shared::lines("links/links-real-dev.jsonl.zst")? else { return Ok(()) };
    let mut set = ConformanceSet::new("links of real pages", include_str!("links-real-deviations.tsv"));
    for (index, line) in lines.enumerate() {
        set.case(&format!("page-{index}"), judge(&serde_json::from_str(&line?)?)?);
    }
    set.finish(0.01);
    Ok(())
}

/// Whether a case comes out as expected, in the same order too.
fn judge(case: &Value) -> Result<Result<(), String>> {
    let url = WebUrl::parse(case["url"].as_str().context("no url")?)?;
    let (body, content_type) = body(case)?;
    let page = everything(&body, Some(&content_type), &url);
    let visit = links(&body, Some(&content_type), &url);
    let same = visit.links.iter().map(|link| &link.url).eq(&page.links) && visit.head.robots == page.head.robots;
    if !same || visit.base != page.base || visit.head.title != page.head.title {
        return Ok(Err("links() and everything() disagree".into()));
    }
    Ok(compare(case, &page, &url))
}

/// The bytes, and the header that says how to read them. `html` is text already: its charset is not the one its meta
/// tags claim.
fn body(case: &Value) -> Result<(Vec<u8>, String)> {
    if let Some(html) = case["html"].as_str() {
        return Ok((html.into(), "text/html; charset=utf-8".into()));
    }
    let bytes = BASE64.decode(case["html_b64"].as_str().context("no html")?.as_bytes())?;
    let charset = case["charset"].as_str().map_or(String::new(), |charset| format!("; charset={charset}"));
    Ok((bytes, format!("text/html{charset}")))
}

fn compare(case: &Value, page: &PageReferences, url: &WebUrl) -> Result<(), String> {
    same_list("links", &strings(case, "links"), &page.links)?;
    same_set("nofollow", &strings(case, "nofollow"), &page.nofollow)?;
    same_set("frames", &strings(case, "frames"), &page.frames)?;
    let images = page.requisites.iter().filter(|found| strings(case, "images").contains(&found.as_str()));
    same_set("images", &strings(case, "images"), images)?;
    same_set("alternates", &alternates(case), &page.alternates)?;
    let base = case["base_href"].as_str().and_then(|href| url.join(href).ok());
    let robots = robots(case);
    match () {
        () if base.as_ref().unwrap_or(url) != &page.base => Err(format!("base: {}, expected {base:?}", page.base)),
        () if robots != page.head.robots => Err(format!("meta robots: {:?}, expected {robots:?}", page.head.robots)),
        () => Ok(()),
    }
}

fn strings<'a>(case: &'a Value, field: &str) -> Vec<&'a str> {
    case[field].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `link_rel` holds `rel URL`.
fn alternates(case: &Value) -> Vec<&str> {
    let named = strings(case, "link_rel").into_iter().filter_map(|entry| entry.split_once(' '));
    named
        .filter(|(rel, _)| *rel == "alternate")
        .map(|(_, url)| url.split_once('#').map_or(url, |(url, _)| url))
        .collect()
}

fn robots(case: &Value) -> MetaRobots {
    let contents = strings(case, "meta_robots").join(",").to_ascii_lowercase();
    let has = |word| contents.split(',').any(|directive| directive.trim() == word);
    MetaRobots { nofollow: has("nofollow") || has("none"), noindex: has("noindex") || has("none") }
}

fn same_list(what: &str, expected: &[&str], found: &[WebUrl]) -> Result<(), String> {
    same_set(what, expected, found)?;
    if expected.iter().copied().eq(found.iter().map(WebUrl::as_str)) { Ok(()) } else { Err(format!("{what}: order")) }
}

fn same_set<'a>(what: &str, expected: &[&str], found: impl IntoIterator<Item = &'a WebUrl>) -> Result<(), String> {
    let expected: BTreeSet<_> = expected.iter().copied().filter(|url| url.starts_with("http")).collect();
    let found: BTreeSet<_> = found.into_iter().map(WebUrl::as_str).collect();
    let missing: Vec<_> = expected.difference(&found).take(3).collect();
    let invented: Vec<_> = found.difference(&expected).take(3).collect();
    if missing.is_empty() && invented.is_empty() {
        Ok(())
    } else {
        Err(format!("{what}: missing {missing:?}, invented {invented:?}"))
    }
}
