//! `urlcache speed --layouts`: what each shape of a filter takes, from which the price of a cache line follows.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;
use urlcache::{FilterCache, HashSeed, Layout, LineShape, LossBudget, Plan, Shape, UrlCache, UrlKey};

use crate::{keys, print};

/// Keys of a batch: the links of a page.
const BATCH: usize = 256;

/// A shape at a rate.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    shape: String,
    keys: u64,
    rate: f64,
    bits_per_key: f64,
    cache_lines: u32,
    /// A batched test-and-set of a key with its hash at hand.
    insert_ns: f64,
    duplicate_ns: f64,
    /// What `auto` minimises: bits a key and the price of the lines.
    price: f64,
}

/// All shapes at these rates, timed in turn.
pub(super) fn rows(keys: u64, rates: &[f64], rounds: u32) -> Result<Vec<Row>> {
    let hashes: Vec<u128> = (0..keys).map(|index| keys::key(&index.to_string()).hash).collect();
    let mut rows = Vec::new();
    for &rate in rates {
        for plan in plans(keys, rate)? {
            let [insert, duplicate] = time(plan, &hashes, rounds)?.map(|time| time.as_nanos() as f64 / keys as f64);
            let (bits, lines) = (plan.bits() as f64 / keys as f64, plan.shape().cache_lines());
            rows.push(Row {
                shape: name(plan.shape()),
                keys,
                rate,
                bits_per_key: bits,
                cache_lines: lines,
                insert_ns: insert,
                duplicate_ns: duplicate,
                price: bits + urlcache::LINE_PRICE * f64::from(lines),
            });
        }
    }
    Ok(rows)
}

/// The smallest filter of every shape that has the rate.
fn plans(keys: u64, rate: f64) -> Result<Vec<Plan>> {
    let budget = LossBudget::rate(rate);
    let [classic, fingerprint] =
        [Layout::Classic, Layout::Fingerprint].map(|layout| Plan::for_budget(layout, 0..keys, &budget));
    let lines = [
        LineShape::OneBitInOneLine,
        LineShape::TwoBitsInOneLine,
        LineShape::OneBitInTwoLines,
        LineShape::TwoBitsInTwoLines,
    ];
    let lines = lines.map(|shape| Plan::for_shape(Shape::Line(shape), 0..keys, &budget));
    [classic].into_iter().chain(lines).chain([fingerprint]).map(|plan| Ok(plan?)).collect()
}

/// The shortest time of inserting all keys, and of offering them again.
fn time(plan: Plan, hashes: &[u128], rounds: u32) -> Result<[Duration; 2]> {
    let mut best = [Duration::MAX; 2];
    let mut answers = Vec::new();
    for round in 0..rounds {
        let mut cache = FilterCache::single(plan, hashes.len() as u64, HashSeed::new(round.into()))?;
        for best in &mut best {
            let began = Instant::now();
            for page in hashes.chunks(BATCH) {
                let page: Vec<_> = page.iter().map(|&hash| UrlKey { bytes: b"", hash }).collect();
                cache.insert_batch(&page, &mut answers);
            }
            *best = (*best).min(began.elapsed());
        }
    }
    Ok(best)
}

fn name(shape: Shape) -> String {
    match shape {
        Shape::Classic { probes } => format!("classic, {probes} probes"),
        Shape::Line(LineShape::OneBitInOneLine) => "line, 8 bits in 1 line".to_owned(),
        Shape::Line(LineShape::TwoBitsInOneLine) => "line, 16 bits in 1 line".to_owned(),
        Shape::Line(LineShape::OneBitInTwoLines) => "line, 16 bits in 2 lines".to_owned(),
        Shape::Line(LineShape::TwoBitsInTwoLines) => "line, 32 bits in 2 lines".to_owned(),
        Shape::Fingerprints => "fingerprint".to_owned(),
    }
}

pub(super) fn table(rows: &[Row]) -> String {
    let heading = ["shape", "rate", "keys", "bits/key", "lines", "insert ns", "duplicate ns", "price"];
    let cells = |row: &Row| {
        let [bits, insert, duplicate, price] =
            [row.bits_per_key, row.insert_ns, row.duplicate_ns, row.price].map(|figure| format!("{figure:.1}"));
        let (keys, lines) = (row.keys.to_string(), row.cache_lines.to_string());
        vec![row.shape.clone(), print::short(row.rate), keys, bits, lines, insert, duplicate, price]
    };
    print::table(&heading, &rows.iter().map(cells).collect::<Vec<_>>())
}
