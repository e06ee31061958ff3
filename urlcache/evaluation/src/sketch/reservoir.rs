//! [`Reservoir`]: which of the positions of an endless stream to hold, k at a time.
//!
//! The slides' rule, which is algorithm R of Vitter, "Random sampling with a reservoir" (1985): the first k positions are
//! held; position n > k is chosen with probability k/n and takes the place of one of those held, each with equal
//! probability. So after n positions each is held with probability k/n.
//!
//! Invariant: the places of the positions held are in random order, so any group of places is itself a random sample.
//!
//! Does not know what happens at a position.

use urlcache::{
    HashSeed,
    hash::{below_len, mix},
};

/// A sample of the positions of a stream, and the sequence of draws that decides it.
///
/// ```
/// use std::num::NonZeroUsize;
/// use urlcache::HashSeed;
/// use urlcache_evaluation::sketch::Reservoir;
///
/// let mut lines = Reservoir::new(NonZeroUsize::new(10).unwrap(), HashSeed::new(7));
/// (0..1_000).for_each(|line| { lines.offer(line); });
/// assert_eq!((lines.held().len(), lines.offered()), (10, 1_000));
/// ```
#[derive(Debug, Clone)]
pub struct Reservoir<T> {
    places: usize,
    draws: u64,
    seed: HashSeed,
    held: Vec<T>,
}

/// The increment of `SplitMix64`.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl<T> Reservoir<T> {
    /// A reservoir of so many places.
    pub const fn new(places: std::num::NonZeroUsize, seed: HashSeed) -> Self {
        Self { places: places.get(), draws: 0, seed, held: Vec::new() }
    }

    /// Offers what is at the next position. If that is chosen, returns what had to go: `Some(None)` while there is room.
    pub fn offer(&mut self, item: T) -> Option<Option<T>> {
        let drawn = self.draw();
        if self.held.len() < self.places {
            // A place among all so far: shuffles while it fills (Durstenfeld, algorithm 235, 1964).
            self.held.push(item);
            let last = self.held.len() - 1;
            self.held.swap(drawn, last);
            return Some(None);
        }
        let place = self.held.get_mut(drawn)?;
        Some(Some(std::mem::replace(place, item)))
    }

    /// What is held, in random order.
    pub fn held(&self) -> &[T] {
        &self.held
    }

    /// Positions offered so far.
    pub fn offered(&self) -> u64 {
        self.draws
    }

    /// A number below the count of positions so far, this one included.
    fn draw(&mut self) -> usize {
        self.draws += 1;
        let random = mix(self.seed.value().wrapping_add(self.draws.wrapping_mul(STEP)));
        below_len(random, usize::try_from(self.draws).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::sketch::trials::seed;

    /// Each position in each place: 4 places, 20 positions, 20,000 seeds.
    #[test]
    fn each_position_is_in_each_place_equally_often() {
        let mut counts = [[0_u32; 20]; 4];
        for index in 0..20_000 {
            let mut reservoir = Reservoir::new(NonZeroUsize::new(4).unwrap(), seed(index));
            (0..20_usize).for_each(|position| {
                reservoir.offer(position);
            });
            reservoir.held().iter().zip(&mut counts).for_each(|(position, counts)| counts[*position] += 1);
        }
        let expected = 20_000.0 / 20.0;
        let chi2: f64 = counts.iter().flatten().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
        // 4 places of 19 degrees of freedom each.
        assert!((chi2 - 76.0).abs() < 4.0 * (2.0 * 76.0_f64).sqrt(), "{chi2}");
    }

    #[test]
    fn what_goes_is_returned() {
        let mut reservoir = Reservoir::new(NonZeroUsize::new(2).unwrap(), HashSeed::new(1));
        assert_eq!((reservoir.offer(0), reservoir.offer(1)), (Some(None), Some(None)));
        let mut held = vec![0, 1];
        for position in 2..100 {
            if let Some(gone) = reservoir.offer(position) {
                held.retain(|there| Some(*there) != gone);
                held.push(position);
            }
        }
        held.sort_unstable();
        let mut there = reservoir.held().to_vec();
        there.sort_unstable();
        assert_eq!(there, held);
    }
}
