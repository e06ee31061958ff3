//! What a command leaves behind: text on stdout and an exit code.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use super::{CommandFailure, flags::ColorChoice, summary::SummaryText};
use crate::{
    engine::RunEnd,
    observe::{
        escape,
        fold::{self, WIDTH},
        progress,
    },
};

/// Prints lines to stdout.
pub(super) fn print(text: &str) -> Result<(), CommandFailure> {
    print_bytes(escape::lines(text).as_bytes())
}

/// Prints what holds nothing of the network to stdout, as it is. A reader that has gone away (`| head`) is no failure.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<(), CommandFailure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CommandFailure::System { what: "cannot write to stdout", source: error })
        }
        _ => Ok(()),
    }
}

/// Prints one JSON document to stdout.
pub(super) fn document(document: &Value) -> Result<(), CommandFailure> {
    print(&format!("{}\n", escape::json(document)))
}

/// Says something on stderr.
pub(super) fn tell(text: &str) {
    progress::say(&escape::lines(text));
}

/// The exit code of a run.
pub(super) fn exit_code(end: RunEnd) -> ExitCode {
    ExitCode::from(code(end))
}

/// The same as a number.
pub(super) fn code(end: RunEnd) -> u8 {
    match end {
        RunEnd::Drained | RunEnd::Aged { .. } | RunEnd::Budget => 0,
        RunEnd::Failed => 1,
        RunEnd::Unreachable => 4,
        RunEnd::Loss | RunEnd::Restart => 3,
        RunEnd::Signal(signal) => signal_code(signal),
    }
}

/// The exit code of what a signal stopped.
pub(super) fn signal_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// How a crawl says something: one of several begins each line with its name, and has it in each document.
#[derive(Debug, Clone, Default)]
pub(super) struct Voice {
    job: Option<Arc<str>>,
}

impl Voice {
    /// That of a job.
    pub(super) fn of_job(name: &str) -> Self {
        Self { job: Some(name.into()) }
    }

    /// Prints lines to stdout.
    pub(super) fn print(&self, text: &str) -> Result<(), CommandFailure> {
        print(&self.marked(text))
    }

    /// Prints a summary, whose first words have its colour.
    pub(super) fn print_summary(&self, summary: &SummaryText, color: ColorChoice) -> Result<(), CommandFailure> {
        let width = WIDTH.saturating_sub(self.marked(" ").width() - 1);
        let marked = self.marked(&fold::lines(&escape::lines(&summary.text), width));
        let shown = escape::lines(&marked);
        let painted = shown.split_once(':').filter(|_| color.color().on(&io::stdout()));
        let text =
            painted.map_or_else(|| shown.to_string(), |(first, rest)| format!("{}:{rest}", summary.tone.paint(first)));
        print_bytes(text.as_bytes())
    }

    /// Prints one JSON document to stdout.
    pub(super) fn document(&self, mut document: Value) -> Result<(), CommandFailure> {
        if let Some(job) = &self.job {
            document["job"] = Value::from(&**job);
        }
        self::document(&document)
    }

    /// Says something on stderr.
    pub(super) fn tell(&self, text: &str) {
        tell(&self.marked(text));
    }

    fn marked(&self, text: &str) -> String {
        let Some(job) = &self.job else { return text.to_owned() };
        text.split_inclusive('\n').flat_map(|line| ["[", job, "] ", line]).collect()
    }
}
