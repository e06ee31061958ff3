//! `[cache]`.

use std::{fmt, marker::PhantomData, num::NonZeroU64, time::Duration};

use crate::config::{
    reader::KeyReader,
    rules::{Count, DurationRange, OneOf, Parsed, Real, Size, Unless, Words, words},
};

/// Most URLs a cache can be made for: 10^12.
const MOST_URLS: NonZeroU64 = NonZeroU64::new(1_000_000_000_000).expect("it is not zero");

/// Choices of the library, by their names there.
macro_rules! words_of {
    ($($choice:ty),*) => {$(
        impl Words for $choice {
            const ALL: &'static [Self] = &Self::ALL;

            fn word(self) -> &'static str {
                self.name()
            }
        }
    )*};
}

words_of!(urlcache::Strategy, urlcache::Layout, urlcache::Hashing, urlcache::ResetPolicy);

words! {
    /// What happens to a URL that the audit finds lost.
    AuditRescue {
        /// It is admitted at once.
        On = "on",
        /// It is only counted.
        Off = "off",
    }
}

words! {
    /// What the sweep at the end does with the URLs it finds lost.
    SweepChoice {
        /// Fetches a page that links to each again, and admits them.
        Rescue = "rescue",
        /// Names them.
        Report = "report",
        /// There is no sweep.
        Off = "off",
    }
}

/// The false-positive rate of a cache without any budget: the one that filters are usually made for.
const RATE_WITHOUT_BUDGET: f64 = 0.01;

/// Most URLs that an audit holds: about 3 GB.
const MOST_AUDITED: u64 = 100_000_000;

/// What the filter's hash functions start from; never printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HashSeed(u64);

/// The URL cache.
#[derive(Debug, Clone)]
pub struct CacheSettings {
    /// How it remembers.
    pub strategy: urlcache::Strategy,
    /// How its bits are arranged.
    pub layout: urlcache::Layout,
    /// Where positions come from.
    pub hashing: urlcache::Hashing,
    /// Filters that must all agree, with the spatial strategies.
    pub filters: u32,
    /// Layers of path segments, with the multi-layer strategy.
    pub layers: u32,
    /// URLs one sequence may be expected to lose, above 0; `None` is no limit.
    pub max_lost_urls: Option<f64>,
    /// A ceiling on the false-positive rate, beside `max_lost_urls`; `None` is none. Where neither is given it is 1 %: a
    /// filter must have some size.
    pub max_false_positive_rate: Option<f64>,
    /// URLs it is made for at first; `None` starts small.
    pub expected_urls: Option<NonZeroU64>,
    /// What happens when the budget would be overrun.
    pub reset: urlcache::ResetPolicy,
    /// The age at which what `reset` says is done; `None` is never.
    pub reset_every: Option<Duration>,
    /// Memory it may have, in bytes; `None` is no ceiling.
    pub max_memory: Option<u64>,
    /// A fixed hash seed; `None` is a random one.
    pub hash_seed: Option<HashSeed>,
    /// URLs for which the answers of the cache are checked exactly; 0 is no audit.
    pub audit_sample: u64,
    /// What happens to a URL that the audit finds lost.
    pub audit_rescue: AuditRescue,
    /// What the sweep does.
    pub sweep: SweepChoice,
}

impl HashSeed {
    /// The value, for the cache alone.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for HashSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashSeed(secret)")
    }
}

impl CacheSettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let losses = Unless { word: "none", rule: Real(1e-6..=1e9) };
        let age =
            Unless { word: "never", rule: DurationRange(Duration::from_secs(1)..=Duration::from_hours(365 * 24)) };
        let memory = Unless { word: "unlimited", rule: Size(1_024..=1 << 40) };
        let rate = Unless { word: "none", rule: Real(1e-12..=0.5) };
        let urls = Unless { word: "auto", rule: Count(NonZeroU64::MIN..=MOST_URLS) };
        let seed = Unless { word: "random", rule: Parsed { allowed: "1 to 16 hexadecimal digits", parse: hash_seed } };
        let mut cache = Self {
            strategy: reader.read("cache.strategy", &OneOf(PhantomData)),
            layout: reader.read("cache.layout", &OneOf(PhantomData)),
            hashing: reader.read("cache.hashing", &OneOf(PhantomData)),
            filters: reader.read("cache.filters", &Count(1..=64)),
            layers: reader.read("cache.layers", &Count(1..=63)),
            max_lost_urls: reader.read("cache.max_lost_urls", &losses),
            max_false_positive_rate: reader.read("cache.max_false_positive_rate", &rate),
            expected_urls: reader.read("cache.expected_urls", &urls),
            reset: reader.read("cache.reset", &OneOf(PhantomData)),
            reset_every: reader.read("cache.reset_every", &age),
            max_memory: reader.read("cache.max_memory", &memory),
            hash_seed: reader.read("cache.hash_seed", &seed),
            audit_sample: reader.read("cache.audit_sample", &Count(0..=MOST_AUDITED)),
            audit_rescue: reader.read("cache.audit_rescue", &OneOf(PhantomData)),
            sweep: reader.read("cache.sweep", &OneOf(PhantomData)),
        };
        if cache.max_lost_urls.is_none() {
            cache.max_false_positive_rate.get_or_insert(RATE_WITHOUT_BUDGET);
        }
        cache
    }
}

fn hash_seed(text: &str) -> Result<HashSeed, String> {
    let hexadecimal = (1..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    let value = hexadecimal.then(|| u64::from_str_radix(text, 16).ok()).flatten();
    value.map(HashSeed).ok_or_else(|| "it is not hexadecimal".to_owned())
}
