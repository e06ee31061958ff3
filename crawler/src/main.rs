//! The `webloom` program: arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use webloom::cli::{self, Cli};

fn main() -> ExitCode {
    match cli::run(Cli::parse()) {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure}");
            failure.exit_code()
        }
    }
}
