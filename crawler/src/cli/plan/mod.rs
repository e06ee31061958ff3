//! `webloom plan`: what a crawl of a site would take, from its robots.txt, its sitemaps and its start page.
//!
//! Owns: what is asked for: the start and the sitemaps, for a minute at most, in a crawl directory that is gone afterwards.
//!
//! Does not know: what follows from it ([`forecast`] does), and how that is shown ([`shown`] does).

mod first_look;
mod forecast;
mod shown;

use std::{process::ExitCode, sync::Arc, time::Duration};

use clap::Args;

use super::{
    CommandFailure, access, directory,
    flags::{CrawlFlags, OutputFlags},
    no_start, outcome,
    session::{self, ProgramSession},
    starts, summary,
};
use crate::{
    config::{RawSettings, RawValue, print_duration},
    engine::RunEnd,
};
use first_look::FirstLook;
use forecast::Forecast;

/// How long sitemaps are read for, where no --max-time says so.
const LONGEST: Duration = Duration::from_mins(1);

/// Hosts that are named at most.
const NAMED: usize = 5;

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// Start URL
    #[arg(value_name = "START")]
    start: String,
    #[command(flatten)]
    flags: CrawlFlags,
    #[command(flatten)]
    output: OutputFlags,
}

impl PlanArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.output.quiet
    }
}

pub(super) fn run(args: PlanArgs) -> Result<ExitCode, CommandFailure> {
    let start = starts::read_one(&args.start)?;
    let folder = tempfile::tempdir().map_err(CommandFailure::system("cannot make a temporary folder"))?;
    let dir = folder.path().join("crawl");
    let layers = session::layers(&args.flags).flags(&args.output.overlay());
    let settings = layers.resolve()?.settings;
    let auth = access::auth(args.flags.auth())?;
    let json = args.output.json;
    let looking = layers.flags(&looking(settings.budget.max_time.unwrap_or(LONGEST)));
    let session = ProgramSession::of(dir.clone(), looking, args.output);
    let logged_in = auth.is_some();
    let ended = ProgramSession { starts: Arc::new(vec![start]), auth, ..session }.ended()?;
    let code = outcome::exit_code(ended.end);
    if matches!(ended.end, RunEnd::Signal(_)) {
        return Ok(code);
    }
    let look = FirstLook::of(&dir)?;
    if ended.end == RunEnd::Unreachable {
        let hosts = summary::silent_hosts(&directory::summary(&dir)?, NAMED);
        let grade = if look.is_some() { "note" } else { "error" };
        outcome::tell(&format!("{grade}: these hosts do not answer: {hosts}"));
    }
    let Some(look) = look else {
        if ended.end == RunEnd::Unreachable {
            return Ok(code);
        }
        let why = no_start::why(&dir, logged_in)?.why;
        outcome::tell(&format!("error: the start URL could not be fetched: {why}"));
        return Ok(ExitCode::FAILURE);
    };
    let forecast = Forecast::of(&look, &settings);
    if json {
        outcome::document(&shown::document(&look, &forecast))?;
    } else {
        outcome::print(&shown::lines(&look, &forecast))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is set for the look: nothing is asked for but starts and sitemaps, and nothing is written elsewhere.
fn looking(longest: Duration) -> RawSettings {
    let mut raw = RawSettings::default();
    let [off, unlimited] = ["off", "unlimited"].map(|word| move || Some(RawValue::text(word)));
    // A sitemap has no limit of depth by a section.
    raw.scope.sections = Some(RawValue::List(vec![". => max_depth=0".to_owned()]));
    raw.budget.max_time = Some(RawValue::text(print_duration(longest)));
    raw.budget.max_depth = unlimited();
    raw.budget.max_pages = unlimited();
    raw.budget.max_pages_per_host = unlimited();
    raw.budget.max_bytes = unlimited();
    raw.check.external = off();
    raw.check.assets = off();
    raw.check.anchors = off();
    raw.change.text = off();
    raw.extract.fields = Some(RawValue::List(Vec::new()));
    raw.extract.structured = Some(RawValue::List(Vec::new()));
    raw.extract.items = Some(RawValue::text("none"));
    raw
}
