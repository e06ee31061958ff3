//! Bounded "have I seen this URL?" caches that work under a **loss budget**.
//!
//! A crawler asks the same question for every link it finds: seen before? The exact answer costs 19 to 39 bytes of
//! memory a URL, or a disk access a question. A [filter](FilterCache) answers from a few bytes a URL, but now and
//! then calls a new URL seen, and that URL is **lost**: nobody will fetch it. This crate does not pretend otherwise. It
//! says beforehand how many URLs it expects to lose, sizes the cache so that the number stays within a budget, keeps
//! account of what was really spent, and says when a larger cache must take over.
//!
//! Bytes in, verdict out: the crate does no I/O, reads no clock, starts no thread, and knows nothing of URLs but their
//! bytes and a 128-bit fingerprint of them.
//!
//! # Choosing
//!
//! | [`Strategy`] | layout | errs | memory a URL | choose it when |
//! |---|---|---|---|---|
//! | [`Single`](Strategy::Single) | `classic` | new called seen | 3-5 bytes full, 6-10 just rebuilt | nearly always |
//! | [`Exact`](Strategy::Exact) | `table` | never | 19-39 bytes | few URLs, or the oracle of a test |
//!
//! The bytes of `single` are those of 10^5 to 10^7 URLs under the default budget.
//!
//! # The loss budget
//!
//! [`LossBudget`] limits the number of URLs a crawl sequence may be expected to lose (0.5 by default), the rate of the
//! moment, or both. Every answer [`Verdict::New`] is charged `p/(1-p)`, `p` being the false-positive rate just before
//! it, taken from the bits that are really set; the sum of the charges has the same expectation as the number of new
//! URLs refused. An expected 0.5 means that about two sequences in five lose one URL or more. Pages that only a lost
//! page links to are missed with it; they are not in this sum.
//!
//! The number of URLs is seldom known. Under [`ResetPolicy::Rebuild`] each *generation* of the cache gets a share of
//! the budget (1/2, 1/6, 1/12, ...: together never more than all of it), and [`LossLedger::must_reset`] says when the
//! share is used up. The next generation is twice as large, has a hash seed of its own, and is refilled from the exact
//! table of URLs that the crawler keeps on disk: refilling is not charged, because those keys are known to be distinct.
//! So what was lost gets another chance at its next link, and the budget holds at any final size.
//!
//! # Measuring
//!
//! The expected losses are computed. [`Audit`] measures: it keeps the exact fingerprints of a sample of the keys, sees each
//! verdict on them, and so knows which new keys were called seen; its [`Interval`] is exact at any number of hits.
//!
//! # A crawl in small
//!
//! ```
//! use urlcache::{CacheConfig, HashSeed, LossLedger, Strategy, UrlKey, Verdict};
//! use xxhash_rust::xxh3::xxh3_128_with_seed;
//!
//! let config = CacheConfig {
//!     expected_urls: Some(500), // far too few
//!     ..CacheConfig::new(Strategy::Single, HashSeed::new(0x5eed)) // a real seed is secret
//! };
//! let mut generation = 0;
//! let mut cache = config.build(generation, 0)?;
//! let mut ledger = LossLedger::new(config.budget, config.reset, 0.0);
//! let mut table: Vec<String> = Vec::new(); // a crawler has it on disk
//! fn key(url: &str) -> UrlKey<'_> {
//!     UrlKey { bytes: url.as_bytes(), hash: xxh3_128_with_seed(url.as_bytes(), 77) }
//! }
//!
//! let mut verdicts = Vec::new();
//! for page in 0..400_u64 {
//!     let links: Vec<String> = (0..50).map(|i| format!("http://h/{}", page * 10 + i)).collect();
//!     if ledger.must_reset(&cache.occupancy(), links.len()) {
//!         ledger.carry(&cache.occupancy());
//!         generation += 1;
//!         drop(cache);
//!         cache = config.build(generation, table.len().max(links.len()) as u64)?;
//!         table.iter().for_each(|url| cache.refill(key(url)));
//!     }
//!     let keys: Vec<_> = links.iter().map(|url| key(url)).collect();
//!     cache.insert_batch(&keys, &mut verdicts);
//!     let new = verdicts.iter().zip(&links).filter(|(verdict, _)| **verdict == Verdict::New);
//!     table.extend(new.map(|(_, url)| url.clone()));
//! }
//! assert_eq!(table.len(), 4_040);
//! assert!(generation >= 3);
//! assert!(ledger.expected_lost(&cache.occupancy()) < 0.5);
//! # Ok::<(), urlcache::BuildError>(())
//! ```

mod audit;
mod budget;
mod config;
mod exact;
mod family;
mod filter;
mod filtered;
mod hash;
mod interval;
mod ledger;
mod port;
mod segment;
mod sizing;
mod snapshot;
mod strategy;

pub use audit::{Audit, Observation, Standing};
pub use budget::LossBudget;
pub use config::{BuildError, CacheConfig, Design};
pub use exact::ExactCache;
pub use family::{HashFamily, Hashing};
pub use filtered::FilterCache;
pub use hash::HashSeed;
pub use interval::Interval;
pub use ledger::LossLedger;
pub use port::{Cost, ErrorSide, Occupancy, UrlCache, UrlKey, Verdict};
pub use segment::segments;
pub use sizing::{Growth, LayerPlan, LineShape, MAX_BITS, Plan, Shape, SizingError};
#[doc(hidden)]
pub use snapshot::reseal;
pub use snapshot::{Snapshot, SnapshotError, restore};
pub use strategy::{Layout, ResetPolicy, Strategy, UnknownName};
