//! `webloom completions`.

use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use super::{CommandFailure, outcome};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell that reads the completions
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs, mut program: Command) -> Result<ExitCode, CommandFailure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "webloom", &mut script);
    outcome::print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
