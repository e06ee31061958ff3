//! [`regions`]: where two texts of a page differ, each with what is around it.

use std::{collections::HashMap, ops::Range};

use super::{
    align::{Run, align},
    edit::Edit,
    line_pattern::short,
};
use crate::text::{ElementPath, Text};

/// The beginning and the end of a text, where a line would be.
const ENDS: [&str; 2] = ["\u{1}", "\u{2}"];

const PARAGRAPH: ElementPath = ElementPath::of_number(0).inside(b"p");

/// Paths in one region.
const MOST_PATHS: usize = 20;

/// A line, and in which elements it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlacedLine<'a> {
    /// What it says.
    pub(super) text: &'a str,
    pub(super) path: ElementPath,
}

impl Around {
    /// The same with what is no further away than so many lines; of a paragraph only with what is next to it.
    pub(super) fn near(self, lines: usize, path: ElementPath) -> Self {
        let means = |gap| gap <= lines && path.innermost() != PARAGRAPH;
        let within = |hash, gap| if means(gap) { hash } else { 0 };
        let outer_before = within(self.outer_before, self.gaps[0]);
        Self { outer_before, outer_after: within(self.outer_after, self.gaps[1]), gaps: [0; 2], ..self }
    }
}

impl PlacedLine<'_> {
    /// A hash of what it says and where.
    pub(super) fn key(&self) -> u32 {
        short(&format!("{}\u{1}{}", self.path.number(), self.text))
    }
}

/// Hashes of the lines around a place; 0 where that is not known. One of them that is equal tells the same place on a page, however
/// far text above it has moved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Around {
    /// The lines next to it.
    pub(super) before: u32,
    pub(super) after: u32,
    /// The next lines in other elements.
    pub(super) outer_before: u32,
    pub(super) outer_after: u32,
    /// How many lines are between.
    #[serde(skip)]
    pub(super) gaps: [usize; 2],
    pub(super) heading: u32,
    /// Lines of the page in the same elements.
    pub(super) on_page: usize,
}

/// The next lines in other elements, and how far away they are.
#[derive(Debug, Clone, Copy, Default)]
struct Outer {
    lines: [u32; 2],
    gaps: [usize; 2],
}

/// A part in which two texts differ.
#[derive(Debug)]
pub(super) struct TextRegion<'a> {
    /// The lines before and after. In a list these are all of its items, also those that stay.
    pub(super) before: Vec<PlacedLine<'a>>,
    pub(super) after: Vec<PlacedLine<'a>>,
    /// The fewest edits from one to the other.
    pub(super) edits: Vec<Edit<'a>>,
    around: Around,
    /// The next lines in other elements, for each path in it.
    outer: Vec<(ElementPath, Outer)>,
    /// Lines of the page with each path in it: those of the text that has more.
    on_page: Vec<(ElementPath, usize)>,
    /// The heading above, and the line before, for people.
    pub(super) under: [&'a str; 2],
}

impl<'a> TextRegion<'a> {
    /// Each path in it, in the order of the lines; none where there are too many for a place of anything.
    pub(super) fn paths(&self) -> Vec<ElementPath> {
        let mut paths: Vec<ElementPath> = Vec::new();
        for line in self.before.iter().chain(&self.after) {
            if !paths.contains(&line.path) {
                paths.push(line.path);
            }
            if paths.len() > MOST_PATHS {
                return Vec::new();
            }
        }
        paths
    }

    /// What is around the lines with a path.
    pub(super) fn around(&self, path: ElementPath) -> Around {
        let outer = self.outer.iter().find(|(outer, _)| *outer == path).map(|(_, outer)| *outer);
        let Outer { lines: [outer_before, outer_after], gaps } = outer.unwrap_or_default();
        let on_page = self.on_page.iter().find(|(counted, _)| *counted == path).map_or(0, |(_, lines)| *lines);
        Around { outer_before, outer_after, gaps, on_page, ..self.around }
    }

    /// The lines with a path, before and after.
    pub(super) fn at(&self, path: ElementPath) -> [Vec<&'a str>; 2] {
        [&self.before, &self.after]
            .map(|lines| lines.iter().filter(|line| line.path == path).map(|line| line.text).collect())
    }
}

/// The lines of a text with their places.
pub(super) fn placed(text: &Text) -> Vec<PlacedLine<'_>> {
    text.placed().map(|(text, path)| PlacedLine { text, path }).collect()
}

/// Where the texts differ, in order. What is no list is no larger than the edits; the items of a list are one region.
pub(super) fn regions<'a>(before: &'a Text, after: &'a Text) -> Vec<TextRegion<'a>> {
    let (before, after) = (placed(before), placed(after));
    let words = |lines: &[PlacedLine<'a>]| lines.iter().map(|line| line.text).collect::<Vec<_>>();
    let runs = align(&words(&before), &words(&after));
    let is_item = |line: Option<&PlacedLine<'_>>, of: &[ElementPath]| {
        line.is_some_and(|line| line.path.is_item() && of.contains(&line.path))
    };
    let changed: Vec<&Run> = runs.iter().filter(|run| !run.same).collect();
    let mut bounds: Vec<Bounds> = Vec::new();
    for (number, run) in changed.iter().enumerate() {
        let mut bound = Bounds { before: run.before.clone(), after: run.after.clone(), edits: vec![run] };
        let sides = [&before[run.before.clone()], &after[run.after.clone()]];
        let first: Vec<_> = sides.iter().filter_map(|side| side.first()).map(|line| line.path).collect();
        let last: Vec<_> = sides.iter().filter_map(|side| side.last()).map(|line| line.path).collect();
        let floor = bounds.last().map_or(0, |bound| bound.before.end);
        while bound.before.start > floor && is_item(before.get(bound.before.start - 1), &first) {
            (bound.before.start, bound.after.start) = (bound.before.start - 1, bound.after.start - 1);
        }
        let most = changed.get(number + 1).map_or(before.len(), |next| next.before.start);
        while bound.before.end < most && is_item(before.get(bound.before.end), &last) {
            (bound.before.end, bound.after.end) = (bound.before.end + 1, bound.after.end + 1);
        }
        match bounds.last_mut() {
            Some(other) if other.before.end == bound.before.start && other.after.end == bound.after.start => {
                (other.before.end, other.after.end) = (bound.before.end, bound.after.end);
                other.edits.extend(bound.edits);
            }
            _ => bounds.push(bound),
        }
    }
    let neighbours = [Neighbours::of(&before), Neighbours::of(&after)];
    let counts = [&before, &after].map(|lines| by_path(lines));
    let counted = |mut region: TextRegion<'a>| {
        let most = |path| counts.iter().filter_map(|counts| counts.get(&path)).max().copied().unwrap_or_default();
        region.on_page = region.paths().into_iter().map(|path| (path, most(path))).collect();
        region
    };
    bounds.into_iter().map(|bound| counted(bound.region(&before, &after, &neighbours))).collect()
}

/// How many lines have each path.
fn by_path(lines: &[PlacedLine<'_>]) -> HashMap<ElementPath, usize> {
    let mut counts = HashMap::new();
    for line in lines {
        *counts.entry(line.path).or_default() += 1;
    }
    counts
}

/// Of each line of a text the nearest ones of some kind, by their places.
struct Neighbours {
    /// The line itself, or the last one before it, that is a heading.
    heading: Vec<Option<usize>>,
    /// The last one before it in other elements, and the next one behind it.
    other_before: Vec<Option<usize>>,
    other_after: Vec<Option<usize>>,
}

impl Neighbours {
    fn of(lines: &[PlacedLine<'_>]) -> Self {
        let none = vec![None; lines.len()];
        let mut found = Self { heading: none.clone(), other_before: none.clone(), other_after: none };
        for place in 0..lines.len() {
            let before = place.checked_sub(1);
            let last = before.and_then(|before| found.heading[before]);
            found.heading[place] = if lines[place].path.is_heading() { Some(place) } else { last };
            found.other_before[place] = before.and_then(|before| {
                if lines[before].path == lines[place].path { found.other_before[before] } else { Some(before) }
            });
        }
        for place in (0..lines.len().saturating_sub(1)).rev() {
            let next = place + 1;
            let is_same = lines[next].path == lines[place].path;
            found.other_after[place] = if is_same { found.other_after[next] } else { Some(next) };
        }
        found
    }
}

struct Bounds<'r> {
    before: Range<usize>,
    after: Range<usize>,
    edits: Vec<&'r Run>,
}

impl Bounds<'_> {
    fn region<'a>(
        self,
        before: &[PlacedLine<'a>],
        after: &[PlacedLine<'a>],
        neighbours: &[Neighbours; 2],
    ) -> TextRegion<'a> {
        let words = |lines: &[PlacedLine<'a>]| lines.iter().map(|line| line.text).collect::<Vec<_>>();
        // What is around lines that went is where they were.
        let is_gone = self.after.is_empty();
        let (lines, at) = if is_gone { (before, &self.before) } else { (after, &self.after) };
        let neighbours = &neighbours[usize::from(!is_gone)];
        let text = |place: Option<usize>| place.and_then(|place| lines.get(place)).map(|line| line.text);
        let (last, next) = (at.start.checked_sub(1), at.end);
        let heading = text(last.and_then(|last| neighbours.heading[last])).unwrap_or_default();
        let edit =
            |run: &Run| Edit { removed: words(&before[run.before.clone()]), added: words(&after[run.after.clone()]) };
        let mut region = TextRegion {
            edits: self.edits.into_iter().map(edit).collect(),
            before: before[self.before].to_vec(),
            after: after[self.after].to_vec(),
            around: Around {
                before: short(text(last).unwrap_or(ENDS[0])),
                after: short(text(Some(next)).unwrap_or(ENDS[1])),
                heading: if heading.is_empty() { 0 } else { short(heading) },
                ..Around::default()
            },
            outer: Vec::new(),
            on_page: Vec::new(),
            under: [heading, text(last).unwrap_or_default()],
        };
        let is_at = |place: usize, path: ElementPath| lines.get(place).is_some_and(|line| line.path == path);
        let outer = |path: ElementPath| {
            let above =
                last.and_then(|last| if is_at(last, path) { neighbours.other_before[last] } else { Some(last) });
            let below = if is_at(next, path) { neighbours.other_after[next] } else { Some(next) };
            let gaps = [
                above.zip(last).map_or(0, |(above, last)| last - above),
                below.map_or(0, |below| below.saturating_sub(next)),
            ];
            (path, Outer { lines: [above, below].map(|place| text(place).map_or(0, short)), gaps })
        };
        region.outer = region.paths().into_iter().map(outer).collect();
        region
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A text of lines that are parted by `|`: one with `#` is a heading, with `*` an item, with `-` in a division, any other a paragraph.
    pub(crate) fn text(lines: &str) -> Text {
        let body = ElementPath::default().inside(b"body");
        let kind = |line: &str| match line.as_bytes().first() {
            Some(b'#') => body.inside(b"h2"),
            Some(b'*') => body.inside(b"ul").inside(b"li"),
            Some(b'-') => body.inside(b"div"),
            _ => body.inside(b"p"),
        };
        let lines: Vec<_> = lines.split('|').filter(|line| !line.is_empty()).collect();
        Text::from_lines(lines.iter().copied()).at(lines.iter().map(|line| kind(line)).collect())
    }

    fn shown(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (text(before), text(after));
        let words = |lines: &[PlacedLine<'_>]| lines.iter().map(|line| line.text).collect::<Vec<_>>().join(" ");
        regions(&before, &after)
            .iter()
            .map(|region| format!("{}>{}", words(&region.before), words(&region.after)))
            .collect()
    }

    #[test]
    fn a_list_is_one_region_and_a_paragraph_is_its_own() {
        assert_eq!(shown("a|b|c", "a|x|c"), ["b>x"]);
        assert_eq!(shown("#h|*1|*2|*3|*4|end", "#h|*3|*1|*2|*5|end"), ["*1 *2 *3 *4>*3 *1 *2 *5"]);
        assert_eq!(shown("a|*1|*2|b|*3|c", "a|*1|*0|b|*3|d"), ["*1 *2>*1 *0", "c>d"]);
        assert_eq!(shown("*1|*2", "*1|*2|*3"), ["*1 *2>*1 *2 *3"]);
        assert_eq!(shown("a|b", "a|b"), [""; 0]);
    }

    #[test]
    fn what_is_around_tells_the_place() {
        let around = |before: &str, after: &str| regions(&text(before), &text(after))[0].around;
        let one = around("#h|a|1|b", "#h|a|2|b");
        assert_eq!(one, around("new|#h|a|7|b|c", "new|#h|a|8|b|c"));
        assert_ne!(one.before, around("#h|x|1|b", "#h|x|2|b").before);
        assert!(around("1", "2").heading == 0 && around("1", "2").before != 0);
    }
}
