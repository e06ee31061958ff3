//! [`regions`]: where two texts of a page differ, each with what is around it.

use super::{
    align::{Run, align},
    edit::Edit,
    line_pattern::short,
};
use crate::text::{ElementPath, Text};

/// The beginning and the end of a text, where a line would be.
const ENDS: [&str; 2] = ["\u{1}", "\u{2}"];

const PARAGRAPH: ElementPath = ElementPath::of_number(0).inside(b"p");

/// A line, and in which elements it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedLine<'a> {
    /// What it says.
    pub text: &'a str,
    pub(super) path: ElementPath,
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
    /// The next lines in other elements; those of a paragraph mean nothing.
    pub(super) outer_before: u32,
    pub(super) outer_after: u32,
    pub(super) heading: u32,
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
    outer: Vec<(ElementPath, [u32; 2])>,
    /// The heading above, and the line before, for people.
    pub(super) under: [&'a str; 2],
}

impl<'a> TextRegion<'a> {
    /// Each path in it, in the order of the lines.
    pub(super) fn paths(&self) -> Vec<ElementPath> {
        let mut paths: Vec<ElementPath> = Vec::new();
        for line in self.before.iter().chain(&self.after) {
            if !paths.contains(&line.path) {
                paths.push(line.path);
            }
        }
        paths
    }

    /// What is around the lines with a path.
    pub(super) fn around(&self, path: ElementPath) -> Around {
        let outer = self.outer.iter().find(|(outer, _)| *outer == path).map(|(_, outer)| *outer);
        let [outer_before, outer_after] = outer.unwrap_or_default();
        Around { outer_before, outer_after, ..self.around }
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
    let mut bounds: Vec<Bounds> = Vec::new();
    for run in runs.iter().filter(|run| !run.same) {
        let mut bound = Bounds { before: run.before.clone(), after: run.after.clone(), edits: vec![run] };
        let sides = [&before[run.before.clone()], &after[run.after.clone()]];
        let first: Vec<_> = sides.iter().filter_map(|side| side.first()).map(|line| line.path).collect();
        let last: Vec<_> = sides.iter().filter_map(|side| side.last()).map(|line| line.path).collect();
        let floor = bounds.last().map_or(0, |bound| bound.before.end);
        while bound.before.start > floor && is_item(before.get(bound.before.start - 1), &first) {
            (bound.before.start, bound.after.start) = (bound.before.start - 1, bound.after.start - 1);
        }
        let most = next_change(&runs, run.before.end).unwrap_or(before.len());
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
    bounds.into_iter().map(|bound| bound.region(&before, &after)).collect()
}

/// Where the next lines differ behind a place in the text before.
fn next_change(runs: &[Run], behind: usize) -> Option<usize> {
    runs.iter().find(|run| !run.same && run.before.start > behind).map(|run| run.before.start)
}

struct Bounds<'r> {
    before: std::ops::Range<usize>,
    after: std::ops::Range<usize>,
    edits: Vec<&'r Run>,
}

impl Bounds<'_> {
    fn region<'a>(self, before: &[PlacedLine<'a>], after: &[PlacedLine<'a>]) -> TextRegion<'a> {
        let words = |lines: &[PlacedLine<'a>]| lines.iter().map(|line| line.text).collect::<Vec<_>>();
        let above = &after[..self.after.start];
        let heading = above.iter().rev().find(|line| line.path.is_heading()).map_or("", |line| line.text);
        let previous = above.last().map_or(ENDS[0], |line| line.text);
        let next = after.get(self.after.end).map_or(ENDS[1], |line| line.text);
        let edit =
            |run: &Run| Edit { removed: words(&before[run.before.clone()]), added: words(&after[run.after.clone()]) };
        let mut region = TextRegion {
            edits: self.edits.into_iter().map(edit).collect(),
            before: before[self.before].to_vec(),
            after: after[self.after.clone()].to_vec(),
            around: Around {
                before: short(previous),
                after: short(next),
                heading: if heading.is_empty() { 0 } else { short(heading) },
                ..Around::default()
            },
            outer: Vec::new(),
            under: [heading, above.last().map_or("", |line| line.text)],
        };
        let below = &after[self.after.end..];
        let outer = |path: ElementPath| {
            let before = above.iter().rev().find(|line| line.path != path).map_or(ENDS[0], |line| line.text);
            let after = below.iter().find(|line| line.path != path).map_or(ENDS[1], |line| line.text);
            (path, [before, after].map(short))
        };
        region.outer = region.paths().into_iter().filter(|path| path.innermost() != PARAGRAPH).map(outer).collect();
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
