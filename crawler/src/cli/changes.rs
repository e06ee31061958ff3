//! `webloom changes`.

use std::{path::PathBuf, process::ExitCode, str::FromStr};

use clap::Args;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use regex::Regex;

use super::{
    CommandFailure, directory,
    listing::{self, FormatArg, Listing, one_of},
    outcome,
};
use crate::{
    changes::{Change, unified},
    config::Layers,
    observe::{alike::AlikeChanges, figures::counted},
    report::{Column, Format, Value},
    store::{ChangeLine, LinkChange, PendingChange, ReadSide, Since, StoreError},
    text::Text,
};

/// Lines around an edit that are shown with it.
const CONTEXT: usize = 3;

/// Arguments of `changes`.
#[derive(Debug, Args)]
pub(super) struct ChangesArgs {
    /// Crawl directory
    dir: PathBuf,
    #[command(flatten)]
    format: FormatArg,
    /// Only changes since this sequence, day or time
    ///
    /// The number of a crawl sequence, which is included, `last` for the last one, a day such as 2026-03-01 (UTC), or a time such as
    /// 2026-03-01T00:00:00Z.
    #[arg(long, value_name = "N|last|TIME", value_parser = since)]
    since: Option<Asked>,
    /// Only changes of this kind
    #[arg(long, value_parser = one_of(Change::ALL, Change::as_str))]
    change: Option<Change>,
    /// Only URLs that match this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<Regex>,
    /// Show how the text of each page has changed
    ///
    /// Webloom shows a diff if it has kept both texts.
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    instead: ListedInstead,
}

/// What is listed instead of changes.
#[derive(Debug, Args)]
struct ListedInstead {
    /// List what waits for a second look instead
    ///
    /// Each line has the time when the second look is due. A change is listed as such after it.
    #[arg(long, conflicts_with_all = ["since", "change", "diff", "masks", "masked"])]
    pending: bool,
    /// List what moves by itself instead
    ///
    /// These are clocks, counters, adverts and the like. Each line has the place, on how many pages it was found, since which sequence,
    /// and an example.
    #[arg(long, conflicts_with_all = ["since", "change", "diff", "masked"])]
    masks: bool,
    /// List what was not reported instead
    ///
    /// These are changes of what moves by itself. Webloom shows those between the texts that it has kept.
    #[arg(long, conflicts_with_all = ["since", "change", "diff"])]
    masked: bool,
}

const COLUMNS: [Column; 9] = [
    Column::plain("at"),
    Column::plain("sequence"),
    Column::plain("change"),
    Column::url("url"),
    Column::url("to"),
    Column::plain("count"),
    Column::plain("before"),
    Column::plain("after"),
    Column::below(DIFF),
];

/// What is shown where it is asked for.
const DIFF: &str = "diff";

const PENDING: [Column; 4] = [Column::plain("since"), Column::plain("due"), Column::plain("doubt"), Column::url("url")];

const MASKS: [Column; 7] = [
    Column::plain("where"),
    Column::plain("kind"),
    Column::plain("pages"),
    Column::plain("since"),
    Column::plain("hid"),
    Column::plain("example"),
    Column::plain("then"),
];

const MASKED: [Column; 4] = [Column::plain("at"), Column::url("url"), Column::plain("before"), Column::plain("after")];

/// What a table has on a terminal.
const SHORT: [&str; 6] = ["at", "change", "count", "url", "to", DIFF];

pub(super) fn run(args: &ChangesArgs) -> Result<ExitCode, CommandFailure> {
    let records = directory::records(&args.dir)?;
    let last = records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: args.dir.clone() })?;
    if args.instead.masks {
        return args.list_masks(&records);
    }
    if args.instead.masked {
        return args.list_masked(&records);
    }
    if args.instead.pending {
        return args.list_pending(&records);
    }
    let since = args.since(last)?;
    let shown = args.format.shown(&COLUMNS, &SHORT).into_iter().filter(|name| args.diff || *name != DIFF);
    let mut listing = Listing::begin(&COLUMNS, &shown.collect::<Vec<_>>(), &args.format);
    let (mut found, mut texts) = (0, 0);
    let mut alike = AlikeChanges::default();
    // A program that reads rows asks for each change.
    if args.format.format == Format::Table {
        records.changes(since, false, |line| {
            if args.wants(&line) {
                alike.count(&line);
            }
            true
        })?;
    }
    records.changes(since, args.diff, |line| {
        if !args.wants(&line) {
            return true;
        }
        found += 1;
        texts += u64::from(line.texts.is_some());
        alike.line(line).is_none_or(|line| listing.add(&row(&line)))
    })?;
    listing.end()?;
    if alike.without_line > 0 {
        let changes = counted(alike.without_line, "change is", "changes are");
        outcome::tell(&format!("{changes} nearly like another one, and in its count: --format csv lists each"));
    }
    match found {
        0 if last == 0 => {
            outcome::tell("there is one sequence so far: `webloom crawl --again` makes another to compare with");
        }
        0 => outcome::tell("no change matches"),
        _ if args.diff && texts == 0 => {
            outcome::tell("no texts of these pages are kept: `watch` keeps them, and `crawl --text on`");
        }
        _ => {}
    }
    args.tell_of_pending(&records)?;
    Ok(ExitCode::SUCCESS)
}

impl ChangesArgs {
    /// From where on changes are listed, where `last` is the last sequence.
    fn since(&self, last: u32) -> Result<Since, CommandFailure> {
        match self.since {
            None => Ok(Since::Ever),
            Some(Asked::Last) => Ok(Since::Sequence(last)),
            // The next one is what is waited for.
            Some(Asked::Since(Since::Sequence(asked))) if asked > last + 1 => {
                let there = listing::sequences(last);
                Err(CommandFailure::Usage(format!("--since {asked}: {} has {there}", self.dir.display())))
            }
            Some(Asked::Since(since)) => Ok(since),
        }
    }

    fn list_pending(&self, records: &impl ReadSide) -> Result<ExitCode, CommandFailure> {
        let mut listing = Listing::begin(&PENDING, &PENDING.map(|column| column.name), &self.format);
        let mut none = true;
        each_pending(records, |page| {
            if self.matching.as_ref().is_some_and(|pattern| !pattern.is_match(&page.url)) {
                return true;
            }
            none = false;
            let [since, due] = [page.since, page.due].map(listing::time);
            listing.add(&[since.into(), due.into(), page.doubt.as_str().into(), page.url.as_str().into()])
        })?;
        if none {
            outcome::tell("no change waits for a second look");
        }
        listing.end()
    }

    fn list_masks(&self, records: &impl ReadSide) -> Result<ExitCode, CommandFailure> {
        let mut listing = Listing::begin(&MASKS, &MASKS.map(|column| column.name), &self.format);
        let mut none = true;
        records.masks(|line| {
            if self.matching.as_ref().is_some_and(|pattern| !pattern.is_match(&line.address)) {
                return true;
            }
            none = false;
            let place = line.mask.place();
            let place = if place.is_empty() { line.address } else { format!("{} {place}", line.address) };
            let [example, then] = &line.mask.example;
            listing.add(&[
                place.as_str().into(),
                line.mask.kind().as_str().into(),
                (line.mask.pages as u64).into(),
                line.mask.since.into(),
                line.mask.hid.into(),
                example.as_str().into(),
                then.as_str().into(),
            ])
        })?;
        if none {
            outcome::tell("nothing is known to move by itself");
        }
        listing.end()
    }

    fn list_masked(&self, records: &impl ReadSide) -> Result<ExitCode, CommandFailure> {
        let stored = records.settings()?.unwrap_or_default();
        let ignore = Layers::new().stored(&stored).resolve()?.settings.change.ignored();
        let mut listing = Listing::begin(&MASKED, &MASKED.map(|column| column.name), &self.format);
        let mut none = true;
        records.masked(&ignore, |line| {
            if self.matching.as_ref().is_some_and(|pattern| !pattern.is_match(&line.url)) {
                return true;
            }
            none = false;
            let at = listing::time(line.at.millis());
            listing.add(&[at.into(), line.url.as_str().into(), line.before.as_str().into(), line.after.as_str().into()])
        })?;
        if none {
            outcome::tell("nothing was left out: in the texts that are kept, nothing moves by itself");
        }
        listing.end()
    }

    /// A change that is not reported yet is still a change.
    fn tell_of_pending(&self, records: &impl ReadSide) -> Result<(), CommandFailure> {
        let mut pending = 0;
        each_pending(records, |page| {
            pending += u64::from(self.matching.as_ref().is_none_or(|pattern| pattern.is_match(&page.url)));
            true
        })?;
        if pending > 0 {
            let changes = counted(pending, "change waits", "changes wait");
            outcome::tell(&format!("{changes} for a second look and will be listed after it: --pending shows when"));
        }
        Ok(())
    }

    fn wants(&self, line: &ChangeLine) -> bool {
        self.change.is_none_or(|change| change == line.change)
            && self.matching.as_ref().is_none_or(|pattern| pattern.is_match(&line.url))
    }
}

/// Shows what waits for a second look, as the settings of the crawl have it.
fn each_pending(records: &impl ReadSide, each: impl FnMut(PendingChange) -> bool) -> Result<(), CommandFailure> {
    let stored = records.settings()?.unwrap_or_default();
    let change = Layers::new().stored(&stored).resolve()?.settings.change;
    Ok(records.pending_changes(change.confirm, change.gone_after, each)?)
}

/// From where on changes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The last sequence.
    Last,
    Since(Since),
}

/// A sequence, a day, or a time.
fn since(text: &str) -> Result<Asked, String> {
    if text == "last" {
        return Ok(Asked::Last);
    }
    if let Ok(sequence) = u32::from_str(text) {
        return Ok(Asked::Since(Since::Sequence(sequence)));
    }
    let day = || Date::from_str(text).ok()?.to_zoned(TimeZone::UTC).ok().map(|midnight| midnight.timestamp());
    let time = Timestamp::from_str(text)
        .ok()
        .or_else(day)
        .ok_or("give the number of a sequence, `last`, a day (2024-05-01, UTC), or a time (2024-05-01T12:00:00Z)")?;
    Ok(Asked::Since(Since::Moment(time.into())))
}

/// How the text of a page changed, and which of its links lead elsewhere.
fn difference(line: &ChangeLine) -> Option<String> {
    let texts = line.texts.as_ref().map(|(before, after)| {
        let [before, after] = [before, after].map(|text| Text::from_stored(text));
        unified(&before, &after, CONTEXT)
    });
    if texts.is_none() && line.links.is_empty() {
        return None;
    }
    let mut shown = texts.unwrap_or_default();
    if !(shown.is_empty() || shown.ends_with('\n') || line.links.is_empty()) {
        shown.push('\n');
    }
    for LinkChange { text, before, after } in &line.links {
        shown += &format!("-[{text}]({before})\n+[{text}]({after})\n");
    }
    Some(shown)
}

fn row(line: &ChangeLine) -> [Value<'_>; COLUMNS.len()] {
    let [before, after] = [line.before, line.after].map(|digest| digest.as_ref().map(listing::digest).into());
    let diff = difference(line);
    [
        listing::time(line.at).into(),
        line.sequence.into(),
        line.change.as_str().into(),
        line.url.as_str().into(),
        line.to.as_deref().into(),
        line.count.into(),
        before,
        after,
        diff.into(),
    ]
}
