//! Which distinct counts are run, by flags.

use std::{cell::RefCell, collections::HashMap};

use anyhow::Result;
use clap::{Args, ValueEnum};
use urlcache::{
    HashSeed,
    sketch::{DistinctCount, FlajoletMartin, HyperLogLog, Mismatch, Precision, TailShape},
};

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
    /// With its standard errors by size, as far as they were asked for: each takes a millisecond.
    Tails(TailShape, RefCell<HashMap<i64, f64>>),
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

    /// The relative standard error at about so many values.
    pub(super) fn standard_error(&self, distinct: f64) -> f64 {
        /// Sizes per doubling that are told apart.
        const STEPS: f64 = 8.0;
        match self {
            Self::Registers(precision) => precision.theory(distinct).standard_error,
            Self::Tails(shape, known) => {
                let size = (distinct.max(1.0).log2() * STEPS).round();
                #[expect(clippy::cast_possible_truncation, reason = "at most 8 times 1,024")]
                let step = size as i64;
                let compute = || shape.theory((size / STEPS).exp2()).standard_error;
                *known.borrow_mut().entry(step).or_insert_with(compute)
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
