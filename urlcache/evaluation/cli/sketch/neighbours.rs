//! `urlcache sketch neighbours`: how many pages lie within d links of a page.

use std::{collections::HashMap, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use urlcache_evaluation::sketch::{Direction, LinkGraph, Neighbourhoods};

use super::{
    Common, records,
    report::{Report, Row},
    shape::{Shape, Shapes},
};
use crate::{keys::key, print::Word};

pub(super) const EXAMPLES: &str = "\
Examples:
  urlcache sketch neighbours --from from --to to --start https://docs.example.org/ links.jsonl
  urlcache sketch neighbours --from from --to to --start E --direction undirected graph.jsonl

A line is a JSON object: {\"from\": \"https://docs.example.org/\", \"to\": \"https://docs.example.org/a\"}.
If the field of --to is a list, each of its elements is a link.";

/// Which way links are followed.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Way {
    /// From a page to those it links to
    Out,
    /// From a page to those that link to it
    In,
    /// Both ways
    Undirected,
}

#[derive(Debug, Args)]
pub(crate) struct NeighboursArgs {
    /// Field with the page that has a link
    #[arg(long, value_name = "FIELD")]
    from: String,
    /// Field with the page that the link leads to
    #[arg(long, value_name = "FIELD")]
    to: String,
    /// The page u whose neighbourhoods n(u,d) are counted, as it is in the lines
    #[arg(long, value_name = "PAGE")]
    start: String,
    /// The greatest distance d, in links
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    depth: u32,
    /// Which way links are followed
    #[arg(long, value_enum, value_name = "WAY", default_value = "out")]
    direction: Way,
    #[command(flatten)]
    shapes: Shapes,
    #[command(flatten)]
    common: Common,
}

const WORDS: &[Word] = &[
    ("n(u,d)", "the pages that are at most d links away from the page u of --start, u itself included"),
    ("elements", "links of all pages"),
    ("exact", "by breadth-first search from u"),
    ("hyperloglog", "each page has a sketch; a step unites it with those of its neighbours (HyperANF)"),
    ("flajolet-martin", "the same with the greatest tail length of each hash function"),
];

/// What the lines say: links between pages, which are numbers in the order in which they were met.
#[derive(Default)]
struct Links {
    numbers: HashMap<u128, u32>,
    links: Vec<(u32, u32)>,
}

pub(super) fn run(args: &NeighboursArgs) -> Result<ExitCode> {
    let shapes = args.shapes.list()?;
    args.common.check_targets(None)?;
    let mut read = Links::default();
    let lines = records::for_each(args.common.file.as_deref(), |record| {
        let from = read.page(&record.text(&args.from)?)?;
        for to in record.texts(&args.to)? {
            let to = read.page(&to)?;
            read.links.push((from, to));
        }
        Ok(())
    })?;
    let unknown = || format!("no line has the page of --start, {}; write it as the lines do", args.start);
    let start = *read.numbers.get(&key(&args.start).hash).with_context(unknown)?;
    let pages = read.numbers.len();
    let report = Report::new(lines, 1, rows(args, &shapes, &read, start)?);
    let title = format!("{pages} pages, {} links: pages within d links of {}", read.links.len(), args.start);
    report.answer(&args.common, &title, usize::MAX, WORDS)?;
    Ok(ExitCode::SUCCESS)
}

impl Links {
    fn page(&mut self, name: &str) -> Result<u32> {
        let next = u32::try_from(self.numbers.len()).context("there are more than 2^32 pages")?;
        Ok(*self.numbers.entry(key(name).hash).or_insert(next))
    }
}

/// By distance, up to the depth asked for or until nothing grows.
fn rows(args: &NeighboursArgs, shapes: &[Shape], read: &Links, start: u32) -> Result<Vec<Row>> {
    let direction = match args.direction {
        Way::Out => Direction::Out,
        Way::In => Direction::In,
        Way::Undirected => Direction::Undirected,
    };
    let mut fingerprints = vec![0; read.numbers.len()];
    for (fingerprint, number) in &read.numbers {
        fingerprints[*number as usize] = *fingerprint;
    }
    let graph = LinkGraph::new(u32::try_from(fingerprints.len())?, &read.links, direction)?;
    let sizes = (!args.common.no_exact).then(|| graph.sizes_from(start, args.depth));
    let mut estimates = Vec::new();
    for shape in shapes {
        let empty = shape.sketch(args.common.seed());
        let mut reached = Neighbourhoods::new(&graph, &empty, |page| fingerprints[page as usize]);
        let mut found = vec![reached.estimate(start)];
        while reached.distance() < args.depth && reached.step()? {
            found.push(reached.estimate(start));
        }
        estimates.push(found);
    }
    let longest = sizes.iter().map(Vec::len).chain(estimates.iter().map(Vec::len)).max().unwrap_or(0);
    let rows = (0..longest).flat_map(|distance| {
        let exact = sizes.as_ref().and_then(|sizes| at(sizes, distance)).map(|size| size as f64);
        shapes.iter().zip(&estimates).filter_map(move |(shape, estimates)| {
            let estimate = at(estimates, distance)?;
            let expected = shape.expected(estimate, exact);
            let name = format!("n(u,{distance})");
            Some(Row::new(name, shape.name(), read.links.len() as u64, (estimate, expected), exact))
        })
    });
    Ok(rows.collect())
}

/// The value at a distance, or the last one, from which on nothing grows.
fn at<T: Copy>(values: &[T], distance: usize) -> Option<T> {
    values.get(distance).or(values.last()).copied()
}
