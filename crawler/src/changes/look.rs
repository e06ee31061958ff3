//! [`LookOutcome`]: what a look at a page found.

/// What a look at a page found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookOutcome {
    /// It is there.
    There(Difference),
    /// It is redirected.
    Redirected,
    /// It is not found; for good, where the server says so.
    Missing {
        /// 410, not 404.
        for_good: bool,
    },
    /// It cannot be seen.
    Unreachable,
    /// Something else is shown in its place, as in that of other pages.
    Replaced,
    /// It is there, and its body was cut short on its way: that says nothing.
    Cut,
}

/// How a copy differs from the last good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Not at all.
    None,
    /// In bytes, and not in its main text.
    Bytes,
    /// In bytes; the texts are not known, or made by different rules.
    Unknown,
    /// In its main text.
    Text(Way),
    /// By an edit that many pages share, which is reported for all of them.
    SiteWide,
    /// In what moves by itself.
    Noise,
    /// In all that there is, and that moves by itself.
    AllNoise,
}

/// How a text became another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// It is one that the page did not have lately.
    Onwards,
    /// It is one of those before the last changes.
    Back,
    /// It is a quarter as long or less.
    Shrunk,
}

impl LookOutcome {
    /// Every one.
    pub const ALL: [Self; 15] = [
        Self::There(Difference::None),
        Self::There(Difference::Bytes),
        Self::There(Difference::Unknown),
        Self::There(Difference::Text(Way::Onwards)),
        Self::There(Difference::Text(Way::Back)),
        Self::There(Difference::Text(Way::Shrunk)),
        Self::There(Difference::SiteWide),
        Self::Redirected,
        Self::Missing { for_good: false },
        Self::Missing { for_good: true },
        Self::Unreachable,
        Self::Replaced,
        Self::Cut,
        Self::There(Difference::Noise),
        Self::There(Difference::AllNoise),
    ];

    /// Its number, in a table that does not outlive the program.
    pub const fn code(self) -> i64 {
        match self {
            Self::There(Difference::None) => 0,
            Self::There(Difference::Bytes) => 1,
            Self::There(Difference::Unknown) => 2,
            Self::There(Difference::Text(Way::Onwards)) => 3,
            Self::There(Difference::Text(Way::Back)) => 4,
            Self::There(Difference::Text(Way::Shrunk)) => 5,
            Self::There(Difference::SiteWide) => 6,
            Self::Redirected => 7,
            Self::Missing { for_good: false } => 8,
            Self::Missing { for_good: true } => 9,
            Self::Unreachable => 10,
            Self::Replaced => 11,
            Self::Cut => 12,
            Self::There(Difference::Noise) => 13,
            Self::There(Difference::AllNoise) => 14,
        }
    }

    /// The one with this number.
    pub fn of_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|look| look.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_has_a_number_of_its_own() {
        let codes: Vec<_> = (-1..16).map(LookOutcome::of_code).collect();
        assert_eq!(codes[1..16], LookOutcome::ALL.map(Some));
        assert_eq!([codes[0], codes[16]], [None; 2]);
        assert!(LookOutcome::ALL.iter().all(|look| LookOutcome::of_code(look.code()) == Some(*look)));
    }
}
