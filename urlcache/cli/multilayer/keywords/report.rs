//! Rows, tables and the verdict of the comparison of keyword filters.

use serde::Serialize;
use urlcache::Interval;

use super::{
    contestants::{CORRECTED, DOCUMENT, EQUAL, ERROR_RATE, OF_LISTS, OF_WORDS, PLAIN, TOTAL},
    halves::Count,
    search::{LITERAL, Worth},
};
use crate::{
    multilayer::report::{CONFIDENCE, small},
    print::{self, Word},
};

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
    ("search", "a filter for each record: which records hold two given keywords?"),
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
        "false positives for each record asked that should not be found, and its interval of 95 % (Clopper and Pearson)",
    ),
    ("missed", "records that hold the keywords and are not found"),
    ("precision", "right answers among all answers `yes`"),
];

pub(super) fn of_halves(count: &Count) -> Row {
    let build = &count.contestant.build;
    Row {
        experiment: HALVES,
        memory: count.contestant.memory,
        method: count.contestant.method,
        hashes: Some(build.layer.shape().hashes()),
        expected: Some(count.expected),
        deviation_se: count.deviation,
        ..row(build.bits(), [count.asked, count.found, count.asked, 0])
    }
}

pub(super) fn of_search(worth: &Worth) -> Row {
    Row {
        experiment: SEARCH,
        memory: worth.memory,
        method: worth.method,
        expected: (worth.method != LITERAL).then_some(worth.expected),
        ..row(worth.bits, [worth.strangers, worth.wrong, worth.right, worth.missed])
    }
}

fn row(bits: u64, [asked, false_positives, right, missed]: [u64; 4]) -> Row {
    let interval = Interval::exact(false_positives, asked, CONFIDENCE);
    let precision = |wrong: f64| right as f64 / (right as f64 + wrong).max(1.0);
    Row {
        experiment: "",
        memory: "",
        method: "",
        bits,
        hashes: None,
        asked,
        false_positives,
        expected: None,
        deviation_se: None,
        rate: false_positives as f64 / asked.max(1) as f64,
        rate_low: interval.low,
        rate_high: interval.high,
        right,
        missed,
        precision: precision(false_positives as f64),
        precision_low: precision(interval.high * asked as f64),
        precision_high: precision(interval.low * asked as f64),
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
    as_claimed: bool,
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

pub(super) fn gains(rows: &[Row]) -> Vec<Gain> {
    let of = |experiment: &str, [method, memory]: [&str; 2]| {
        rows.iter().find(|row| row.experiment == experiment && row.method == method && row.memory == memory)
    };
    let gain = |(experiment, one, other): (&'static str, [&str; 2], [&str; 2])| {
        let gain = of(experiment, one)?.precision / of(experiment, other)?.precision - 1.0;
        let name = |[method, memory]: [&str; 2]| format!("{method} ({memory})");
        Some(Gain {
            experiment,
            filter: name(one),
            over: name(other),
            more_precision: gain,
            as_claimed: CLAIM.contains(&gain),
            like_with_like: [EQUAL, TOTAL].contains(&other[1]) && [experiment, other[0]] != [HALVES, OF_WORDS],
        })
    };
    PAIRS.into_iter().filter_map(gain).collect()
}

/// Whether the document's claim holds, in words.
pub(super) fn verdict(gains: &[Gain], error_rate: f64) -> String {
    let heading = ["experiment", "filter", "over", "precision", "15-30 %"];
    let cells = |gain: &Gain| {
        let claim = if gain.as_claimed { "yes" } else { "no" }.to_owned();
        vec![
            gain.experiment.to_owned(),
            gain.filter.clone(),
            gain.over.clone(),
            format!("{:+.1} %", 100.0 * gain.more_precision),
            claim,
        ]
    };
    let like_with_like = gains.iter().filter(|gain| gain.like_with_like);
    let best = like_with_like.map(|gain| gain.more_precision).fold(f64::NEG_INFINITY, f64::max);
    let holds = if best >= *CLAIM.start() { "holds" } else { "does not hold" };
    let over_keywords = |memory: &str| {
        let over = format!("{OF_WORDS} ({memory})");
        let gain = gains.iter().find(|gain| gain.experiment == HALVES && gain.over == over);
        gain.map_or_else(String::new, |gain| format!("{:+.1} %", 100.0 * gain.more_precision))
    };
    let as_claimed = gains.iter().filter(|gain| gain.as_claimed).count();
    format!(
        "{}\nThe claim of 15-30 % more precision {holds} at equal memory: the most that layers gain over one array of the \
         same bits that can tell what is asked is {:+.1} %.\nOver the document's Bloom filter of keywords they gain {} with the \
         document's memory and {} with the same bits in the test of two halves: it takes every combination of known keywords \
         for a record.\n{as_claimed} of {} comparisons lie within 15-30 %.\nIn the test of two halves a Bloom filter of records at \
         an error rate of {error_rate} has a precision of about {:.3}: no filter can gain more than {:.1} % over it.\n",
        print::table(&heading, &gains.iter().map(cells).collect::<Vec<_>>()),
        100.0 * best,
        over_keywords(DOCUMENT),
        over_keywords(EQUAL),
        gains.len(),
        1.0 / (1.0 + error_rate),
        100.0 * error_rate,
    )
}
