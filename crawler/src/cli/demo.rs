//! `webloom demo`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{
    Failure,
    among::Among,
    directory,
    flags::OutputFlags,
    outcome,
    session::{self, Round, Session, Shown},
    signals, starts, summary,
};
use crate::{
    clock::Clock,
    config::{Layers, RawSettings, RawValue},
    engine::End,
    practice::{PracticeServer, PracticeSite, Shape},
    store::{PageFilter, ReadSide},
};

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Crawl directory [default: a new one below the system's folder for temporary files]
    #[arg(short, long)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    output: OutputFlags,
}

impl DemoArgs {
    pub(super) fn is_quiet(&self) -> bool {
        self.output.quiet
    }
}

pub(super) fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    let dir = args.dir.clone().unwrap_or_else(default_dir);
    let runtime = session::runtime()?;
    let ended = runtime.block_on(async {
        let server = PracticeServer::start(PracticeSite::new(Shape::demo()));
        let server = server.await.map_err(Failure::system("cannot serve the practice site"))?;
        if !args.output.quiet {
            outcome::tell(&format!("a practice site is served at {} and crawled with delay 0", server.url()));
        }
        let mut own_site = RawSettings::default();
        own_site.politeness.delay = Some(RawValue::text("0"));
        own_site.politeness.per_host = Some(RawValue::text("8"));
        let session = Session {
            dir: dir.clone(),
            starts: starts::read(&[server.url()])?.into(),
            added: Vec::new(),
            round: Round::GoOn,
            layers: Layers::new().flags(&own_site).flags(&args.output.overlay()),
            output: args.output.clone(),
            shown: Shown::Last,
            told: false,
            watched: false,
            until: None,
            auth: None,
            lock: None,
            among: Among::default(),
        };
        let ended = Box::pin(session.crawl(Clock::start(), signals::stop_signal()?)).await;
        server.stop().await;
        ended
    })?;
    let summary = summary::read(&dir)?;
    if args.output.json {
        outcome::document(&summary::document(&summary))?;
    } else if !args.output.quiet {
        outcome::print_summary(
            &summary::lines(&summary, &summary::View { dir: &dir, ended: Some(ended.end), next: false }),
            args.output.color,
        )?;
        outcome::print(&tour(&dir)?)?;
    }
    Ok(if ended.end == End::Drained { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn default_dir() -> PathBuf {
    std::env::temp_dir().join(format!("webloom-demo-{}", std::process::id()))
}

/// A short tour of what a crawl leaves.
fn tour(dir: &std::path::Path) -> Result<String, Failure> {
    let records = directory::records(dir)?;
    let shown = dir.display();
    let mut text = format!("\n# some of its pages: webloom pages {shown}\n");
    let mut left = 5;
    records.pages(&PageFilter { content_type: Some("text/html".to_owned()), ..PageFilter::default() }, |line| {
        let title = line.title.unwrap_or_default();
        text += &format!("{} {} {title}\n", line.status.unwrap_or_default(), line.url.unwrap_or_default());
        left -= 1;
        left > 0
    })?;
    text += &format!("\n# what could not be fetched: webloom pages {shown} --outcome broken\n");
    records.pages(&PageFilter { outcome: Some("broken".to_owned()), ..PageFilter::default() }, |line| {
        text += &format!(
            "{} {} (linked from {})\n",
            line.status.unwrap_or_default(),
            line.url.unwrap_or_default(),
            line.via.unwrap_or_default()
        );
        true
    })?;
    let report = records.check()?;
    let verdict = if report.findings.is_empty() { "clean" } else { "not clean" };
    text += &format!(
        "\n# nothing is missing: webloom check {shown}\n{} URLs admitted, {} finished, {} abandoned: {verdict}\n",
        report.counts.admitted, report.counts.finished, report.counts.abandoned
    );
    text += &format!(
        "\n# your own questions\nsqlite3 {shown}/webloom.sqlite 'SELECT outcome, count(*) FROM visit GROUP BY 1'\n"
    );
    Ok(text)
}
