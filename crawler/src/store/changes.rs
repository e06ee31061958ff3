//! [`ChangeRules`] and [`ChangeLine`]: how changes of pages are found, and what is reported of one.

use std::time::Duration;

use super::packing::{pack, unpack};
use crate::{
    changes::{Change, Doubt, Ignore, digest},
    queue::KnownText,
    text::{MOST_BYTES, RuledText, Text},
    time::Moment,
};

/// How hard texts are compressed: more takes time on each page that is fetched.
const COMPRESSION: i32 = 3;

/// How changes of pages are found at the end of a sequence.
#[derive(Debug, Clone)]
pub struct ChangeRules {
    /// What of a text is not compared.
    pub ignore: Ignore,
    /// Texts of a page that are kept, at least 1.
    pub texts: u32,
    /// Time to the second look at a text that shrank.
    pub confirm: Duration,
    /// The same at a page that is not found.
    pub gone_after: Duration,
    /// Share of the pages of a section that may change at once; 1 is no limit.
    pub mass_share: f64,
    /// Pages with the same edit that make it a site-wide one; 0 is never.
    pub site_wide_pages: u32,
}

#[cfg(test)]
impl ChangeRules {
    /// Those of tests, in which a second look is due at once.
    pub(crate) fn at_once() -> Self {
        let ignore = Ignore::default();
        let [confirm, gone_after] = [Duration::ZERO; 2];
        Self { ignore, texts: 5, confirm, gone_after, mass_share: 0.2, site_wide_pages: 5 }
    }
}

/// A text of a page, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    /// The number of the rule that it was made by.
    pub rule: u64,
    /// SHA-256 of its lines.
    pub digest: [u8; 32],
    /// Its lines, compressed; empty where the copy has the same text.
    pub body: Vec<u8>,
}

impl TextRow {
    /// That of a text, where the copy has this one.
    pub fn of(page: &RuledText, known: Option<KnownText>) -> Self {
        let row = Self { rule: page.rule.number(), digest: digest(&page.text), body: Vec::new() };
        if known.is_some_and(|known| row.is_of(known)) {
            return row;
        }
        let body = pack(page.text.as_str().as_bytes(), COMPRESSION);
        Self { body, ..row }
    }

    /// Whether it is this text.
    pub fn is_of(&self, known: KnownText) -> bool {
        (self.rule, self.digest) == (known.rule, known.digest)
    }
}

/// The text in [`TextRow::body`]; `None` where that holds none.
pub fn text_of(body: &[u8]) -> Option<Text> {
    Some(Text::from_stored(&words_of(body)?))
}

/// The same as it is there, for whoever looks at its words alone.
pub fn words_of(body: &[u8]) -> Option<String> {
    String::from_utf8(unpack(body, MOST_BYTES)?).ok()
}

/// Which changes are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Since {
    /// All that were reported.
    #[default]
    Ever,
    /// Those of this sequence and later ones.
    Sequence(u32),
    /// Those seen at this moment or later.
    Moment(Moment),
    /// So many, the last ones.
    Newest(u32),
}

/// A change that is not reported before it was seen a second time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingChange {
    /// The page.
    pub url: String,
    /// What was seen.
    pub doubt: Doubt,
    /// When, in milliseconds since 1970.
    pub since: u64,
    /// When the second look is due.
    pub due: u64,
}

/// A change that was reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeLine {
    /// The page; of a site-wide edit one that has it.
    pub url: String,
    /// What happened.
    pub change: Change,
    /// The sequence that reported it.
    pub sequence: u32,
    /// When it was seen, in milliseconds since 1970.
    pub at: u64,
    /// SHA-256 of the body before.
    pub before: Option<[u8; 32]>,
    /// SHA-256 of the body now.
    pub after: Option<[u8; 32]>,
    /// Where it moved.
    pub to: Option<String>,
    /// Pages that have a site-wide edit.
    pub count: Option<u64>,
    /// The texts before and now, where both are kept and were made by the same rule.
    pub texts: Option<(String, String)>,
}
