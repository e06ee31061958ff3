//! Kills with every kind of URL cache, and while one is made anew.

use anyhow::Result;
use webloom_practice::Shape;

use super::{
    siege::{Moment, Siege},
    site::Site,
};

/// So small a budget that nothing is lost by chance, and a first cache far too small.
const STRICT: &[&str] =
    &["--max-lost-urls", "0.00001", "--expected-urls", "20", "--audit-sample", "0", "--sweep", "off"];

/// The first replay of a new crawl is a rebuild; that of one that goes on fills its first cache. A cache that is filled with
/// half of the URLs needs no rebuild, so rebuilds are killed first.
const REBUILDING: &[Moment] = &[
    Moment::At("before_replay", 1),
    Moment::At("after_replay", 2),
    Moment::At("before_replay", 2),
    Moment::At("inside_step", 15),
    Moment::At("after_replay", 1),
    Moment::After(40),
];

const GROWING: &[Moment] = &[
    Moment::At("after_commit", 2),
    Moment::At("before_replay", 1),
    Moment::After(30),
    Moment::At("after_replay", 1),
    Moment::At("inside_step", 15),
];

#[test]
fn a_kill_while_a_cache_is_made_anew_loses_nothing() -> Result<()> {
    let site = Site::practice(Shape::default())?;
    for flags in [
        &["--cache", "single", "--cache-layout", "classic"][..],
        &["--cache", "temporal", "--cache-layout", "line"],
        &["--cache", "spatial", "--cache-layout", "fingerprint"],
        &["--cache", "spatio-temporal"],
        &["--cache", "multilayer"],
    ] {
        besieged(&site, flags, REBUILDING)?;
    }
    Ok(())
}

#[test]
fn a_kill_of_a_crawl_whose_cache_grows_loses_nothing() -> Result<()> {
    let site = Site::practice(Shape { seed: 3, ..Shape::default() })?;
    for layout in ["line", "fingerprint"] {
        besieged(&site, &["--reset", "grow", "--cache-layout", layout], GROWING)?;
    }
    Ok(())
}

#[test]
fn a_kill_of_a_crawl_whose_cache_forgets_loses_nothing() -> Result<()> {
    let site = Site::practice(Shape { seed: 4, ..Shape::default() })?;
    for strategy in ["exact", "spatio-temporal"] {
        besieged(&site, &["--reset", "rotate", "--cache", strategy], GROWING)?;
    }
    Ok(())
}

fn besieged(site: &Site, flags: &[&'static str], moments: &[Moment]) -> Result<()> {
    let mut siege = Siege::lay(site, &[STRICT, flags].concat())?;
    for moment in moments {
        siege.kill(*moment)?;
    }
    println!("{flags:?}");
    siege.end()
}
