//! `webloom serve` and `webloom mcp`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;

use super::{CommandFailure, outcome, session};
use crate::serve;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Where to listen
    ///
    /// Off this machine, it takes a secret of your choice in the variable `WEBLOOM_LISTEN_TOKEN`.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: String,
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Crawl directory
    dir: PathBuf,
    /// Speak over HTTP, and listen there
    ///
    /// At the path /mcp; everything that `serve` shows is there too. Off this machine, it takes a secret of your choice in the variable
    /// `WEBLOOM_LISTEN_TOKEN`.
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
}

pub(super) fn run(args: &ServeArgs) -> Result<ExitCode, CommandFailure> {
    listen(&args.dir, &args.listen, "")
}

fn listen(dir: &Path, address: &str, path: &str) -> Result<ExitCode, CommandFailure> {
    // That nobody reads it is no failure.
    let print = |address: &str| drop(outcome::print(&format!("http://{address}/{path} (stop with Ctrl-C)\n")));
    serve::serve(dir, address, print)?;
    Ok(ExitCode::FAILURE)
}

pub(super) fn speak(args: &McpArgs) -> Result<ExitCode, CommandFailure> {
    if let Some(address) = &args.listen {
        return listen(&args.dir, address, "mcp");
    }
    let runtime = session::runtime()?;
    let ended = runtime.block_on(serve::speak(&args.dir))?;
    // The thread that reads stdin may wait for ever.
    runtime.shutdown_background();
    Ok(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            outcome::tell(&error.to_string());
            ExitCode::FAILURE
        }
    })
}
