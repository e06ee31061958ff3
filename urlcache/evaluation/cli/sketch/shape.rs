//! Which distinct counts are run, by flags.

use std::{cell::RefCell, collections::HashMap};

use anyhow::Result;
use clap::{Args, ValueEnum};
use urlcache::{
    HashSeed,
    sketch::{DistinctCount, HyperLogLog, Mismatch, Precision, Theory},
};
use urlcache_evaluation::sketch::{FlajoletMartin, TailShape};

use super::report::Expected;

/// Which sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    Both,
    Hyperloglog,
    FlajoletMartin,
}

/// Which distinct counts, and how large.
#[derive(Debug, Args)]
pub(super) struct Shapes {
    /// Which distinct count to run
    #[arg(long, value_enum, value_name = "SKETCH", default_value = "both")]
    sketch: Choice,
    /// hyperloglog: 2^P registers of one byte, P from 6 to 18; the standard error is 1.04 / sqrt(2^P)
    #[arg(long, value_name = "P", default_value_t = 10)]
    precision: u8,
    /// flajolet-martin: groups of which the median is taken, an odd number from 5 to 127
    #[arg(long, value_name = "T", default_value_t = 31)]
    groups: u8,
    /// flajolet-martin: hash functions of a group, of which the mean is taken, from 1 to 64
    #[arg(long, value_name = "G", default_value_t = 4)]
    group_size: u8,
}

impl Shapes {
    /// Those that are asked for.
    pub(super) fn list(&self) -> Result<Vec<Shape>> {
        let mut shapes = Vec::new();
        if self.sketch != Choice::FlajoletMartin {
            shapes.push(Shape::Registers(Precision::new(self.precision)?));
        }
        if self.sketch != Choice::Hyperloglog {
            shapes.push(Shape::Tails(TailShape::new(self.groups, self.group_size)?, RefCell::default()));
        }
        Ok(shapes)
    }
}

/// A distinct count that can be made.
pub(super) enum Shape {
    Registers(Precision),
    /// With what theory says by size, as far as it was asked for: each takes a millisecond.
    Tails(TailShape, RefCell<HashMap<i64, Expected>>),
}

impl Shape {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Registers(_) => "hyperloglog",
            Self::Tails(..) => "flajolet-martin",
        }
    }

    pub(super) fn sketch(&self, seed: HashSeed) -> Sketch {
        match self {
            Self::Registers(precision) => Sketch::Registers(precision.sketch(seed)),
            Self::Tails(shape, _) => Sketch::Tails(shape.sketch(seed)),
        }
    }

    /// What an estimate is worth: by the exact answer, else by the number of values that has this mean estimate.
    pub(super) fn expected(&self, estimate: f64, exact: Option<f64>) -> Expected {
        let corrected = |distinct: f64| estimate / (1.0 + self.at(distinct).bias);
        // Twice is enough: the bias is below a quarter, and falls slowly.
        self.at(exact.unwrap_or_else(|| corrected(corrected(estimate))))
    }

    /// What theory says of about so many values.
    fn at(&self, distinct: f64) -> Expected {
        /// Up to this, each number is distinguished.
        const FEW: f64 = 32.0;
        /// Sizes per doubling that are distinguished above: the first is 8 times 5.
        const STEPS: f64 = 8.0;
        let of = |theory: Theory| Expected { bias: theory.bias, standard_error: theory.standard_error, at_most: false };
        let few = distinct <= FEW;
        match self {
            Self::Registers(precision) => of(precision.theory(if few { distinct.round() } else { distinct })),
            Self::Tails(shape, known) => {
                let step = if few { distinct.round().max(1.0) } else { (distinct.log2() * STEPS).round() };
                let size = if few { step } else { (step / STEPS).exp2() };
                #[expect(clippy::cast_possible_truncation, reason = "at most 8 times 1,024")]
                let step = step as i64;
                *known.borrow_mut().entry(step).or_insert_with(|| of(shape.theory(size)))
            }
        }
    }
}

/// Either distinct count.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sketch {
    Registers(HyperLogLog),
    Tails(FlajoletMartin),
}

impl DistinctCount for Sketch {
    fn insert(&mut self, fingerprint: u128) {
        match self {
            Self::Registers(sketch) => sketch.insert(fingerprint),
            Self::Tails(sketch) => sketch.insert(fingerprint),
        }
    }

    fn unite(&mut self, other: &Self) -> Result<(), Mismatch> {
        match (self, other) {
            (Self::Registers(sketch), Self::Registers(other)) => sketch.unite(other),
            (Self::Tails(sketch), Self::Tails(other)) => sketch.unite(other),
            _ => Err(Mismatch),
        }
    }

    fn estimate(&self) -> f64 {
        match self {
            Self::Registers(sketch) => sketch.estimate(),
            Self::Tails(sketch) => sketch.estimate(),
        }
    }
}
