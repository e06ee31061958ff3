//! Aligns the lines of two texts.
//!
//! Common ends are matched first; then lines that occur once in each text, as far as their order is the same (Bram
//! Cohen's patience diff); then, between those, the fewest edits (Myers 1986, by `similar`). The last step takes
//! quadratic time on texts that have little in common, so a gap beyond a bound is one replacement.

use std::{cmp::Reverse, collections::HashMap, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Gaps of more than so many lines times lines are replaced whole.
const LARGEST_GAP: usize = 250_000;

/// Lines that stay, or lines that are replaced by others; either side may be empty then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Run {
    /// Whether they stay.
    pub(super) same: bool,
    /// Where they are in the text before.
    pub(super) before: Range<usize>,
    /// Where they are in the text after it.
    pub(super) after: Range<usize>,
}

/// From one text to the other: what stays and what does not, in turn.
pub(super) fn align(before: &[&str], after: &[&str]) -> Vec<Run> {
    let numbers = numbers(before, after);
    let number = |lines: &[&str]| lines.iter().map(|line| numbers[line]).collect::<Vec<_>>();
    let (before, after) = (number(before), number(after));
    let mut script = Script::default();
    let (start, end) = common_ends(&before, &after);
    script.same(start);
    let (inner_before, inner_after) = (&before[start..before.len() - end], &after[start..after.len() - end]);
    let (mut from, mut to) = (0, 0);
    for (b, a) in anchors(inner_before, inner_after) {
        script.gap(&inner_before[from..b], &inner_after[to..a]);
        script.same(1);
        (from, to) = (b + 1, a + 1);
    }
    script.gap(&inner_before[from..], &inner_after[to..]);
    script.same(end);
    script.runs
}

/// Equal lines have equal numbers.
fn numbers<'a>(before: &[&'a str], after: &[&'a str]) -> HashMap<&'a str, u32> {
    let mut numbers = HashMap::new();
    for line in before.iter().chain(after) {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        numbers.entry(*line).or_insert(next);
    }
    numbers
}

/// How many lines are the same at the start, and how many of the rest at the end.
fn common_ends(before: &[u32], after: &[u32]) -> (usize, usize) {
    let start = before.iter().zip(after).take_while(|(b, a)| b == a).count();
    let rest = before[start..].iter().rev().zip(after[start..].iter().rev());
    (start, rest.take_while(|(b, a)| b == a).count())
}

/// The longest series of lines that stand once in either text, in the same order.
fn anchors(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let (places, targets) = (once(before), once(after));
    let mut pairs: Vec<_> = places.iter().filter_map(|(line, b)| Some((*b, *targets.get(line)?))).collect();
    pairs.sort_unstable();
    longest_ascending(&pairs)
}

fn once(lines: &[u32]) -> HashMap<u32, usize> {
    let mut places = HashMap::new();
    for (place, line) in lines.iter().enumerate() {
        places.entry(*line).and_modify(|place| *place = None).or_insert(Some(place));
    }
    places.into_iter().filter_map(|(line, place)| Some((line, place?))).collect()
}

/// Of pairs in ascending order of their first halves, the most whose second halves ascend too (patience sorting).
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best series of each length, and the pair before each.
    let mut tops: Vec<usize> = Vec::new();
    let mut previous = vec![None; pairs.len()];
    for (number, (_, target)) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|top| pairs[*top].1 < *target);
        previous[number] = pile.checked_sub(1).map(|below| tops[below]);
        tops.truncate(tops.len().max(pile));
        match tops.get_mut(pile) {
            Some(top) => *top = number,
            None => tops.push(number),
        }
    }
    let mut series: Vec<_> =
        std::iter::successors(tops.last().copied(), |number| previous[*number]).map(|number| pairs[number]).collect();
    series.sort_unstable_by_key(|pair| Reverse(*pair));
    series.reverse();
    series
}

/// The runs so far.
#[derive(Debug, Default)]
struct Script {
    runs: Vec<Run>,
}

impl Script {
    fn gap(&mut self, before: &[u32], after: &[u32]) {
        let (start, end) = common_ends(before, after);
        let (inner_before, inner_after) = (&before[start..before.len() - end], &after[start..after.len() - end]);
        self.same(start);
        if inner_before.len().saturating_mul(inner_after.len()) > LARGEST_GAP {
            self.replaced(inner_before.len(), inner_after.len());
        } else {
            self.fewest_edits(inner_before, inner_after);
        }
        self.same(end);
    }

    fn fewest_edits(&mut self, before: &[u32], after: &[u32]) {
        for edit in capture_diff_slices(Algorithm::Myers, before, after) {
            match edit {
                DiffOp::Equal { len, .. } => self.same(len),
                edit => self.replaced(edit.old_range().len(), edit.new_range().len()),
            }
        }
    }

    fn same(&mut self, lines: usize) {
        self.add(true, lines, lines);
    }

    fn replaced(&mut self, before: usize, after: usize) {
        self.add(false, before, after);
    }

    fn add(&mut self, same: bool, before: usize, after: usize) {
        let (b, a) = self.runs.last().map_or((0, 0), |run| (run.before.end, run.after.end));
        match self.runs.last_mut() {
            _ if before + after == 0 => {}
            Some(run) if run.same == same => {
                run.before.end += before;
                run.after.end += after;
            }
            _ => self.runs.push(Run { same, before: b..b + before, after: a..a + after }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_longest_ascending_series() {
        let pairs: Vec<_> = [5, 1, 9, 2, 3, 8, 4].into_iter().enumerate().collect();
        assert_eq!(longest_ascending(&pairs).iter().map(|pair| pair.1).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(longest_ascending(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_script_leads_from_one_to_the_other(before in "[a-f]{0,30}", after in "[a-f]{0,30}") {
            let letters = |text: &'static str| text.split("").filter(|letter| !letter.is_empty()).collect::<Vec<_>>();
            let (before, after) = (letters(before.leak()), letters(after.leak()));
            let (mut b, mut a) = (0, 0);
            let mut last = None;
            for run in align(&before, &after) {
                prop_assert_eq!((run.before.start, run.after.start), (b, a));
                prop_assert!(last != Some(run.same) && run.before.len() + run.after.len() > 0);
                prop_assert!(!run.same || before[run.before.clone()] == after[run.after.clone()]);
                (b, a, last) = (run.before.end, run.after.end, Some(run.same));
            }
            prop_assert_eq!((b, a), (before.len(), after.len()));
        }
    }
}
