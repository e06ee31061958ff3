//! `webloom simulate`: what a revisit policy would have achieved on a recorded site.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::json;

use super::{CommandFailure, outcome};
use crate::{
    observe::{chart, escape},
    revisit::{
        Bounds, Budget, Figures, Fixed, Multiplicative, Optimal, RevisitPolicy, SectionPath,
        replay::{TraceChange, TraceEvent, replay},
    },
    time::Moment,
};

/// Broken lines that are named; of more only the number is shown.
const NAMED: u64 = 20;

/// The longest line that is read.
const LONGEST_LINE: u64 = 1 << 20;

/// The logarithm of the largest window of compressed traces.
const WINDOW_LOG: u32 = 27;

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// Record of when the pages of a site changed
    ///
    /// JSON lines `{"t": unix seconds, "path": "/a", "event": "new"|"changed"|"deleted"}`, plain or compressed as .zst
    #[arg(long, value_name = "FILE")]
    trace: PathBuf,
    /// How the visits are divided among the pages
    #[arg(long, value_enum, default_value_t = PolicyName::Optimal)]
    policy: PolicyName,
    /// Number of visits, such as 100/day or 5/hour
    #[arg(long, value_name = "N/day")]
    budget: Budget,
    /// Print the figures as one JSON document
    #[arg(long)]
    json: bool,
    /// Draw freshness over time into this SVG file
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<PathBuf>,
}

/// A policy of revisits.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum PolicyName {
    /// All pages in turn, at the same interval.
    Fixed,
    /// An interval for each page, shorter after a change and longer without one.
    Multiplicative,
    /// By the estimated rate of change of each page, for the greatest expected freshness.
    Optimal,
}

impl PolicyName {
    fn policy(self) -> Box<dyn RevisitPolicy> {
        let bounds = Bounds::default();
        match self {
            Self::Fixed => Box::new(Fixed::new(bounds)),
            Self::Multiplicative => Box::new(Multiplicative::new(bounds)),
            Self::Optimal => Box::new(Optimal::new(bounds, Optimal::EXPLORE)),
        }
    }
}

pub(super) fn run(args: &SimulateArgs) -> Result<ExitCode, CommandFailure> {
    let trace = Trace::read(&args.trace)?;
    let figures = replay(&trace.events, &trace.pages, &mut *args.policy.policy(), args.budget);
    if let Some(file) = &args.chart {
        let drawn = std::fs::write(file, chart::curve(&figures.curve));
        drawn.map_err(|error| unusable(file, "cannot be written", &error))?;
    }
    if args.json {
        outcome::document(&json!({
            "freshness": figures.freshness, "age_days": figures.age_days, "visits": figures.visits,
            "wasted": figures.wasted, "missed": figures.missed,
        }))?;
    } else {
        outcome::print(&lines(&figures))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(figures: &Figures) -> String {
    let or_none = |figure: Option<f64>, digits| figure.map_or("-".to_owned(), |figure| format!("{figure:.digits$}"));
    format!(
        "in the second half of the trace\n\
         freshness  {}\nage        {} days\nvisits     {}, {} of them wasted\nmissed     {} changes and deletions\n",
        or_none(figures.freshness, 4),
        or_none(figures.age_days, 2),
        figures.visits,
        figures.wasted,
        figures.missed,
    )
}

fn unusable(file: &Path, why: &str, error: &dyn std::fmt::Display) -> CommandFailure {
    CommandFailure::Usage(format!("{}: {why}: {error}", file.display()))
}

/// Pages by their number, and what happened to them, in ascending order of time.
#[derive(Debug, Default)]
struct Trace {
    events: Vec<TraceEvent>,
    pages: Vec<SectionPath>,
    numbers: HashMap<Box<str>, u32>,
    broken: u64,
}

/// A line of a trace; what else it holds is not needed.
#[derive(Debug, Deserialize)]
struct Line {
    t: u32,
    path: String,
    event: Kind,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    New,
    Changed,
    Deleted,
}

impl Trace {
    fn read(file: &Path) -> Result<Self, CommandFailure> {
        let mut trace = Self::default();
        trace.take_in(open(file).map_err(|error| unusable(file, "cannot be opened", &error))?, file)?;
        if trace.broken > NAMED {
            outcome::tell(&format!("{}: {} broken lines in all", file.display(), trace.broken));
        }
        if trace.events.is_empty() {
            return Err(CommandFailure::Usage(format!("{}: has no events", file.display())));
        }
        trace.events.sort_by_key(|event| event.at);
        Ok(trace)
    }

    fn take_in(&mut self, mut lines: impl BufRead, file: &Path) -> Result<(), CommandFailure> {
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            let read = lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
            if read.map_err(|error| unusable(file, "cannot be read", &error))? == 0 {
                return Ok(());
            }
            match serde_json::from_slice(&line) {
                _ if line.trim_ascii().is_empty() => {}
                Ok(line) => self.add(line),
                Err(error) => self.name(file, number, &error),
            }
        }
        Ok(())
    }

    fn name(&mut self, file: &Path, number: u64, error: &serde_json::Error) {
        self.broken += 1;
        if self.broken <= NAMED {
            outcome::tell(&format!("{}:{number}: skipped: {}", file.display(), escape::text(&error.to_string())));
        }
    }

    fn add(&mut self, line: Line) {
        let Self { pages, numbers, .. } = self;
        let number = *numbers.entry(line.path.into_boxed_str()).or_insert_with_key(|path| {
            pages.push(SectionPath::of(path));
            u32::try_from(pages.len() - 1).unwrap_or(u32::MAX)
        });
        let change = match line.event {
            Kind::New => TraceChange::New,
            Kind::Changed => TraceChange::Changed,
            Kind::Deleted => TraceChange::Deleted,
        };
        self.events.push(TraceEvent { at: Moment::from_millis(u64::from(line.t) * 1000), page: number, change });
    }
}

fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    let opened = File::open(file)?;
    if file.extension().is_none_or(|end| end != "zst") {
        return Ok(Box::new(BufReader::new(opened)));
    }
    let mut decoder = zstd::Decoder::new(opened)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(Box::new(BufReader::new(decoder)))
}
