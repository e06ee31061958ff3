//! Progress: one line that renews itself on a terminal, a plain line now and then elsewhere.

use std::{
    io::{self, IsTerminal, Write},
    sync::OnceLock,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::{sync::watch, task::JoinHandle};

use super::{escape, process};
use crate::engine::Progress;

/// Time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As stderr allows: a line that renews itself, or plain lines.
    Auto,
    /// Not at all.
    Hidden,
}

/// The line on the terminal, which log lines must not run into.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Shows the figures as they are published, until the task is aborted.
pub fn show(mut figures: watch::Receiver<Progress>, style: Style) -> JoinHandle<()> {
    tokio::spawn(async move {
        if style == Style::Hidden {
            return;
        }
        let bar = io::stderr().is_terminal().then(|| BAR.get_or_init(bar));
        let started = Instant::now();
        let (first, mut lined) = (figures.borrow().pages, started);
        while figures.changed().await.is_ok() {
            let now = *figures.borrow_and_update();
            let text = line(&now, now.pages.saturating_sub(first), started.elapsed());
            if let Some(bar) = bar {
                bar.set_message(text);
                bar.tick();
            } else if lined.elapsed() >= LINE_EVERY {
                lined = Instant::now();
                say(&text);
            }
        }
    })
}

/// Writes a line to stderr. Where that cannot be written to, nobody reads it, and that is no reason to stop.
pub fn say(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Takes the line off the terminal.
pub fn clear() {
    if let Some(bar) = BAR.get() {
        bar.finish_and_clear();
    }
}

/// A writer for whole log lines on stderr.
pub fn lines() -> impl Write {
    LogLine
}

/// The same for lines of JSON.
pub fn json_lines() -> impl Write {
    JsonLine
}

struct LogLine;

struct JsonLine;

impl Write for JsonLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let shown = String::from_utf8_lossy(line);
        LogLine.write_all(escape::written_json(&shown).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        LogLine.flush()
    }
}

impl Write for LogLine {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match BAR.get() {
            Some(bar) => bar.suspend(|| io::stderr().lock().write_all(line))?,
            None => io::stderr().lock().write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}

fn line(now: &Progress, pages: u64, elapsed: Duration) -> String {
    let rate = pages as f64 / elapsed.as_secs_f64().max(0.001);
    let left = (now.queued * elapsed.as_secs()).checked_div(pages).map_or_else(|| "?".to_owned(), spell);
    let memory = process::memory().unwrap_or(0) / 1_000_000;
    format!(
        "{} pages, {rate:.1}/s, {} queued, {} in flight, {} errors, {memory} MB, expected lost {:.1e}, {left} left",
        now.pages, now.queued, now.in_flight, now.errors, now.expected_lost
    )
}

fn spell(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_every_figure() {
        let now = Progress { pages: 30, queued: 200, in_flight: 4, errors: 1, ..Progress::default() };
        let text = line(&now, 20, Duration::from_secs(10));
        for part in ["30 pages", "2.0/s", "200 queued", "4 in flight", "1 errors", "1 min 40 s left"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
