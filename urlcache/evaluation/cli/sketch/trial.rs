//! The experiments of `urlcache sketch check`: data, an estimator, and its theory.

use std::{collections::HashMap, num::NonZeroUsize};

use anyhow::Result;
use urlcache::{
    HashSeed,
    sketch::{DistinctCount, Precision, Theory},
};
use urlcache_evaluation::sketch::{
    Direction, KeySample, LinkGraph, Neighbourhoods, Reservoir, SecondMoment, TailShape,
};

use crate::keys::key;

/// An estimator on fixed data.
pub(super) struct Trial {
    pub(super) estimator: String,
    pub(super) data: String,
    pub(super) exact: f64,
    pub(super) theory: Theory,
    /// Bias and standard error are bounds.
    pub(super) at_most: bool,
    /// The estimate under a hash seed.
    pub(super) run: Box<dyn Fn(HashSeed) -> f64>,
}

/// A name, and how often each value occurs.
type Stream = (&'static str, fn() -> Vec<u64>);

/// The first two are the slides'.
const STREAMS: [Stream; 4] = [
    ("10, 9 ten times", || [vec![10], vec![9; 10]].concat()),
    ("90, 1 ten times", || [vec![90], vec![1; 10]].concat()),
    ("4000/rank, 400 ranks", || (1..=400).map(|rank| 4_000 / rank).collect()),
    ("50, 200 times", || vec![50; 200]),
];

/// Pages and links of the graph, and the distance of the neighbourhood.
const PAGES: u32 = 1_000;
const LINKS_A_PAGE: u32 = 3;
const DISTANCE: u32 = 4;

/// Keys that occur once, and as many that occur twice.
const SINGLE: usize = 5_000;

/// Lines of a sample.
const SAMPLED: usize = 1_500;

/// All experiments, with at most so many distinct keys.
pub(super) fn all(largest: u64) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    let sizes = || [1, 10, 100, 1_000, 100_000].into_iter().filter(move |size| *size <= largest);
    for (p, size) in sizes().map(|size| (10, size)).chain(sizes().map(|size| (14, size))) {
        let precision = Precision::new(p)?;
        let name = format!("hyperloglog, 2^{p} registers");
        trials.push(distinct(name, size, precision.theory(size as f64), move |seed| precision.sketch(seed)));
    }
    let shapes = sizes().map(|size| (31, 4, size)).chain([(31, 1, 1_000), (31, 16, 1_000)]);
    for (groups, of, size) in shapes.filter(|(_, _, size)| *size <= largest) {
        let shape = TailShape::new(groups, of)?;
        let name = format!("flajolet-martin, {groups} groups of {of}");
        trials.push(distinct(name, size, shape.theory(size as f64), move |seed| shape.sketch(seed)));
    }
    for (name, occurrences) in STREAMS {
        trials.extend([20, 80].into_iter().flat_map(|variables| moments(name, &occurrences(), variables)));
    }
    trials.extend([neighbours(Direction::Out)?, neighbours(Direction::Undirected)?].into_iter().flatten());
    trials.extend(samples());
    Ok(trials)
}

/// The fingerprint of key number `index`.
fn fingerprint(index: u64) -> u128 {
    key(&index.to_string()).hash
}

fn distinct<S: DistinctCount>(
    estimator: String,
    size: u64,
    theory: Theory,
    empty: impl Fn(HashSeed) -> S + 'static,
) -> Trial {
    let keys: Vec<u128> = (0..size).map(fingerprint).collect();
    let run = move |seed| {
        let mut sketch = empty(seed);
        for key in &keys {
            sketch.insert(*key);
        }
        sketch.estimate()
    };
    let data = format!("{size} key{}", if size == 1 { "" } else { "s" });
    Trial { estimator, data, exact: size as f64, theory, at_most: false, run: Box::new(run) }
}

/// The mean, and the median of the means of four groups.
fn moments(name: &str, occurrences: &[u64], variables: usize) -> [Trial; 2] {
    const GROUPS: usize = 4;
    let of_key =
        |(key, count): (u64, &u64)| std::iter::repeat_n(fingerprint(key), usize::try_from(*count).unwrap_or(0));
    let stream: Vec<u128> = (0..).zip(occurrences).flat_map(of_key).collect();
    let exact = SecondMoment::exact(occurrences.iter().copied());
    let counts = || occurrences.iter().copied();
    let theory =
        [SecondMoment::theory(counts(), variables), SecondMoment::theory_of_median(counts(), variables, GROUPS)];
    [false, true].map(|median| {
        let stream = stream.clone();
        let run = move |seed| {
            let Ok(mut sketch) = SecondMoment::new(variables, GROUPS, seed) else { return f64::NAN };
            for element in &stream {
                sketch.insert(*element);
            }
            let found = sketch.estimate();
            if median { found.median_of_means } else { found.mean }
        };
        let theory = theory[usize::from(median)];
        Trial {
            estimator: format!("second moment, {variables} variables, {}", if median { "median" } else { "mean" }),
            data: name.to_owned(),
            exact,
            theory,
            at_most: median,
            run: Box::new(run),
        }
    })
}

/// By both sketches, from the page with the largest neighbourhood.
fn neighbours(direction: Direction) -> Result<[Trial; 2]> {
    let page = |index: u32| u32::try_from(fingerprint(index.into()) % u128::from(PAGES)).unwrap_or(0);
    let links: Vec<(u32, u32)> = (0..PAGES * LINKS_A_PAGE).map(|link| (link / LINKS_A_PAGE, page(link))).collect();
    let graph = LinkGraph::new(PAGES, &links, direction)?;
    let distance = if direction == Direction::Undirected { DISTANCE - 1 } else { DISTANCE };
    let size = |page: u32| graph.sizes_from(page, distance).last().copied().unwrap_or(0);
    let start = (0..PAGES).max_by_key(|page| size(*page)).unwrap_or(0);
    let exact = size(start) as f64;
    let data = format!("n(u,{distance}), {}", if direction == Direction::Out { "out-links" } else { "both ways" });
    let (precision, shape) = (Precision::new(8)?, TailShape::new(31, 4)?);
    let trial = |estimator: &str, theory, run: Box<dyn Fn(HashSeed) -> f64>| Trial {
        estimator: estimator.to_owned(),
        data: data.clone(),
        exact,
        theory,
        at_most: false,
        run,
    };
    let other = graph.clone();
    Ok([
        trial(
            "neighbours, 2^8 registers",
            precision.theory(exact),
            Box::new(move |seed| reached(&graph, &precision.sketch(seed), start, distance)),
        ),
        trial(
            "neighbours, 31 groups of 4",
            shape.theory(exact),
            Box::new(move |seed| reached(&other, &shape.sketch(seed), start, distance)),
        ),
    ])
}

fn reached(graph: &LinkGraph, empty: &impl DistinctCount, start: u32, distance: u32) -> f64 {
    let mut neighbourhoods = Neighbourhoods::new(graph, empty, |page| fingerprint(page.into()));
    while neighbourhoods.distance() < distance && neighbourhoods.step() == Ok(true) {}
    neighbourhoods.estimate(start)
}

/// The share of unique keys: by key, and by position, which is biased as the slides say.
fn samples() -> [Trial; 2] {
    let stream: Vec<u128> = (0..SINGLE * 3).map(|line| fingerprint((line % (2 * SINGLE)) as u64)).collect();
    let by_key = {
        let stream = stream.clone();
        move |seed| {
            let mut sample = KeySample::new(MOST, seed);
            for key in &stream {
                sample.offer(*key, ());
            }
            let unique = sample.keys().filter(|(_, lines)| lines.len() == 1).count();
            unique as f64 / sample.len() as f64
        }
    };
    let by_position = move |seed| {
        let mut sample = Reservoir::new(MOST, seed);
        let mut occurrences: HashMap<u128, u32> = HashMap::new();
        for key in &stream {
            sample.offer(*key);
        }
        for key in sample.held() {
            *occurrences.entry(*key).or_default() += 1;
        }
        occurrences.values().filter(|lines| **lines == 1).count() as f64 / occurrences.len() as f64
    };
    let taken = SAMPLED as f64 / (3 * SINGLE) as f64;
    // Of the keys that occur twice, so many are there once, and so many both times.
    let (once, twice) = (2.0 * taken * (1.0 - taken), taken * taken);
    let seen_unique = (taken + once) / (taken + once + twice);
    let by_keys = (0.25 * (1.0 - taken) / (SAMPLED as f64 / 1.5)).sqrt();
    // The few that are there both times make the error: about a Poisson variable.
    let (both, seen) = (twice * SINGLE as f64, (taken + once + twice) * SINGLE as f64);
    let by_positions = (both * (1.0 - twice)).sqrt() / seen;
    let trial = |name: &str, bias, error: f64, run| Trial {
        estimator: format!("sample by {name}, {SAMPLED} lines"),
        data: format!("{SINGLE} keys once, {SINGLE} twice"),
        exact: 0.5,
        theory: Theory { bias, standard_error: error / 0.5, excess_kurtosis: 0.0 },
        at_most: false,
        run,
    };
    [
        trial("key", 0.0, by_keys, Box::new(by_key)),
        trial("position", seen_unique / 0.5 - 1.0, by_positions, Box::new(by_position)),
    ]
}

const MOST: NonZeroUsize = NonZeroUsize::new(SAMPLED).expect("above 0");
