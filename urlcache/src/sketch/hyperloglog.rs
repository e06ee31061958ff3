//! [`HyperLogLog`]: a distinct count by registers.
//!
//! Flajolet, Fusy, Gandouet and Meunier, "`HyperLogLog`: the analysis of a near-optimal cardinality estimation algorithm"
//! (2007), with hashes of 64 bits. A hash chooses one of m = 2^p registers by its first p bits; the register keeps the
//! longest run of zeros, plus one, with which the rest of a hash began. The estimate is the improved raw estimator of Ertl,
//! "New cardinality estimation algorithms for `HyperLogLog` sketches" (2017, arXiv 1702.01284, algorithm 6): it needs no
//! table of biases and no switch to another formula for few or many keys.
//!
//! Invariant: a register is a maximum over the keys, so order and repetition change nothing.

use std::f64::consts::LN_2;

use crate::hash::HashSeed;

use super::{DistinctCount, Mismatch, ShapeError, Theory, registers::Registers};

/// How many registers a [`HyperLogLog`] has: 2^p of them.
///
/// ```
/// use urlcache::HashSeed;
/// use urlcache::sketch::{DistinctCount, Precision};
///
/// let precision = Precision::new(12)?;
/// let mut pages = precision.sketch(HashSeed::new(7));
/// (0..20_000_u128).for_each(|page| pages.insert(page % 10_000));
/// assert!((precision.theory(1e6).standard_error - 1.04 / 64.0).abs() < 1e-4);
/// assert!((pages.estimate() / 10_000.0 - 1.0).abs() < 4.0 * 1.04 / 64.0);
/// assert!(pages.bytes() <= 4_096);
/// # Ok::<(), urlcache::sketch::ShapeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision(u8);

impl Precision {
    /// 2^p registers, for p in 6..=18. (With fewer, the theory of the error is off by more than a twentieth.)
    ///
    /// # Errors
    /// [`ShapeError::Precision`].
    pub fn new(p: u8) -> Result<Self, ShapeError> {
        if (6..=18).contains(&p) { Ok(Self(p)) } else { Err(ShapeError::Precision(p)) }
    }

    /// The number of registers; also the most bytes of a sketch.
    pub fn registers(self) -> usize {
        1 << self.0
    }

    /// A sketch of no keys.
    pub fn sketch(self, seed: HashSeed) -> HyperLogLog {
        HyperLogLog { precision: self, seed, registers: Registers::new() }
    }

    /// What an estimate of so many different keys is worth. For many keys the standard error is 1.04/sqrt(m), exactly
    /// sqrt((3 ln 2 - 1)/m); for few, n of them, it falls to sqrt((1 - 1/n)/(2m)), where errors come from pairs of keys
    /// that share a register: one key alone has almost none.
    ///
    /// By the delta method: the estimate is inversely proportional to a sum over the registers, of 2^-k for a value k and of
    /// the derivative of Ertl's sigma for 0. If the number of keys were a Poisson variable of mean n, the registers would be
    /// independent of each other, a value at most k with probability e^(-n/m 2^-k). The relative variance for n itself is
    /// less by the 1/n of the Poisson variable, and has the factor 1 - 1/n, because n keys have n(n-1)/2 pairs and not
    /// n^2/2. The inverse of a sum has a bias of its relative variance under a Poisson variable: so this is the bias here,
    /// as simulations confirm (1.7 % for 64 registers and many keys, 0.8 % for one; 0.03 % for 4,096 and many).
    pub fn theory(self, distinct: f64) -> Theory {
        let registers = self.registers() as f64;
        if distinct <= 1.0 {
            return self.theory_of_one();
        }
        let load = distinct / registers;
        // Where the difference below would be lost in the small waves of sigma, what theory says of empty registers.
        let bias = if load < 0.05 { 0.5 + load / 6.0 } else { self.variance_of_weights(load) - 1.0 / load };
        let bias = bias.max(0.0) / registers;
        let variance = bias * (1.0 - 1.0 / distinct);
        // With few keys the errors are those pairs that share a register: a Poisson variable.
        let shared = distinct * (distinct - 1.0) / (2.0 * registers);
        Theory { bias, standard_error: variance.sqrt(), excess_kurtosis: 1.0 / shared.max(1e-9) }
    }

    /// Of one key: a register has the value k with probability 2^-k, the others are 0.
    fn theory_of_one(self) -> Theory {
        let registers = self.registers() as f64;
        let of_others = sigma(1.0 - 1.0 / registers);
        let highest = i32::from(self.highest());
        let masses = (1..=highest).map(|value| {
            let weight = 0.5_f64.powi(value.min(highest - 1));
            (registers / (2.0 * LN_2 * (of_others + weight / registers)), weight)
        });
        let mean: f64 = masses.clone().map(|(estimate, mass)| estimate * mass).sum();
        let moment = |power| masses.clone().map(|(estimate, mass)| mass * (estimate - mean).powi(power)).sum::<f64>();
        let variance = moment(2);
        Theory {
            bias: mean - 1.0,
            standard_error: variance.sqrt(),
            excess_kurtosis: moment(4) / (variance * variance) - 3.0,
        }
    }

    /// The variance of the weight of a register divided by the square of its mean contribution to Ertl's sum, at a load of
    /// so many keys a register.
    fn variance_of_weights(self, load: f64) -> f64 {
        let zero = (-load).exp();
        let weight_of_zero = sigma_derivative(load);
        let mut mean = weight_of_zero * zero;
        let mut square = weight_of_zero * mean;
        let mut sum = sigma(zero);
        let mut below = zero;
        for value in 1..=self.highest() {
            let weight = 0.5_f64.powi(value.min(self.highest() - 1).into());
            let at_most = if value == self.highest() { 1.0 } else { (-load * weight).exp() };
            let probability = at_most - below;
            below = at_most;
            sum += probability * weight;
            mean += probability * weight;
            square += probability * weight * weight;
        }
        (square - mean * mean) / (sum * sum)
    }

    /// The highest value of a register: one more than the bits that remain of a hash.
    fn highest(self) -> u8 {
        65 - self.0
    }
}

/// A distinct count by registers; few keys take less memory than many.
#[derive(Debug, Clone, PartialEq)]
pub struct HyperLogLog {
    precision: Precision,
    seed: HashSeed,
    registers: Registers,
}

impl HyperLogLog {
    /// Its size.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Memory of the registers, in bytes.
    pub fn bytes(&self) -> usize {
        self.registers.bytes()
    }
}

impl DistinctCount for HyperLogLog {
    fn insert(&mut self, fingerprint: u128) {
        let (_, hash) = self.seed.finish(fingerprint);
        let Precision(p) = self.precision;
        let place = hash >> (64 - u32::from(p));
        // The bit behind the hash ends a run of nothing but zeros.
        let run = ((hash << p) | (1 << (p - 1))).leading_zeros();
        #[expect(clippy::cast_possible_truncation, reason = "below 2^18 and at most 61")]
        self.registers.raise(self.precision.registers(), place as u32, run as u8 + 1);
    }

    fn unite(&mut self, other: &Self) -> Result<(), Mismatch> {
        if (self.precision, self.seed) != (other.precision, other.seed) {
            return Err(Mismatch);
        }
        self.registers.raise_all(self.precision.registers(), &other.registers);
        Ok(())
    }

    fn estimate(&self) -> f64 {
        let count = self.precision.registers() as f64;
        let histogram = self.registers.histogram(self.precision.registers(), self.precision.highest());
        let share = |value: usize| histogram[value] as f64 / count;
        let highest = histogram.len() - 1;
        let mut sum = tau(1.0 - share(highest));
        for value in (1..highest).rev() {
            sum = 0.5 * (sum + share(value));
        }
        // The sum is 0 if all registers are full, infinite if all are empty.
        count / (2.0 * LN_2 * (sum + sigma(share(0))))
    }
}

/// Ertl's sigma: x + the sum of x^(2^k) 2^(k-1) over k from 1 on; infinite at 1.
fn sigma(x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let mut power = x;
    let mut factor = 1.0;
    let mut sum = x;
    loop {
        power *= power;
        let next = sum + power * factor;
        if next <= sum {
            return sum;
        }
        sum = next;
        factor *= 2.0;
    }
}

/// The derivative of [`sigma`] at e^-load.
fn sigma_derivative(load: f64) -> f64 {
    let mut sum = 1.0;
    for k in 1..200 {
        let power = 2.0_f64.powi(k);
        let term = 0.5 * power * power * (-load * (power - 1.0)).exp();
        sum += term;
        if load * power > 1.0 && term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// Ertl's tau: (1 - x - the sum of (1 - x^(2^-k))^2 2^-k over k from 1 on) / 3.
fn tau(x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let mut root = x;
    let mut factor = 1.0;
    let mut sum = 1.0 - x;
    loop {
        root = root.sqrt();
        factor *= 0.5;
        let next = sum - (1.0 - root).powi(2) * factor;
        if next >= sum {
            return sum / 3.0;
        }
        sum = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::fingerprint;

    fn of(p: u8, seed: HashSeed, keys: impl Iterator<Item = u64>) -> HyperLogLog {
        let mut sketch = Precision::new(p).unwrap().sketch(seed);
        keys.for_each(|key| sketch.insert(fingerprint(key)));
        sketch
    }

    #[test]
    fn order_repetition_and_union_change_nothing() {
        let seed = HashSeed::new(5);
        // From the sparse to the dense form.
        for count in [0, 1, 30, 60, 70, 4_000] {
            let all = of(10, seed, 0..count);
            assert_eq!(all, of(10, seed, (0..count).rev().chain(0..count)));
            let mut united = of(10, seed, 0..count / 3);
            united.unite(&of(10, seed, count / 4..count)).unwrap();
            assert_eq!(united, all);
            let mut backwards = of(10, seed, count / 4..count);
            backwards.unite(&of(10, seed, 0..count / 3)).unwrap();
            assert_eq!(backwards, all);
        }
        let mut sketch = of(10, seed, 0..9);
        assert_eq!(sketch.unite(&of(10, HashSeed::new(6), 0..9)), Err(Mismatch));
        assert_eq!(sketch.unite(&of(11, seed, 0..9)), Err(Mismatch));
        assert_eq!(sketch, of(10, seed, 0..9));
    }

    #[test]
    fn few_keys_take_little_memory() {
        assert_eq!(of(14, HashSeed::new(1), 0..0).bytes(), 0);
        assert!(of(14, HashSeed::new(1), 0..10).bytes() <= 64);
        assert_eq!(of(14, HashSeed::new(1), 0..20_000).bytes(), 1 << 14);
    }

    #[test]
    fn the_edges_are_finite_or_said_to_be_none() {
        assert_eq!(of(6, HashSeed::new(1), 0..0).estimate().to_bits(), 0);
        let mut full = Precision::new(6).unwrap().sketch(HashSeed::new(1));
        (0..64).for_each(|place| full.registers.raise(64, place, 59));
        assert!(full.estimate() > 1e18);
        for p in [0, 5, 19, 64, 255] {
            assert_eq!(Precision::new(p), Err(ShapeError::Precision(p)));
        }
    }

    #[test]
    fn the_error_is_the_published_one_for_many_keys() {
        for p in [6, 8, 12, 18] {
            let precision = Precision::new(p).unwrap();
            let scale = (precision.registers() as f64).sqrt();
            let many = precision.theory(1e4 * scale * scale).standard_error * scale;
            assert!((many - (3.0 * LN_2 - 1.0).sqrt()).abs() < 2e-3, "{p}: {many}");
            for few in [2.0, 3.0, 0.01 * scale * scale, 0.051 * scale * scale] {
                let of_pairs = (0.5 * (1.0 - 1.0 / few.max(1.0))).sqrt();
                let few = precision.theory(few).standard_error * scale;
                assert!((few - of_pairs).abs() < 0.06 / scale + 0.01, "{p}: {few}, {of_pairs}");
            }
            let one = precision.theory(1.0);
            assert!(one.standard_error * scale * scale < 0.5 && one.bias < 0.6 / (scale * scale), "{p}: {one:?}");
        }
    }

    /// Over 100 seeds.
    #[test]
    fn errors_are_those_of_the_theory() {
        let few = [(6, 1), (6, 2), (6, 3), (6, 5), (10, 1), (18, 1)];
        let many = [(6, 10), (8, 10), (10, 100), (10, 1_000), (12, 1_000), (9, 10_000), (12, 100_000), (6, 5_000)];
        for (p, distinct) in few.into_iter().chain(many) {
            let seeds = (0..100).map(|index| HashSeed::new(2_024).derive(index, 0));
            let ratios: Vec<f64> = seeds.map(|seed| of(p, seed, 0..distinct).estimate() / distinct as f64).collect();
            let off = Precision::new(p).unwrap().theory(distinct as f64).deviations(&ratios);
            assert!(off.mean.abs() <= 4.0 && off.variance.abs() <= 4.0, "{p}, {distinct}: {off:?}");
        }
    }
}
