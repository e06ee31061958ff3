//! Compares two texts of a page.
//!
//! Owns: which lines are not compared, because the user says so ([`Ignore`]) or because many pages of a section have them
//! ([`Boilerplate`]); the edits between two texts ([`edits`]) and their unified format (`unified`); when texts of two URLs are near
//! duplicates ([`SimHash`]); when a text has shrunk so far that it needs a second look ([`shrunk`]); what a look at a page can find
//! ([`LookOutcome`]); when a change of a page is reported, and as what ([`Standing`]); what of a page moves by itself ([`Mask`],
//! [`PageNoise`]), and what is left of a change without it ([`Explained`]).
//!
//! Invariants: it compares what it is given and remembers nothing; its time is bounded by the length of the texts. Hashes and digests are
//! the same in every release, because they are stored.
//!
//! Does not know: how pages are visited, and to whom changes are reported.

mod align;
mod alike;
mod boilerplate;
mod changed_lines;
mod dates;
mod edit;
mod explained;
mod ignore;
mod line_hash;
mod line_pattern;
mod link_edit;
mod look;
mod mask;
mod multiset;
mod page_noise;
mod region;
mod simhash;
mod standing;
mod unified;

pub use alike::alike;
pub use boilerplate::{Boilerplate, BoilerplateSample};
pub use changed_lines::{ChangedLines, Shared};
pub use dates::moving_dates;
pub use edit::{Edit, edits, shrunk};
pub use explained::Explained;
pub use ignore::{Ignore, IgnoreError};
pub use link_edit::{LinkEdit, TextLink, link_edits};
pub use look::{Difference, LookOutcome, Way};
pub use mask::{Mask, MaskKind};
pub use page_noise::PageNoise;
pub use simhash::SimHash;
pub use standing::{Change, Condition, Doubt, Occasion, Reported, Standing};
pub use unified::unified;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use crate::text::Text;

/// Whether a text has a clock that shows seconds: it is the same at two looks in one second.
pub fn has_clock(text: &Text) -> bool {
    text.lines().any(line_pattern::has_seconds)
}

/// What is equal for two pages that show the same; `None` for one that shows nothing. What moves by itself is none of it, nor is a time of
/// the day with its date: that of a log-in or an error says when it was asked for.
pub fn shown_mark(text: &Text, masks: &[Mask]) -> Option<[u8; 32]> {
    let still = Mask::strip(text, masks);
    let lines: Vec<_> =
        still.lines().map(|line| line_pattern::without_time(line).map_or(Cow::Borrowed(line), Cow::Owned)).collect();
    let shown = Text::from_lines(lines.iter().map(|line| &**line));
    (!shown.is_empty()).then(|| digest(&shown))
}

/// SHA-256 of the stored form: equal for two texts if they are equal.
pub fn digest(text: &Text) -> [u8; 32] {
    Sha256::digest(text.as_str()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_of_the_lines() {
        let (one, two) = (Text::from_lines(["a b", "c"]), Text::from_lines([" a  b", "", "c "]));
        assert_eq!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&Text::from_lines(["a", "b c"])));
        assert_eq!(digest(&Text::default())[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    }

    #[test]
    fn pages_that_differ_in_the_time_show_the_same() {
        let mark = |line: &str| shown_mark(&Text::from_lines(["Log in", line]), &[]);
        assert_eq!(mark("Made on 4 May 2024, 10:15"), mark("Made on 3 June 2025, 23:59:58"));
        assert_ne!(mark("Order 7: sent on 3 May 2024, 10:15"), mark("Order 8: sent on 3 May 2024, 10:15"));
        assert_ne!(mark("It is 10:15"), mark("It is 10:5"));
        assert_eq!(mark("It is 10:15"), mark("Made on 3 May 2024, 10:15"));
        assert_ne!(mark("Version 10"), mark("Version 11"));
        assert_eq!(shown_mark(&Text::from_lines(["10:15"]), &[]), None);
    }
}
