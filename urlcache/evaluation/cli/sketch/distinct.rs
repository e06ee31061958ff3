//! `urlcache sketch distinct`: how many different values a field has, for each value of another.

use std::{
    collections::{HashMap, HashSet},
    process::ExitCode,
};

use anyhow::Result;
use clap::Args;
use urlcache::sketch::DistinctCount;

use super::{
    Common,
    records::{self, Record},
    report::{self, Report, Row},
    shape::{Shape, Shapes, Sketch},
};
use crate::{keys::key, print::Word};

pub(super) const EXAMPLES: &str = "\
Examples:
  urlcache sketch distinct --of title --words --by section titles.jsonl
  urlcache sketch distinct --of from --by to --precision 8 links.jsonl

A line is a JSON object: {\"section\": \"/manual/\", \"title\": \"The index\"}. If the field of --of
is a list, each of its elements counts.";

#[derive(Debug, Args)]
pub(crate) struct DistinctArgs {
    /// Field whose distinct values are counted
    #[arg(long, value_name = "FIELD")]
    of: String,
    /// Field that divides the lines into groups [default: all lines are one group]
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,
    /// Split the values of --of into words (letters and digits, in lower case) and count these
    #[arg(long)]
    words: bool,
    /// Groups to print, those with the highest estimates first; --json and --csv have all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    shapes: Shapes,
    #[command(flatten)]
    common: Common,
}

const WORDS: &[Word] = &[
    ("elements", "values of the field --of, repeated ones included"),
    ("exact", "different values, counted in a hash set of 128-bit fingerprints"),
    (
        "hyperloglog",
        "the estimate of 2^P registers, each of which keeps a longest run of zeros (Ertl 2017); if groups have few values, n each, two of them share a register in about one of 2^(P+1) / n(n-1) groups, and almost all of the error is in these: the mean square of the deviations is about 1 only over many times as many groups",
    ),
    ("flajolet-martin", "the median of T means of G powers 2^R, R the most zeros a hash ended with, over its bias"),
];

/// What is counted of a group.
struct Group {
    elements: u64,
    sketches: Vec<Sketch>,
    exact: Option<HashSet<u128>>,
}

pub(super) fn run(args: &DistinctArgs) -> Result<ExitCode> {
    let shapes = args.shapes.list()?;
    args.common.check_targets(None)?;
    let mut groups: HashMap<String, Group> = HashMap::new();
    let lines = records::for_each(args.common.file.as_deref(), |record| {
        let name = args.by.as_ref().map_or(Ok("all".into()), |field| record.text(field))?;
        if !groups.contains_key(&*name) {
            groups.insert(name.clone().into_owned(), Group::new(args, &shapes));
        }
        groups.get_mut(&*name).map_or(Ok(()), |group| group.take(args, record))
    })?;
    let count = groups.len();
    let answer = Report::new(lines, count, rows(groups, &shapes));
    let title = format!("{}, {lines} lines: distinct values of `{}`", report::count(count, "group"), args.of);
    answer.answer(&args.common, &title, args.top.saturating_mul(shapes.len()), WORDS)?;
    Ok(ExitCode::SUCCESS)
}

/// By estimate, the highest first.
fn rows(groups: HashMap<String, Group>, shapes: &[Shape]) -> Vec<Row> {
    let mut groups: Vec<(String, Group, Vec<f64>)> = groups
        .into_iter()
        .map(|(name, group)| {
            let estimates = group.sketches.iter().map(Sketch::estimate).collect();
            (name, group, estimates)
        })
        .collect();
    groups.sort_by(|(name, _, one), (other_name, _, other)| {
        other[0].total_cmp(&one[0]).then_with(|| name.cmp(other_name))
    });
    let rows = groups.into_iter().flat_map(|(name, group, estimates)| {
        let exact = group.exact.map(|exact| exact.len() as f64);
        shapes.iter().zip(estimates).map(move |(shape, estimate)| {
            let expected = shape.expected(estimate, exact);
            Row::new(name.clone(), shape.name(), group.elements, (estimate, expected), exact)
        })
    });
    rows.collect()
}

impl Group {
    fn new(args: &DistinctArgs, shapes: &[Shape]) -> Self {
        let sketches = shapes.iter().map(|shape| shape.sketch(args.common.seed())).collect();
        Self { elements: 0, sketches, exact: (!args.common.no_exact).then(HashSet::new) }
    }

    fn take(&mut self, args: &DistinctArgs, record: &Record<'_>) -> Result<()> {
        for value in record.texts(&args.of)? {
            if args.words {
                records::words(&value).for_each(|word| self.insert(key(&word).hash));
            } else {
                self.insert(key(&value).hash);
            }
        }
        Ok(())
    }

    fn insert(&mut self, fingerprint: u128) {
        self.elements += 1;
        for sketch in &mut self.sketches {
            sketch.insert(fingerprint);
        }
        if let Some(exact) = &mut self.exact {
            exact.insert(fingerprint);
        }
    }
}
