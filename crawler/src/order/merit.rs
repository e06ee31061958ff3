//! [`Merit`]: what a crawl learns of a URL that neither its depth nor a rule says.
//!
//! Owns: by how much links and sitemaps change a weight, and how merits are kept in a rank.
//!
//! Does not know: who counts links, and who reads sitemaps.

/// Bits that hold a merit.
pub(super) const MERIT_BITS: u32 = 6;

/// Bits of these that hold the class of links.
const CLASS_BITS: u32 = 2;

/// How many pages link to a URL, as far as it matters: 1, 2, 4, or 8 and more.
///
/// More classes gain nothing: on rust-doc the first tenth of the pages has 2.4 times the `PageRank` mass of a crawl breadth first, with
/// these four classes as with the exact numbers.
///
/// ```
/// use webloom::internals::order::LinkClass;
/// assert_eq!([0, 1, 2, 3, 4, 7, 8, 1_000].map(|pages| LinkClass::of_pages(pages).number()), [0, 0, 1, 1, 2, 2, 3, 3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct LinkClass(u8);

impl LinkClass {
    /// That of a URL that so many pages link to.
    pub fn of_pages(pages: u64) -> Self {
        Self([2, 4, 8].into_iter().map(|least| u8::from(pages >= least)).sum())
    }

    /// Its number, 0 to 3.
    pub fn number(self) -> u8 {
        self.0
    }

    /// The class of this number; the highest for what is none.
    pub fn of_number(number: u8) -> Self {
        Self(number.min((1 << CLASS_BITS) - 1))
    }
}

/// What a sitemap says of a URL beside others of its site, in tenths from 0 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListedPriority(u8);

impl ListedPriority {
    /// A priority from 0 to 1, rounded to tenths; `None` for other numbers.
    ///
    /// ```
    /// use webloom::internals::order::ListedPriority;
    /// assert_eq!(ListedPriority::new(0.84), ListedPriority::new(0.8));
    /// assert_eq!([-0.1, 1.1, f64::NAN].map(ListedPriority::new), [None; 3]);
    /// ```
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 10")]
    pub fn new(priority: f64) -> Option<Self> {
        (0.0..=1.0).contains(&priority).then(|| Self((priority * 10.0).round() as u8))
    }
}

/// What is known of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Merit {
    /// By how many pages link to it.
    pub links: LinkClass,
    /// What a sitemap says of it.
    pub listed: Option<ListedPriority>,
}

impl Merit {
    /// The weight times this is its weight, in tenths. Each doubling of the links adds as much again: 1, 2, 3 and 4. A priority of 0.5,
    /// which the protocol of sitemaps has for what says nothing, changes nothing; 1.0 doubles, and 0.0 divides by 10.
    pub(super) fn tenths(self) -> u64 {
        let listed = self.listed.map_or(10, |ListedPriority(tenths)| u64::from(2 * tenths).max(1));
        (1 + u64::from(self.links.0)) * listed
    }

    /// Whether it changes no weight.
    pub fn is_neutral(self) -> bool {
        self.tenths() == Self::default().tenths()
    }

    /// What is known now, where `newer` was learnt since: links are not forgotten, and the last sitemap is right.
    #[must_use]
    pub fn with(self, newer: Self) -> Self {
        Self { links: self.links.max(newer.links), listed: newer.listed.or(self.listed) }
    }

    pub(super) fn bits(self) -> i64 {
        let listed = self.listed.map_or(0, |ListedPriority(tenths)| i64::from(tenths) + 1);
        (listed << CLASS_BITS) | i64::from(self.links.0)
    }

    pub(super) fn of_bits(bits: i64) -> Option<Self> {
        let bits = u8::try_from(bits).ok()?;
        let listed = match bits >> CLASS_BITS {
            0 => None,
            number @ 1..=11 => Some(ListedPriority(number - 1)),
            _ => return None,
        };
        Some(Self { links: LinkClass(bits % (1 << CLASS_BITS)), listed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn all() -> impl Iterator<Item = Merit> {
        let listed = |tenths: u8| ListedPriority::new(f64::from(tenths) / 10.0);
        let listed = (0..=10).map(listed).chain([None]);
        listed.flat_map(|listed| (0..4).map(move |number| Merit { links: LinkClass::of_number(number), listed }))
    }

    #[test]
    fn a_merit_is_its_bits() {
        assert_eq!(all().count(), 48);
        for merit in all() {
            assert!((0..1 << MERIT_BITS).contains(&merit.bits()));
            assert_eq!(Merit::of_bits(merit.bits()), Some(merit));
        }
        assert_eq!((Merit::default().bits(), Merit::of_bits(63)), (0, None));
    }

    #[test]
    fn links_add_and_priorities_multiply() {
        let tenths = |pages, priority| {
            let listed = ListedPriority::new(priority);
            Merit { links: LinkClass::of_pages(pages), listed }.tenths()
        };
        assert_eq!([1, 2, 4, 8].map(|pages| tenths(pages, 0.5)), [10, 20, 30, 40]);
        assert_eq!([0.0, 0.1, 0.5, 1.0].map(|priority| tenths(1, priority)), [1, 2, 10, 20]);
        assert_eq!([Merit::default().tenths(), tenths(8, 1.0)], [10, 80]);
    }

    #[test]
    fn what_is_learnt_later_is_added() {
        let [low, high] = [0.1, 0.9].map(ListedPriority::new);
        let of = |pages, listed| Merit { links: LinkClass::of_pages(pages), listed };
        assert_eq!(of(4, low).with(of(1, high)), of(4, high));
        assert_eq!(of(1, low).with(of(8, None)), of(8, low));
    }
}
