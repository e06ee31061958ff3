//! [`Revisits`]: which "not modified" answers are checked.
//!
//! Owns: the choice, which is the same after a kill, and which no server can foresee.
//!
//! Does not know: what the check finds. A page is compared with its copy where both are kept.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{candidate::Ticket, purpose::Purpose, time::Moment};

/// Chooses.
#[derive(Debug)]
pub(in crate::engine::core) struct Revisits {
    share: f64,
    secret: u64,
    sequence: u32,
}

impl Revisits {
    /// Of the answers of a sequence this share is checked, 0 to 1.
    pub(in crate::engine::core) fn new(share: f64, secret: u64, sequence: u32) -> Self {
        Self { share, secret, sequence }
    }

    /// Whether the page is fetched whole, though its server said at this moment that it was not modified. A sequence asks once.
    pub(in crate::engine::core) fn checks(&self, url: Ticket, purpose: Purpose, at: Moment) -> bool {
        let round = match purpose {
            Purpose::Revisit => u64::from(self.sequence),
            Purpose::Due => at.millis().rotate_left(32),
            _ => return false,
        };
        let drawn = xxh3_64_with_seed(&url.0.to_le_bytes(), self.secret ^ round);
        self.share > 0.0 && drawn as f64 <= self.share * u64::MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Moment = Moment::EPOCH;

    fn checked(share: f64, sequence: u32, purpose: Purpose, at: u64) -> Vec<u64> {
        let revisits = Revisits::new(share, 7, sequence);
        (1..=10_000).filter(|url| revisits.checks(Ticket(*url), purpose, Moment::from_millis(at))).collect()
    }

    #[test]
    fn checks_the_share_and_others_in_the_next_sequence() {
        let known = |share, sequence, at| checked(share, sequence, Purpose::Revisit, at);
        assert_eq!((known(0.0, 1, 0).len(), known(1.0, 1, 0).len()), (0, 10_000));
        let once = known(0.1, 1, 0);
        assert!((900..1_100).contains(&once.len()), "{}", once.len());
        assert_eq!(once, known(0.1, 1, 1));
        assert_ne!(once, known(0.1, 2, 0));
        assert_ne!(checked(0.1, 1, Purpose::Due, 1), checked(0.1, 1, Purpose::Due, 2));
        assert!(!Revisits::new(1.0, 7, 1).checks(Ticket(1), Purpose::Retry, AT));
    }
}
