//! [`Looks`]: what looks at pages with known copies found, and what that says of freshness and age.
//!
//! Owns: the sums of the looks of a sequence, by site; how often the pages of a site change; how fresh their copies were between the looks.
//!
//! Invariants: sums take a fixed room for each site and length of interval, however many looks there are; sums of parts add up to those of
//! the whole, by site as long as there are few sites.
//!
//! Does not know: where they are kept, and when the next look is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Span, rate::bias_corrected};

/// Groups of intervals that differ by a factor of two.
const GROUPS: f64 = 4.0;

/// Parts of an interval in which the last change may have been.
const PARTS: f64 = 8.0;

/// The part of a change whose time is not known.
const UNDATED: i16 = -1;

/// Sites that have sums of their own.
const MOST_SITES: usize = 32;

/// All others.
const OTHERS: i64 = -1;

/// A look at a page whose copy was known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Since the look before it.
    pub seconds: f64,
    /// What was found.
    pub found: Found,
    /// How often the page changes in a second, where something is known of the page itself.
    pub rate: Option<f64>,
}

/// What a look found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// The page as the copy has it.
    Unchanged,
    /// Another one, or none; the last change was so many seconds after the look before, where that is known.
    Changed(Option<f64>),
}

/// Sums over looks at the pages of a site.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Looks {
    /// Looks.
    pub looks: u64,
    /// Those that found a change.
    pub changed: u64,
    /// Seconds before the looks that found a change.
    pub with_change: f64,
    /// Seconds before the others.
    pub without_change: f64,
    /// Times before looks that found a change, of pages whose own rate was known.
    known: Span,
    /// Those of the other pages.
    groups: Vec<Group>,
}

/// Looks that found a change after about the same time, in the same part of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "(i16, i16, u64, f64, f64)", from = "(i16, i16, u64, f64, f64)")]
struct Group {
    interval: i16,
    part: i16,
    looks: u64,
    seconds: f64,
    /// Seconds until the last change.
    last: f64,
}

/// The sums of each site, by its number.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteLooks(BTreeMap<i64, Looks>);

impl Looks {
    /// Adds a look.
    pub fn add(&mut self, look: Look) {
        let seconds = look.seconds.max(0.001);
        self.looks += 1;
        let Found::Changed(last) = look.found else {
            self.without_change += seconds;
            return;
        };
        self.changed += 1;
        self.with_change += seconds;
        let last = last.filter(|last| (0.0..=seconds).contains(last));
        match look.rate {
            Some(rate) => {
                self.known +=
                    last.map_or_else(|| Span::changed(rate, seconds), |last| Span::changed_last(rate, seconds, last));
            }
            None => self.add_group(Group::of(seconds, last)),
        }
    }

    /// Adds other sums to these.
    pub fn add_all(&mut self, others: &Self) {
        self.looks += others.looks;
        self.changed += others.changed;
        self.with_change += others.with_change;
        self.without_change += others.without_change;
        self.known += others.known;
        for group in &others.groups {
            self.add_group(*group);
        }
    }

    fn add_group(&mut self, new: Group) {
        match self.groups.binary_search_by_key(&new.key(), Group::key) {
            Ok(place) => self.groups[place].add(new),
            Err(place) => self.groups.insert(place, new),
        }
    }

    /// Changes a second of one of these pages, by the bias-corrected estimator; `None` where there was no look.
    pub fn rate(&self) -> Option<f64> {
        bias_corrected([self.looks as f64, self.changed as f64], [self.with_change, self.without_change])
    }

    /// The mean time from one look to the next, in seconds.
    pub fn mean_interval(&self) -> Option<f64> {
        (self.looks > 0).then(|| (self.with_change + self.without_change) / self.looks as f64)
    }

    /// The times before these looks, where pages of which nothing else is known change so often a second.
    pub fn measured(&self, rate: f64) -> Span {
        let mut span = Span::unchanged(self.without_change);
        span += self.known;
        for group in &self.groups {
            span += group.span(rate);
        }
        span
    }
}

impl Group {
    #[expect(clippy::cast_possible_truncation, reason = "few doublings, and few parts")]
    fn of(seconds: f64, last: Option<f64>) -> Self {
        let interval = (seconds.log2() * GROUPS).floor() as i16;
        let part = last.map_or(UNDATED, |last| (last / seconds * PARTS).floor().min(PARTS - 1.0) as i16);
        Self { interval, part, looks: 1, seconds, last: last.unwrap_or_default() }
    }

    fn key(&self) -> (i16, i16) {
        (self.interval, self.part)
    }

    fn add(&mut self, other: Self) {
        self.looks += other.looks;
        self.seconds += other.seconds;
        self.last += other.last;
    }

    /// As if all had been after their mean time.
    fn span(&self, rate: f64) -> Span {
        let looks = self.looks as f64;
        let seconds = self.seconds / looks;
        let one = if self.part == UNDATED {
            Span::changed(rate, seconds)
        } else {
            Span::changed_last(rate, seconds, self.last / looks)
        };
        one.times(looks)
    }
}

impl From<(i16, i16, u64, f64, f64)> for Group {
    fn from((interval, part, looks, seconds, last): (i16, i16, u64, f64, f64)) -> Self {
        Self { interval, part, looks: looks.max(1), seconds, last }
    }
}

impl From<Group> for (i16, i16, u64, f64, f64) {
    fn from(group: Group) -> Self {
        (group.interval, group.part, group.looks, group.seconds, group.last)
    }
}

impl SiteLooks {
    /// Adds a look at a page of this site. The first sites have sums of their own.
    pub fn add(&mut self, site: i64, look: Look) {
        self.of(site).add(look);
    }

    /// Adds those of another sequence.
    pub fn add_all(&mut self, others: &Self) {
        for (site, looks) in &others.0 {
            self.of(*site).add_all(looks);
        }
    }

    fn of(&mut self, site: i64) -> &mut Looks {
        let known = self.0.len() < MOST_SITES || self.0.contains_key(&site);
        self.0.entry(if known { site } else { OTHERS }).or_default()
    }

    /// Whether there was no look.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sums of all sites.
    pub fn total(&self) -> Looks {
        let mut total = Looks::default();
        self.0.values().for_each(|looks| total.add_all(looks));
        total
    }

    /// The rate of a page of which nothing is known but that it is on one of these sites: above 0, because a site on which nothing
    /// has changed yet may be one where half a change would have come in this time. `None` where there was no look.
    pub fn prior(&self) -> Option<f64> {
        let total = self.total();
        let least = 0.5 / (total.with_change + total.without_change);
        total.rate().map(|rate| rate.max(least))
    }

    /// The times before these looks, at the rates that `kept` looks say.
    pub fn measured(&self, kept: &Self) -> Span {
        self.sum(kept, Looks::measured)
    }

    /// What is expected of one time of so many seconds after each of these looks.
    pub fn expected(&self, kept: &Self, seconds: f64) -> Span {
        self.sum(kept, |looks, rate| Span::expected(rate, seconds).times(looks.looks as f64))
    }

    fn sum(&self, kept: &Self, span: impl Fn(&Looks, f64) -> Span) -> Span {
        let mut sum = Span::default();
        for (site, looks) in &self.0 {
            let rate = kept.0.get(site).and_then(Looks::rate).or_else(|| looks.rate()).unwrap_or_default();
            sum += span(looks, rate);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: f64 = 3600.0;

    #[test]
    fn sums_of_parts_add_up_and_come_back_from_json() {
        let look = |number: u32| {
            let seconds = HOUR * f64::from(1 + number % 5);
            let last = number.is_multiple_of(2).then(|| seconds * f64::from(number % 7) / 7.0);
            let found = if number.is_multiple_of(3) { Found::Unchanged } else { Found::Changed(last) };
            (i64::from(number % 30), Look { seconds, found, rate: number.is_multiple_of(5).then_some(1e-4) })
        };
        let [mut whole, mut first, mut second] = [(); 3].map(|()| SiteLooks::default());
        for number in 0..1000 {
            let (site, look) = look(number);
            whole.add(site, look);
            if number < 500 { first.add(site, look) } else { second.add(site, look) }
        }
        first.add_all(&second);
        let text = serde_json::to_string(&first).unwrap();
        let read: SiteLooks = serde_json::from_str(&text).unwrap();
        // Numbers may differ in their last digit.
        assert_eq!((read.0.len(), read.total().looks), (30, 1000));
        let [whole, parts] = [&whole, &read].map(|sites| sites.measured(sites));
        assert!((whole.fresh / parts.fresh - 1.0).abs() < 1e-9 && (whole.age / parts.age - 1.0).abs() < 1e-9);
        assert!(text.len() < 40_000, "{}", text.len());
    }

    #[test]
    fn what_is_measured_and_expected_is_what_happened() {
        // Pages that change at chance, looked at every hour, each at a known rate; with dates and without.
        for (rate, dated) in [(0.1, false), (0.1, true), (1.0, false), (1.0, true), (4.0, true)] {
            let mut chance = crate::revisit::chance::Chance::new(7);
            let (mut sites, mut truth) = (SiteLooks::default(), Span::default());
            for _ in 0..20_000 {
                let mut first = None;
                let [mut last, mut at] = [0.0; 2];
                loop {
                    at -= chance.share().ln() * HOUR / rate;
                    if at > HOUR {
                        break;
                    }
                    first = first.or(Some(at));
                    last = at;
                }
                let found = first.map_or(Found::Unchanged, |_| Found::Changed(dated.then_some(last)));
                sites.add(0, Look { seconds: HOUR, found, rate: None });
                let fresh = first.unwrap_or(HOUR);
                truth += Span { seconds: HOUR, fresh, age: (HOUR - fresh) * (HOUR - fresh) / 2.0 };
            }
            for span in [sites.measured(&sites), sites.expected(&sites, HOUR)] {
                let [off, age] = [span.freshness().unwrap() - truth.freshness().unwrap(), span.age / truth.age - 1.0];
                assert!(off.abs() < 0.01 && age.abs() < 0.04, "{rate} {dated}: {off} {age} {truth:?}");
            }
            assert!((sites.total().rate().unwrap() * HOUR / rate - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn more_sites_than_have_sums_of_their_own_share_one() {
        let mut sites = SiteLooks::default();
        for site in 0..1000 {
            sites.add(site, Look { seconds: HOUR, found: Found::Unchanged, rate: None });
        }
        assert_eq!((sites.0.len(), sites.total().looks), (MOST_SITES + 1, 1000));
    }

    #[test]
    fn a_date_that_cannot_be_is_none() {
        let mut looks = [Looks::default(), Looks::default()];
        for last in [-1.0, 61.0, f64::NAN] {
            looks[0].add(Look { seconds: 60.0, found: Found::Changed(Some(last)), rate: None });
            looks[1].add(Look { seconds: 60.0, found: Found::Changed(None), rate: None });
        }
        assert_eq!(looks[0], looks[1]);
        assert_eq!(SiteLooks::default().measured(&SiteLooks::default()).freshness(), None);
        assert_eq!(SiteLooks::default().prior(), None);
    }
}
