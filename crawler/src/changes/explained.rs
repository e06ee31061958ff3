//! [`Explained`]: what of a change is not hidden by masks.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
};

use super::{
    edit::{Edit, edits},
    line_pattern::{LinePattern, shape, short},
    link_edit::LinkEdit,
    mask::{MOST_REGIONS, Mask, MaskKind, Side},
    multiset::{counts, take_one, without},
    region::{PlacedLine, TextRegion, regions},
};
use crate::text::{ElementPath, Text};

/// A line that is new where things move.
#[derive(Debug, Clone, Copy)]
pub(super) struct AppearedLine<'a> {
    pub(super) line: PlacedLine<'a>,
    /// The kind of its pattern, if its values move; 0 if it is others that move there, [`LINK`] if it is a link, [`VANISHED`] if it went.
    pub(super) kind: u32,
}

/// The kind of a link that leads elsewhere.
pub(super) const LINK: u32 = u32::MAX;

/// The kind of a line that went, and in whose place nothing came.
pub(super) const VANISHED: u32 = u32::MAX - 1;

/// Comparisons of lines that are in other elements now, at most.
const MOST_COMPARISONS: usize = 100_000;

/// Lines that are compared with one that is in other elements now, at most.
const MOST_ALIKE: usize = 50;

/// A change of a text, with what masks know of it.
#[derive(Debug, Default)]
pub struct Explained<'a> {
    /// What no mask hides.
    pub edits: Vec<Edit<'a>>,
    /// What masks hide.
    pub masked: Vec<Edit<'a>>,
    /// Lines of a place that moves, of which it is not known that they come and go.
    pub(super) appeared: Vec<AppearedLine<'a>>,
    /// The same of lines that went while fewer came in such elements, wherever that is on the page.
    pub(super) vanished: Vec<PlacedLine<'a>>,
    /// How many more lines went than came, by the number of their path.
    fewer: HashMap<u64, isize>,
    /// The places of the masks at which something moved, and the lines that went there.
    pub moved: Vec<(usize, Vec<u32>)>,
    /// Whether nothing of the text stayed where it was.
    pub is_whole: bool,
}

impl<'a> Explained<'a> {
    /// Of a text that became another.
    pub fn of(before: &'a Text, after: &'a Text, masks: &[Mask]) -> Self {
        if masks.is_empty() {
            return Self { edits: edits(before, after), ..Self::default() };
        }
        let mut explained = Self::default();
        let mut moving = 0;
        let regions = regions(before, after);
        if regions.len() > MOST_REGIONS {
            return Self { edits: edits(before, after), ..Self::default() };
        }
        for region in regions {
            let came = |path: &ElementPath| {
                let [before, after] = region.at(*path);
                without(&after, &before).len()
            };
            moving += region.paths().iter().map(came).sum::<usize>();
            explained.take(&region, masks);
        }
        let Self { vanished, fewer, .. } = &mut explained;
        vanished.retain(|line| fewer.get(&line.path.number()).is_some_and(|fewer| *fewer > 0));
        explained.is_whole = moving > 0 && moving == after.lines().count();
        explained
    }

    /// Hashes of the lines that went while fewer came, and were not known to come and go.
    pub fn vanished(&self) -> HashSet<u32> {
        self.vanished.iter().map(|line| short(line.text)).collect()
    }

    /// How many lines are hidden.
    pub fn hidden(&self) -> usize {
        self.masked.iter().map(|edit| edit.removed.len() + edit.added.len()).sum()
    }

    /// What is left of link edits that are no edit of the text. Those that masks hide wait, as it is not known whether they stay.
    pub fn left_links(&mut self, links: &'a [LinkEdit], masks: &[Mask]) -> Vec<&'a LinkEdit> {
        let mut left = Vec::new();
        for edit in links {
            match masks.iter().position(|mask| mask.hides_link(&edit.text)) {
                Some(mask) => {
                    let line = PlacedLine { text: &edit.text, path: ElementPath::default() };
                    self.appeared.push(AppearedLine { line, kind: LINK });
                    self.moved.push((mask, Vec::new()));
                }
                None => left.push(edit),
            }
        }
        left
    }

    fn take(&mut self, region: &TextRegion<'a>, masks: &[Mask]) {
        let paths = region.paths();
        let mut sides: Vec<_> = paths.iter().map(|path| Place::of(region, *path)).collect();
        let mut any = false;
        // Values first: what is left beside them comes and goes.
        let (values, others): (Vec<_>, Vec<_>) =
            masks.iter().enumerate().partition(|(_, mask)| mask.kind() == MaskKind::Value);
        for (number, mask) in values.into_iter().chain(others) {
            let Some(place) = sides.iter_mut().find(|place| place.path == mask.path()) else { continue };
            let side = mask.is_at(region.around(mask.path()));
            if let Some(went) = place.hide(mask, side, self) {
                any = true;
                self.moved.push((number, went));
            }
        }
        any |= self.take_values_elsewhere(&mut sides, masks);
        if !any {
            return self.edits.extend(region.edits.iter().cloned());
        }
        for place in sides {
            // What is the same in both has only moved, along with what is hidden.
            let [removed, added] = place.left();
            let removed_alone = without(&removed, &added);
            let added_alone = without(&added, &removed);
            if !(removed_alone.is_empty() && added_alone.is_empty()) {
                self.edits.push(Edit { removed: removed_alone, added: added_alone });
            }
        }
    }
}

impl<'a> Explained<'a> {
    /// Hides values of lines that are in other elements than they were, if a mask knows them in one of both.
    fn take_values_elsewhere(&mut self, places: &mut [Place<'a>], masks: &[Mask]) -> bool {
        let is_there = |mask: &&Mask| places.iter().any(|place| place.path == mask.path());
        let patterns = masks.iter().filter(is_there).flat_map(|mask| mask.patterns().map(|of| (mask.path(), of)));
        // By what is the same on all pages: labels are not asked for.
        let mut patterns: Vec<_> = patterns.map(|(path, of)| (path, LinePattern { label: 0, rest: 0, ..of })).collect();
        patterns.sort_unstable_by_key(|(path, of)| (*path, of.shape, of.moving));
        patterns.dedup();
        if patterns.is_empty() || places.len() < 2 {
            return false;
        }
        let mut left = MOST_COMPARISONS;
        let mut added = open_lines(places, 1);
        let mut any = false;
        for (shape, removed) in open_lines(places, 0) {
            let patterns: Vec<_> = patterns.iter().filter(|(_, pattern)| pattern.shape == shape).collect();
            let added = added.entry(shape).or_default();
            for [from, number] in removed {
                let line = places[from].lines[0][number].0;
                let kind = |[to, other]: &[usize; 2]| {
                    if *to == from {
                        return None;
                    }
                    let paths = [places[from].path, places[*to].path];
                    let other = places[*to].lines[1][*other].0;
                    let mut known = patterns.iter().filter(|(path, _)| paths.contains(path));
                    known
                        .find(|(_, pattern)| pattern.is_same(line, other))
                        .map(|(_, pattern)| pattern.labelled(other).kind())
                };
                left = left.saturating_sub(added.len().min(MOST_ALIKE) * patterns.len());
                if left == 0 {
                    return any;
                }
                let mut alike = added.iter().take(MOST_ALIKE).enumerate();
                let found = alike.find_map(|(found, other)| Some((found, kind(other)?)));
                let Some((found, kind)) = found else { continue };
                let [to, other] = added.remove(found);
                (places[from].lines[0][number].1, places[to].lines[1][other].1) = (true, true);
                let came = PlacedLine { text: places[to].lines[1][other].0, path: places[to].path };
                self.appeared.push(AppearedLine { line: came, kind });
                self.masked.push(Edit { removed: vec![line], added: vec![came.text] });
                any = true;
            }
        }
        any
    }
}

/// The lines of a side that are not hidden, by place and number, for each shape.
fn open_lines(places: &[Place<'_>], side: usize) -> BTreeMap<u32, Vec<[usize; 2]>> {
    let mut open = BTreeMap::<u32, Vec<[usize; 2]>>::new();
    for (at, place) in places.iter().enumerate() {
        let lines = place.lines[side].iter().zip(&place.shapes()[side]).enumerate();
        for (number, (_, shape)) in lines.filter(|(_, ((_, hidden), _))| !hidden) {
            open.entry(*shape).or_default().push([at, number]);
        }
    }
    open
}

/// The lines of one path in a region, and which of them are hidden.
struct Place<'a> {
    path: ElementPath,
    lines: [Vec<(&'a str, bool)>; 2],
    /// The shape of each, once it was asked for.
    shapes: OnceCell<[Vec<u32>; 2]>,
}

impl<'a> Place<'a> {
    fn of(region: &TextRegion<'a>, path: ElementPath) -> Self {
        let lines = region.at(path).map(|lines| lines.into_iter().map(|line| (line, false)).collect());
        Self { path, lines, shapes: OnceCell::new() }
    }

    /// The lines that are not hidden.
    fn left(&self) -> [Vec<&'a str>; 2] {
        let left =
            |side: &Vec<(&'a str, bool)>| side.iter().filter(|(_, hidden)| !hidden).map(|(line, _)| *line).collect();
        [left(&self.lines[0]), left(&self.lines[1])]
    }

    /// Hides what a mask hides; the lines that went, if anything is hidden.
    fn hide(&mut self, mask: &Mask, side: Option<(Side, usize)>, explained: &mut Explained<'a>) -> Option<Vec<u32>> {
        match (mask.kind(), side) {
            (MaskKind::Bytes | MaskKind::Link, _) | (MaskKind::Reorders, None) => None,
            (MaskKind::Value, _) => self.hide_values(mask, side.is_some(), explained),
            (MaskKind::Reorders, Some(_)) => self.hide_order(explained),
            (MaskKind::Rotates, Some(side)) => self.hide_lines(mask, side, explained),
            (MaskKind::Rotates, None) => self.hide_known(mask, explained),
        }
    }

    fn hide_values(&mut self, mask: &Mask, is_there: bool, explained: &mut Explained<'a>) -> Option<Vec<u32>> {
        let mut went = Vec::new();
        let mut kinds = BTreeMap::<(u32, u64), Vec<LinePattern>>::new();
        for pattern in mask.patterns() {
            kinds.entry((pattern.shape, pattern.moving)).or_default().push(pattern);
        }
        for patterns in kinds.into_values() {
            // By its place a line is known whatever it says.
            let fits = |line: &LinePattern| is_there || patterns.iter().any(|pattern| pattern.names(line));
            let [removed, added] = [0, 1].map(|side| {
                let lines = self.open_of_shape(side, patterns[0].shape);
                let lines = lines.map(|place| (place, patterns[0].labelled(self.lines[side][place].0)));
                lines.filter(|(_, line)| fits(line)).collect::<Vec<_>>()
            });
            let mut places = HashMap::<u32, VecDeque<usize>>::new();
            for (place, line) in added {
                places.entry(line.rest).or_default().push_back(place);
            }
            for (before, pattern) in removed {
                let Some(after) = places.get_mut(&pattern.rest).and_then(VecDeque::pop_front) else { continue };
                let [old, new] = [self.lines[0][before].0, self.lines[1][after].0];
                if old == new || !pattern.is_same(old, new) {
                    continue;
                }
                (self.lines[0][before].1, self.lines[1][after].1) = (true, true);
                went.push(short(old));
                let line = PlacedLine { text: new, path: self.path };
                explained.appeared.push(AppearedLine { line, kind: pattern.kind() });
                explained.masked.push(Edit { removed: vec![old], added: vec![new] });
            }
        }
        (!went.is_empty()).then_some(went)
    }

    /// The lines of a side that are not hidden and have a shape.
    fn open_of_shape(&self, side: usize, shape: u32) -> impl Iterator<Item = usize> {
        let lines = self.lines[side].iter().zip(&self.shapes()[side]).enumerate();
        lines.filter(move |(_, ((_, hidden), of))| !hidden && **of == shape).map(|(place, _)| place)
    }

    /// The shape of each line.
    fn shapes(&self) -> &[Vec<u32>; 2] {
        self.shapes
            .get_or_init(|| self.lines.each_ref().map(|lines| lines.iter().map(|(line, _)| shape(line)).collect()))
    }

    /// A list with the same items in another order is the same.
    fn hide_order(&mut self, explained: &mut Explained<'a>) -> Option<Vec<u32>> {
        let [before, after] = self.left();
        let stays = without(&before, &without(&before, &after));
        if stays == without(&after, &without(&after, &before)) || stays.is_empty() {
            return None;
        }
        for side in &mut self.lines {
            let mut left = counts(&stays);
            for (line, hidden) in side.iter_mut().filter(|(_, hidden)| !hidden) {
                *hidden = take_one(&mut left, line);
            }
        }
        explained.masked.push(Edit { removed: stays, added: Vec::new() });
        Some(Vec::new())
    }

    /// Elsewhere on the page only texts are hidden that are known to come and go, where one takes the place of another: one alone may be
    /// gone for good, or be news.
    fn hide_known(&mut self, mask: &Mask, explained: &mut Explained<'a>) -> Option<Vec<u32>> {
        let [before, after] = self.left();
        let [mut removed, mut added] = [without(&before, &after), without(&after, &before)];
        for lines in [&mut removed, &mut added] {
            lines.retain(|line| mask.knows(short(line)));
        }
        if removed.is_empty() || added.is_empty() {
            return None;
        }
        for (lines, hides) in self.lines.iter_mut().zip([&removed, &added]) {
            let mut left = counts(hides);
            for (line, hidden) in lines.iter_mut().filter(|(_, hidden)| !hidden) {
                *hidden = take_one(&mut left, line);
            }
        }
        let went = removed.iter().copied().map(short).collect();
        explained.masked.push(Edit { removed, added });
        Some(went)
    }

    fn hide_lines(
        &mut self,
        mask: &Mask,
        (side, most): (Side, usize),
        explained: &mut Explained<'a>,
    ) -> Option<Vec<u32>> {
        let known = |lines: &Vec<(&str, bool)>| {
            lines.iter().filter(|(line, hidden)| !hidden && mask.knows(short(line))).count()
        };
        let counts = self.lines.each_ref().map(known);
        // First the texts that are known to come and go, then as many others as there is room for.
        let room = counts.iter().copied().max().unwrap_or_default().max(most);
        let mut known = counts.into_iter();
        let [removed, added] = self.lines.each_mut().map(|lines| {
            let mut open: Vec<_> = lines.iter_mut().filter(|(_, hidden)| !hidden).collect();
            if side == Side::After {
                open.reverse();
            }
            let mut free = room - known.next().unwrap_or_default();
            for line in &mut open {
                let is_known = mask.knows(short(line.0));
                line.1 = is_known || free > 0;
                free -= usize::from(line.1 && !is_known);
            }
            let mut hidden: Vec<_> = open.into_iter().filter(|(_, hidden)| *hidden).map(|(line, _)| *line).collect();
            if side == Side::After {
                hidden.reverse();
            }
            hidden
        });
        if removed == added {
            return None;
        }
        let [went, came] = [without(&removed, &added), without(&added, &removed)];
        let is_unknown = |line: &&&str| !mask.knows(short(line));
        let placed = |text: &&'a str| PlacedLine { text, path: self.path };
        explained
            .appeared
            .extend(came.iter().filter(is_unknown).map(|text| AppearedLine { line: placed(text), kind: 0 }));
        explained.vanished.extend(went.iter().filter(is_unknown).map(placed));
        *explained.fewer.entry(self.path.number()).or_default() += went.len().cast_signed() - came.len().cast_signed();
        let went = went.into_iter().map(short).collect();
        explained.masked.push(Edit { removed, added });
        Some(went)
    }
}
