//! In which order URLs are fetched: the rank that a URL gets when it is admitted, and what a rank means.
//!
//! Owns: the [`Order`]s, the rules that give URLs a [`Weight`], and how depth, weight and [`Merit`] make one number, from which each can
//! be read again. A host fetches the URL with the least rank first; URLs of equal rank in the order of their admission.
//!
//! Does not know: where ranks are kept, or how hosts share what is scarce.

mod merit;

use std::sync::Arc;

use merit::MERIT_BITS;
pub use merit::{LinkClass, ListedPriority, Merit};
use regex::Regex;

/// Bits of a rank that hold a depth.
const DEPTH_BITS: u32 = 32;

/// Bits of a rank that hold a weight.
const WEIGHT_BITS: u32 = 20;

/// By how much the rank of what comes first is less: no other rank of an order is as far from 0.
const AHEAD: i64 = 1 << 60;

/// In which order a host's URLs are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Near the start first.
    Breadth,
    /// Far from the start first.
    Depth,
    /// The greatest weight first; of equal ones, near the start first. Hosts share what is scarce by weight.
    Best,
    /// Near the start first; of equal ones, the greatest weight. It is [`Order::Best`] where each level is finished before
    /// the next: a page that is found over a longer way first would lose its links to the depth limit.
    BestOfLevel,
}

impl Order {
    /// The number that a URL of this depth and weight is sorted by, least first, of which nothing else is known.
    pub fn rank(self, depth: u32, weight: Weight) -> i64 {
        self.rank_with(depth, weight, Merit::default())
    }

    /// The same of one that has this weight by the rules, and of which this is known.
    pub fn rank_with(self, depth: u32, rule: Weight, merit: Merit) -> i64 {
        let (depth, weight) = (i64::from(depth), i64::from(rule.times(merit).0));
        match self {
            Self::Breadth => depth,
            Self::Depth => -depth,
            Self::Best => ((depth << MERIT_BITS) | merit.bits()) - (weight << (DEPTH_BITS + MERIT_BITS)),
            Self::BestOfLevel => (((depth << WEIGHT_BITS) - weight) << MERIT_BITS) | merit.bits(),
        }
    }

    /// The weight that a rank of this order was made from, with all that was known.
    pub fn weight(self, rank: i64, depth: u32) -> Weight {
        self.parts(rank, depth).map_or(Weight::USUAL, |(weight, _)| weight)
    }

    /// What was known of a URL when it got this rank; nothing where the rank is one of another order.
    pub fn merit(self, rank: i64, depth: u32) -> Merit {
        self.parts(rank, depth).map(|(_, merit)| merit).unwrap_or_default()
    }

    /// The rank of a URL that had this one and whose depth has changed.
    pub fn at_depth(self, rank: i64, was: u32, depth: u32) -> i64 {
        let moved = i64::from(depth) - i64::from(was);
        match self.parts(rank, was) {
            Some(_) if self == Self::BestOfLevel => rank + (moved << (WEIGHT_BITS + MERIT_BITS)),
            Some(_) => rank + (moved << MERIT_BITS),
            None => self.rank(depth, Weight::USUAL),
        }
    }

    /// Weight and merit of a rank of this order.
    fn parts(self, rank: i64, depth: u32) -> Option<(Weight, Merit)> {
        let rank = if Self::is_ahead(rank) { rank + AHEAD } else { rank };
        let depth = i64::from(depth);
        let bits = rank & ((1 << MERIT_BITS) - 1);
        let weight = match self {
            Self::Breadth | Self::Depth => return None,
            Self::Best => {
                let weight = ((depth << MERIT_BITS) | bits).checked_sub(rank)?;
                (weight % (1 << (DEPTH_BITS + MERIT_BITS)) == 0).then_some(weight >> (DEPTH_BITS + MERIT_BITS))?
            }
            Self::BestOfLevel => (depth << WEIGHT_BITS) - (rank >> MERIT_BITS),
        };
        let weight = Weight::of_thousandths(u32::try_from(weight).ok()?)?;
        Some((weight, Merit::of_bits(bits)?))
    }

    /// The rank of a URL with this one that is fetched before all others of its host, whatever the order. Levels cannot be finished one
    /// by one then.
    pub fn ahead(rank: i64) -> i64 {
        if Self::is_ahead(rank) { rank } else { rank - AHEAD }
    }

    /// Whether a rank is one of those.
    pub fn is_ahead(rank: i64) -> bool {
        rank < -(AHEAD / 2)
    }

    /// Whether ranks ascend with the depth, so that levels can be finished one by one.
    pub fn is_by_level(self) -> bool {
        matches!(self, Self::Breadth | Self::BestOfLevel)
    }

    /// Whether hosts share what is scarce by weight.
    pub fn is_weighted(self) -> bool {
        matches!(self, Self::Best | Self::BestOfLevel)
    }
}

/// How much a URL matters beside others: a host whose next URL has twice the weight gets twice the leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight(u32);

impl Weight {
    /// What a URL has that no rule matches: 1.
    pub const USUAL: Self = Self(1_000);
    /// 0.001.
    pub const LEAST: Self = Self(1);
    /// 1000.
    pub const MOST: Self = Self(1_000_000);

    /// A weight of so many thousandths; `None` below [`Self::LEAST`] and above [`Self::MOST`].
    pub const fn of_thousandths(thousandths: u32) -> Option<Self> {
        if thousandths < Self::LEAST.0 || thousandths > Self::MOST.0 { None } else { Some(Self(thousandths)) }
    }

    /// The weight in thousandths, at least 1.
    pub fn thousandths(self) -> u32 {
        self.0
    }

    /// This weight by the rules with what is known of a URL, within the bounds of weights.
    fn times(self, merit: Merit) -> Self {
        let weight = u64::from(self.0) * merit.tenths() / 10;
        let most = u64::from(Self::MOST.0);
        Self(u32::try_from(weight.min(most)).map_or(Self::MOST.0, |weight| weight.max(Self::LEAST.0)))
    }
}

/// A rule: URLs that match have this weight.
#[derive(Debug, Clone)]
pub struct Priority {
    /// Searched for in the whole URL.
    pub pattern: Regex,
    /// The weight of URLs that match.
    pub weight: Weight,
}

/// How a URL gets its rank.
///
/// ```
/// use webloom::internals::{order::{Order, Priority, Ranking, Weight}, url::WebUrl};
/// let docs = Priority { pattern: regex::Regex::new("/docs/")?, weight: Weight::of_thousandths(10_000).expect("in range") };
/// let ranking = Ranking::new(Order::Best, vec![docs]);
/// assert!(ranking.rank("http://h/docs/a", 7) < ranking.rank("http://h/b", 1));
/// assert!(ranking.rank("http://h/docs/a", 3) < ranking.rank("http://h/docs/b", 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ranking {
    order: Order,
    rules: Arc<[Priority]>,
}

impl Ranking {
    /// The ranks of this order; of the rules, which count where it is weighted, the first that matches decides.
    pub fn new(order: Order, rules: Vec<Priority>) -> Self {
        Self { order, rules: rules.into() }
    }

    /// The order.
    pub fn order(&self) -> Order {
        self.order
    }

    /// The rank of a URL at this depth, of which nothing else is known.
    pub fn rank(&self, url: &str, depth: u32) -> i64 {
        self.rank_with(url, depth, Merit::default())
    }

    /// The rank of a URL at this depth, of which this is known.
    pub fn rank_with(&self, url: &str, depth: u32, merit: Merit) -> i64 {
        self.order.rank_with(depth, if self.order.is_weighted() { self.weight(url) } else { Weight::USUAL }, merit)
    }

    /// The weight of a URL by the rules.
    pub fn weight(&self, url: &str) -> Weight {
        let first = self.rules.iter().find(|rule| rule.pattern.is_match(url));
        first.map_or(Weight::USUAL, |rule| rule.weight)
    }
}

impl From<Order> for Ranking {
    fn from(order: Order) -> Self {
        Self::new(order, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn weight() -> impl Strategy<Value = Weight> {
        (Weight::LEAST.0..=Weight::MOST.0).prop_map(Weight)
    }

    proptest! {
        #[test]
        fn a_rank_sorts_as_its_parts_do(a in (any::<u32>(), weight()), b in (any::<u32>(), weight())) {
            let by = |order: Order| order.rank(a.0, a.1).cmp(&order.rank(b.0, b.1));
            prop_assert_eq!(by(Order::Breadth), a.0.cmp(&b.0));
            prop_assert_eq!(by(Order::Depth), b.0.cmp(&a.0));
            prop_assert_eq!(by(Order::Best), (b.1, a.0).cmp(&(a.1, b.0)));
            prop_assert_eq!(by(Order::BestOfLevel), (a.0, b.1).cmp(&(b.0, a.1)));
        }

        #[test]
        fn a_rank_gives_its_weight_back(depth in any::<u32>(), weight in weight()) {
            for order in [Order::Best, Order::BestOfLevel] {
                prop_assert_eq!(order.weight(order.rank(depth, weight), depth), weight);
            }
            prop_assert_eq!(Order::Breadth.weight(Order::Breadth.rank(depth, weight), depth), Weight::USUAL);
        }

        #[test]
        fn a_rank_gives_back_what_was_known(depth in any::<u32>(), other in any::<u32>(), rule in weight(), bits in 0_i64..48) {
            let merit = Merit::of_bits(bits).unwrap();
            for order in [Order::Best, Order::BestOfLevel] {
                let rank = order.rank_with(depth, rule, merit);
                prop_assert_eq!((order.weight(rank, depth), order.merit(rank, depth)), (rule.times(merit), merit));
                prop_assert_eq!(order.at_depth(rank, depth, other), order.rank_with(other, rule, merit));
            }
        }

        #[test]
        fn what_is_ahead_comes_before_all_others_and_keeps_its_place_among_them(a in (any::<u32>(), weight()), b in (any::<u32>(), weight()), bits in 0_i64..48) {
            let merit = Merit::of_bits(bits).unwrap();
            for order in [Order::Breadth, Order::Depth, Order::Best, Order::BestOfLevel] {
                let [one, other] = [a, b].map(|(depth, rule)| order.rank_with(depth, rule, merit));
                prop_assert!(Order::ahead(one) < other && Order::is_ahead(Order::ahead(one)) && !Order::is_ahead(other));
                prop_assert_eq!(Order::ahead(one).cmp(&Order::ahead(other)), one.cmp(&other));
                prop_assert_eq!(Order::ahead(Order::ahead(one)), Order::ahead(one));
                prop_assert_eq!(order.merit(Order::ahead(one), a.0), order.merit(one, a.0));
                prop_assert_eq!(order.weight(Order::ahead(one), a.0), order.weight(one, a.0));
            }
        }

        #[test]
        fn a_rank_of_another_order_says_nothing(depth in any::<u32>(), rule in weight(), bits in 0_i64..48) {
            let merit = Merit::of_bits(bits).unwrap();
            for order in [Order::Breadth, Order::Depth] {
                prop_assert_eq!(Order::Best.merit(order.rank(depth, rule), depth), Merit::default());
                let by_depth = order.rank_with(depth, rule, merit);
                prop_assert_eq!(order.at_depth(by_depth, depth, 7), order.rank(7, rule));
            }
            // What the order best made of ranks before it knew of merits.
            let old = i64::from(depth) - (i64::from(rule.0) << DEPTH_BITS);
            prop_assert_eq!(Order::Best.merit(old, depth), Merit::default());
        }
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rule = |pattern, weight| Priority { pattern: Regex::new(pattern).unwrap(), weight: Weight(weight) };
        let ranking = Ranking::new(Order::Best, vec![rule("/a/", 2_000), rule("/a/b", 9_000), rule("^http://x/", 500)]);
        let weights =
            ["http://h/a/b", "http://h/a/", "http://h/", "http://x/", "http://x/a/"].map(|url| ranking.weight(url).0);
        assert_eq!(weights, [2_000, 2_000, 1_000, 500, 2_000]);
    }

    #[test]
    fn links_matter_less_than_a_rule_of_ten() {
        let [few, many] =
            [1, 8].map(|pages| Merit { links: LinkClass::of_pages(pages), listed: ListedPriority::new(1.0) });
        let rank = |rule: u32, merit| Order::Best.rank_with(3, Weight(rule), merit);
        assert!(rank(1_000, many) < rank(1_000, few) && rank(10_000, Merit::default()) < rank(1_000, many));
        let heaviest = Order::Best.rank_with(3, Weight::MOST, many);
        assert_eq!((Order::Best.weight(heaviest, 3), Order::Best.merit(heaviest, 3)), (Weight::MOST, many));
    }

    #[test]
    fn weights_have_bounds() {
        assert_eq!(
            [0, 1, 1_000_000, 1_000_001].map(|number| Weight::of_thousandths(number).is_some()),
            [false, true, true, false]
        );
    }
}
