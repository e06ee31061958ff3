//! Progress: one line that renews itself on a terminal, a plain line now and then elsewhere.

use std::{
    io::{self, Write},
    sync::OnceLock,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::{sync::watch, task::JoinHandle};
use unicode_width::UnicodeWidthStr;

use super::{
    aligned::without_end,
    escape,
    figures::{count, counted, expected, size, whole_time},
    pace::Pace,
    process, terminal,
};
use crate::engine::{Progress, StopSignal};

/// Time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Between two parts of a line on a terminal.
const GAP: &str = "  ";

/// A terminal of fewer columns has a shorter bar.
const NARROW: usize = 60;

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

/// A view of progress, until it is dropped.
#[derive(Debug)]
pub struct ProgressView(JoinHandle<()>);

impl Drop for ProgressView {
    fn drop(&mut self) {
        self.0.abort();
        clear();
    }
}

/// Shows the figures as they are published.
pub fn show(mut figures: watch::Receiver<Progress>, mut stop: StopSignal, style: Style) -> ProgressView {
    ProgressView(tokio::spawn(async move {
        if style == Style::Hidden {
            return;
        }
        let stderr = io::stderr();
        let bar = terminal::renews_lines(&stderr).then(|| BAR.get_or_init(bar));
        let (started, mut pace) = (Instant::now(), Pace::default());
        let (mut lined, mut stopping) = (started, false);
        loop {
            let asked = tokio::select! {
                changed = figures.changed() => if changed.is_ok() { false } else { break },
                _ = stop.asked(), if !stopping => true,
            };
            let now = figures.borrow_and_update().clone();
            pace.take(started.elapsed(), now.admitted.saturating_sub(now.queued + now.in_flight), now.admitted);
            stopping |= asked;
            let state = State { now: &now, pace: &pace, stopping };
            if let Some(bar) = bar {
                bar.set_message(state.fitted(terminal::width(&stderr).saturating_sub(1)));
            } else if asked || lined.elapsed() >= LINE_EVERY {
                lined = Instant::now();
                say(&state.whole());
            }
        }
    }))
}

/// Writes a line to stderr. Where that cannot be written to, nobody reads it, and that is no reason to stop.
pub fn say(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Takes the line off the terminal.
fn clear() {
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
    let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style)
}

/// The state of a run.
struct State<'a> {
    now: &'a Progress,
    pace: &'a Pace,
    stopping: bool,
}

impl State<'_> {
    /// A line no wider than this: what matters least is left out first.
    fn fitted(&self, width: usize) -> String {
        let mut parts = if self.stopping { vec![self.last_words()] } else { self.parts(width) };
        while parts.len() > 1 && parts.iter().map(|part| part.width() + GAP.len()).sum::<usize>() > width + GAP.len() {
            parts.pop();
        }
        without_end(&parts.join(GAP), width)
    }

    /// A line with all there is.
    fn whole(&self) -> String {
        if self.stopping { self.last_words() } else { self.parts(0).join(", ") }
    }

    /// What there is to say, what matters most first.
    fn parts(&self, width: usize) -> Vec<String> {
        let now = self.now;
        let left = self.pace.left();
        let mut parts = Vec::new();
        if left.is_some() && width > 0 {
            parts.push(self.bar(if width < NARROW { 10 } else { 20 }));
        }
        parts.push(counted(now.pages, "page", "pages"));
        parts.push(format!("{} queued", count(now.queued)));
        parts
            .push(left.map_or_else(|| "discovering".to_owned(), |left| format!("{} left", whole_time(left.as_secs()))));
        if let Some(host) = &now.unhealthy_host {
            let more = now.unhealthy_hosts.saturating_sub(1);
            let others =
                if more > 0 { format!(" and {}", counted(more, "other host", "other hosts")) } else { String::new() };
            parts.push(format!("no answer from {}{others}", escape::text(host)));
        }
        parts.extend(self.pace.rate().map(|rate| format!("{rate:.1} URLs/s")));
        if now.errors > 0 {
            parts.push(counted(now.errors, "error", "errors"));
        }
        if now.expected_lost >= 0.05 {
            parts.push(format!("{} lost URLs expected", expected(now.expected_lost)));
        }
        parts.push(format!("{} in flight", count(now.in_flight)));
        parts.extend(process::memory().map(size));
        parts
    }

    /// How much of what is known is done.
    fn bar(&self, columns: u64) -> String {
        let total = self.now.admitted.max(1);
        let done = total.saturating_sub(self.now.queued + self.now.in_flight);
        let full = done * columns / total;
        let bar: String = (0..columns).map(|column| if column < full { '#' } else { '-' }).collect();
        format!("[{bar}] {:>2} %", done * 100 / total)
    }

    fn last_words(&self) -> String {
        format!("finishing {}; Ctrl-C again to quit", counted(self.now.in_flight, "request", "requests"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Progress {
        Progress { pages: 4_310, admitted: 10_000, queued: 5_680, in_flight: 4, errors: 1, ..Progress::default() }
    }

    fn steady() -> Pace {
        let mut pace = Pace::default();
        pace.take(Duration::ZERO, 316, 10_000);
        pace.take(Duration::from_secs(5), 4_316, 10_000);
        pace
    }

    #[test]
    fn a_line_fits_and_leaves_out_what_matters_least() {
        let (now, pace) = (now(), steady());
        let state = State { now: &now, pace: &pace, stopping: false };
        assert_eq!(state.fitted(39), "[####------] 43 %  4,310 pages");
        assert_eq!(state.fitted(79), "[########------------] 43 %  4,310 pages  5,680 queued  7 s left  800.0 URLs/s");
        for width in 1..200 {
            assert!(state.fitted(width).width() <= width, "{width}");
        }
        for part in ["4,310 pages, ", "5,680 queued", "4 in flight", "1 error", "7 s left"] {
            assert!(state.whole().contains(part), "{}", state.whole());
        }
    }

    #[test]
    fn no_total_is_invented_and_hosts_that_do_not_answer_are_named() {
        let host = Some("http://docs.example.org\u{1b}".to_owned());
        let now = Progress { unhealthy_host: host, unhealthy_hosts: 3, ..now() };
        let state = State { now: &now, pace: &Pace::default(), stopping: false };
        let line = state.fitted(120);
        assert!(line.contains("discovering") && !line.contains('%'), "{line}");
        assert!(line.contains(r"no answer from http://docs.example.org\u{1b} and 2 other hosts"), "{line}");
        let stopping = State { stopping: true, ..state };
        assert_eq!(stopping.fitted(80), "finishing 4 requests; Ctrl-C again to quit");
    }
}
