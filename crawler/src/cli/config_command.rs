//! `webloom config`.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{CommandFailure, flags::CrawlFlags, outcome, session};
use crate::{config::DEFAULT_TOML, observe::escape};

/// The commands under `config`.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print all settings, with defaults and explanations
    ///
    /// The output is a settings file to begin with.
    Default,
    /// Print the settings in effect, and where each value comes from
    Show(Box<ShowArgs>),
}

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    flags: CrawlFlags,
}

pub(super) fn run(command: ConfigCommand) -> Result<ExitCode, CommandFailure> {
    match command {
        ConfigCommand::Default => outcome::print(DEFAULT_TOML)?,
        ConfigCommand::Show(args) => {
            for key in session::layers(&args.flags).describe()? {
                outcome::print(&format!(
                    "{} = {}  # {}\n",
                    key.key,
                    escape::text(&key.value),
                    escape::text(&key.origin)
                ))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
