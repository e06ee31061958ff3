//! `urlcache sketch moment`: how unevenly the values of a field occur, for each value of another.

use std::{collections::HashMap, process::ExitCode};

use anyhow::Result;
use clap::Args;
use urlcache::HashSeed;
use urlcache_evaluation::sketch::SecondMoment;

use super::{
    Common, records,
    report::{self, Expected, Report, Row},
};
use crate::{keys::key, print::Word};

pub(super) const EXAMPLES: &str = "\
Examples:
  urlcache sketch moment --of folder --by host urls.jsonl
  urlcache sketch moment --of host --variables 500 urls.jsonl

A line is a JSON object: {\"host\": \"https://docs.example.org\", \"folder\": \"/manual/\"}.";

#[derive(Debug, Args)]
pub(crate) struct MomentArgs {
    /// Field whose values occur evenly or unevenly
    #[arg(long, value_name = "FIELD")]
    of: String,
    /// Field that divides the lines into groups [default: all lines are one group]
    #[arg(long, value_name = "FIELD")]
    by: Option<String>,
    /// Variables of a group: positions from which on a value is counted
    #[arg(long, value_name = "K", default_value_t = 100)]
    variables: usize,
    /// Groups of variables whose means are taken; a divisor of K
    #[arg(long, value_name = "T", default_value_t = 5)]
    groups: usize,
    /// Groups of lines to print, those with the highest estimates first; --json and --csv have all
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    common: Common,
}

const WORDS: &[Word] = &[
    (
        "second moment",
        "the sum of the squares of the occurrences of each value; divided by the elements, it says how many lines have the value of a line drawn at random",
    ),
    ("elements", "values of the field --of, repeated ones included"),
    ("exact", "from a count of each value"),
    ("mean", "the mean of all variables n(2c - 1), which has no bias; c counts a value from a random position on"),
    (
        "median of means",
        "the median of T means of groups of variables; its bias is at most one standard error of a group; its own standard error is an upper bound, if the groups are large",
    ),
    (
        "interval",
        "ends at the elements n and at their square, between which every second moment lies; with --no-exact it is made from what the variables themselves show, and is too narrow if a value that occurs often is under none of them",
    ),
];

/// What is counted of a group of lines.
struct Group {
    sketch: SecondMoment,
    exact: Option<HashMap<u128, u64>>,
}

pub(super) fn run(args: &MomentArgs) -> Result<ExitCode> {
    SecondMoment::new(args.variables, args.groups, args.common.seed())?;
    args.common.check_targets(None)?;
    let mut groups: HashMap<String, Group> = HashMap::new();
    let lines = records::for_each(args.common.file.as_deref(), |record| {
        let name = args.by.as_ref().map_or(Ok("all".into()), |field| record.text(field))?;
        if !groups.contains_key(&*name) {
            groups.insert(name.clone().into_owned(), Group::new(args, &name)?);
        }
        if let Some(group) = groups.get_mut(&*name) {
            record.texts(&args.of)?.iter().for_each(|value| group.insert(key(value).hash));
        }
        Ok(())
    })?;
    let count = groups.len();
    let answer = Report::new(lines, count, rows(groups, args));
    let title = format!(
        "{}, {lines} lines: second moment of `{}`, {} variables",
        report::count(count, "group"),
        args.of,
        args.variables
    );
    answer.answer(&args.common, &title, args.top.saturating_mul(2), WORDS)?;
    Ok(ExitCode::SUCCESS)
}

/// By estimate, the highest first.
fn rows(groups: HashMap<String, Group>, args: &MomentArgs) -> Vec<Row> {
    let estimated = groups.into_iter().map(|(name, group)| (name, group.sketch.estimate(), group));
    let mut groups: Vec<_> = estimated.collect();
    groups.sort_by(|(name, one, _), (other_name, other, _)| {
        other.mean.total_cmp(&one.mean).then_with(|| name.cmp(other_name))
    });
    let rows = groups.into_iter().flat_map(|(name, estimate, Group { sketch, exact })| {
        let occurrences = exact.as_ref().map(|exact| exact.values().copied());
        let truth = occurrences.clone().map(SecondMoment::exact);
        let relative = |error: f64| error / estimate.mean.max(1.0);
        let of_mean = occurrences.clone().map_or_else(
            || relative(estimate.standard_error),
            |all| SecondMoment::theory(all, args.variables).standard_error,
        );
        let (bias, of_median) = occurrences.map_or_else(
            || (relative(estimate.bias_of_median), relative(estimate.standard_error_of_median)),
            |all| {
                let theory = SecondMoment::theory_of_median(all, args.variables, args.groups);
                (theory.bias, theory.standard_error)
            },
        );
        let of_median = Expected { bias, standard_error: of_median, at_most: true };
        let elements = sketch.elements() as f64;
        [
            ("mean", (estimate.mean, Expected::unbiased(of_mean))),
            ("median of means", (estimate.median_of_means, of_median)),
        ]
        .map(|(kind, found)| {
            let row = Row::new(name.clone(), kind, sketch.elements(), found, truth);
            row.between(elements, elements * elements)
        })
    });
    rows.collect()
}

impl Group {
    /// Each group has draws of its own.
    fn new(args: &MomentArgs, name: &str) -> Result<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
        let seed = HashSeed::new(args.common.hash_seed ^ key(name).hash as u64);
        let exact = (!args.common.no_exact).then(HashMap::new);
        Ok(Self { sketch: SecondMoment::new(args.variables, args.groups, seed)?, exact })
    }

    fn insert(&mut self, fingerprint: u128) {
        self.sketch.insert(fingerprint);
        if let Some(exact) = &mut self.exact {
            *exact.entry(fingerprint).or_default() += 1;
        }
    }
}
