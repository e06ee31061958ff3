//! [`SecondMoment`]: how unevenly keys occur, by the sampled positions of Alon, Matias and Szegedy.
//!
//! The second moment F2 is the sum of the squares of the occurrences of each key, the slides' *surprise number*. Alon,
//! Matias and Szegedy, "The space complexity of approximating the frequency moments" (1996), section 2.1: a variable starts
//! at a random position of a stream of n elements and counts the element there from then on; n(2c - 1) has the mean F2.
//! The stream has no known end, so the k starts are a [`Reservoir`].
//!
//! The mean of all variables is unbiased. With occurrences m one variable has the variance V = n sum((4m^3 - m)/3) - F2^2;
//! the k starts are different positions, so the variance of the mean is V (n - k)/(k (n - 1)). The median of the means of
//! groups is what the slides combine them by: a few huge counts do not move it, but it leans towards the median of a group,
//! at most one standard deviation of a group away from F2. With groups as large as needed for a normal distribution its
//! variance exceeds that of the mean by at most (pi/2 - 1) V/k: this part does not vanish where k comes near to n.
//!
//! Invariant: memory depends on the number of variables, not on the stream; a stream of at most k elements is counted
//! exactly.

use std::{collections::HashMap, f64::consts::FRAC_PI_2, num::NonZeroUsize};

use urlcache::{HashSeed, sketch::Theory};

use super::{Reservoir, ShapeError};

/// An estimate of the second moment.
///
/// ```
/// use urlcache::HashSeed;
/// use urlcache_evaluation::sketch::SecondMoment;
///
/// // 90 URLs of one host and one of each of ten others: the slides' surprising stream.
/// let stream = || std::iter::repeat_n(0, 90).chain(1..=10_u128);
/// let mut urls = SecondMoment::new(100, 5, HashSeed::new(7))?;
/// stream().for_each(|host| urls.insert(host << 64));
/// assert_eq!(urls.estimate().mean, 8_110.0); // no more elements than variables
///
/// let mut urls = SecondMoment::new(50, 5, HashSeed::new(7))?;
/// stream().for_each(|host| urls.insert(host << 64));
/// let theory = SecondMoment::theory([90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 50);
/// assert!((urls.estimate().mean / 8_110.0 - 1.0).abs() < 4.0 * theory.standard_error);
/// # Ok::<(), urlcache_evaluation::sketch::ShapeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SecondMoment {
    groups: usize,
    starts: Reservoir<Start>,
    /// The keys of the starts.
    counted: HashMap<u128, Counter>,
}

/// Where a variable starts.
#[derive(Debug, Clone, Copy)]
struct Start {
    key: u128,
    /// Of its key's counter when it started.
    before: u64,
}

/// One count for all variables of a key.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    /// Occurrences since it was made.
    count: u64,
    /// Variables that need it.
    variables: usize,
}

/// Estimates of the second moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moment {
    /// The mean of all variables: unbiased.
    pub mean: f64,
    /// The median of the means of the groups: not moved by a few huge counts.
    pub median_of_means: f64,
    /// The standard error of the mean as far as the variables themselves show it, in the unit of the moment.
    pub standard_error: f64,
    /// The same of the median of means, at most.
    pub standard_error_of_median: f64,
    /// How far the median of means leans up or down at most: the standard error of a group, as the variables show it.
    pub bias_of_median: f64,
}

impl SecondMoment {
    /// So many variables in so many groups of equal size.
    ///
    /// # Errors
    /// [`ShapeError::Variables`] if there are no groups, or if the variables cannot be divided among them.
    pub fn new(variables: usize, groups: usize, seed: HashSeed) -> Result<Self, ShapeError> {
        let places = NonZeroUsize::new(variables).filter(|_| groups > 0 && variables.is_multiple_of(groups));
        let places = places.ok_or(ShapeError::Variables { variables, groups })?;
        Ok(Self { groups, starts: Reservoir::new(places, seed), counted: HashMap::default() })
    }

    /// Takes in the next element of the stream.
    pub fn insert(&mut self, fingerprint: u128) {
        let before = self.counted.get_mut(&fingerprint).map_or(0, |counter| {
            counter.count += 1;
            counter.count - 1
        });
        if let Some(gone) = self.starts.offer(Start { key: fingerprint, before }) {
            let counter = self.counted.entry(fingerprint).or_insert(Counter { count: 1, variables: 0 });
            counter.variables += 1;
            if let Some(gone) = gone {
                self.release(gone.key);
            }
        }
    }

    /// Elements so far: the first moment.
    pub fn elements(&self) -> u64 {
        self.starts.offered()
    }

    /// The estimates so far; all 0 before the first element.
    pub fn estimate(&self) -> Moment {
        let elements = self.elements() as f64;
        let values: Vec<f64> = self.starts.held().iter().map(|start| elements * self.twice_less_one(*start)).collect();
        if values.is_empty() {
            return Moment::default();
        }
        let mean = mean(&values);
        let count = values.len() as f64;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let independent = square / count;
        let variance = independent * (1.0 - count / elements).max(0.0);
        let of_group = values.len().div_ceil(self.groups) as f64;
        Moment {
            mean,
            median_of_means: median_of_means(&values, self.groups),
            standard_error: variance.sqrt(),
            standard_error_of_median: (variance + (FRAC_PI_2 - 1.0) * independent).sqrt(),
            bias_of_median: (square / of_group * (1.0 - of_group / elements).max(0.0)).sqrt(),
        }
    }

    /// The second moment of these occurrences: the exact answer.
    pub fn exact(occurrences: impl IntoIterator<Item = u64>) -> f64 {
        occurrences.into_iter().map(|m| (m as f64).powi(2)).sum()
    }

    /// What the mean of so many variables is worth on a stream with these occurrences.
    pub fn theory(occurrences: impl IntoIterator<Item = u64>, variables: usize) -> Theory {
        Variable::of(occurrences).mean_of(variables)
    }

    /// What the median of the means of so many groups is worth at worst: its bias is at most the one given, up or down, and
    /// its standard error at most the one given, if the groups are so large that their means are normally distributed.
    pub fn theory_of_median(occurrences: impl IntoIterator<Item = u64>, variables: usize, groups: usize) -> Theory {
        let variable = Variable::of(occurrences);
        let mean = variable.mean_of(variables);
        let independent = variable.variance / variable.count(variables);
        let standard_error = (mean.standard_error.powi(2) + (FRAC_PI_2 - 1.0) * independent).sqrt();
        let bias = variable.mean_of(variables / groups.max(1)).standard_error;
        Theory { bias, standard_error, ..mean }
    }

    /// Twice the occurrences since the start, less one.
    fn twice_less_one(&self, start: Start) -> f64 {
        let count = self.counted.get(&start.key).map_or(0, |counter| counter.count);
        2.0 * (count - start.before) as f64 - 1.0
    }

    /// One variable less needs this key.
    fn release(&mut self, key: u128) {
        if let Some(counter) = self.counted.get_mut(&key) {
            counter.variables -= 1;
            if counter.variables == 0 {
                self.counted.remove(&key);
            }
        }
    }
}

/// The moments of one variable, divided by F2.
struct Variable {
    elements: f64,
    variance: f64,
    excess_kurtosis: f64,
}

impl Variable {
    /// A variable is n(2c - 1), and c is any number up to the occurrences m of a key, for each position of the key one. So
    /// its powers have the means of the powers of the first m odd numbers, whose sums are m^2, of the squares
    /// m(4m^2 - 1)/3, of the cubes m^2(2m^2 - 1), of the fourth powers m(48m^4 - 40m^2 + 7)/15.
    fn of(occurrences: impl IntoIterator<Item = u64>) -> Self {
        let mut powers = [0.0; 5];
        for m in occurrences {
            let m = m as f64;
            let square = m * m;
            let sums = [
                m,
                square,
                m * (4.0 * square - 1.0) / 3.0,
                square * (2.0 * square - 1.0),
                m * (48.0 * square * square - 40.0 * square + 7.0) / 15.0,
            ];
            powers.iter_mut().zip(sums).for_each(|(power, sum)| *power += sum);
        }
        let elements = powers[0];
        let [_, first, second, third, fourth] = powers.map(|power| power / elements.max(1.0));
        let variance = (second - first * first).max(0.0);
        let about_mean = fourth - 4.0 * first * third + 6.0 * first * first * second - 3.0 * first.powi(4);
        let excess_kurtosis = if variance > 0.0 { about_mean / (variance * variance) - 3.0 } else { 0.0 };
        Self { elements, variance: variance / (first * first).max(1.0), excess_kurtosis }
    }

    /// How many there really are of so many.
    fn count(&self, variables: usize) -> f64 {
        (variables as f64).min(self.elements).max(1.0)
    }

    fn mean_of(&self, variables: usize) -> Theory {
        let count = self.count(variables);
        let unseen = (self.elements - count).max(0.0) / (self.elements - 1.0).max(1.0);
        let standard_error = (self.variance / count * unseen).sqrt();
        Theory { bias: 0.0, standard_error, excess_kurtosis: self.excess_kurtosis / count }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median of the means of so many groups; of as many as there are values, if those are fewer.
fn median_of_means(values: &[f64], groups: usize) -> f64 {
    let mut means: Vec<f64> = values.chunks(values.len().div_ceil(groups)).map(mean).collect();
    means.sort_unstable_by(f64::total_cmp);
    let middle = means.len() / 2;
    if means.len().is_multiple_of(2) { f64::midpoint(means[middle - 1], means[middle]) } else { means[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::trials::{self, fingerprint, seed};

    /// Element `a` so many times as the number at place `a`, one after another or by turns.
    fn stream(occurrences: &[u64], by_turns: bool) -> Vec<u128> {
        let mut elements: Vec<(u64, usize)> = Vec::new();
        for (key, count) in occurrences.iter().enumerate() {
            elements.extend((0..*count).map(|turn| (if by_turns { turn } else { 0 }, key)));
        }
        elements.sort_by_key(|(turn, _)| *turn);
        elements.into_iter().map(|(_, key)| fingerprint(key as u64)).collect()
    }

    fn of(elements: &[u128], variables: usize, groups: usize, seed: HashSeed) -> SecondMoment {
        let mut sketch = SecondMoment::new(variables, groups, seed).unwrap();
        for element in elements {
            sketch.insert(*element);
        }
        sketch
    }

    const UNSURPRISING: [u64; 11] = [10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9];
    const SURPRISING: [u64; 11] = [90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

    #[test]
    fn the_streams_of_the_slides() {
        for (occurrences, surprise) in [(UNSURPRISING, 910.0), (SURPRISING, 8_110.0)] {
            assert_eq!(SecondMoment::exact(occurrences).to_bits(), f64::to_bits(surprise));
            // With a variable for each position there is no error.
            for (variables, groups) in [(100, 1), (100, 5), (200, 10)] {
                let found = of(&stream(&occurrences, true), variables, groups, HashSeed::new(3)).estimate();
                assert_eq!((found.mean.to_bits(), found.standard_error.to_bits()), (f64::to_bits(surprise), 0));
            }
        }
    }

    /// Few keys that occur often, many that occur seldom.
    fn uneven() -> Vec<u64> {
        (1..=400).map(|rank| 4_000 / rank).collect()
    }

    /// Over 100 seeds, whatever the order of the elements.
    #[test]
    fn errors_of_the_mean_are_those_of_the_theory() {
        for occurrences in [UNSURPRISING.to_vec(), SURPRISING.to_vec(), uneven(), vec![50; 200]] {
            let exact = SecondMoment::exact(occurrences.iter().copied());
            for (variables, by_turns) in [(20, false), (20, true), (80, true)] {
                let elements = stream(&occurrences, by_turns);
                let theory = SecondMoment::theory(occurrences.iter().copied(), variables);
                trials::check(theory, |seed| of(&elements, variables, 4, seed).estimate().mean / exact);
            }
        }
    }

    #[test]
    fn the_median_of_means_leans_by_less_than_a_standard_deviation_of_a_group() {
        let occurrences = uneven();
        let (exact, elements) = (SecondMoment::exact(occurrences.iter().copied()), stream(&occurrences, true));
        for variables in [100, 10_000] {
            let worst = SecondMoment::theory_of_median(occurrences.iter().copied(), variables, 5);
            let found = |index| of(&elements, variables, 5, seed(index)).estimate().median_of_means / exact;
            let found: Vec<f64> = (0..100).map(found).collect();
            let mean = found.iter().sum::<f64>() / 100.0;
            let spread = (found.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / 99.0).sqrt();
            assert!((mean - 1.0).abs() < worst.bias, "{mean}: {worst:?}");
            assert!(spread < 1.3 * worst.standard_error && spread > 0.0, "{spread}: {worst:?}");
        }
    }

    #[test]
    fn an_estimate_knows_its_own_error() {
        let occurrences = uneven();
        let (exact, elements) = (SecondMoment::exact(occurrences.iter().copied()), stream(&occurrences, true));
        let theory = SecondMoment::theory(occurrences.iter().copied(), 400).standard_error;
        let bias = SecondMoment::theory_of_median(occurrences.iter().copied(), 400, 5).bias;
        let found = |index| of(&elements, 400, 5, seed(index)).estimate();
        for (name, theory, said) in [
            ("error", theory, (|found: Moment| found.standard_error) as fn(Moment) -> f64),
            ("bias", bias, |found| found.bias_of_median),
        ] {
            let said = (0..20).map(|index| said(found(index)) / exact).sum::<f64>() / 20.0;
            assert!((said / theory - 1.0).abs() < 0.1, "{name} {said}, theory {theory}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_stream() {
        let mut sketch = SecondMoment::new(10, 5, HashSeed::new(1)).unwrap();
        (0..20_000).for_each(|key| sketch.insert(fingerprint(key)));
        assert_eq!((sketch.counted.len(), sketch.elements()), (10, 20_000));
        assert!((sketch.estimate().mean - 20_000.0).abs() < 1e-9, "each key occurs once");
    }

    #[test]
    fn edges() {
        let empty = SecondMoment::new(10, 5, HashSeed::new(1)).unwrap();
        assert_eq!(empty.estimate(), Moment::default());
        assert_eq!(of(&[5], 10, 5, HashSeed::new(1)).estimate().median_of_means.to_bits(), 1.0_f64.to_bits());
        for (variables, groups) in [(0, 1), (10, 0), (10, 3), (0, 0), (3, 5)] {
            let refused = SecondMoment::new(variables, groups, HashSeed::new(1)).err();
            assert_eq!(refused, Some(ShapeError::Variables { variables, groups }));
        }
        assert_eq!(SecondMoment::theory([], 10).standard_error.to_bits(), 0);
    }
}
