//! Rows, tables and the result of the comparison of keyword filters.

use serde::Serialize;

use super::{
    contestants::{CORRECTED, DOCUMENT, EQUAL, ERROR_RATE, OF_LISTS, OF_WORDS, PLAIN, TOTAL},
    halves::Count,
    search::{LITERAL, Worth},
    spread::{self, Estimate, Tally},
};
use crate::{
    multilayer::report::small,
    print::{self, Word},
};

/// What the rounds of one experiment counted of one filter.
pub(super) struct Test<'r> {
    experiment: &'static str,
    memory: &'static str,
    method: &'static str,
    bits: u64,
    hashes: Option<u32>,
    rounds: &'r [Tally],
}

/// One filter in one experiment.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    pub(super) experiment: &'static str,
    pub(super) memory: &'static str,
    pub(super) method: &'static str,
    pub(super) bits: u64,
    pub(super) hashes: Option<u32>,
    pub(super) asked: u64,
    pub(super) false_positives: u64,
    pub(super) expected: Option<f64>,
    pub(super) deviation_se: Option<f64>,
    pub(super) rate: f64,
    pub(super) rate_low: f64,
    pub(super) rate_high: f64,
    pub(super) right: u64,
    pub(super) missed: u64,
    pub(super) precision: f64,
    pub(super) precision_low: f64,
    pub(super) precision_high: f64,
}

pub(super) const HALVES: &str = "two halves";
pub(super) const SEARCH: &str = "search";

/// What the document expects of its filter.
const CLAIM: std::ops::RangeInclusive<f64> = 0.15..=0.30;

pub(super) const WORDS: &[Word] = &[
    (
        "two halves",
        "algorithm 5: different records in two halves, a filter of each; a record that both find is a false positive",
    ),
    (
        "search",
        "a filter for each record: which records hold two given keywords? Each of ten rounds has other filters and other questions",
    ),
    ("Bloom of keywords", "the document's Bloom filter: all keywords in one array of bits"),
    ("Bloom of records", "a Bloom filter of whole records"),
    ("multilayer-plain", "the document's multi-layer filter: keywords dealt to layers in turn, and an XOR layer"),
    ("multilayer", "the same, corrected: salted by place, and sized for the combinations"),
    (
        "document",
        "the memory of the document: m bits at the error rate for its Bloom filter, m for each layer (to the nearest power of two)",
    ),
    ("document, total", "as many bits as all layers together, in one array"),
    ("error rate", "a Bloom filter of whole records that has the error rate when it is full"),
    ("equal", "about m bits in total for each filter"),
    ("false", "false positives, of all rounds or questions"),
    (
        "expected",
        "the same by theory, from the keywords and combinations that the other half really has; of a search, from the bits that are set",
    ),
    (
        "deviation",
        "counted minus expected, in standard errors that follow from how much the rounds differ; if the theory is right, few are beyond 3; none where fewer than 20 are expected",
    ),
    (
        "rate",
        "false positives for each record asked that should not be found, and its interval of 95 %: by how much the rounds differ (Student's t), and at least that of Clopper and Pearson",
    ),
    ("missed", "records that hold the keywords and are not found"),
    ("precision", "right answers among all answers `yes`; its interval is in the CSV file"),
    (
        "+40.0 % (38.1 to 41.9)",
        "by how much the precision is higher than that of the other, and the interval of 95 %, from the same rounds for both",
    ),
    ("15-30 %", "whether the interval lies within what is claimed; open: part of it does"),
];

impl<'r> Test<'r> {
    pub(super) fn of_halves(count: &'r Count) -> Self {
        let build = &count.contestant.build;
        Self {
            experiment: HALVES,
            memory: count.contestant.memory,
            method: count.contestant.method,
            bits: build.bits(),
            hashes: Some(build.layer.shape().hashes()),
            rounds: &count.rounds,
        }
    }

    pub(super) fn of_search(worth: &'r Worth) -> Self {
        let Worth { method, memory, bits, rounds } = worth;
        Self { experiment: SEARCH, memory, method, bits: *bits, hashes: None, rounds }
    }
}

pub(super) fn row(test: &Test) -> Row {
    let all = spread::total(test.rounds);
    let has_theory = test.method != LITERAL;
    let [rate, precision] = [spread::rate(test.rounds), spread::precision(test.rounds)];
    Row {
        experiment: test.experiment,
        memory: test.memory,
        method: test.method,
        bits: test.bits,
        hashes: test.hashes,
        asked: all.strangers,
        false_positives: all.wrong,
        expected: has_theory.then_some(all.expected),
        deviation_se: spread::deviation(test.rounds).filter(|_| has_theory),
        rate: rate.value,
        rate_low: rate.low,
        rate_high: rate.high,
        right: all.right,
        missed: all.missed,
        precision: precision.value,
        precision_low: precision.low,
        precision_high: precision.high,
    }
}

pub(super) fn table(rows: &[Row], experiment: &str) -> String {
    let heading =
        ["memory", "method", "bits", "k", "asked", "false", "expected", "deviation", "rate", "", "missed", "precision"];
    let cells = |row: &Row| {
        vec![
            row.memory.to_owned(),
            row.method.to_owned(),
            row.bits.to_string(),
            row.hashes.map_or_else(String::new, |hashes| hashes.to_string()),
            row.asked.to_string(),
            row.false_positives.to_string(),
            row.expected.map_or_else(String::new, |expected| format!("{expected:.1}")),
            row.deviation_se.map_or_else(String::new, |deviation| format!("{deviation:+.1}")),
            small(row.rate),
            format!("({}-{})", small(row.rate_low), small(row.rate_high)),
            row.missed.to_string(),
            format!("{:.3}", row.precision),
        ]
    };
    let rows: Vec<Vec<String>> = rows.iter().filter(|row| row.experiment == experiment).map(cells).collect();
    print::table(&heading, &rows)
}

/// What a filter gains over another.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Gain {
    experiment: &'static str,
    filter: String,
    over: String,
    /// By how much the precision is higher, as a share of the other's.
    more_precision: f64,
    more_precision_low: f64,
    more_precision_high: f64,
    /// `None` where the interval lies across an end of the claim.
    as_claimed: Option<bool>,
    /// Whether the other has the same bits, and can tell what is asked for: in the test of two halves, combinations.
    like_with_like: bool,
}

/// The comparisons that bear on the claim: what is compared with what.
const PAIRS: [(&str, [&str; 2], [&str; 2]); 9] = [
    (HALVES, [PLAIN, DOCUMENT], [OF_WORDS, DOCUMENT]),
    (HALVES, [PLAIN, EQUAL], [OF_WORDS, EQUAL]),
    (HALVES, [PLAIN, DOCUMENT], [OF_LISTS, ERROR_RATE]),
    (HALVES, [PLAIN, DOCUMENT], [OF_LISTS, TOTAL]),
    (HALVES, [PLAIN, EQUAL], [OF_LISTS, EQUAL]),
    (HALVES, [CORRECTED, EQUAL], [OF_LISTS, EQUAL]),
    (SEARCH, [PLAIN, DOCUMENT], [OF_WORDS, DOCUMENT]),
    (SEARCH, [PLAIN, DOCUMENT], [OF_WORDS, TOTAL]),
    (SEARCH, [PLAIN, EQUAL], [OF_WORDS, EQUAL]),
];

pub(super) fn gains(tests: &[Test]) -> Vec<Gain> {
    let of = |experiment: &str, [method, memory]: [&str; 2]| {
        let is = |test: &&Test| (test.experiment, test.method, test.memory) == (experiment, method, memory);
        tests.iter().find(is).map(|test| test.rounds)
    };
    let gain = |(experiment, one, other): (&'static str, [&str; 2], [&str; 2])| {
        let Estimate { value, low, high } = spread::gain(of(experiment, one)?, of(experiment, other)?)?;
        let name = |[method, memory]: [&str; 2]| format!("{method} ({memory})");
        Some(Gain {
            experiment,
            filter: name(one),
            over: name(other),
            more_precision: value,
            more_precision_low: low,
            more_precision_high: high,
            as_claimed: as_claimed(low, high),
            like_with_like: [EQUAL, TOTAL].contains(&other[1]) && [experiment, other[0]] != [HALVES, OF_WORDS],
        })
    };
    PAIRS.into_iter().filter_map(gain).collect()
}

fn as_claimed(low: f64, high: f64) -> Option<bool> {
    let apart = high < *CLAIM.start() || low > *CLAIM.end();
    if apart { Some(false) } else { (CLAIM.contains(&low) && CLAIM.contains(&high)).then_some(true) }
}

/// Whether the document's claim holds, in words.
pub(super) fn result(gains: &[Gain], error_rate: f64) -> String {
    let heading = ["experiment", "filter", "over", "precision", "15-30 %"];
    let cells = |gain: &Gain| {
        let claim = gain.as_claimed.map_or("open", |claimed| if claimed { "yes" } else { "no" }).to_owned();
        vec![gain.experiment.to_owned(), gain.filter.clone(), gain.over.clone(), gain.percent(), claim]
    };
    let like_with_like: Vec<&Gain> = gains.iter().filter(|gain| gain.like_with_like).collect();
    let best = like_with_like.iter().max_by(|one, other| one.more_precision.total_cmp(&other.more_precision));
    let over_keywords = |memory: &str| {
        let over = format!("{OF_WORDS} ({memory})");
        let gain = gains.iter().find(|gain| gain.experiment == HALVES && gain.over == over);
        gain.map_or_else(String::new, Gain::percent)
    };
    let judged = |claimed| gains.iter().filter(|gain| gain.as_claimed == claimed).count();
    format!(
        "{}\nThe claim of 15-30 % more precision {} at equal memory: the most that layers gain over one array of the \
         same bits that can tell what is asked is {}.\nOver the document's Bloom filter of keywords they gain {} with the \
         document's memory and {} with the same bits in the test of two halves: it takes every combination of known keywords \
         for a record.\nOf {} comparisons {} lie within 15-30 %, and {} more may.\nIn the test of two halves a Bloom filter of \
         records at an error rate of {error_rate} has a precision of about {:.3}: no filter can gain more than {:.1} % over \
         it.\n",
        print::table(&heading, &gains.iter().map(cells).collect::<Vec<_>>()),
        holds(&like_with_like),
        best.map_or_else(String::new, |gain| gain.percent()),
        over_keywords(DOCUMENT),
        over_keywords(EQUAL),
        gains.len(),
        judged(Some(true)),
        judged(None),
        1.0 / (1.0 + error_rate),
        100.0 * error_rate,
    )
}

/// Whether one of these gains as much as is claimed, or more.
fn holds(gains: &[&Gain]) -> &'static str {
    let enough = *CLAIM.start();
    if gains.iter().any(|gain| gain.more_precision_low >= enough) {
        "holds"
    } else if gains.iter().any(|gain| gain.more_precision_high >= enough) {
        "is not decided by so few rounds and searches"
    } else {
        "does not hold"
    }
}

impl Gain {
    /// With its interval.
    fn percent(&self) -> String {
        let [low, high] = [self.more_precision_low, self.more_precision_high].map(|bound| 100.0 * bound);
        format!("{:+.1} % ({low:.1} to {high:.1})", 100.0 * self.more_precision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_judged_by_the_whole_interval() {
        let judged = [(0.16, 0.29), (0.1, 0.2), (0.2, 0.4), (0.1, 0.4), (-0.2, 0.14), (0.31, 0.5)];
        let expected = [Some(true), None, None, None, Some(false), Some(false)];
        assert_eq!(judged.map(|(low, high)| as_claimed(low, high)), expected);
        let gain = |low, high| Gain {
            experiment: SEARCH,
            filter: String::new(),
            over: String::new(),
            more_precision: f64::midpoint(low, high),
            more_precision_low: low,
            more_precision_high: high,
            as_claimed: as_claimed(low, high),
            like_with_like: true,
        };
        let [none, some, much] = [gain(-0.3, 0.1), gain(0.1, 0.2), gain(0.2, 0.4)];
        assert_eq!(holds(&[&none]), "does not hold");
        assert!(holds(&[&none, &some]).starts_with("is not decided"));
        assert_eq!(holds(&[&none, &some, &much]), "holds");
        assert_eq!(much.percent(), "+30.0 % (20.0 to 40.0)");
    }
}
