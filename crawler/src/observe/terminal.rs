//! What a terminal can show: its width, lines that renew themselves, colour.
//!
//! Does not know: what is shown on it.

use std::{env, ffi::OsStr, io::IsTerminal, os::fd::AsFd};

/// Columns of a terminal that tells of none.
const USUAL_WIDTH: usize = 80;

/// When output has colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Color {
    /// On a terminal that can show it, unless the variable `NO_COLOR` is set (<https://no-color.org>).
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A colour that says how something went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Green.
    Good,
    /// Yellow.
    Open,
    /// Red.
    Bad,
}

impl Color {
    /// Whether what goes to `stream` has colour.
    pub fn on(self, stream: &impl IsTerminal) -> bool {
        match self {
            Self::Auto => stream.is_terminal() && is_clever(env::var_os("TERM").as_deref()) && !is_set("NO_COLOR"),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

impl Tone {
    /// A text in this colour, bold.
    pub fn paint(self, text: &str) -> String {
        let code = match self {
            Self::Good => 32,
            Self::Open => 33,
            Self::Bad => 31,
        };
        format!("\u{1b}[1;{code}m{text}\u{1b}[0m")
    }
}

/// Whether a line on `stream` can be written over: it is a terminal, and no `TERM=dumb`.
pub fn renews_lines(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && is_clever(env::var_os("TERM").as_deref())
}

/// The columns of the terminal at `stream`; 80 where there is none, or it does not tell.
pub fn width(stream: &impl AsFd) -> usize {
    let size = rustix::termios::tcgetwinsize(stream);
    size.ok().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

fn is_clever(term: Option<&OsStr>) -> bool {
    term.is_none_or(|term| term != "dumb")
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_no_colour_unless_it_is_asked_for() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!([Color::Auto, Color::Always, Color::Never].map(|color| color.on(&file)), [false, true, false]);
        assert!(!renews_lines(&file) && width(&file) == USUAL_WIDTH);
        assert!(is_clever(None) && is_clever(Some(OsStr::new("xterm"))) && !is_clever(Some(OsStr::new("dumb"))));
        assert_eq!(Tone::Good.paint("x"), "\u{1b}[1;32mx\u{1b}[0m");
    }
}
