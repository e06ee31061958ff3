//! [`Program`]: runs sessions for commands, and shows their messages, progress and summaries.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use tokio::sync::watch;

use super::{
    CommandFailure,
    among::Among,
    flags::{CrawlFlags, OutputFlags},
    no_start, outcome, signals,
};
use crate::{
    clock::Clock,
    config::{Layers, Settings},
    engine::{Gated, Progress, RunEnd, StopSignal, WriterThread},
    monitor::Timed,
    observe::{
        logs, progress,
        summary::{self, SummaryView},
    },
    session::{self, Caller, SessionFetcher, access::Standard, directory, open_files},
};

pub(super) use session::{EndedSession, EndedVisits, Round};

/// A crawl about to be run by a command.
pub(super) type ProgramSession = session::Session<Program>;

/// How a command runs its sessions.
#[derive(Clone)]
pub(super) struct Program {
    pub(super) output: OutputFlags,
    pub(super) shown: Shown,
    /// Whether the summary ends with what to do next.
    pub(super) next: bool,
    /// Among which others it runs.
    pub(super) among: Among,
}

/// Of which sequences the summary is shown, where one has another follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Of the last: it is what a run came to.
    Last,
    /// Of each.
    Each,
}

/// The layers of settings that flags, the environment and files give.
pub(super) fn layers(flags: &CrawlFlags) -> Layers {
    let mut layers = Layers::new().variables(std::env::vars_os()).flags(&flags.overlay());
    if let Some(profile) = &flags.profile {
        layers = layers.profile(profile);
    }
    match &flags.config {
        Some(file) => layers.file(file),
        None => layers,
    }
}

/// A runtime for a crawl.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CommandFailure> {
    open_files::raise();
    // Visits are short: one thread for them and the core costs a fifth less CPU than two. Big pages and the writer
    // have threads of their own.
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(CommandFailure::system("cannot start the runtime"))
}

/// Whether the stored settings have items written to stdout: then nothing else is.
fn has_items_on_stdout(settings: &str) -> bool {
    Layers::new().stored(settings).resolve().is_ok_and(|resolved| resolved.settings.extract.writes_to_stdout())
}

/// Refuses items and a document for one stdout.
pub(super) fn refuse_mixed(output: &OutputFlags, layers: &Layers) -> Result<(), CommandFailure> {
    if output.json && layers.resolve()?.settings.extract.writes_to_stdout() {
        return Err(CommandFailure::Usage("--items - and --json both write to stdout: give --items a file".to_owned()));
    }
    Ok(())
}

impl ProgramSession {
    /// One that goes on with the crawl of a directory.
    pub(super) fn of(dir: PathBuf, layers: Layers, output: OutputFlags) -> Self {
        Self {
            dir,
            starts: Arc::default(),
            added: Vec::new(),
            round: Round::GoOn,
            retry: None,
            layers,
            announced: false,
            until: None,
            auth: None,
            lock: None,
            watched: false,
            caller: Program { output, shown: Shown::Last, next: true, among: Among::default() },
        }
    }

    /// Runs the crawl and shows its summary.
    pub(super) fn run(self) -> Result<ExitCode, CommandFailure> {
        let ended = self.clone().ended()?;
        self.show_summary(&ended)?;
        Ok(outcome::exit_code(ended.end))
    }

    /// Runs the crawl.
    pub(super) fn ended(self) -> Result<EndedSession<SessionFetcher<Program>>, CommandFailure> {
        let all = async {
            // One for all of them: the time of a run is counted from its start, and no signal is lost between two.
            let (clock, stop) = (Clock::start(), signals::stop_signal()?);
            self.sequences(clock, stop).await
        };
        runtime()?.block_on(all)
    }

    /// Shows the summary of the last sequence, which ended so.
    pub(super) fn show_summary<F>(&self, ended: &EndedSession<F>) -> Result<(), CommandFailure> {
        self.caller.show_summary(&ended.lock.directory()?, ended.end, self.auth.is_some())
    }
}

impl Program {
    fn show_summary(&self, dir: &Path, end: RunEnd, logged_in: bool) -> Result<(), CommandFailure> {
        let summary = directory::summary(dir)?;
        let no_start = (end == RunEnd::Failed).then(|| no_start::why(dir, logged_in)).transpose()?;
        if self.output.json {
            self.among.voice.document(summary::document(&summary))?;
        } else if !self.output.quiet {
            let missing = no_start.as_ref().and_then(|found| found.flag);
            let view = SummaryView { dir, ended: Some(end), next: self.next, missing };
            let lines = summary::lines(&summary, &view);
            if summary.settings.as_deref().is_some_and(has_items_on_stdout) {
                self.among.voice.tell(lines.text.trim_end());
            } else {
                self.among.voice.print_summary(&lines, self.output.color)?;
            }
        }
        if let Some(no_start) = no_start {
            self.complain(&format!("no start URL could be fetched: {}", no_start.why));
        }
        // The summary for people says it in its first line.
        if end == RunEnd::Unreachable && (self.output.quiet || self.output.json) {
            let hosts = summary::silent_hosts(&summary, 5);
            self.complain(&format!("only hosts that do not answer are left: {hosts}; the next start asks them again"));
        }
        Ok(())
    }
}

impl Caller for Program {
    type Fetcher = Gated<Timed<Standard>>;
    type View = progress::ProgressView;
    type Writer = WriterThread;

    fn crawls(&self) -> u64 {
        self.among.crawls()
    }

    fn may_block(&self) -> bool {
        !self.among.is_one_of_many()
    }

    fn begins(&self, settings: &Settings) {
        logs::start(&settings.log, self.output.color.color());
    }

    fn fetcher(
        &self,
        standard: impl FnOnce() -> Result<Standard, CommandFailure>,
        settings: &Settings,
        stop: &StopSignal,
    ) -> Result<Self::Fetcher, CommandFailure> {
        let fetcher = Timed::new(standard()?, self.among.seat.timings());
        Ok(Gated::new(fetcher, self.among.pass(settings, stop)?))
    }

    fn writer(&self) -> WriterThread {
        WriterThread
    }

    fn random(&self) -> Result<u64, CommandFailure> {
        session::random()
    }

    fn note(&self, text: &str) {
        if !self.output.quiet {
            self.tell(text);
        }
    }

    fn tell(&self, text: &str) {
        self.among.voice.tell(text);
    }

    fn complain(&self, text: &str) {
        self.tell(&format!("error: {text}"));
    }

    fn show(&self, figures: watch::Receiver<Progress>, stop: StopSignal) -> Self::View {
        self.among.seat.follow(figures.clone());
        progress::show(figures, stop, self.among.progress(self.output.progress_style()))
    }

    fn has_ended(&self, dir: &Path, end: RunEnd) -> Result<(), CommandFailure> {
        match self.shown {
            Shown::Last => Ok(()),
            // One that failed has no other follow.
            Shown::Each => self.show_summary(dir, end, false),
        }
    }
}
