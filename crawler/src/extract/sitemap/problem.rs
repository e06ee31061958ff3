//! [`SourceProblem`]: what is wrong with a sitemap or a feed.

use std::fmt;

/// Characters of an example that are kept.
const LONGEST_EXAMPLE: usize = 100;

/// A kind of fault, how often it occurred, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceProblem {
    /// What is wrong.
    pub fault: SourceFault,
    /// How often.
    pub count: u64,
    /// The first text that is wrong like this, or its beginning; empty where there is none to show.
    pub example: String,
}

/// What may be wrong with a source. None of it makes the rest useless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceFault {
    /// Its end is missing.
    Unfinished,
    /// It is longer than what is read.
    TooLong,
    /// It has more entries than are kept.
    TooMany,
    /// What is in gzip cannot be unpacked to its end.
    Gzip,
    /// An entry's URL is none of http or https.
    NotUrl,
    /// An entry's URL is relative, which the sitemap protocol does not allow.
    Relative,
    /// A date that cannot be read.
    Date,
    /// A `changefreq` that does not exist.
    ChangeFrequency,
    /// A priority that is no number from 0 to 1.
    Priority,
}

impl SourceFault {
    /// One occurrence, as a clause; what it is about follows.
    fn clause(self) -> &'static str {
        match self {
            Self::Unfinished => "the end is missing",
            Self::TooLong => "it is too long, and its end is left out",
            Self::TooMany => "it has too many entries, and the last ones are left out",
            Self::Gzip => "gzip is damaged, and only what comes before is read",
            Self::NotUrl => "no http or https URL",
            Self::Relative => "relative URL",
            Self::Date => "no date",
            Self::ChangeFrequency => "no change frequency",
            Self::Priority => "no priority from 0 to 1",
        }
    }
}

/// For people: `relative URL, 2 times: "a.html"`.
impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.fault.clause())?;
        if self.count > 1 {
            write!(f, ", {} times", self.count)?;
        }
        if self.example.is_empty() { Ok(()) } else { write!(f, ": \"{}\"", self.example) }
    }
}

/// The problems of one source.
#[derive(Debug, Default)]
pub(super) struct SourceProblems(Vec<SourceProblem>);

impl SourceProblems {
    pub(super) fn add(&mut self, fault: SourceFault, example: &str) {
        if let Some(problem) = self.0.iter_mut().find(|problem| problem.fault == fault) {
            problem.count += 1;
        } else {
            let example = example.chars().take(LONGEST_EXAMPLE).collect();
            self.0.push(SourceProblem { fault, count: 1, example });
        }
    }

    /// Whether it is known why the end is missing.
    pub(super) fn has_cut(&self) -> bool {
        use SourceFault::{Gzip, TooLong, Unfinished};
        self.0.iter().any(|problem| matches!(problem.fault, Gzip | TooLong | Unfinished))
    }

    pub(super) fn into_list(self) -> Vec<SourceProblem> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_listed_once_with_its_first_example() {
        let mut problems = SourceProblems::default();
        problems.add(SourceFault::Relative, "a");
        problems.add(SourceFault::Date, &"x".repeat(1000));
        problems.add(SourceFault::Relative, "b");
        problems.add(SourceFault::Unfinished, "");
        let list = problems.into_list();
        let shown: Vec<_> = list.iter().map(ToString::to_string).collect();
        assert_eq!(shown[0], "relative URL, 2 times: \"a\"");
        assert_eq!(shown[1], format!("no date: \"{}\"", "x".repeat(100)));
        assert_eq!(shown[2], "the end is missing");
    }
}
