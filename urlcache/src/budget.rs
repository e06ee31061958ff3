//! [`LossBudget`]: how many URLs may be lost, and how it is shared out over generations.
//!
//! Invariant: the shares of all generations together never exceed the budget, however many there will be.

/// How many URLs a crawl sequence may lose to false positives, or at which rate. Each limit that is given must hold.
///
/// ```
/// use urlcache::LossBudget;
///
/// let budget = LossBudget::default();
/// assert_eq!((budget.max_lost_urls, budget.max_false_positive_rate), (Some(0.5), None));
/// assert_eq!(budget.share(0).max_lost_urls, Some(0.25));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LossBudget {
    /// Expected number of lost URLs of a whole sequence, above 0.
    pub max_lost_urls: Option<f64>,
    /// False-positive rate that no moment of the sequence may exceed, between 0 and 1.
    pub max_false_positive_rate: Option<f64>,
}

impl Default for LossBudget {
    /// Half a lost URL a sequence, no limit of rate.
    fn default() -> Self {
        Self::urls(0.5)
    }
}

impl LossBudget {
    /// So many expected lost URLs a sequence, above 0; no limit of the rate.
    ///
    /// ```
    /// use urlcache::LossBudget;
    ///
    /// assert_eq!(LossBudget::urls(0.5), LossBudget::default());
    /// assert_eq!(LossBudget::rate(0.01).max_false_positive_rate, Some(0.01));
    /// ```
    pub const fn urls(expected: f64) -> Self {
        Self { max_lost_urls: Some(expected), max_false_positive_rate: None }
    }

    /// A false-positive rate that no moment exceeds, between 0 and 1; no limit of the number of lost URLs.
    pub const fn rate(most: f64) -> Self {
        Self { max_lost_urls: None, max_false_positive_rate: Some(most) }
    }

    /// What generation `g` may lose: 1/((g+1)(g+2)) of the lost URLs; the rate holds for each generation whole.
    ///
    /// The series 1/2, 1/6, 1/12, ... sums to 1. It falls slowly: after ten doublings of the cache its share costs
    /// seven bits of precision, where halving the share each time would cost eleven.
    #[must_use]
    pub fn share(&self, generation: u32) -> Self {
        let divisor = (f64::from(generation) + 1.0) * (f64::from(generation) + 2.0);
        Self { max_lost_urls: self.max_lost_urls.map(|urls| urls / divisor), ..*self }
    }

    /// The rate at which so many URLs keep it: its own, or that with which `urls` answers *new* are charged all that may be
    /// lost; whichever is lower. It must have a limit.
    pub(crate) fn rate_over(&self, urls: u64) -> f64 {
        let by_losses = self.max_lost_urls.map(|losses| losses / (losses + urls as f64));
        by_losses.into_iter().chain(self.max_false_positive_rate).fold(1.0, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_the_budget_and_no_more() {
        let budget = LossBudget { max_lost_urls: Some(3.0), max_false_positive_rate: Some(1e-3) };
        let sum: f64 = (0..100_000).filter_map(|generation| budget.share(generation).max_lost_urls).sum();
        assert!(sum < 3.0 && sum > 2.9999, "{sum}");
        assert_eq!(budget.share(u32::MAX).max_false_positive_rate, Some(1e-3));
    }
}
