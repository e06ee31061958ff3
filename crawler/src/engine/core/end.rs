//! [`RunEnd`]: how a run ended.

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Nothing is queued or leased.
    Drained,
    /// A budget stops leasing.
    Budget,
    /// What is left is on hosts that do not answer.
    Unreachable,
    /// The loss policy stopped it.
    Loss,
    /// The loss policy ended the sequence, and the next is to begin.
    Restart,
    /// The sequence is complete, or a limit holds back what is left; its URL cache is so old that the next is to begin.
    Aged {
        /// Nothing is queued.
        drained: bool,
    },
    /// A signal stopped it.
    Signal(i32),
    /// No start URL could be fetched.
    Failed,
}

impl RunEnd {
    /// How a sequence has ended after which pages may be due, by the word in the database.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        [Self::Drained, Self::Budget, Self::Unreachable].into_iter().find(|end| end.as_str() == word)
    }

    /// Whether pages may be due after a sequence that ended so.
    pub fn is_followed_by_visits(self) -> bool {
        matches!(self, Self::Drained | Self::Budget | Self::Unreachable)
    }

    /// The word used in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drained | Self::Aged { drained: true } => "drained",
            Self::Budget | Self::Aged { drained: false } => "budget",
            Self::Unreachable => "unreachable",
            Self::Loss | Self::Restart => "loss",
            Self::Signal(_) => "signal",
            Self::Failed => "failed",
        }
    }
}
