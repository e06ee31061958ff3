//! [`Ignore`]: the user's rules for parts of a text that are not compared.

use std::borrow::Cow;

use regex::Regex;

use crate::text::{ElementPath, Text};

/// Rules by which parts of a text are not compared.
///
/// - `before:TEXT`: everything up to the first line that contains TEXT, and that line.
/// - `after:TEXT`: the first line that contains TEXT, and everything behind it.
/// - `re:REGEX`: in each line what matches; a line of which nothing is left is no line. (`re:^Updated.*$` leaves a line
///   out; `re:\d+ views` leaves the rest of it.)
/// - `css:SELECTOR`: elements of the page. They are not seen in its text: whoever reads pages asks for
///   [the selectors](Self::selectors).
///
/// Markers come before patterns, each kind in the order given. A marker that is not there means nothing.
///
/// ```
/// use webloom::internals::{changes::Ignore, text::Text};
/// let ignore = Ignore::parse(&["re:[0-9]+ views".into(), "before:Contents".into(), "css:nav".into()])?;
/// let text = Text::from_lines(["12 May", "Contents", "17 views", "A word, 17 views, another"]);
/// assert_eq!(ignore.apply(&text).as_str(), "A word, , another");
/// assert_eq!(ignore.selectors().collect::<Vec<_>>(), ["nav"]);
/// # Ok::<(), webloom::internals::changes::IgnoreError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ignore {
    markers: Vec<Marker>,
    patterns: Vec<Regex>,
    selectors: Vec<Box<str>>,
}

#[derive(Debug, Clone)]
enum Marker {
    Before(Box<str>),
    After(Box<str>),
}

/// A rule that is none.
#[derive(Debug, Clone, thiserror::Error)]
pub enum IgnoreError {
    /// It begins with no known word.
    #[error("ignore rule {0:?} has an unknown kind: begin it with css:, re:, before: or after:")]
    Kind(Box<str>),
    /// Nothing follows that word.
    #[error("ignore rule {0:?} is empty: write what to ignore after the colon")]
    Empty(Box<str>),
    /// What follows `re:` is no regular expression.
    #[error("ignore rule {rule:?} is not a regular expression")]
    Pattern {
        /// The rule.
        rule: Box<str>,
        /// What is wrong.
        source: regex::Error,
    },
}

impl Ignore {
    /// Reads rules. Selectors are not checked here.
    ///
    /// # Errors
    /// The first rule that is none.
    pub fn parse(rules: &[String]) -> Result<Self, IgnoreError> {
        let mut ignore = Self::default();
        rules.iter().try_for_each(|rule| ignore.add(rule))?;
        Ok(ignore)
    }

    fn add(&mut self, rule: &str) -> Result<(), IgnoreError> {
        let (kind, what) = rule.split_once(':').ok_or_else(|| IgnoreError::Kind(rule.into()))?;
        if !matches!(kind, "before" | "after" | "re" | "css") {
            return Err(IgnoreError::Kind(rule.into()));
        }
        if what.trim().is_empty() {
            return Err(IgnoreError::Empty(rule.into()));
        }
        match kind {
            "before" => self.markers.push(Marker::Before(marker(what))),
            "after" => self.markers.push(Marker::After(marker(what))),
            "css" => self.selectors.push(what.trim().into()),
            _ => self.patterns.push(pattern(rule, what)?),
        }
        Ok(())
    }

    /// The selectors of what is left out when a page is read.
    pub fn selectors(&self) -> impl Iterator<Item = &str> {
        self.selectors.iter().map(|selector| &**selector)
    }

    /// Whether texts stay as they are.
    pub fn keeps_all(&self) -> bool {
        self.markers.is_empty() && self.patterns.is_empty()
    }

    /// What is compared of a text.
    pub fn apply(&self, text: &Text) -> Text {
        if self.keeps_all() {
            return text.clone();
        }
        let mut lines: Vec<_> = text.placed().collect();
        self.markers.iter().for_each(|marker| marker.apply(&mut lines));
        let lines: Vec<_> = lines.into_iter().map(|(line, place)| (self.without_patterns(line), place)).collect();
        Text::from_placed(lines.iter().map(|(line, place)| (&**line, *place)))
    }

    fn without_patterns<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let mut line = Cow::Borrowed(line);
        for pattern in &self.patterns {
            if let Cow::Owned(rest) = pattern.replace_all(&line, "") {
                line = Cow::Owned(rest);
            }
        }
        line
    }
}

impl Marker {
    fn apply(&self, lines: &mut Vec<(&str, ElementPath)>) {
        let (Self::Before(text) | Self::After(text)) = self;
        let Some(at) = lines.iter().position(|(line, _)| line.contains(&**text)) else { return };
        match self {
            Self::Before(_) => drop(lines.drain(..=at)),
            Self::After(_) => lines.truncate(at),
        }
    }
}

/// In the form that lines have.
fn marker(text: &str) -> Box<str> {
    text.split_whitespace().collect::<Vec<_>>().join(" ").into()
}

fn pattern(rule: &str, pattern: &str) -> Result<Regex, IgnoreError> {
    Regex::new(pattern).map_err(|source| IgnoreError::Pattern { rule: rule.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(rules: &[&str], lines: &[&str]) -> String {
        let rules: Vec<_> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        Ignore::parse(&rules).unwrap().apply(&Text::from_lines(lines.iter().copied())).into()
    }

    fn error(rule: &str) -> String {
        Ignore::parse(&["re:x".to_owned(), rule.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn what_matches_is_left_out_of_its_line() {
        assert_eq!(apply(&["re:\\d+ views"], &["7 views", "a 7 views b", "c"]), "a b\nc");
        assert_eq!(apply(&["re:^(?i)updated.*$"], &["Updated today", "not updated"]), "not updated");
        assert_eq!(apply(&["re:x*", "re:b"], &["axxb", "xx"]), "a");
        assert_eq!(apply(&["re:a"], &[]), "");
    }

    #[test]
    fn markers_bound_what_is_compared() {
        let lines = ["head", "BEGIN here", "1", "BEGIN again", "2", "END", "3", "END"];
        assert_eq!(apply(&["before:BEGIN", "after:END"], &lines), "1\nBEGIN again\n2");
        assert_eq!(apply(&["after:END", "before:BEGIN", "before:BEGIN"], &lines), "2");
        assert_eq!(apply(&["before:absent", "after:Absent"], &lines), lines.join("\n"));
        assert_eq!(apply(&["re:BEGIN", "before:  BEGIN   here "], &lines[..4]), "1\nagain");
        assert_eq!(apply(&["before:3"], &["3"]), "");
    }

    #[test]
    fn without_rules_nothing_is_left_out() {
        assert_eq!(apply(&["css:nav"], &["a", "b"]), "a\nb");
    }

    #[test]
    fn a_bad_rule_is_named() {
        assert!(error("nav").contains("\"nav\" has an unknown kind"));
        assert!(error("xpath://nav").contains("\"xpath://nav\" has an unknown kind"));
        assert!(error("css: ").contains("\"css: \" is empty"));
        assert!(error("before:").contains("is empty"));
        assert!(error("re:a(").contains("\"re:a(\" is not a regular expression"));
    }
}
