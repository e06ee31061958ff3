//! SURTs: those that the Python package `surt` makes of real URLs, and the cases of its tests that are about web URLs.

use anyhow::{Context, Result};
use serde_json::Value;
use webloom::internals::url::WebUrl;
use webloom_tests::{conformance::ConformanceSet, shared};

#[test]
fn real_urls_have_the_surts_of_web_archives() -> Result<()> {
    let Some(text) = shared::text("urlnorm/surt-real-dev.json")? else { return Ok(()) };
    let cases: Vec<Value> = serde_json::from_str(&text)?;
    let mut set = ConformanceSet::new("surt of real URLs", include_str!("surt-real-deviations.tsv"));
    for (index, case) in cases.iter().enumerate() {
        let url = case["url"].as_str().context("no url")?;
        set.case(&format!("surt-real-{index}"), judge(url, &case["surt"]));
    }
    set.finish(0.01);
    Ok(())
}

#[test]
fn the_cases_of_the_package_itself_pass() -> Result<()> {
    let Some(text) = shared::text("urlnorm/urlnorm-dev.json")? else { return Ok(()) };
    let cases: Vec<Value> = serde_json::from_str(&text)?;
    for (kind, deviations) in [("surt", include_str!("surt-deviations.tsv")), ("surtjson-defaultIASurt", "")] {
        let mut set = ConformanceSet::new(kind, deviations);
        for (index, case) in cases.iter().enumerate().filter(|(_, case)| case["kind"] == kind) {
            let url = case["input"].as_str().context("no input")?;
            if url.starts_with("http") && case["options"].is_null() {
                set.case(&format!("{kind}-{index}"), judge(url, &case["expected"]));
            }
        }
        set.finish(0.15);
    }
    Ok(())
}

fn judge(url: &str, expected: &Value) -> Result<(), String> {
    let ours = WebUrl::parse(url).map_err(|error| format!("{url}: {error}"))?.surt();
    if *expected == *ours { Ok(()) } else { Err(format!("{url}: {ours}, expected {expected}")) }
}
