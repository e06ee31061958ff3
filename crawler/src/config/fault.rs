//! Where a value comes from, and what can be wrong with it.

use std::fmt;

use super::{RawValue, names, secret};

/// Where settings come from, the weakest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `default.toml`.
    Default,
    /// The profile of this name.
    Profile(String),
    /// The settings of an existing crawl directory.
    Stored,
    /// The configuration file of this name.
    File(String),
    /// The settings of a job, in the file of the jobs.
    Job(String),
    /// The environment.
    Variables,
    /// The command line.
    Flags,
}

impl Source {
    /// Where this source gives `key`: a file and the key, a variable, or a flag.
    ///
    /// ```
    /// use webloom::internals::config::Source;
    /// assert_eq!(Source::Flags.place("budget.max_pages"), "--max-pages");
    /// assert_eq!(Source::Variables.place("budget.max_pages"), "WEBLOOM_BUDGET_MAX_PAGES");
    /// assert_eq!(Source::File("a.toml".into()).place("budget.max_pages"), "a.toml: budget.max_pages");
    /// ```
    pub fn place(&self, key: &str) -> String {
        match self {
            Self::Variables => names::variable(key),
            Self::Flags => names::flag(key).map_or_else(|| key.to_owned(), |flag| format!("--{flag}")),
            Self::Job(place) => format!("{place}.{key}"),
            other => format!("{other}: {key}"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default.toml"),
            Self::Profile(name) => write!(f, "profile {name}"),
            Self::Stored => f.write_str("stored settings"),
            Self::File(name) | Self::Job(name) => f.write_str(name),
            Self::Variables => f.write_str("environment"),
            Self::Flags => f.write_str("command line"),
        }
    }
}

/// One thing wrong with the settings: its place, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigFault {
    place: String,
    problem: String,
}

impl ConfigFault {
    pub(super) fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }

    /// A value that is not allowed; `reason` says what is.
    pub(super) fn value(source: &Source, key: &str, value: &RawValue, reason: &str) -> Self {
        let shown = secret::shown(key, value);
        Self::new(source.place(key), format!("{shown} is not allowed: {reason}"))
    }

    /// A name that is none of ours, with the nearest that is.
    pub(super) fn unknown(place: impl Into<String>, what: &str, near: Option<String>) -> Self {
        let hint = near.map_or_else(
            || "see `webloom config default` for all of them".to_owned(),
            |near| format!("did you mean {near}?"),
        );
        Self::new(place, format!("unknown {what}, {hint}"))
    }
}

/// All that is wrong with the settings, one fault a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigFaults(Vec<ConfigFault>);

impl ConfigFaults {
    /// The faults as an error, when there are any.
    pub(super) fn check(faults: Vec<ConfigFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self(faults)) }
    }

    /// Every fault.
    pub fn faults(&self) -> &[ConfigFault] {
        &self.0
    }
}

/// The known name that `name` was probably meant to be: the nearest in letters, or one with the same last part.
pub(super) fn nearest(name: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
    known
        .into_iter()
        .filter_map(|key| {
            let distance = distance(name, &key);
            let is_near = distance <= name.len() / 4;
            (is_near || last(&key) == last(name)).then_some((!is_near, distance, key))
        })
        .min_by_key(|(is_far, distance, _)| (*is_far, *distance))
        .map(|(_, _, key)| key)
}

/// Insertions, deletions and replacements between two names (Levenshtein 1965).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (a, b, edits) in [("", "abc", 3), ("kitten", "sitting", 3), ("delay", "delay", 0), ("dealy", "delay", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }

    #[test]
    fn finds_the_nearest_name() {
        let known = || ["budget.max_pages", "budget.max_bytes", "log.level"].map(str::to_owned);
        assert_eq!(nearest("budget.max_page", known()).as_deref(), Some("budget.max_pages"));
        assert_eq!(nearest("max_pages", known()).as_deref(), Some("budget.max_pages"));
        assert_eq!(nearest("fetch.level", known()).as_deref(), Some("log.level"));
        assert_eq!(nearest("colour", known()), None);
    }
}
