//! Logs: lines on stderr, as text or JSON.

use std::io;

use tracing::{Subscriber, field::Field};
use tracing_subscriber::{
    EnvFilter, Layer,
    fmt::{
        self, MakeWriter,
        format::{self, Writer},
    },
    prelude::*,
    registry::LookupSpan,
};

use super::{escape, progress, terminal::Color};
use crate::config::{LogFormat, LogSettings};

/// Starts logging as set; a second call changes nothing.
pub fn start(settings: &LogSettings, color: Color) {
    let filter = EnvFilter::new(&settings.level);
    let registry = tracing_subscriber::registry().with(filter);
    let started = match settings.format {
        LogFormat::Text => registry.with(text(progress::lines, color.on(&io::stderr()))).try_init(),
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(progress::json_lines)).try_init(),
    };
    // A process logs once; tests that run two crawls in one keep the first set-up.
    drop(started);
}

/// Lines for people.
fn text<S>(writer: impl for<'w> MakeWriter<'w> + 'static, color: bool) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let fields = format::debug_fn(field).delimited(" ");
    let lines = fmt::layer().with_target(false).with_ansi(color);
    lines.fmt_fields(fields).with_writer(writer)
}

/// As by default, but nothing in a value reaches the terminal that could steer it.
fn field(out: &mut Writer<'_>, field: &Field, value: &dyn std::fmt::Debug) -> std::fmt::Result {
    let value = format!("{value:?}");
    let value = escape::text(&value);
    match field.name() {
        "message" => write!(out, "{value}"),
        name => write!(out, "{name}={value}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend(line);
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_steers_no_terminal() {
        let kept = Kept::default();
        let writer = kept.clone();
        let logger = tracing_subscriber::registry().with(text(move || writer.clone(), false));
        tracing::subscriber::with_default(logger, || {
            tracing::warn!(url = %"http://h/\u{1b}[2J\u{202e}", reason = "\u{9b}2J\n", times = 3, "seen\u{1b}]0;\u{7}");
        });
        let line = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert!(line.ends_with('\n') && line.lines().count() == 1, "{line:?}");
        assert!(line.contains(r"url=http://h/\u{1b}[2J\u{202e} ") && line.contains(" times=3"), "{line:?}");
        assert!(line.contains(r"seen\u{1b}]0;\u{7} "), "{line:?}");
    }
}
