//! robots.txt: the cases of three parsers' own tests, and the files of live sites with answers that two of those
//! parsers share. Beside them: crawl delays and sitemaps as Protego reads them.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use webloom::internals::robots::{ProductToken, Question, Robots, explain};
use webloom_tests::{conformance::ConformanceSet, shared};

#[test]
fn core_cases_pass() -> Result<()> {
    let Some(text) = shared::text("robots/robots-cases-dev.json")? else { return Ok(()) };
    let cases: Vec<Value> = serde_json::from_str(&text)?;
    let mut set = ConformanceSet::new("robots core", "");
    for (index, case) in cases.iter().enumerate().filter(|(_, case)| case["tier"] == "core") {
        set.case(&format!("core-{index}"), judge(case));
    }
    set.finish(0.0);
    for tier in ["disputed", "extension"] {
        let outcomes: Vec<_> = cases.iter().filter(|case| case["tier"] == tier).map(judge).collect();
        let agreeing = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        println!("robots {tier}: {agreeing} of {} agree (none has to)", outcomes.len());
    }
    Ok(())
}

#[test]
fn files_of_live_sites_are_read_as_others_read_them() -> Result<()> {
    let Some(lines) = shared::lines("robots/robots-real-dev.jsonl.zst")? else { return Ok(()) };
    let mut answers = ConformanceSet::new("robots real", include_str!("robots-real-deviations.tsv"));
    let mut delays = ConformanceSet::new("robots real delays", "");
    let mut sitemaps = ConformanceSet::new("robots real sitemaps", include_str!("robots-real-sitemaps-deviations.tsv"));
    for line in lines {
        let site: Value = serde_json::from_str(&line?)?;
        let host = text(&site["host"])?;
        let file = text(&site["robots"])?.as_bytes();
        for (index, case) in site["cases"].as_array().into_iter().flatten().enumerate() {
            answers.case(&format!("{host}-{index}"), answer(file, case)?);
        }
        for (agent, seconds) in site["crawl_delay_protego"].as_object().into_iter().flatten() {
            delays.case(&format!("{host}-{agent}"), delay(file, agent, seconds)?);
        }
        sitemaps.case(host, sitemaps_of(file, &site["sitemaps"])?);
    }
    answers.finish(0.001);
    delays.finish(0.0);
    sitemaps.finish(0.01);
    Ok(())
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().with_context(|| format!("not a text: {value}"))
}

/// A site's case: user agent, URL, allowed.
fn answer(file: &[u8], case: &Value) -> Result<Result<(), String>> {
    let (agent, url) = (ProductToken::new(text(&case[0])?)?, text(&case[1])?);
    let answer = explain(&Question { status: 200, robots: file, agent: &agent, url });
    let same = case[2] == answer.allowed;
    Ok(same.then_some(()).ok_or_else(|| format!("{} {url}: {:?} decided, expected {}", case[0], answer.rule, case[2])))
}

fn delay(file: &[u8], agent: &str, seconds: &Value) -> Result<Result<(), String>> {
    let ours = Robots::parse(file, &ProductToken::new(agent)?).crawl_delay().map(|delay| delay.as_secs_f64());
    Ok((ours == seconds.as_f64()).then_some(()).ok_or_else(|| format!("{ours:?}, expected {seconds}")))
}

fn sitemaps_of(file: &[u8], expected: &Value) -> Result<Result<(), String>> {
    let robots = Robots::parse(file, &ProductToken::new("webloom")?);
    let mut expected: Vec<_> = expected.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut ours: Vec<_> = robots.sitemaps().iter().map(String::as_str).collect();
    for list in [&mut expected, &mut ours] {
        list.sort_unstable();
        list.dedup();
    }
    Ok((ours == expected).then_some(()).ok_or_else(|| format!("{ours:?}, expected {expected:?}")))
}

/// A case of the table, by its `kind`.
fn judge(case: &Value) -> Result<(), String> {
    let file = match case["robots_b64"].as_str() {
        Some(coded) => data_encoding::BASE64.decode(coded.as_bytes()).map_err(|error| error.to_string())?,
        None => case["robots"].as_str().unwrap_or_default().as_bytes().to_vec(),
    };
    let agent =
        ProductToken::new(case["user_agent"].as_str().unwrap_or_default()).map_err(|error| error.to_string())?;
    let url = case["url"].as_str().unwrap_or_default();
    let answer = explain(&Question { status: 200, robots: &file, agent: &agent, url });
    let kind = case["kind"].as_str().unwrap_or_default();
    let same = match kind {
        "allowed" => case[kind] == answer.allowed,
        "crawl_delay" => case[kind].as_f64() == answer.crawl_delay.as_ref().map(Duration::as_secs_f64),
        "sitemaps" => case[kind] == Value::from(answer.sitemaps.clone()),
        "sitemap_count" => case[kind] == answer.sitemaps.len(),
        _ => return Err(format!("unknown kind {kind:?}")),
    };
    same.then_some(())
        .ok_or_else(|| format!("{kind} of {url:?} for {}: {answer:?}, expected {}", agent.as_str(), case[kind]))
}
