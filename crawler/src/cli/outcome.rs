//! What a command leaves behind: text on stdout and an exit code.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use serde_json::Value;

use super::Failure;
use crate::{
    engine::End,
    observe::{escape, progress},
};

/// Prints lines to stdout. A reader that has gone away (`| head`) is no failure.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(escape::lines(text).as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::System { what: "cannot write to stdout", source: error })
        }
        _ => Ok(()),
    }
}

/// Prints one JSON document to stdout.
pub(super) fn document(document: &Value) -> Result<(), Failure> {
    print(&format!("{}\n", escape::json(document)))
}

/// Says something on stderr.
pub(super) fn tell(text: &str) {
    progress::say(&escape::lines(text));
}

/// The exit code of a run.
pub(super) fn exit_code(end: End) -> ExitCode {
    match end {
        End::Drained | End::Aged { .. } | End::Budget => ExitCode::SUCCESS,
        End::Failed => ExitCode::FAILURE,
        End::Unreachable => ExitCode::from(4),
        End::Loss | End::Restart => ExitCode::from(3),
        End::Signal(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
    }
}
