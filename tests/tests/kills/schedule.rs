//! When crawls are killed: half at named moments, half at random ones.

use anyhow::{Result, ensure};
use webloom::internals::store::sqlite::FailPoint;
use webloom_practice::Shape;
use webloom_tests::webloom::REDISCOVER;

use super::{
    random::Random,
    siege::{Moment, Siege},
    site::Site,
};

/// Moments in the middle of a crawl, with the most passages to wait for after the first; none: a share of the
/// pages that are left.
const MIDDLE: &[(&str, Option<u64>)] = &[
    ("inside_step", None),
    ("before_commit", Some(2)),
    ("before_refill", Some(2)),
    ("after_step", None),
    ("after_commit", Some(2)),
    ("before_step", None),
    ("before_checkpoint", Some(2)),
    ("after_checkpoint", Some(2)),
];

/// Moments at the start and the end of a run, which rarely leave anything open: one of them a crawl.
const EDGES: &[&str] = &[
    "before_end",
    "inside_end",
    "before_replay",
    "after_replay",
    "after_create",
    "after_end",
    "before_close",
    "before_sweep",
    "inside_sweep",
    "after_sweep",
];

/// Moments that only a sequence beyond the first passes.
const AGAIN: &[&str] = &["after_begin_sequence"];

/// Moments that only visits between sequences, checks of links or second looks pass: their own tests kill there.
const ONCE_MORE: &[&str] = &["after_due", "after_links_to_check", "after_unsure_pages"];

const EXACT: &[&str] = &["--cache", "exact"];
const DEFAULT: &[&str] = &[];

/// Sums over sieges.
#[derive(Debug, Default)]
struct Sums {
    kills: usize,
    hits: usize,
    twice: usize,
}

#[test]
fn a_killed_crawl_goes_on_and_misses_nothing() -> Result<()> {
    let asked: Option<usize> = std::env::var("KILLS").ok().map(|kills| kills.parse()).transpose()?;
    let mut sums = Sums::default();
    match asked {
        Some(kills) => many(kills, &mut sums)?,
        None => twenty(&mut sums)?,
    }
    println!("in all: {sums:?}");
    ensure!(sums.hits * 5 >= sums.kills * 4, "too few kills hit anything: {sums:?}");
    Ok(())
}

#[test]
fn a_killed_second_sequence_goes_on_and_misses_nothing() -> Result<()> {
    second_sequence(&["--again"])
}

#[test]
fn a_killed_second_sequence_that_knows_nothing_goes_on_and_misses_nothing() -> Result<()> {
    second_sequence(&REDISCOVER)
}

fn second_sequence(how: &'static [&'static str]) -> Result<()> {
    let site = Site::practice(Shape::default())?;
    let mut siege = Siege::lay(&site, EXACT)?;
    siege.end()?;
    siege.again(how)?;
    siege.kill(Moment::At(AGAIN[0], 1))?;
    let share = site.stored.len() as u64 / 12;
    for (kill, (name, most)) in MIDDLE.iter().enumerate() {
        siege.kill(Moment::At(name, most.map_or(share, |_| 1)))?;
        let moment = if kill == 2 { Moment::At("before_replay", 1) } else { Moment::After(share / 2) };
        siege.kill(moment)?;
    }
    siege.end()
}

#[test]
fn every_fail_point_is_in_the_schedule() {
    let mut scheduled: Vec<_> =
        MIDDLE.iter().map(|(name, _)| *name).chain(EDGES.iter().chain(AGAIN).chain(ONCE_MORE).copied()).collect();
    let mut names = FailPoint::names().to_vec();
    scheduled.sort_unstable();
    names.sort_unstable();
    assert_eq!(scheduled, names);
}

fn twenty(sums: &mut Sums) -> Result<()> {
    let shape = Shape::default();
    besiege(&Site::practice(shape)?, EXACT, 9, sums)?;
    besiege(&Site::practice(Shape { seed: 2, ..shape })?, DEFAULT, 8, sums)?;
    if let Some(site) = Site::documentation("debian-policy")? {
        besiege(&site, DEFAULT, 3, sums)?;
    }
    Ok(())
}

/// Half of them on real documentation, ten a crawl.
fn many(kills: usize, sums: &mut Sums) -> Result<()> {
    let practice = Site::practice(Shape::default())?;
    let documentation = Site::documentation("openjdk-17-doc")?;
    let mut number = 0;
    while sums.kills < kills {
        let real = documentation.as_ref().filter(|_| number % 2 == 1);
        let site = real.unwrap_or(&practice);
        let flags = if number % 4 < 2 { EXACT } else { DEFAULT };
        besiege(site, flags, (kills - sums.kills).min(10), sums)?;
        number += 1;
    }
    Ok(())
}

fn besiege(site: &Site, flags: &[&'static str], kills: usize, sums: &mut Sums) -> Result<()> {
    let seed = sums.kills as u64;
    let mut random = Random(seed);
    let edge = EDGES[usize::try_from(seed)? / 8 % EDGES.len()];
    let mut siege = Siege::lay(site, flags)?;
    println!("{} under siege, {flags:?}, seed {seed}", site.start);
    for kill in 0..kills {
        let share = (siege.left() / (kills - kill + 1) / 2) as u64;
        let moment = match kill {
            0 if edge == "after_create" => Moment::At(edge, 1),
            3 if edge == "before_replay" => Moment::At(edge, 1),
            _ if kill + 1 == kills && !matches!(edge, "after_create" | "before_replay") && kills > 5 => {
                Moment::At(edge, 1)
            }
            _ if kill % 2 == 0 => Moment::After(share + random.up_to(share)),
            _ => {
                let (name, most) = MIDDLE[(usize::try_from(seed)? + kill / 2) % MIDDLE.len()];
                let passage = match most {
                    // A run this short may have no second commit.
                    Some(_) if siege.left() < 150 => 1,
                    Some(most) => 1 + random.up_to(most),
                    None => share + random.up_to(share),
                };
                Moment::At(name, passage)
            }
        };
        siege.kill(moment)?;
    }
    siege.end()?;
    sums.kills += siege.kills;
    sums.hits += siege.hits;
    sums.twice += siege.twice;
    Ok(())
}
