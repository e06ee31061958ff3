//! Logs: lines on stderr, as text or JSON.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use super::progress;
use crate::config::{LogFormat, LogSettings};

/// Starts logging as set; a second call changes nothing.
pub fn start(settings: &LogSettings) {
    let filter = EnvFilter::new(&settings.level);
    let registry = tracing_subscriber::registry().with(filter);
    let started = match settings.format {
        LogFormat::Text => {
            let lines =
                fmt::layer().with_target(false).with_ansi(io::stderr().is_terminal()).with_writer(progress::lines);
            registry.with(lines).try_init()
        }
        LogFormat::Json => registry.with(fmt::layer().json().with_writer(progress::lines)).try_init(),
    };
    // A process logs once; tests that run two crawls in one keep the first set-up.
    drop(started);
}
