//! [`Revisits`]: which answers "not modified" are checked.
//!
//! Owns: the choice, which is the same after a kill, and which no server can foresee.
//!
//! Does not know: what the check finds. Whether a page is another than its copy is known where both are kept.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{candidate::Ticket, purpose::Purpose};

/// Chooses.
#[derive(Debug)]
pub(in crate::engine::core) struct Revisits {
    share: f64,
    secret: u64,
    round: VisitRound,
}

/// Which visits of a page are meant: those of a sequence, after so many were made of pages that it had visited before.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine::core) struct VisitRound {
    pub(in crate::engine::core) sequence: u32,
    pub(in crate::engine::core) revisited: u64,
}

impl Revisits {
    /// Of the answers of a round this share is checked, 0 to 1.
    pub(in crate::engine::core) fn new(share: f64, secret: u64, round: VisitRound) -> Self {
        Self { share, secret, round }
    }

    /// Whether the page is fetched whole, though its server says that it was not modified.
    pub(in crate::engine::core) fn checks(&self, url: Ticket, purpose: Purpose) -> bool {
        let VisitRound { sequence, revisited } = self.round;
        let drawn =
            || xxh3_64_with_seed(&url.0.to_le_bytes(), self.secret ^ u64::from(sequence) ^ revisited.rotate_left(32));
        purpose == Purpose::Revisit && self.share > 0.0 && drawn() as f64 <= self.share * u64::MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(share: f64, sequence: u32, revisited: u64) -> Vec<u64> {
        let revisits = Revisits::new(share, 7, VisitRound { sequence, revisited });
        (1..=10_000).filter(|url| revisits.checks(Ticket(*url), Purpose::Revisit)).collect()
    }

    #[test]
    fn checks_the_share_and_others_in_the_next_sequence() {
        assert_eq!((checked(0.0, 1, 0).len(), checked(1.0, 1, 0).len()), (0, 10_000));
        let once = checked(0.1, 1, 0);
        assert!((900..1_100).contains(&once.len()), "{}", once.len());
        assert_eq!(once, checked(0.1, 1, 0));
        assert_ne!(once, checked(0.1, 2, 0));
        assert_ne!(once, checked(0.1, 1, 1));
        assert!(!Revisits::new(1.0, 7, VisitRound { sequence: 1, revisited: 0 }).checks(Ticket(1), Purpose::Retry));
    }
}
