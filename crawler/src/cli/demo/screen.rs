//! [`Screen`]: how the demo is shown: with colour on a terminal, as plain text elsewhere, or not at all.
//!
//! Does not know: what is shown.

use std::io::{self, IsTerminal};

use crate::{
    cli::{CommandFailure, flags::OutputFlags, outcome},
    observe::escape,
};

/// Characters of a line of a command or of its output, about.
const WIDTH: usize = 90;

/// How text is marked: codes of ECMA-48, "select graphic rendition".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tone {
    Heading,
    Command,
    Output,
    Good,
    Bad,
    Plain,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Self::Heading => "1;36",
            Self::Command => "1",
            Self::Output => "2",
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Plain => "0",
        }
    }
}

/// What of it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Silent,
    Plain,
    Coloured,
}

/// Where the demo shows itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    look: Look,
}

impl Screen {
    /// Stdout, as these flags and the environment have it.
    pub(super) fn new(output: &OutputFlags) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let look = if output.quiet || output.json {
            Look::Silent
        } else if io::stdout().is_terminal() && !is_dumb && !is_set("NO_COLOR") {
            Look::Coloured
        } else {
            Look::Plain
        };
        Self { look }
    }

    /// The title of a chapter.
    pub(super) fn heading(self, text: &str) -> Result<(), CommandFailure> {
        self.gap()?;
        self.line("", Tone::Heading, text)
    }

    /// A sentence.
    pub(super) fn text(self, text: &str) -> Result<(), CommandFailure> {
        self.line("", Tone::Plain, text)
    }

    /// A command that is run, on lines of its own where it is long.
    pub(super) fn command(self, text: &str) -> Result<(), CommandFailure> {
        let mut indent = "  $ ";
        for line in folded(text) {
            self.line(indent, Tone::Command, &line)?;
            indent = "      ";
        }
        Ok(())
    }

    /// A line that a command printed, or its beginning.
    pub(super) fn output(self, text: &str) -> Result<(), CommandFailure> {
        let begin: String = text.chars().take(WIDTH).collect();
        let rest = if begin.len() < text.len() { "..." } else { "" };
        self.line("    ", Tone::Output, &format!("{begin}{rest}"))
    }

    /// A statement that holds.
    pub(super) fn good(self, text: &str) -> Result<(), CommandFailure> {
        self.line("  ", Tone::Good, &format!("ok: {text}"))
    }

    /// One that does not.
    pub(super) fn bad(self, text: &str) -> Result<(), CommandFailure> {
        self.line("  ", Tone::Bad, &format!("WRONG: {text}"))
    }

    /// An empty line.
    pub(super) fn gap(self) -> Result<(), CommandFailure> {
        self.line("", Tone::Plain, "")
    }

    fn line(self, indent: &str, tone: Tone, text: &str) -> Result<(), CommandFailure> {
        let text = escape::text(text);
        let line = match self.look {
            Look::Silent => return Ok(()),
            Look::Coloured if tone != Tone::Plain => format!("{indent}\u{1b}[{}m{text}\u{1b}[0m\n", tone.code()),
            _ => format!("{indent}{text}\n"),
        };
        outcome::print_bytes(line.as_bytes())
    }
}

/// A command in lines of at most [`WIDTH`] characters, as far as its words allow, that a shell reads as one.
fn folded(command: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in command.split(" --") {
        match lines.last_mut() {
            None => lines.push(part.to_owned()),
            Some(line) if line.len() + part.len() <= WIDTH => *line += &format!(" --{part}"),
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("--{part}"));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_is_folded_before_its_flags() {
        let command = format!("webloom crawl {} --delay 0 --per-host 8 --reset none", "x".repeat(60));
        let lines = folded(&command);
        assert_eq!(
            lines,
            [format!("webloom crawl {} --delay 0 \\", "x".repeat(60)), "--per-host 8 --reset none".to_owned()]
        );
        assert_eq!(lines.join("\n").replace("\\\n", ""), command);
        assert_eq!(folded("webloom check a"), ["webloom check a"]);
    }
}
