//! `webloom man`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Command};
use clap_mangen::Man;

use super::{CommandFailure, outcome};

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Folder for the pages; it is made if it does not exist
    dir: PathBuf,
}

pub(super) fn run(args: &ManArgs, program: Command) -> Result<ExitCode, CommandFailure> {
    fs::create_dir_all(&args.dir).map_err(CommandFailure::system("cannot make the folder for the manual pages"))?;
    // Help has no page of its own: each command's page is its help.
    let program = program.disable_help_subcommand(true);
    let mut program = program.mut_subcommands(|command| command.disable_help_subcommand(true));
    program.build();
    let pages = write(&program, &args.dir)?;
    outcome::print(&format!("{pages} manual pages: man -l {}\n", args.dir.join("webloom.1").display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its own commands; how many there are.
fn write(command: &Command, dir: &Path) -> Result<usize, CommandFailure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    let drawn = Man::new(command.clone()).title(name.to_uppercase()).render(&mut page);
    drawn
        .and_then(|()| fs::write(dir.join(format!("{name}.1")), page))
        .map_err(CommandFailure::system("cannot write a manual page"))?;
    command.get_subcommands().try_fold(1, |pages, command| Ok(pages + write(command, dir)?))
}
