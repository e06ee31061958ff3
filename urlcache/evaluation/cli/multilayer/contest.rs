//! One comparison: every method on one set of URLs, asked the same questions in turn.
//!
//! Invariant: a method that misses a member, or an exact one that finds a stranger, is an error, never a row.

use std::collections::HashSet;

use anyhow::{Result, ensure};
use urlcache::HashSeed;

use super::{
    clock::{Clock, Time},
    method::{self, Extent, Method, Sizes, Spec},
    site::{self, Kind, Site},
    url_set::{LINEAR_LIMIT, UrlSet},
};

/// Questions that are asked of one method before it is the turn of the next.
const TURN: usize = 16_384;

/// Of these so many are timed at once: most blocks are then shorter than what the system grants a program in one go.
const TIMED: usize = 256;

/// Members that are asked for, at most.
const HITS: usize = 65_536;

/// Small sets are filled again and again, until so many insertions were timed.
const TIMED_INSERTIONS: usize = 32_768;

/// URLs whose insertion into a sorted list is timed.
const STRANGERS: usize = 256;

/// What was measured of one method on one set.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) spec: Spec,
    pub(super) bits: u64,
    pub(super) insert: Option<Time>,
    /// To find a member.
    pub(super) hit: Option<Time>,
    /// To look for what is no member.
    pub(super) miss: Option<Time>,
    pub(super) answers: Vec<Answer>,
}

/// False positives of one kind of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) kind: Kind,
    pub(super) asked: u64,
    /// Said to be members.
    pub(super) found: u64,
}

/// What was asked for.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) sizes: Sizes,
    pub(super) layers: usize,
    /// Of each kind.
    pub(super) questions: u64,
    pub(super) seed: HashSeed,
}

/// A method at work.
struct Contestant<'u> {
    spec: Spec,
    set: UrlSet<'u>,
    insert: Option<Time>,
    /// Times as many URLs as linear search was run on.
    larger: f64,
    misses: Clock,
    answers: Vec<Answer>,
}

/// Compares all methods on the first `count` of these URLs.
pub(super) fn run(urls: &[Box<str>], count: usize, order: &Order) -> Result<(Extent, Vec<Outcome>)> {
    let (members, held_out) = urls.split_at(count);
    let site = Site::new(members, held_out, order.layers);
    let known: HashSet<&str> = members.iter().map(|url| &**url).collect();
    let (segments, all_segments) = (site.distinct_segments(), site.all_distinct_segments());
    let extent = Extent { urls: count as u64, segments, all_segments };
    let strangers = strangers(&site, &known);
    let contestants = method::all(&extent, &order.sizes)?.into_iter();
    let contestants = contestants.map(|spec| Contestant::new(spec, members, &strangers, order.seed));
    let mut contestants: Vec<Contestant> = contestants.collect::<Result<_>>()?;
    for kind in Kind::ALL {
        let mut questions = site.questions(kind, order.questions, &known);
        loop {
            let block: Vec<String> = questions.by_ref().take(TURN).collect();
            if block.is_empty() {
                break;
            }
            contestants.iter_mut().try_for_each(|contestant| contestant.ask(kind, &block))?;
        }
    }
    let outcomes = contestants.into_iter().map(|contestant| contestant.finish(members));
    Ok((extent, outcomes.collect::<Result<_>>()?))
}

/// URLs that belong to places all over the sorted set. Those on new hosts are together: they are taken where others are too few.
fn strangers(site: &Site, known: &HashSet<&str>) -> Vec<String> {
    let kinds = [Kind::HeldOut, Kind::NewLeaf, Kind::NewHost].into_iter();
    kinds.flat_map(|kind| site.questions(kind, STRANGERS as u64, known)).take(STRANGERS).collect()
}

impl<'u> Contestant<'u> {
    fn new(spec: Spec, members: &'u [Box<str>], strangers: &[String], seed: HashSeed) -> Result<Self> {
        let within = reachable(&spec, members);
        let build = || match &spec.shape {
            Some(shape) => UrlSet::filter(shape, within, seed),
            None => Ok(UrlSet::exact(spec.method, within, strangers)),
        };
        let (mut set, mut clock) = build()?;
        for _ in 1..TIMED_INSERTIONS.div_ceil(within.len()) {
            let (again, time) = build()?;
            set = again;
            clock.join(&time);
        }
        let insert = clock.time();
        let larger = members.len() as f64 / within.len() as f64;
        Ok(Self { spec, set, insert, larger, misses: Clock::default(), answers: Vec::new() })
    }

    fn ask(&mut self, kind: Kind, block: &[String]) -> Result<()> {
        let before = self.answers.last().filter(|answer| answer.kind == kind).map_or(0, |answer| answer.asked);
        let patience = self.set.patience().saturating_sub(usize::try_from(before)?);
        let block = &block[..block.len().min(patience)];
        let set = &self.set;
        let count = |part: &[String]| part.iter().filter(|url| set.finds(url)).count();
        let found: usize = block.chunks(TIMED).map(|part| self.misses.block(part.len(), || count(part))).sum();
        ensure!(self.spec.shape.is_some() || found == 0, "{} finds what it has not", self.spec.method.name());
        if before == 0 {
            self.answers.push(Answer { kind, asked: 0, found: 0 });
        }
        if let Some(answer) = self.answers.last_mut() {
            answer.asked += block.len() as u64;
            answer.found += found as u64;
        }
        Ok(())
    }

    /// Asks for members, and sums up.
    fn finish(self, members: &[Box<str>]) -> Result<Outcome> {
        let hits = site::some(reachable(&self.spec, members), HITS.min(self.set.patience()));
        let mut missed = 0;
        let hit = Clock::each(&hits, |url| missed += u64::from(!self.set.finds(url))).time();
        ensure!(missed == 0, "{} does not find what it has", self.spec.method.name());
        let larger = |time: Time| if self.larger > 1.0 { time.of_a_set_larger_by(self.larger) } else { time };
        let bits = match &self.spec.shape {
            Some(shape) => shape.bits(),
            None if self.larger > 1.0 => UrlSet::List(vec![""; members.len()]).bits(members),
            None => self.set.bits(members),
        };
        Ok(Outcome {
            spec: self.spec,
            bits,
            insert: self.insert,
            hit: hit.map(larger),
            miss: self.misses.time().map(larger),
            answers: self.answers,
        })
    }
}

/// The members among which a method searches: linear search has a limit.
fn reachable<'u>(spec: &Spec, members: &'u [Box<str>]) -> &'u [Box<str>] {
    let limit = if spec.method == Method::Linear { LINEAR_LIMIT } else { usize::MAX };
    &members[..members.len().min(limit)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_belong_all_over_the_set() {
        let urls = site::generated(4_000);
        for held_out in [0, 100, 1_000] {
            let (held_out, members) = urls.split_at(held_out);
            let known: HashSet<&str> = members.iter().map(|url| &**url).collect();
            let mut sorted: Vec<&str> = known.iter().copied().collect();
            sorted.sort_unstable();
            let strangers = strangers(&Site::new(members, held_out, 5), &known);
            let mut quarters = [0; 4];
            for url in &strangers {
                let place = sorted.binary_search(&url.as_str()).unwrap_err();
                quarters[(4 * place / sorted.len()).min(3)] += 1;
            }
            assert!(strangers.len() == 256 && quarters.iter().all(|count| (35..95).contains(count)), "{quarters:?}");
        }
        let alone: Vec<Box<str>> = vec!["http://h".into()];
        assert_eq!(strangers(&Site::new(&alone, &[], 5), &HashSet::from(["http://h"])).len(), 256);
    }
}
