//! [`unified`]: the difference of two texts in the unified format.

use std::ops::Range;

use super::align::{Run, align};
use crate::text::Text;

/// The difference of two texts in the unified format, as `diff -u` prints it but for the two lines that name files:
/// hunks, with so many lines of context. Empty if the texts are equal.
///
/// ```
/// use webloom::internals::{changes::unified, text::Text};
/// let (before, after) = (Text::from_lines(["a", "b", "c"]), Text::from_lines(["a", "B", "c"]));
/// assert_eq!(unified(&before, &after, 1), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
/// ```
pub fn unified(before: &Text, after: &Text, context: usize) -> String {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let mut diff = String::new();
    for hunk in hunks(align(&before, &after), context) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let header = |place: [usize; 2]| range(&(place[0]..place[1]));
        let (removed, added) = ([first.before.start, last.before.end], [first.after.start, last.after.end]);
        diff += &format!("@@ -{} +{} @@\n", header(removed), header(added));
        for run in &hunk {
            write_run(&mut diff, run, (&before, &after));
        }
    }
    diff
}

/// Runs that stand together: unchanged ones are shortened to the context, and divided where they are longer.
fn hunks(runs: Vec<Run>, context: usize) -> Vec<Vec<Run>> {
    let mut hunks = Vec::new();
    let mut hunk: Vec<Run> = Vec::new();
    let count = runs.len();
    for (number, run) in runs.into_iter().enumerate() {
        let ends = number == 0 || number + 1 == count;
        if !run.same || (!ends && run.before.len() <= context.saturating_mul(2)) {
            hunk.push(run);
            continue;
        }
        let length = run.before.len().min(context);
        if !hunk.is_empty() {
            hunk.push(part(&run, 0..length));
            hunks.push(std::mem::take(&mut hunk));
        }
        hunk.push(part(&run, run.before.len() - length..run.before.len()));
    }
    hunks.push(hunk);
    hunks.retain(|hunk| hunk.iter().any(|run| !run.same));
    hunks
}

/// A part of a run of unchanged lines.
fn part(run: &Run, lines: Range<usize>) -> Run {
    let moved = |start: usize| start + lines.start..start + lines.end;
    Run { same: true, before: moved(run.before.start), after: moved(run.after.start) }
}

/// First line and length. An empty range names the line before it, and a length of one is not written.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        length => format!("{},{length}", lines.start + 1),
    }
}

fn write_run(diff: &mut String, run: &Run, (before, after): (&[&str], &[&str])) {
    let (removed, added) = (&before[run.before.clone()], &after[run.after.clone()]);
    if run.same {
        write_lines(diff, " ", removed);
    } else {
        write_lines(diff, "-", removed);
        write_lines(diff, "+", added);
    }
}

fn write_lines(diff: &mut String, mark: &str, lines: &[&str]) {
    diff.extend(lines.iter().flat_map(|line| [mark, line, "\n"]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str, context: usize) -> String {
        unified(&Text::from_lines(before.split(' ')), &Text::from_lines(after.split(' ')), context).replace('\n', "|")
    }

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(diff("a b", "a b", 3), "");
        assert_eq!(diff("", "", 3), "");
    }

    #[test]
    fn hunks_are_those_of_diff() {
        assert_eq!(diff("", "a b", 3), "@@ -0,0 +1,2 @@|+a|+b|");
        assert_eq!(diff("a", "", 3), "@@ -1 +0,0 @@|-a|");
        assert_eq!(diff("a b c d e", "a b x d e", 1), "@@ -2,3 +2,3 @@| b|-c|+x| d|");
        assert_eq!(diff("a b c d e", "a b x d e", 0), "@@ -3 +3 @@|-c|+x|");
        assert_eq!(diff("a b", "a b c", 0), "@@ -2,0 +3 @@|+c|");
        assert_eq!(diff("1 2 3 4 5 6", "x 2 3 4 5 y", 2), "@@ -1,6 +1,6 @@|-1|+x| 2| 3| 4| 5|-6|+y|");
        assert_eq!(
            diff("1 2 3 4 5 6 7", "x 2 3 4 5 6 y", 2),
            "@@ -1,3 +1,3 @@|-1|+x| 2| 3|@@ -5,3 +5,3 @@| 5| 6|-7|+y|"
        );
    }
}
