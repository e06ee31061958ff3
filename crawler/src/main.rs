//! The `webloom` program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    webloom::cli::start()
}
