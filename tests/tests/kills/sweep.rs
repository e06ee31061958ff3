//! Kills around the end: while the sweep compares, and while pages are fetched again for lost URLs.

use anyhow::{Result, ensure};
use serde_json::Value;
use webloom_practice::Shape;
use webloom_tests::webloom::{REDISCOVER, Webloom};

use super::{
    siege::{Moment, Siege, urls},
    site::Site,
};

/// A filter far too small: much is lost, and the sweep finds it in several rounds.
const LOSING: &[&str] = &["--expected-urls", "20", "--reset", "none", "--audit-rescue", "off"];

#[test]
fn a_kill_within_the_sweep_or_the_rescue_changes_nothing() -> Result<()> {
    let site = Site::practice(Shape::default())?;
    let mut siege = Siege::lay(&site, LOSING)?;
    for moment in [
        Moment::At("inside_step", 20),
        Moment::At("before_sweep", 1),
        Moment::At("inside_sweep", 1),
        Moment::At("after_sweep", 1),
        // The pages fetched again are the first steps after it.
        Moment::At("inside_step", 4),
        Moment::At("before_commit", 1),
        Moment::At("after_commit", 2),
        Moment::At("before_sweep", 2),
        Moment::At("inside_sweep", 2),
        Moment::At("after_sweep", 2),
        Moment::At("before_end", 1),
    ] {
        siege.kill(moment)?;
    }
    siege.end_after_losses()?;
    proved(&siege)
}

#[test]
fn a_kill_within_the_sweep_of_a_second_sequence_changes_nothing() -> Result<()> {
    let site = Site::practice(Shape::default())?;
    let mut siege = Siege::lay(&site, &[LOSING, &["--cache", "temporal"]].concat())?;
    siege.end_after_losses()?;
    let first = lost(&siege, "0");
    siege.again(&REDISCOVER)?;
    for moment in [
        Moment::At("inside_step", 20),
        Moment::At("inside_sweep", 1),
        Moment::At("after_sweep", 1),
        Moment::At("inside_step", 4),
        Moment::At("after_commit", 2),
        Moment::At("inside_sweep", 2),
        Moment::At("before_end", 1),
    ] {
        siege.kill(moment)?;
    }
    siege.end_after_losses()?;
    ensure!(lost(&siege, "0") == first, "what the first sequence lost is what it was");
    proved(&siege)
}

/// The lines of what a sequence lost, without the way to each page: that is the way of the last sequence that found it.
fn lost(siege: &Siege<'_>, sequence: &str) -> Vec<Value> {
    let pages = Webloom::new(["pages", "--lost", "--format", "jsonl", "--sequence", sequence]).args([siege.dir.path()]);
    let mut lines = pages.run().expect(0).json_lines();
    for line in &mut lines {
        let line = line.as_object_mut().expect("a line is an object");
        line.retain(|column, _| !["via", "hop", "depth"].contains(&column.as_str()));
    }
    lines
}

/// Of the last sequence: audit and sweep agree with the rows, and nothing is left out.
fn proved(siege: &Siege<'_>) -> Result<()> {
    let summary = Webloom::new(["status", "--json"]).args([siege.dir.path()]).run().expect(0).json();
    let (audit, sweep) = (&summary["cache"]["audit"], &summary["cache"]["sweep"]);
    let lost = lost(siege, &summary["sequence"].to_string());
    println!("audit {audit}, sweep {sweep}");
    // Every URL but the start was a trial, and none of them twice.
    let admitted = summary["counts"]["admitted"].as_u64().unwrap_or_default();
    ensure!(audit["share"] == 1.0 && audit["checked"] == admitted - 1, "{audit}, {admitted} admitted");
    ensure!(audit["false_positives"] == lost.len() && lost.len() > 50, "{audit}, {} lost", lost.len());
    // Each run has another filter: a link may let in what an earlier run lost, before the sweep compares it or after.
    let early = "SELECT hex(fingerprint) FROM lost WHERE sequence = (SELECT max(n) FROM sequence) AND NOT swept AND state = 'found'";
    let early = urls(siege.dir.path(), early)?.len() as u64;
    let figure = |name: &str| sweep[name].as_u64().unwrap_or_default();
    ensure!(figure("lost") + early == lost.len() as u64, "{sweep}, {early} of {} found early", lost.len());
    ensure!(figure("rescued") + figure("found") == figure("lost") && figure("rescued") > 50, "{sweep}");
    Ok(())
}
