//! Rows and tables of the comparison of URL filters.

use serde::Serialize;
use urlcache::Interval;

use super::{
    clock::Time,
    contest::{Answer, Outcome},
    method::{Extent, Memory, Method, best},
    site::Kind,
};
use crate::print::{self, Word};

/// Of all intervals.
pub(super) const CONFIDENCE: f64 = 0.95;

/// The corrected form is to err at most so many times as often as one Bloom filter of the same bits.
const AT_MOST: f64 = 3.0;

/// One method, on one set, asked questions of one kind.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    urls: u64,
    memory: String,
    method: Method,
    bits: u64,
    bits_per_url: f64,
    hashes: Option<u32>,
    questions: Kind,
    asked: u64,
    found: u64,
    rate: f64,
    rate_low: f64,
    rate_high: f64,
    stated_rate: Option<f64>,
    one_bloom_rate: Option<f64>,
    insert_ns: Option<f64>,
    insert_ns_mean: Option<f64>,
    insert_ns_low: Option<f64>,
    insert_ns_high: Option<f64>,
    hit_ns: Option<f64>,
    hit_ns_mean: Option<f64>,
    hit_ns_low: Option<f64>,
    hit_ns_high: Option<f64>,
    miss_ns: Option<f64>,
    miss_ns_mean: Option<f64>,
    miss_ns_low: Option<f64>,
    miss_ns_high: Option<f64>,
    extrapolated: bool,
}

/// All that was measured on one set.
pub(super) struct Round {
    pub(super) extent: Extent,
    pub(super) outcomes: Vec<Outcome>,
}

pub(super) const WORDS: &[Word] = &[
    ("documents", "the memory of the documents: m bits for their Bloom filter, and m for each layer and the XOR layer"),
    (
        "equal",
        "every filter has the same bits in total: about so many a URL, so that the plain layers are powers of two",
    ),
    ("segment-set", "the documents' Bloom filter: the segments of all URLs in one array of bits"),
    ("Bloom", "a Bloom filter of whole URLs"),
    ("multilayer-plain", "the multi-layer filter as published: a filter for each layer of segments, and an XOR layer"),
    ("multilayer", "the same, corrected: salted by layer, and sized for the combinations; k is that of the XOR layer"),
    ("k", "hash functions: the documents' number, or at equal totals the best for the elements that the filter gets"),
    ("held out", "questions: URLs of the same file that were not inserted"),
    ("new leaf", "questions: known URLs with a last segment that is not known"),
    ("recombined", "questions: each segment is known in its place, but not in this combination"),
    ("swapped", "questions: known URLs with two directories exchanged"),
    ("new host", "questions: known URLs on a host that is not known"),
    (
        "0.1 (0.09-0.11)",
        "share of the questions taken for members, and the interval that holds the rate of this filter in 95 of 100 such samples of questions (Clopper and Pearson): filters of other hash seeds have other rates, which at a thousand URLs differ by more; in 2.0e-5 (0.9-3.9) the exponent holds for all three",
    ),
    (
        "stated",
        "what the formula of the documents says, as if layers were independent; of multilayer, the rate of its XOR layer",
    ),
    ("one Bloom", "the rate of a Bloom filter of whole URLs with the same bits and the best k, computed"),
    (
        "kept sorted",
        "the list of binary search with one URL more inserted where it belongs; binary search: sorted once",
    ),
    (
        "linear search",
        "is asked as many questions as 5000000 comparisons allow, the other exact methods 16384 of each kind; what they find is right",
    ),
    ("MiB", "memory; with exact methods that of the text too"),
    (
        "ns",
        "nanoseconds a URL: the median and the quartiles of the blocks that were timed (the mean is in the CSV file); ~ is computed from 1000000 URLs",
    ),
];

pub(super) fn rows(round: &Round) -> Vec<Row> {
    let of = |outcome: &Outcome| outcome.answers.iter().map(|answer| row(round, outcome, *answer)).collect::<Vec<_>>();
    round.outcomes.iter().flat_map(of).collect()
}

fn row(round: &Round, outcome: &Outcome, answer: Answer) -> Row {
    let urls = round.extent.urls;
    let interval = answer.interval();
    let shape = outcome.spec.shape.as_ref();
    let [insert, hit, miss] = [outcome.insert, outcome.hit, outcome.miss];
    Row {
        urls,
        memory: outcome.spec.memory.name(),
        method: outcome.spec.method,
        bits: outcome.bits,
        bits_per_url: outcome.bits as f64 / urls as f64,
        hashes: shape.map(super::method::Filter::hashes),
        questions: answer.kind,
        asked: answer.asked,
        found: answer.found,
        rate: answer.rate(),
        rate_low: interval.low,
        rate_high: interval.high,
        stated_rate: shape.map(|shape| shape.stated_rate(urls)),
        one_bloom_rate: outcome.one_bloom(urls),
        insert_ns: insert.map(|time| time.median),
        insert_ns_mean: insert.map(|time| time.mean),
        insert_ns_low: insert.map(|time| time.low),
        insert_ns_high: insert.map(|time| time.high),
        hit_ns: hit.map(|time| time.median),
        hit_ns_mean: hit.map(|time| time.mean),
        hit_ns_low: hit.map(|time| time.low),
        hit_ns_high: hit.map(|time| time.high),
        miss_ns: miss.map(|time| time.median),
        miss_ns_mean: miss.map(|time| time.mean),
        miss_ns_low: miss.map(|time| time.low),
        miss_ns_high: miss.map(|time| time.high),
        extrapolated: [hit, miss].iter().flatten().any(|time| time.extrapolated),
    }
}

impl Answer {
    pub(super) fn rate(&self) -> f64 {
        self.found as f64 / self.asked.max(1) as f64
    }

    fn interval(&self) -> Interval {
        Interval::exact(self.found, self.asked, CONFIDENCE)
    }
}

impl Outcome {
    /// The rate of one Bloom filter of whole URLs with the same bits and the best number of hash functions.
    fn one_bloom(&self, urls: u64) -> Option<f64> {
        self.spec.shape.as_ref()?;
        Some(best(self.bits, urls).ok()?.rate_at(urls))
    }

    /// Recombined and swapped URLs together.
    fn of_known_segments(&self) -> Answer {
        let known = [Kind::Recombined, Kind::Swapped].into_iter().filter_map(|kind| self.answer(kind));
        known.fold(Answer { kind: Kind::Recombined, asked: 0, found: 0 }, |sum, answer| Answer {
            kind: sum.kind,
            asked: sum.asked + answer.asked,
            found: sum.found + answer.found,
        })
    }

    pub(super) fn answer(&self, kind: Kind) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.kind == kind)
    }
}

/// Everything of one set, for people.
pub(super) fn text(round: &Round) -> String {
    let Extent { urls, segments, .. } = &round.extent;
    let segments: Vec<String> = segments.iter().map(ToString::to_string).collect();
    format!(
        "{urls} URLs; different segments by layer: {}\n\n{}\n{}\n{}\n",
        segments.join(", "),
        rates(round),
        times(round),
        result(round)
    )
}

fn rates(round: &Round) -> String {
    let asked = |kind: &Kind| round.outcomes.iter().any(|outcome| outcome.answer(*kind).is_some());
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(asked).collect();
    let mut heading = vec!["memory", "method", "bits/URL", "k"];
    heading.extend(kinds.iter().map(|kind| kind.name()));
    heading.extend(["stated", "one Bloom"]);
    let filters = round.outcomes.iter().filter_map(|outcome| Some((outcome, outcome.spec.shape.as_ref()?)));
    let cells = filters.map(|(outcome, shape)| {
        let urls = round.extent.urls;
        let mut cells = vec![outcome.spec.memory.name(), outcome.spec.method.name().to_owned()];
        cells.push(format!("{:.2}", outcome.bits as f64 / urls as f64));
        cells.push(shape.hashes().to_string());
        cells.extend(kinds.iter().map(|kind| outcome.answer(*kind).map_or_else(String::new, Answer::cell)));
        cells.push(small(shape.stated_rate(urls)));
        cells.push(outcome.one_bloom(urls).map_or_else(String::new, small));
        cells
    });
    print::table(&heading, &cells.collect::<Vec<_>>())
}

fn times(round: &Round) -> String {
    let heading =
        ["memory", "method", "MiB", "insert ns", "(quartiles)", "hit ns", "(quartiles)", "miss ns", "(quartiles)"];
    let cells = |outcome: &Outcome| {
        let mut cells = vec![outcome.spec.memory.name(), outcome.spec.method.name().to_owned()];
        cells.push(print::short(outcome.bits as f64 / 8.0 / f64::from(1 << 20)));
        for time in [outcome.insert, outcome.hit, outcome.miss] {
            cells.extend(time.map_or_else(|| [String::new(), String::new()], nanoseconds));
        }
        cells
    };
    print::table(&heading, &round.outcomes.iter().map(cells).collect::<Vec<_>>())
}

fn nanoseconds(time: Time) -> [String; 2] {
    let mark = if time.extrapolated { "~" } else { "" };
    [format!("{mark}{:.0}", time.median), format!("({:.0}-{:.0})", time.low, time.high)]
}

/// What the equal totals show, in words.
fn result(round: &Round) -> String {
    let mut lines = String::new();
    for (plain, corrected, one) in equals(round) {
        let rate = |outcome: &Outcome, kind| outcome.answer(kind).map_or_else(|| "-".to_owned(), Answer::cell);
        let [recombined, swapped] = [Kind::Recombined, Kind::Swapped].map(|kind| rate(plain, kind));
        lines += &format!(
            "{}: multilayer-plain takes {recombined} of the recombined and {swapped} of the swapped URLs for members\n",
            plain.spec.memory.name()
        );
        lines += &compared(round, corrected, one);
    }
    lines
}

/// How often the corrected form errs for each error of one Bloom filter of the same bits, on URLs whose segments are all
/// known, or on others if it surely errs too often there.
fn compared(round: &Round, corrected: &Outcome, one: &Outcome) -> String {
    let one_bloom = one.one_bloom(round.extent.urls).unwrap_or(1.0);
    let planned = corrected.spec.shape.as_ref().map_or(1.0, |shape| shape.stated_rate(round.extent.urls));
    let ratios = |answer: &Answer| {
        let Interval { low, high } = answer.interval();
        [answer.rate(), low, high].map(|rate| rate / one_bloom)
    };
    let known = corrected.of_known_segments();
    if known.asked == 0 {
        return String::new();
    }
    let [rate, low, high] = ratios(&known);
    let beyond = corrected.answers.iter().find(|answer| ratios(answer)[1] > AT_MOST);
    let said = match beyond {
        _ if low > AT_MOST => "does not hold".to_owned(),
        Some(answer) => format!("does not hold on {} URLs: {}", answer.kind.name(), answer.cell()),
        None if high <= AT_MOST => "holds".to_owned(),
        None => "is not decided by so few questions".to_owned(),
    };
    format!(
        "{}: multilayer errs {} times ({}-{}) as often as one Bloom filter of the same bits is computed to, \
         on recombined and swapped URLs; planned are {:.2} times: at most {AT_MOST} times {said}\n",
        corrected.spec.memory.name(),
        print::short(rate),
        print::short(low),
        print::short(high),
        planned / one_bloom,
    )
}

/// The plain form, the corrected form and one Bloom filter at each of the equal totals.
fn equals(round: &Round) -> impl Iterator<Item = (&Outcome, &Outcome, &Outcome)> {
    let of = |memory: Memory, method| {
        round.outcomes.iter().find(move |outcome| outcome.spec.memory == memory && outcome.spec.method == method)
    };
    let plain = round.outcomes.iter().filter(|outcome| {
        matches!(outcome.spec.memory, Memory::Equal(_)) && outcome.spec.method == Method::MultilayerPlain
    });
    plain.filter_map(move |plain| {
        let memory = plain.spec.memory;
        Some((plain, of(memory, Method::Multilayer)?, of(memory, Method::Bloom)?))
    })
}

impl Answer {
    /// The rate and its interval, short.
    fn cell(&self) -> String {
        let (rate, Interval { low, high }) = (self.rate(), self.interval());
        if self.found == 0 {
            return format!("0 (<{})", small(high));
        }
        if rate >= 0.01 {
            return format!("{rate:.3} ({low:.3}-{high:.3})");
        }
        let scale = 10_f64.powf(rate.log10().floor());
        format!("{} ({:.1}-{:.1})", small(rate), low / scale, high / scale)
    }
}

/// Two significant digits of a small number, three decimals of a large one.
pub(super) fn small(rate: f64) -> String {
    match rate {
        0.0 => "0".to_owned(),
        _ if rate >= 0.01 => format!("{rate:.3}"),
        _ => format!("{rate:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_a_rate_and_its_interval() {
        let cell = |found, asked| Answer { kind: Kind::Swapped, asked, found }.cell();
        assert_eq!(cell(8, 400_000), "2.0e-5 (0.9-3.9)");
        assert_eq!(cell(232, 1_000), "0.232 (0.206-0.259)");
        assert_eq!(cell(0, 400_000), "0 (<9.2e-6)");
        assert_eq!(cell(5, 5), "1.000 (0.478-1.000)");
    }
}
