//! [`BackOffPolicy`]: how long a failing host is left alone.

use std::time::Duration;

/// How long hosts are left alone.
#[derive(Debug, Clone)]
pub struct BackOffPolicy {
    /// The pause after the first failure in a row.
    pub first: Duration,
    /// Each further pause is so many times as long,
    pub factor: f64,
    /// up to this; a part of it may be added, so that hosts that failed together are not asked together.
    pub longest: Duration,
    /// The longest pause that is waited for when a host asks for one.
    pub max_retry_after: Duration,
    /// A host that is silent for so long is unreachable.
    pub give_up: Duration,
    /// The same for one that never answered.
    pub give_up_unknown: Duration,
}

impl BackOffPolicy {
    /// The pause after so many failures in a row: exponential, with up to a quarter added that depends on `salt`.
    pub(super) fn pause(&self, failures: u32, salt: u64) -> Duration {
        let times = self.factor.powi(i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX));
        let longest = self.longest.as_secs_f64();
        let pause = (self.first.as_secs_f64() * times).min(longest);
        Duration::from_secs_f64(pause * (1.0 + mixed(salt.wrapping_add(u64::from(failures))) / 4.0))
    }
}

impl Default for BackOffPolicy {
    /// As `default.toml` has it.
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            factor: 2.0,
            longest: Duration::from_mins(1),
            max_retry_after: Duration::from_hours(1),
            give_up: Duration::from_mins(10),
            give_up_unknown: Duration::from_secs(15),
        }
    }
}

/// A number from 0 to 1 that follows from `seed` (the finaliser of `SplitMix64`).
fn mixed(seed: u64) -> f64 {
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 40) as f64 / (1_u64 << 24) as f64
}
