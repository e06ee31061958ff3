//! Bounded "have I seen this URL?" caches that work under a **loss budget**.
//!
//! A crawler asks the same question for every link it finds: seen before? The exact answer costs 19 to 39 bytes of
//! memory a URL, or a disk access a question. A [filter](FilterCache) answers from a few bytes a URL, but now and
//! then calls a new URL seen, and that URL is **lost**: nobody will fetch it. This crate does not pretend otherwise. It
//! says beforehand how many URLs it expects to lose, sizes the cache so that the number stays within a budget, keeps
//! account of what was really spent, and says when a larger cache must take over.
//!
//! Bytes in, answer out: the crate does no I/O, reads no clock, starts no thread, and knows nothing of URLs but their
//! bytes and a 128-bit fingerprint of them.
//!
//! # Choosing
//!
//! For 100,000 URLs within the default budget, an expected half a URL lost in a crawl sequence (the program
//! `urlcache` prints the list for any other number: `urlcache size --urls 100000`):
//!
//! | [`Strategy`] | lost on one visit | of the same URLs after r visits | bits a URL | cache lines | choose it |
//! |---|---|---|---|---|---|
//! | [`Single`](Strategy::Single) | 0.5 | 0.5: the same ones again | 25.0 | 1 | for one visit: nearly always |
//! | [`Temporal`](Strategy::Temporal) | 0.5 | 1.3e-5 after two, 4e-10 after three | 25.0 | 1 | for revisits |
//! | [`Spatial`](Strategy::Spatial) | 0.5 | 0.5 | 21.4 | 2 | to spread the memory: it errs no less |
//! | [`SpatioTemporal`](Strategy::SpatioTemporal) | 0.5 | 1.6e-5, 6e-10 | 21.4 | 2 | for both |
//! | [`Multilayer`](Strategy::Multilayer) | at most 0.5 | at most 0.5 | 31.0 | 9 | to ask for hosts and folders as well |
//! | [`Exact`](Strategy::Exact) | 0 | 0 | 178 | 2 | for few URLs, or as the oracle of a test |
//!
//! With hash seeds that rotate, a URL is lost in each of r visits with the probability `p_1 p_2 ... p_r`, where `p_i` is the rate
//! when it was offered. If URLs come in the same order each time, that is the sum of `p^r` over the URLs
//! ([`Plan::lost_each_time`]), not the number of URLs times the mean rate to that power: late URLs meet the high rates in each
//! visit, and make it 5 times as much at two visits here, 33 times at three.
//!
//! Below each but the exact one lies a [`Layout`]; `auto` takes the cheapest, where a cache line that a key touches is priced
//! as 4 bits of memory a key ([`LINE_PRICE`]):
//!
//! | [`Layout`] | bits a URL at a rate of 1e-2, 1e-4, 1e-6 | cache lines | time of a key in a batch, `line` being 1 |
//! |---|---|---|---|
//! | [`Classic`](Layout::Classic) | 9.6, 19.2, 28.8 | as many as bits set: 7, 13, 20 | 4 to 9 |
//! | [`Line`](Layout::Line) | 10.1, 22.9, 31.5 | 1, 1, 2 | 1 |
//! | [`Fingerprint`](Layout::Fingerprint) | 37.7, at a rate of 6e-9 | 1 | 1 to 3.6 |
//!
//! The times are those of test-and-set at 10^7 keys (`urlcache speed --layouts --keys 10000000`). Beside the plain filter of the crate
//! `fastbloom`, `line` does 2.4 to 4.2 times as many keys a second in batches at 10^6 keys, and 1.1 to 1.6 times as many one at a
//! time (`urlcache speed`, which has more peers).
//!
//! A filter has been proposed for each of these, with claims that do not all hold. Measured by `urlcache rate` and by
//! the tests of this crate:
//!
//! - *Several filters tie with one.* At a rate of 1e-2 and the same memory, 20,000 URLs offered: one filter of 7 probes
//!   loses 32.8 of them while it fills, two filters of 3 probes 36.0, three of 2 probes 35.7. The difference is that 6
//!   probes are not 7.
//! - *Rotating the hash seed gains nothing on one visit*, and everything on the next: a URL is lost twice only by two
//!   accidents. Of 400 URLs offered at a rate of 5 % about 20 are lost twice without rotation, and one with it.
//! - *The multi-layer filter as published has a trap.* After `/a/x` and `/b/y` each segment of `/a/y` is known; only the
//!   layer that combines them can tell. Sized like all others, as published, that layer is too small: at a stated rate of
//!   1e-4 it loses 5 % of such URLs ([`MultilayerPlain`](Strategy::MultilayerPlain)), and the filter of segments that it
//!   was compared with loses all of them ([`SegmentSet`](Strategy::SegmentSet)). [`Multilayer`](Strategy::Multilayer)
//!   sizes the combined layer as if it stood alone, salts each layer, and keeps the budget, at a price of 6 bits a URL. It
//!   charges what it loses; the two published forms keep no account, and say so ([`LossFigure::Unknown`]).
//! - *Which hash function it is makes no difference* to the rate, nor do k functions instead of k salts of one
//!   ([`Hashing`]); to the time it does.
//!
//! # The loss budget
//!
//! [`LossBudget`] limits the number of URLs a crawl sequence may be expected to lose (0.5 by default), the rate of the moment, or both.
//! Every answer [`Answer::New`] is charged `p/(1-p)`, `p` being the false-positive rate just before it, taken from the bits that are really
//! set; the sum of the charges has the same expectation as the number of URLs that were refused when they were offered first. Three numbers
//! differ: *expected* is how many URLs were refused by this computation, *audited* how many of a sample were counted as refused, and *lost*
//! how many stay unknown at the end, which only a comparison of all links with a table can tell: a refused URL may be admitted at a later
//! link, in a later generation. An expected 0.5 means that about two sequences in five refuse one URL or more. Pages that only a lost page
//! links to are missed with it; they are not in this sum. A filter at a rate of 0.99 and above has too few answers *new* left: the sum is a
//! lower bound then ([`LossFigure::AtLeast`]).
//!
//! The number of URLs is seldom known. Under [`ResetPolicy::Rebuild`] each *generation* of the cache gets a share of
//! the budget (1/2, 1/6, 1/12, ...: together never more than all of it), and [`LossLedger::must_reset`] says when the
//! share is used up. The next generation has room for twice as many keys (of millions: for half as many again), has a hash
//! seed of its own, and is refilled from the exact table of URLs that the crawler keeps on disk: refilling is not charged,
//! because those keys are known to be distinct.
//! So what was lost gets another chance at its next link, and the budget holds at any final size.
//!
//! Where memory must not grow, [`ResetPolicy::Rotate`] bounds it, and with it the rate, at any final size: of two filters the older is
//! dropped when the younger is full. The rate is that with which the expected URLs keep the budget, so ten times as many lose ten times as
//! many. What was dropped may be called *new* again ([`ErrorSide::Both`]): the caller must remember it, and ask there before it fetches a
//! URL. An exact cache that rotates only forgets ([`ErrorSide::MayForget`]). [`ResetPolicy::Grow`] bounds the rate and forgets nothing, at
//! the price of memory.
//!
//! # Measuring
//!
//! The expected losses are computed. [`Audit`] measures: it keeps the exact fingerprints of a sample of the keys, sees each
//! answer on them, and so knows which new keys were called seen; its [`Interval`] is exact at any number of hits.
//! [`FalsePositives`] asks a cache for keys that were never offered, and inserts none. For experiments there are filters of
//! fixed m and k: `FilterCache::single(Plan::new(m, k)?, keys, seed)`.
//!
//! # A crawl in small
//!
//! [`BudgetedCache`] holds the cache, the account of its losses and the reset policy. It asks for the URLs of the table when it
//! makes the next generation:
//!
//! ```
//! use urlcache::{BudgetedCache, CacheConfig, HashSeed, LossBudget, Strategy, UrlKey};
//!
//! let seed = HashSeed::random(); // the secret of the crawl: store it
//! let config = CacheConfig {
//!     expected_urls: Some(500), // far too few
//!     budget: LossBudget::urls(0.5),
//!     ..CacheConfig::new(Strategy::Single, seed)
//! };
//! let mut cache = BudgetedCache::new(config)?;
//! let mut table: Vec<String> = Vec::new(); // a crawler has it on disk
//! let mut answers = Vec::new();
//! for page in 0..400_u64 {
//!     let links: Vec<String> = (0..50).map(|i| format!("http://h/{}", page * 10 + i)).collect();
//!     let keys: Vec<_> = links.iter().map(|url| UrlKey::new(url.as_bytes(), seed)).collect();
//!     cache.insert_batch(&keys, &mut answers, || table.iter().map(|url| UrlKey::new(url.as_bytes(), seed)))?;
//!     let new = answers.iter().zip(links).filter(|(answer, _)| answer.is_new());
//!     table.extend(new.map(|(_, url)| url));
//! }
//! assert!((4_036..=4_040).contains(&table.len())); // there are 4,040; more than one is lost in one of ten crawls
//! assert!(cache.generation() >= 3 && cache.expected_lost() < 0.5);
//! # Ok::<(), urlcache::OfferError>(())
//! ```
//!
//! To fill tables from elsewhere, or not at once, call the steps one by one: [`BudgetedCache::make_room`], [`BudgetedCache::refilled`],
//! [`BudgetedCache::judge`]; or build caches with [`CacheConfig::build`] and keep a [`LossLedger`].

mod audit;
mod budget;
mod budgeted;
mod config;
mod exact;
mod family;
mod filter;
mod filtered;
pub mod hash;
mod interval;
mod ledger;
mod measure;
mod port;
mod segment;
mod sizing;
pub mod sketch;
mod snapshot;
mod strategy;

pub use audit::{Audit, Observation, Standing};
pub use budget::LossBudget;
pub use budgeted::{BudgetedCache, OfferError, Refill, Room};
pub use config::{BuildError, CacheConfig, Design, SMALL_START};
pub use exact::ExactCache;
pub use family::{HashFamily, Hashing};
pub use filter::fetch_ahead;
pub use filtered::FilterCache;
pub use hash::HashSeed;
pub use interval::Interval;
pub use ledger::{LossLedger, Trigger};
pub use measure::FalsePositives;
pub use port::{Answer, Cost, ErrorSide, LossFigure, Occupancy, UrlCache, UrlKey};
pub use segment::segments;
pub use sizing::{Growth, LINE_PRICE, LayerPlan, LineShape, MAX_BITS, Plan, Shape, SizingError};
#[doc(hidden)]
pub use snapshot::reseal;
pub use snapshot::{Snapshot, SnapshotError, restore};
pub use strategy::{Layout, ResetPolicy, Strategy, UnknownName};
