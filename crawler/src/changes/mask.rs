//! [`Mask`]: a place of a page that moves by itself, from one look to the next: a clock, a counter, an advert, a list in another order.
//!
//! A mask never hides what it does not know to move: a word that stays in its line, an item that a list of the same items gains or loses.
//! What appears in the place of something that rotates is hidden for so long as it is not known whether it stays.

mod several_pages;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    line_pattern::{LinePattern, shape, short},
    multiset::without,
    region::{Around, TextRegion, placed, regions},
};
use crate::text::{ElementPath, Text};

/// Bytes of an example.
const LONGEST_EXAMPLE: usize = 200;

/// Lines of a place that are known to come and go, at most.
const MOST_KNOWN: usize = 2_000;

/// Parts in which two texts of a page differ, where masks mean anything.
pub(super) const MOST_REGIONS: usize = 1_000;

/// Kinds of lines of a place, and places of a page, that are followed at most.
const MOST_PATTERNS: usize = 50;
const MOST_PLACES: usize = 50;

/// How a place moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskKind {
    /// Words of its lines are others: numbers, dates, tokens.
    Value,
    /// Its lines are others.
    Rotates,
    /// Its lines are in another order.
    Reorders,
    /// Bytes that are not shown: a token in a form, an attribute, a comment.
    Bytes,
    /// Where a link leads.
    Link,
}

impl MaskKind {
    /// Whether it is none of the text.
    fn is_hidden(self) -> bool {
        matches!(self, Self::Bytes | Self::Link)
    }

    /// Its word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Rotates => "rotates",
            Self::Reorders => "reorders",
            Self::Bytes => "bytes",
            Self::Link => "link",
        }
    }
}

/// A place that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    path: u64,
    around: Around,
    kind: MaskKind,
    /// Lines that are there at most.
    lines: usize,
    /// The lines of values.
    patterns: Vec<LinePattern>,
    /// Hashes of lines that were there and went.
    known: Vec<u32>,
    /// The same of lines that came when it was found.
    #[serde(default)]
    came: Vec<u32>,
    /// The sequence in which it was found.
    pub since: u32,
    /// Pages on which it was found.
    pub pages: usize,
    /// Looks in a row in which nothing moved there.
    pub still: u32,
    /// Lines that it hid.
    pub hid: u64,
    /// The heading above, and the line before.
    under: [String; 2],
    /// A line that was there, and what came after it.
    pub example: [String; 2],
}

impl Mask {
    /// What moves between two looks at a page that follow one another shortly.
    pub fn between(one: &Text, other: &Text, sequence: u32) -> Vec<Self> {
        let mut masks = Vec::new();
        let regions = regions(one, other);
        // Where so much differs, nothing of it is a place.
        for region in regions.iter().filter(|_| regions.len() <= MOST_REGIONS) {
            masks.extend(region.paths().into_iter().flat_map(|path| Self::of(region, path, sequence)));
            if masks.len() >= MOST_PLACES {
                let all = std::mem::take(&mut masks);
                Self::add_to(&mut masks, all);
            }
            if masks.len() >= MOST_PLACES {
                break;
            }
        }
        masks
    }

    /// The kinds of its lines of values.
    pub(super) fn kinds(&self) -> Vec<u32> {
        self.patterns.iter().map(LinePattern::kind).collect()
    }

    /// Keeps the lines of values of these kinds; whether there are any.
    pub(super) fn keep_kinds(&mut self, is_kept: impl Fn(u32) -> bool) -> bool {
        self.patterns.retain(|pattern| is_kept(pattern.kind()));
        !self.patterns.is_empty()
    }

    /// What moves of the lines of a region with a path: values, and others that come and go beside them.
    fn of(region: &TextRegion<'_>, path: ElementPath, sequence: u32) -> Vec<Self> {
        let [before, after] = region.at(path);
        let made = |kind, lines, patterns: &[LinePattern]| Self::made((region, path), kind, lines, patterns, sequence);
        if before == after {
            return Vec::new();
        }
        if sorted(&before) == sorted(&after) {
            return vec![made(MaskKind::Reorders, [before, after], &[])];
        }
        let is_even = before.len() == after.len();
        let pairs = before.iter().zip(&after).filter(|(one, other)| one != other && is_even);
        let pairs: Vec<_> = pairs.map(|(one, other)| ([*one, *other], LinePattern::of(one, other))).collect();
        let (values, others): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(_, pattern)| pattern.is_some());
        let sides = |pairs: &[([_; 2], _)]| [0, 1].map(|side| pairs.iter().map(|(pair, _)| pair[side]).collect());
        let patterns: Vec<_> = values.iter().filter_map(|(_, pattern)| *pattern).collect();
        match (values.is_empty(), others.is_empty()) {
            (true, _) => vec![made(MaskKind::Rotates, [before, after], &[])],
            (false, true) => vec![made(MaskKind::Value, [before, after], &patterns)],
            (false, false) => {
                vec![made(MaskKind::Value, sides(&values), &patterns), made(MaskKind::Rotates, sides(&others), &[])]
            }
        }
    }

    fn made(
        (region, path): (&TextRegion<'_>, ElementPath),
        kind: MaskKind,
        [before, after]: [Vec<&str>; 2],
        patterns: &[LinePattern],
        sequence: u32,
    ) -> Self {
        let rotates = kind == MaskKind::Rotates;
        let hashes = |lines: Vec<&str>| {
            let hashes: BTreeSet<u32> = lines.into_iter().filter(|_| rotates).map(short).take(MOST_KNOWN).collect();
            hashes.into_iter().collect::<Vec<_>>()
        };
        // What is there now alone may stay, and what went alone may be gone.
        let [went, came] = [without(&before, &after), without(&after, &before)];
        let went = if came.is_empty() { Vec::new() } else { went };
        let [known, came] = [went, came].map(hashes);
        let differs = before.iter().zip(&after).find(|(one, other)| one != other);
        let example = differs.map_or_else(
            || [before.first().copied().unwrap_or_default(), after.first().copied().unwrap_or_default()],
            |(one, other)| [*one, *other],
        );
        let mut patterns = patterns.to_vec();
        patterns.dedup();
        patterns.truncate(MOST_PATTERNS);
        let lines = before.len().max(after.len());
        Self {
            path: path.number(),
            around: region.around(path).near(lines, path),
            kind,
            lines,
            patterns,
            known,
            came,
            since: sequence,
            pages: 1,
            still: 0,
            hid: 0,
            under: region.under.map(shortened),
            example: example.map(shortened),
        }
    }

    /// What moves is not shown.
    pub fn of_bytes(sequence: u32) -> Self {
        Self {
            path: 0,
            around: Around::default(),
            kind: MaskKind::Bytes,
            lines: 0,
            patterns: Vec::new(),
            known: Vec::new(),
            came: Vec::new(),
            since: sequence,
            pages: 1,
            still: 0,
            hid: 0,
            under: Default::default(),
            example: Default::default(),
        }
    }

    /// Links with these texts lead elsewhere at each look; nothing where there are none.
    pub fn of_links<S: AsRef<str>>(texts: &[S], sequence: u32) -> Option<Self> {
        let example = [shortened(texts.first()?.as_ref()), String::new()];
        let mut mask = Self { kind: MaskKind::Link, example, ..Self::of_bytes(sequence) };
        mask.learn(texts.iter().map(|text| short(text.as_ref())));
        Some(mask)
    }

    /// Whether it hides where links with this text lead.
    pub fn hides_link(&self, text: &str) -> bool {
        self.kind == MaskKind::Link && self.knows(short(text))
    }

    /// How it moves.
    pub fn kind(&self) -> MaskKind {
        self.kind
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        let path = ElementPath::of_number(self.path).to_string();
        let [heading, before] = &self.under;
        let named = match (heading.is_empty() || self.around.heading == 0, before.is_empty() || self.around.before == 0)
        {
            (_, false) => format!(" after {before:?}"),
            (false, _) => format!(" under {heading:?}"),
            _ => String::new(),
        };
        if path.is_empty() { named.trim().to_owned() } else { path + &named }
    }

    pub(super) fn patterns(&self) -> impl Iterator<Item = LinePattern> {
        self.patterns.iter().copied()
    }

    pub(super) fn path(&self) -> ElementPath {
        ElementPath::of_number(self.path)
    }

    /// Whether it is the place of a region: on which side is the line by which it is known, and how many of its lines may be in the region.
    pub(super) fn is_at(&self, around: Around) -> Option<(Side, usize)> {
        let equal = |one: u32, other: u32| one != 0 && one == other;
        let has_heading = equal(self.around.heading, around.heading);
        let rotates = self.kind == MaskKind::Rotates;
        // Among the lines that rotate next to a line, so many are left.
        let [above, below] = around.gaps.map(|gap| self.lines.saturating_sub(gap));
        let side = match () {
            // Texts that are known by themselves have no place.
            () if self.lines == 0 => return None,
            () if equal(self.around.before, around.before) => Side::Before,
            () if equal(self.around.after, around.after) => Side::After,
            () if equal(self.around.outer_before, around.outer_before) && around.gaps[0] <= self.lines => Side::Before,
            () if equal(self.around.outer_after, around.outer_after) && around.gaps[1] <= self.lines => Side::After,
            () if rotates && equal(self.around.before, around.outer_before) && above > 0 => {
                return Some((Side::Before, above));
            }
            () if rotates && equal(self.around.after, around.outer_after) && below > 0 => {
                return Some((Side::After, below));
            }
            // Between two texts that rotate there.
            () if rotates && self.knows(around.before) => Side::Before,
            () if rotates && self.knows(around.after) => Side::After,
            // Nothing else of the page is in such elements.
            () if around.on_page <= self.lines && around.on_page == self.around.on_page => Side::Before,
            () if has_heading && (self.kind == MaskKind::Value || self.path().is_item()) => Side::Before,
            () => return None,
        };
        Some((side, self.lines))
    }

    /// Whether lines in these elements come and go.
    pub(super) fn rotates_at(&self, path: u64) -> bool {
        self.path == path && !self.kind.is_hidden()
    }

    /// Whether a line was there and went.
    pub(super) fn knows(&self, line: u32) -> bool {
        self.known.binary_search(&line).is_ok()
    }

    /// Lines were there and went.
    pub fn learn(&mut self, lines: impl IntoIterator<Item = u32>) {
        for line in lines {
            if let Err(place) = self.known.binary_search(&line)
                && self.known.len() < MOST_KNOWN
            {
                self.known.insert(place, line);
            }
        }
    }

    /// Whether it says the same of the same place as another.
    pub fn is_like(&self, other: &Self) -> bool {
        let pairs = || self.patterns().flat_map(|own| other.patterns().map(move |pattern| (own, pattern)));
        let labels = || {
            let is_same = |one: LinePattern, other: LinePattern| {
                one.label != 0 && (one.shape, one.moving, one.label) == (other.shape, other.moving, other.label)
            };
            pairs().any(|(own, pattern)| is_same(own, pattern))
        };
        let shapes = || pairs().any(|(own, pattern)| own.shape == pattern.shape);
        match (self.path == other.path, self.kind, other.kind) {
            (true, MaskKind::Value, MaskKind::Value) => labels() || (self.is_at(other.around).is_some() && shapes()),
            (true, MaskKind::Rotates | MaskKind::Reorders, MaskKind::Rotates | MaskKind::Reorders) => {
                self.is_at(other.around).is_some()
            }
            (true, MaskKind::Bytes, MaskKind::Bytes) | (true, MaskKind::Link, MaskKind::Link) => true,
            _ => false,
        }
    }

    /// What a text says without what moves.
    pub fn strip(text: &Text, masks: &[Self]) -> Text {
        let lines = placed(text);
        let hashes: Vec<u32> = lines.iter().map(|line| short(line.text)).collect();
        let shapes: Vec<u32> = lines.iter().map(|line| shape(line.text)).collect();
        let mut moves = vec![false; lines.len()];
        for mask in masks.iter().filter(|mask| !mask.kind.is_hidden()) {
            let has_shape = |place: usize| mask.patterns.iter().any(|pattern| pattern.shape == shapes[place]);
            let is_there = |place: usize| {
                lines[place].path.number() == mask.path && (mask.kind != MaskKind::Value || has_shape(place))
            };
            let Around { before, after, outer_before, outer_after, .. } = mask.around;
            // From each line by which the place is known, so many lines on.
            let mut mark = |places: &mut dyn Iterator<Item = usize>, starts: [u32; 2]| {
                let mut left = 0;
                for place in places {
                    left = if is_there(place) { left } else { 0 };
                    moves[place] |= left > 0;
                    left = if starts.contains(&hashes[place]) { mask.lines } else { left.saturating_sub(1) };
                }
            };
            mark(&mut (0..lines.len()), [before, outer_before]);
            mark(&mut (0..lines.len()).rev(), [after, outer_after]);
            for (place, hash) in hashes.iter().enumerate() {
                let is_labelled = || mask.patterns().any(|pattern| pattern.is_labelled(lines[place].text));
                let comes_and_goes = mask.rotates_at(lines[place].path.number()) && mask.knows(*hash);
                moves[place] |= comes_and_goes || (has_shape(place) && is_labelled());
            }
        }
        let stays = lines.iter().zip(moves).filter(|(_, moves)| !moves);
        Text::from_placed(stays.map(|(line, _)| (line.text, line.path)))
    }

    /// Whether it hides all that another one hides.
    pub fn covers(&self, other: &Self) -> bool {
        let by_place = self.is_at(other.around).is_some();
        let hides = |own: LinePattern, pattern: LinePattern| {
            own.shape == pattern.shape && pattern.moving & !own.moving == 0 && (by_place || own.names(&pattern))
        };
        let patterns = || other.patterns().all(|pattern| self.patterns().any(|own| hides(own, pattern)));
        self.is_like(other)
            && match (self.kind, other.kind) {
                (MaskKind::Value, MaskKind::Value) => patterns(),
                (MaskKind::Rotates, MaskKind::Rotates) if other.lines == 0 => {
                    other.known.iter().all(|text| self.knows(*text))
                }
                (MaskKind::Rotates, _) => self.lines >= other.lines,
                (MaskKind::Link, MaskKind::Link) => other.known.iter().all(|link| self.knows(*link)),
                (own, other) => own == other,
            }
    }

    /// Takes in another one of the same place on the same page.
    fn join(&mut self, other: &Self) {
        if self.kind != other.kind {
            self.kind = MaskKind::Rotates;
        }
        self.lines = self.lines.max(other.lines);
        self.around.on_page = self.around.on_page.max(other.around.on_page);
        for pattern in &other.patterns {
            let is_same = |own: &&mut LinePattern| {
                (own.shape, own.label, own.rest) == (pattern.shape, pattern.label, pattern.rest)
            };
            if let Some(own) = self.patterns.iter_mut().find(is_same) {
                own.moving |= pattern.moving;
            } else if self.patterns.len() < MOST_PATTERNS {
                self.patterns.push(*pattern);
            }
        }
        self.learn(other.known.iter().copied());
        self.came.extend(other.came.iter().filter(|text| !self.came.contains(text)).copied().collect::<Vec<_>>());
        self.came.truncate(MOST_KNOWN);
        (self.still, self.hid) = (self.still.min(other.still), self.hid + other.hid);
        self.since = self.since.min(other.since);
    }

    /// Adds these to those of a page; whether any was not among them.
    pub fn add_to(masks: &mut Vec<Self>, new: Vec<Self>) -> bool {
        let before = masks.len();
        for mask in new {
            if let Some(known) = masks.iter_mut().find(|known| known.is_like(&mask)) {
                known.join(&mask);
            } else if masks.len() < MOST_PLACES {
                masks.push(mask);
            }
        }
        masks.len() > before
    }
}

/// On which side of a place the line is by which it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Before it.
    Before,
    /// Behind it.
    After,
}

pub(super) fn sorted<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut lines = lines.to_vec();
    lines.sort_unstable();
    lines
}

fn shortened(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST_EXAMPLE)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Explained, region::tests::text},
        *,
    };

    /// What is left of a change once the masks of two looks are known.
    fn left(looks: [&str; 2], change: [&str; 2]) -> Vec<String> {
        let masks = Mask::between(&text(looks[0]), &text(looks[1]), 1);
        shown(change, &masks)
    }

    pub(super) fn shown([before, after]: [&str; 2], masks: &[Mask]) -> Vec<String> {
        let (before, after) = (text(before), text(after));
        let edits = Explained::of(&before, &after, masks).edits;
        edits.iter().map(|edit| format!("{}>{}", edit.removed.join(","), edit.added.join(","))).collect()
    }

    pub(super) const NOTHING: [&str; 0] = [];

    #[test]
    fn a_clock_is_hidden_wherever_text_moves_it() {
        let looks = ["#t|a|Time 10:00:01|b", "#t|a|Time 10:00:02|b"];
        assert_eq!(left(looks, ["#t|a|Time 10:00:01|b", "#t|a|Time 23:59:59|b"]), NOTHING);
        assert_eq!(left(looks, ["#t|a|Time 10:00:01|b", "#t|new|other|Time 23:59:59|b"]), ["a>new,other"]);
        assert_eq!(left(looks, ["#t|a|Time 10:00:01|b", "#t|a|b"]), ["Time 10:00:01>"]);
    }

    #[test]
    fn a_price_beside_a_clock_is_news() {
        let looks = ["a|10:00:01|Price 17|b", "a|10:00:02|Price 17|b"];
        assert_eq!(left(looks, ["a|10:00:01|Price 17|b", "a|11:11:11|Price 18|b"]), ["Price 17>Price 18"]);
        let one_line = ["a|10:00:01 Price 17|b", "a|10:00:02 Price 17|b"];
        assert_eq!(left(one_line, ["a|10:00:01 Price 17|b", "a|11:11:11 Price 17|b"]), NOTHING);
        let news = ["10:00:01 Price 17>11:11:11 Price 18"];
        assert_eq!(left(one_line, ["a|10:00:01 Price 17|b", "a|11:11:11 Price 18|b"]), news);
    }

    #[test]
    fn a_date_that_stays_beside_a_date_that_moves_is_news() {
        let looks =
            ["Published 3 May 2024|Today 5 May 2024, 10:00:01", "Published 3 May 2024|Today 5 May 2024, 10:00:02"];
        let next =
            ["Published 3 May 2024|Today 5 May 2024, 10:00:01", "Published 6 May 2024|Today 7 June 2024, 11:11:11"];
        assert_eq!(left(looks, next), ["Published 3 May 2024>Published 6 May 2024"]);
    }

    #[test]
    fn behind_many_places_of_a_kind_others_are_known() {
        let page = |look: u32| {
            let rows = (0..60).map(|row| format!("title {row}|-{} minutes ago|", row + 2 * look));
            text(&(rows.collect::<Vec<_>>().concat() + &format!("end|Visitors: {}", 100 + look)))
        };
        let masks = Mask::between(&page(1), &page(2), 1);
        assert!(masks.len() < 20 && Explained::of(&page(1), &page(9), &masks).edits.is_empty(), "{masks:?}");
    }

    #[test]
    fn a_large_place_on_a_page_of_equal_lines_takes_little_time() {
        let lines = |word: &str| text(&format!("x|{}", format!("{word}|").repeat(50_000)));
        let mut masks = Mask::between(&lines("a"), &lines("b"), 1);
        masks[0].lines = 200_000;
        let began = std::time::Instant::now();
        assert_eq!(Mask::strip(&lines("x"), &masks).lines().count(), 1);
        assert!(began.elapsed() < std::time::Duration::from_secs(2));
    }

    #[test]
    fn items_that_stay_in_their_list_are_no_noise() {
        let page = |items: &str| text(items);
        let masks = Mask::between(&page("*1|*2|*3"), &page("*3|*2|*1"), 1);
        assert!(!Explained::of(&page("*1|*2|*3"), &page("*2|*1|*3"), &masks).is_whole);
        let masks = Mask::between(&page("*a 1|*b"), &page("*a 2|*b"), 1);
        assert!(!Explained::of(&page("*a 1|*b"), &page("*a 3|*b"), &masks).is_whole);
        assert!(Explained::of(&page("*a 1"), &page("*a 3"), &masks).is_whole);
    }

    #[test]
    fn an_edit_in_a_list_that_reorders_is_news() {
        let looks = ["a|*1|*2|*3|*4|b", "a|*3|*1|*4|*2|b"];
        assert_eq!(left(looks, ["a|*1|*2|*3|*4|b", "a|*4|*3|*2|*1|b"]), NOTHING);
        assert_eq!(left(looks, ["a|*1|*2|*3|*4|b", "a|*4|*3|*7|*1|b"]), ["*2>*7"]);
        assert_eq!(left(looks, ["a|*1|*2|*3|*4|b", "a|*4|*3|*1|b"]), ["*2>"]);
        let other = left(looks, ["c|*1|*2|d|*5", "c|*2|*1|d|*5"]);
        assert_eq!(other.len(), 2, "another list: {other:?}");
    }

    #[test]
    fn adverts_are_hidden_and_what_is_beside_them_is_not() {
        let looks = ["#t|a|b|-one|-two|end", "#t|a|b|-six|-ten|end"];
        assert_eq!(left(looks, ["#t|a|b|-one|-two|end", "#t|a|b|-new|-one|end"]), NOTHING);
        assert_eq!(left(looks, ["#t|a|b|-one|-two|end", "#t|a|c|-new|-one|end"]), ["b>c"]);
        let plain = ["#t|a|b|one|end", "#t|a|b|two|end"];
        assert_eq!(left(plain, ["#t|a|b|one|end", "#t|a|c|six|end"]), ["b>c"], "of one kind with it");
    }

    #[test]
    fn an_advert_between_known_ones_is_hidden() {
        let looks = ["a|-one|-two|b|-own", "a|-six|-ten|b|-own"];
        let masks = Mask::between(&text(looks[0]), &text(looks[1]), 1);
        assert_eq!(shown(["x|-one|-two|y|-own", "x|-one|-new|y|-own"], &masks), NOTHING);
        assert_eq!(shown(["x|-yes|-two|y|-own", "x|-yes|-new|y|-own"], &masks), ["-two>-new"]);
    }

    #[test]
    fn a_redesign_does_not_set_values_free() {
        let masks = Mask::between(&text("a|Price 7 at 10:00:01|b"), &text("a|Price 7 at 10:00:02|b"), 1);
        let line = |tag: &str, line: &str| {
            Text::from_placed([(line, ElementPath::default().inside(b"body").inside(tag.as_bytes()))])
        };
        let (before, after) = (line("p", "Price 7 at 10:00:01"), line("div", "Price 7 at 11:11:11"));
        assert!(Explained::of(&before, &after, &masks).edits.is_empty());
        let after = line("div", "Price 8 at 11:11:11");
        assert_eq!(Explained::of(&before, &after, &masks).edits.len(), 1);
    }

    #[test]
    fn adverts_are_hidden_around_one_that_is_there_again() {
        let masks = Mask::between(&text("#ads|one|two|six|-end"), &text("#ads|ten|yes|own|-end"), 1);
        assert_eq!(shown(["#ads|a|b|c|-end", "#ads|d|b|e|-end"], &masks), NOTHING);
        assert_eq!(shown(["#ads|a|b|c|-end", "#ads|d|e|a|-end"], &masks), NOTHING);
        assert_eq!(shown(["#ads|a|b|c|d|-foot", "#ads|a|b|c|e|-foot"], &masks), ["d>e"], "behind them");
    }

    #[test]
    fn a_text_that_comes_and_goes_is_hidden_anywhere_with_another_one() {
        let looks = ["a|-one|b|c", "a|-two|b|c"];
        let back = Mask::between(&text(looks[1]), &text(looks[0]), 2);
        let mut masks = Mask::between(&text(looks[0]), &text(looks[1]), 1);
        Mask::add_to(&mut masks, back);
        let page = |line: &str| format!("x|-y|-{line}|z");
        assert_eq!(shown([&page("one"), &page("two")], &masks), NOTHING);
        assert_eq!(shown([&page("one"), &page("news")], &masks), ["-one>-news"]);
        assert_eq!(shown([&page("one"), "x|-y|z"], &masks), ["-one>"]);
    }

    #[test]
    fn a_value_without_a_name_is_hidden_at_its_place_alone() {
        let looks = ["a|7|b|100|c", "a|9|b|100|c"];
        assert_eq!(left(looks, ["a|9|b|100|c", "a|12|b|100|c"]), NOTHING);
        assert_eq!(left(looks, ["a|9|b|100|c", "a|12|b|250|c"]), ["100>250"]);
        let looks = ["a|Room 1: 20 free|b", "a|Room 1: 21 free|b"];
        assert_eq!(left(looks, ["x|Room 1: 20 free|y|Room 2: 3 free", "x|Room 1: 9 free|y|Room 2: 4 free"]).len(), 1);
    }

    #[test]
    fn a_notice_between_adverts_that_are_known_is_news() {
        let looks = ["#h|one|b|two|c|-end", "#h|six|b|ten|c|-end"];
        let masks = Mask::between(&text(looks[0]), &text(looks[1]), 1);
        assert_eq!(shown(["#h|one|Closed on Monday|-foot", "#h|six|-foot"], &masks), ["Closed on Monday>"]);
        let mut all = masks;
        Mask::add_to(&mut all, Mask::between(&text("#h|two|b|-end"), &text("#h|one|b|-end"), 1));
        assert_eq!(shown(["#h|one|Closed on Monday|two|-foot", "#h|six|own|-foot"], &all), ["Closed on Monday>"]);
        let masks = Mask::between(&text("#ads|a|b|c|x|-end"), &text("#ads|d|e|f|x|-end"), 1);
        let edit = ["#ads|p|q|r|Open daily|-foot", "#ads|p|q|s|Closed|-foot"];
        assert_eq!(shown(edit, &masks), ["Open daily>Closed"], "behind the last advert");
    }

    #[test]
    fn a_text_that_is_known_is_news_in_a_list_that_gains_it() {
        let back = [["a|*one|*x|b", "a|*two|*x|b"], ["a|*two|*x|b", "a|*one|*x|b"]];
        let mut masks = Vec::new();
        for [one, other] in back {
            Mask::add_to(&mut masks, Mask::between(&text(one), &text(other), 1));
        }
        assert_eq!(shown(["y|*k|*one|z", "y|*k|*one|*two|z"], &masks), [">*two"]);
    }

    #[test]
    fn a_date_beside_a_text_that_comes_and_goes_is_a_value() {
        let looks = ["a|Made at 10:00:01|by one|b", "a|Made at 10:00:02|by two|b"];
        let masks = Mask::between(&text(looks[0]), &text(looks[1]), 1);
        assert_eq!(masks.iter().map(Mask::kind).collect::<Vec<_>>(), [MaskKind::Value, MaskKind::Rotates]);
        assert_eq!(left(looks, ["a|Made at 10:00:01|by one|b", "a|Made at 11:11:11|by six|b"]), NOTHING);
    }

    #[test]
    fn a_page_that_moves_whole_is_known() {
        let [one, other, next] = ["7", "9", "12"].map(text);
        let masks = Mask::between(&one, &other, 1);
        let explained = Explained::of(&other, &next, &masks);
        assert!(explained.is_whole && explained.edits.is_empty());
        let (stays, moves) = (text("a|7"), text("a|9"));
        assert!(!Explained::of(&stays, &moves, &masks).is_whole);
    }

    #[test]
    fn masks_come_back_from_their_kept_form() {
        let masks = Mask::between(&text("a|10:00:01|-x|b"), &text("a|10:00:02|-y|b"), 3);
        let kept = serde_json::to_string(&masks).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Mask>>(&kept).unwrap(), masks);
    }
}
