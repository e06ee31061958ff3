//! [`ChangeRules`] and [`ChangeLine`]: how changes of pages are found, and what is reported of one.

use std::time::Duration;

use super::{
    leb128::{put, take},
    packing::{pack, unpack},
};
use crate::{
    candidate::Ticket,
    changes::{Change, Doubt, Ignore, Mask, digest},
    queue::KnownText,
    text::{ElementPath, MOST_BYTES, RuledText, Text},
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
    /// Share of requests that second looks may add, by which what moves by itself is found; 0 is none.
    pub confirm_share: f64,
}

#[cfg(test)]
impl ChangeRules {
    /// Those of tests, in which a second look is due at once.
    pub(crate) fn at_once() -> Self {
        let ignore = Ignore::default();
        let [confirm, gone_after] = [Duration::ZERO; 2];
        Self { ignore, texts: 5, confirm, gone_after, mass_share: 0.2, site_wide_pages: 5, confirm_share: 0.0 }
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
    /// In which elements they are: a path, and how many lines in a row are there, as LEB128.
    pub places: Vec<u8>,
}

impl TextRow {
    /// That of a text, where the copy has this one.
    pub fn of(page: &RuledText, known: Option<KnownText>) -> Self {
        let row = Self { rule: page.rule.number(), digest: digest(&page.text), body: Vec::new(), places: Vec::new() };
        if known.is_some_and(|known| row.is_of(known)) {
            return row;
        }
        let body = pack(page.text.as_str().as_bytes(), COMPRESSION);
        Self { body, places: pack_places(page.text.places()), ..row }
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

/// The same with the places of its lines, as far as these are known.
pub fn placed_text(body: &[u8], places: &[u8]) -> Option<Text> {
    Some(text_of(body)?.at(unpack_places(places)))
}

fn pack_places(places: &[ElementPath]) -> Vec<u8> {
    let mut packed = Vec::new();
    for run in places.chunk_by(|one, other| one == other) {
        put(&mut packed, run[0].number());
        put(&mut packed, run.len() as u64);
    }
    packed
}

fn unpack_places(mut packed: &[u8]) -> Vec<ElementPath> {
    let mut places = Vec::new();
    while let Some((path, lines)) = take(&mut packed).and_then(|path| Some((path, take(&mut packed)?))) {
        let lines = usize::try_from(lines).unwrap_or(usize::MAX).min(MOST_BYTES - places.len());
        places.extend(std::iter::repeat_n(ElementPath::of_number(path), lines));
    }
    places
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

/// A link that says what it said, and leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LinkChange {
    /// What it says.
    pub text: String,
    /// Where it led; several addresses have a space between them, where several links say the same.
    pub before: String,
    /// Where it leads.
    pub after: String,
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
    /// Pages that have a site-wide edit, or that were found to be volatile at once.
    pub count: Option<u64>,
    /// The same for changes of this kind and sequence that are nearly the same.
    pub alike: Option<i64>,
    /// The texts before and now, where both are kept and were made by the same rule.
    pub texts: Option<(String, String)>,
    /// Links of the page that lead elsewhere.
    pub links: Vec<LinkChange>,
}

/// What moves by itself, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskLine {
    /// The address of the section, or of the page.
    pub address: String,
    /// Whether it is that of a page.
    pub is_page: bool,
    /// What moves.
    pub mask: Mask,
}

/// What was hidden of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedLine {
    /// The page.
    pub url: String,
    /// When it was seen to be another.
    pub at: Moment,
    /// The lines that went.
    pub before: String,
    /// Those that came.
    pub after: String,
}

/// What a page said when it was fetched once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondLookRow {
    /// The number of its admission.
    pub page: Ticket,
    /// SHA-256 of its body; `None` if there was no page.
    pub digest: Option<[u8; 32]>,
    /// What it said.
    pub text: Option<TextRow>,
    /// Its links by the first bytes of their fingerprints, and what they said of themselves, packed.
    pub links: Option<(Vec<u64>, Vec<u8>)>,
}

/// Lines of changed texts, by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct NoiseFigures {
    /// Lines that masks hid.
    pub hidden: u64,
    /// Lines that differed on pages that were looked at twice, and no mask hid before.
    pub looked: u64,
    /// Those of them that a second look withdrew.
    pub withdrawn: u64,
}
