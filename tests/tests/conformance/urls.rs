//! URL parsing and resolving: the WHATWG cases and the resolve table, as far as they are http(s).

use anyhow::Result;
use serde_json::Value;
use webloom::internals::url::WebUrl;
use webloom_tests::{conformance::ConformanceSet, shared};

#[test]
fn parses_and_resolves_as_the_url_standard_says() -> Result<()> {
    let Some(text) = shared::text("urlnorm/urlnorm-dev.json")? else { return Ok(()) };
    let cases: Vec<Value> = serde_json::from_str(&text)?;
    for kind in ["whatwg-parse", "resolve", "ipv4-host"] {
        let mut set = ConformanceSet::new(kind, "");
        for (index, case) in cases.iter().enumerate().filter(|(_, case)| case["kind"] == kind) {
            if let Some(outcome) = judge(case) {
                set.case(&format!("{kind}-{index}"), outcome);
            }
        }
        set.finish(0.0);
    }
    Ok(())
}

/// `None` where neither side is http(s).
fn judge(case: &Value) -> Option<Result<(), String>> {
    let input = case["input"].as_str()?;
    let base = case["base"].as_str().filter(|base| !base.is_empty());
    let ours = match base.map(WebUrl::parse) {
        Some(Ok(base)) => base.join(input).ok(),
        Some(Err(_)) => return None,
        None => WebUrl::parse(input).ok(),
    };
    let expected = case["expected"].as_str();
    if expected.is_some_and(|url| !url.starts_with("http:") && !url.starts_with("https:")) {
        return Some(ours.map_or(Ok(()), |ours| Err(format!("{ours} is not http(s): {expected:?}"))));
    }
    let expected = expected.map(|url| url.split_once('#').map_or(url, |(before, _)| before));
    let ours = ours.as_ref().map(WebUrl::as_str);
    Some(if ours == expected { Ok(()) } else { Err(format!("{input:?}: {ours:?}, expected {expected:?}")) })
}
