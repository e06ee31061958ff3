//! [`Class`]: a number from 0 to 255 that a page keeps, and how intervals and rates become one.
//!
//! Two tables are logarithmic: 256 time scales for a policy that has no importance, and 64 of them for each of four
//! levels of [`Importance`].

/// The shortest time scale, in seconds: the shortest interval that can be set.
const SHORTEST: f64 = 1.0;

/// The longest is so many doublings of it: 17 years.
const DOUBLINGS: f64 = 29.0;

/// Time scales of a level of importance.
const COARSE: u8 = 64;

/// Links from which on each further level of importance begins: where log2(1 + links) is beyond the square root of 2, of 8 and
/// of 32.
const STEPS: [u64; 3] = [2, 7, 50];

/// The highest level of importance.
const MOST_IMPORTANT: u8 = 3;

/// In which of 256 groups of pages with a common interval a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Class(pub u8);

/// How much the freshness of a page matters beside that of others: one of four levels, each of twice the weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Importance(u8);

impl Class {
    /// How many there are.
    pub const COUNT: usize = 256;

    /// Every class, ascending.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }

    /// Its place in a table of all classes.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The time scale of the class, in seconds.
    pub(super) fn seconds(self) -> f64 {
        scale(self.0, u8::MAX)
    }

    /// The class of a page of this importance that changes so often a second.
    pub(super) fn of_rate(rate: f64, importance: Importance) -> Self {
        Self(importance.0 * COARSE + nearest(1.0 / rate, COARSE - 1))
    }

    /// The changes a second that [`Self::of_rate`] took the page's rate for.
    pub(super) fn rate(self) -> f64 {
        1.0 / scale(self.0 % COARSE, COARSE - 1)
    }

    /// The importance that [`Self::of_rate`] was given.
    pub(super) fn importance(self) -> Importance {
        Importance(self.0 / COARSE)
    }

    /// The class of a page that changes as often and has this importance.
    pub(super) fn with_importance(self, importance: Importance) -> Self {
        Self(importance.0 * COARSE + self.0 % COARSE)
    }

    /// So many classes further, at most the last; backwards where it is negative.
    pub(super) fn moved(self, steps: i16) -> Self {
        Self(u8::try_from((i16::from(self.0) + steps).clamp(0, 255)).unwrap_or(u8::MAX))
    }
}

impl Importance {
    /// The level of a page that so many pages link to: of the weights 1, 2, 4 and 8 the one nearest (as a ratio) to
    /// log2(1 + links), which 1, 3, 15 and 255 links have.
    ///
    /// In-degrees of the web follow a power law (A. Broder et al., "Graph structure in the Web", WWW 2000): the few pages
    /// that all others link to would have nearly all visits, were they not damped. Weights multiply what a visit adds to
    /// freshness (J. Cho and H. Garcia-Molina, "Effective page refresh policies for web crawlers", ACM TODS 28 (2003),
    /// section 6).
    pub fn of_links(links: u64) -> Self {
        Self(STEPS.into_iter().map(|least| u8::from(links >= least)).sum())
    }

    /// The number of its level, 0 to 3.
    pub fn level(self) -> u8 {
        self.0
    }

    /// The level of this number, the highest for what is none.
    pub fn of_level(level: u8) -> Self {
        Self(level.min(MOST_IMPORTANT))
    }

    /// 1, 2, 4 or 8.
    pub fn weight(self) -> f64 {
        f64::from(1_u8 << self.0)
    }
}

/// The time scale of this number, the last of which is `last`.
fn scale(number: u8, last: u8) -> f64 {
    SHORTEST * (f64::from(number) * DOUBLINGS / f64::from(last)).exp2()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0 to 255")]
fn nearest(seconds: f64, last: u8) -> u8 {
    let number = (seconds / SHORTEST).log2() * f64::from(last) / DOUBLINGS;
    number.round().clamp(0.0, f64::from(last)) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn time_scales_ascend_and_are_found_again() {
        assert!(Class::all().is_sorted_by(|a, b| a.seconds() < b.seconds()));
        for class in Class::all() {
            assert_eq!(nearest(class.seconds(), u8::MAX), class.0);
            assert_eq!(Class::of_rate(class.rate(), class.importance()), class);
        }
        assert_eq!([Class(3).moved(-9), Class(250).moved(9), Class(9).moved(2)], [Class(0), Class(255), Class(11)]);
    }

    #[test]
    fn importance_has_four_levels() {
        let levels = [0, 1, 2, 6, 7, 49, 50, u64::MAX].map(|links| Importance::of_links(links).level());
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 3]);
        let limits = [2_f64, 8.0, 32.0].map(|product| product.sqrt().exp2() - 1.0);
        assert!(STEPS.iter().zip(limits).all(|(step, limit)| (*step as f64 - limit.ceil()).abs() < 1e-9), "{limits:?}");
        let weights = [0, 3, 15, 255].map(|links| Importance::of_links(links).weight());
        assert_eq!(weights.map(f64::to_bits), [1.0, 2.0, 4.0, 8.0].map(f64::to_bits));
        assert_eq!([2, 3, 255].map(|level| Importance::of_level(level).level()), [2, 3, 3]);
        let class = Class::of_rate(1e-4, Importance::of_level(1));
        assert_eq!(class.with_importance(Importance::of_level(3)), Class::of_rate(1e-4, Importance::of_level(3)));
    }

    proptest! {
        #[test]
        fn a_class_is_near_to_what_it_means(seconds in 1.0..5e8_f64, links in any::<u64>()) {
            prop_assert!((Class(nearest(seconds, u8::MAX)).seconds() / seconds).log2().abs() < 0.06);
            let class = Class::of_rate(1.0 / seconds, Importance::of_links(links));
            prop_assert!((class.rate() * seconds).log2().abs() < 0.24);
        }
    }
}
