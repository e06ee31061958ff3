//! [`Tour`]: runs this program's commands on the practice site, shows them, and compares what they leave with the truth about the site.
//!
//! Invariants: a command is run as it is shown, without the user's own variables and settings; it is killed when the tour is given up.
//!
//! Does not know: what a chapter is about.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use serde_json::Value;
use tokio::process::Command;
use webloom_practice::PracticeServer;

use super::{chapter::Chapter, screen::Screen};
use crate::{
    cli::{CommandFailure, directory, flags::OutputFlags, summary},
    config::RawValue,
    observe::fold,
    store::{PageFilter, PageOutcome, ReadSide, Since},
};

/// The sitemap of the practice site, which is none of its pages.
const SITEMAP: &str = "/sitemap.xml";

/// The name of the first crawl.
pub(super) const FIRST: &str = "site";

/// Lines of a failed command's complaint that are repeated.
const COMPLAINT: usize = 5;

/// What chapters need.
#[derive(Debug)]
pub(super) struct Tour {
    program: PathBuf,
    folder: PathBuf,
    server: PracticeServer,
    screen: Screen,
    /// Variables of the commands.
    variables: Vec<(&'static str, String)>,
    is_verbose: bool,
}

impl Tour {
    /// A tour whose crawls lie in `folder`.
    pub(super) fn new(
        folder: &Path,
        server: PracticeServer,
        screen: Screen,
        output: &OutputFlags,
    ) -> Result<Self, CommandFailure> {
        let program = std::env::current_exe().map_err(CommandFailure::system("cannot find this program"))?;
        let log = output.overlay().log;
        let variables = [("WEBLOOM_LOG_LEVEL", log.level), ("WEBLOOM_LOG_FORMAT", log.format)];
        let variables = variables.into_iter().filter_map(|(name, value)| match value {
            Some(RawValue::Text(text)) => Some((name, text)),
            _ => None,
        });
        Ok(Self {
            program,
            folder: folder.to_owned(),
            server,
            screen,
            variables: variables.collect(),
            is_verbose: output.verbose > 0,
        })
    }

    /// What serves the site.
    pub(super) fn server(&self) -> &PracticeServer {
        &self.server
    }

    /// The same, when the tour is over.
    pub(super) fn into_server(self) -> PracticeServer {
        self.server
    }

    /// Where the tour is shown.
    pub(super) fn screen(&self) -> Screen {
        self.screen
    }

    /// The crawl directory of this name.
    pub(super) fn dir(&self, name: &str) -> String {
        self.folder_of(name).display().to_string()
    }

    /// The first crawl is that of the folder itself: whoever gave it with --dir finds a crawl there.
    fn folder_of(&self, name: &str) -> PathBuf {
        if name == FIRST { self.folder.clone() } else { self.folder.join(name) }
    }

    /// Shows a command and runs it; what it printed.
    pub(super) async fn run(&self, chapter: &mut Chapter, arguments: &[&str]) -> Result<String, CommandFailure> {
        self.show(chapter, &command_line(arguments))?;
        self.execute(arguments).await
    }

    /// Shows a command.
    pub(super) fn show(&self, chapter: &mut Chapter, command: &str) -> Result<(), CommandFailure> {
        chapter.add_command(command);
        self.screen.command(command)
    }

    /// Runs a command; what it printed.
    pub(super) async fn execute(&self, arguments: &[&str]) -> Result<String, CommandFailure> {
        let output = self.command(arguments).stdout(Stdio::piped()).output().await;
        let output = output.map_err(CommandFailure::system("cannot run this program"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(broken(arguments, &output))
    }

    /// Runs a command that is killed when the server's log has so many lines; its process number, if it was.
    pub(super) async fn execute_and_kill(
        &self,
        arguments: &[&str],
        lines: usize,
    ) -> Result<Option<u32>, CommandFailure> {
        let mut child = self.command(arguments).stdout(Stdio::null()).spawn();
        let child =
            child.as_mut().map_err(|error| CommandFailure::system("cannot run this program")(error.kind().into()))?;
        let number = child.id();
        let killed = tokio::select! {
            () = self.server.logged(lines) => child.kill().await.map(|()| number),
            ended = child.wait() => ended.map(|_| None),
        };
        killed.map_err(CommandFailure::system("cannot kill the crawl"))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).kill_on_drop(true).stdin(Stdio::null());
        if arguments.first() == Some(&"crawl") {
            command.arg("--no-progress");
        }
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WEBLOOM_")) {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stderr(if self.is_verbose { Stdio::inherit() } else { Stdio::piped() });
        command
    }

    /// Shows those lines of an output that have one of the words, each with those below it that go on with it; if none has, the first.
    pub(super) fn excerpt(&self, output: &str, words: &[&str]) -> Result<(), CommandFailure> {
        let is_telling = |line: &str| words.iter().any(|word| line.contains(word));
        let first = output.lines().next().filter(|_| !output.lines().any(is_telling));
        let mut shows = false;
        let telling = output.lines().filter(|line| {
            shows = is_telling(line) || shows && fold::goes_on(line);
            shows
        });
        telling.chain(first).map(str::trim_start).try_for_each(|line| self.screen.output(line))
    }

    /// States something of which this program found out whether it holds.
    pub(super) fn state(&self, chapter: &mut Chapter, text: &str, holds: bool) -> Result<(), CommandFailure> {
        chapter.state(text, holds);
        if holds { self.screen.good(text) } else { self.screen.bad(text) }
    }

    /// The summary of a crawl, as `--json` prints it.
    pub(super) fn summary(&self, name: &str) -> Result<Value, CommandFailure> {
        Ok(summary::document(&directory::summary(&self.folder_of(name))?))
    }

    /// Path and query of every URL of a crawl with this outcome, but for the sitemap.
    pub(super) fn paths(&self, name: &str, outcome: PageOutcome) -> Result<BTreeSet<String>, CommandFailure> {
        let filter = PageFilter { outcome: Some(outcome), ..PageFilter::default() };
        let mut paths = BTreeSet::new();
        directory::records(&self.folder_of(name))?.pages(&filter, |line| {
            paths.extend(line.url.map(|url| self.path(&url)).filter(|path| path != SITEMAP));
            true
        })?;
        Ok(paths)
    }

    /// Path and query of every page that has changed since the first sequence, by what happened to it.
    pub(super) fn changes(&self, name: &str) -> Result<BTreeMap<String, BTreeSet<String>>, CommandFailure> {
        let mut changes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        directory::records(&self.folder_of(name))?.changes(Since::Sequence(1), false, |line| {
            let path = self.path(&line.url);
            if path != SITEMAP {
                changes.entry(line.change.as_str().to_owned()).or_default().insert(path);
            }
            true
        })?;
        Ok(changes)
    }

    /// Path and query of a URL of the site; of another, the URL.
    fn path(&self, url: &str) -> String {
        let site = self.server.url();
        url.strip_prefix(site.trim_end_matches('/')).unwrap_or(url).to_owned()
    }
}

/// Why the tour cannot go on: what a command said.
fn broken(arguments: &[&str], output: &Output) -> CommandFailure {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let said: Vec<_> = said.lines().rev().take(COMPLAINT).collect();
    let said: Vec<_> = said.into_iter().rev().collect();
    let line = command_line(arguments);
    let why = format!("`{line}` ended with {}: {}", output.status, said.join("\n"));
    CommandFailure::system("the demo cannot go on")(io::Error::other(why))
}

/// A command as a user would type it.
pub(super) fn command_line(arguments: &[&str]) -> String {
    let words = arguments.iter().map(|argument| quoted(argument));
    std::iter::once("webloom".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word for a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted_for_a_shell() {
        assert_eq!(
            command_line(&["crawl", "http://127.0.0.1:80/", "-d", "/tmp/a"]),
            "webloom crawl http://127.0.0.1:80/ -d /tmp/a"
        );
        assert_eq!(command_line(&["status", "it's mine"]), r"webloom status 'it'\''s mine'");
    }
}
