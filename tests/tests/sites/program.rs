//! The `webloom` binary as a user runs it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The binary of this build's profile; built when first asked for.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| build().expect("webloom builds"))
}

/// The summary of `webloom crawl START --dir DIR --json -q` with more arguments, which must end well.
pub(crate) fn crawl<S: AsRef<OsStr>>(start: &str, dir: &Path, more: &[S]) -> Result<Value> {
    let mut command = webloom("crawl");
    command.arg(start).arg("--dir").arg(dir).args(["--json", "-q"]).args(more);
    let output = succeed(&mut command)?;
    serde_json::from_slice(&output.stdout).context("the summary is one JSON document")
}

/// The rows of `webloom pages DIR --format jsonl`.
pub(crate) fn pages(dir: &Path) -> Result<Vec<Value>> {
    let output = succeed(webloom("pages").arg(dir).args(["--format", "jsonl"]))?;
    let lines = String::from_utf8(output.stdout)?;
    lines.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// What `webloom check DIR` counts, which must find nothing.
pub(crate) fn check(dir: &Path) -> Result<Value> {
    let output = succeed(webloom("check").arg(dir).arg("--json"))?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(report["clean"] == true, "check: {report}");
    Ok(report)
}

fn webloom(subcommand: &str) -> Command {
    let mut command = Command::new(program());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WEBLOOM_")) {
        command.env_remove(name);
    }
    command.arg(subcommand).stdin(Stdio::null());
    command
}

fn succeed(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}: {complaint}", output.status);
    Ok(output)
}

/// Cargo builds the binary of another package for a test only when asked. All members are named, so that dependencies
/// have the features that they have in the test run, and none is built twice.
fn build() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.ancestors().nth(2).context("a test lies in target/PROFILE/deps")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--quiet", "--locked", "--workspace", "--bins"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    succeed(&mut cargo)?;
    Ok(folder.join("webloom"))
}
