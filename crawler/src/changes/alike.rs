//! [`alike`]: which changes of different pages are nearly the same.

use xxhash_rust::xxh3::Xxh3;

use super::{
    edit::Edit,
    line_pattern::{Word, may_move, words},
};

/// Lines of edits that are compared: of longer ones this is the beginning.
const MOST_LINES: usize = 100;

/// A hash that is the same for edits that differ in nothing but numbers, dates and tokens, and in what stays of their lines.
pub fn alike(edits: &[Edit<'_>]) -> u64 {
    let mut hasher = Xxh3::new();
    let mut left = MOST_LINES;
    for edit in edits {
        if edit.removed.len() == edit.added.len() {
            for (removed, added) in edit.removed.iter().zip(&edit.added).take(left) {
                let [removed, added] = [removed, added].map(|line| words(line));
                let around = around(&removed, &added);
                for line in [removed, added] {
                    take(&mut hasher, &line[around[0]..line.len() - around[1]]);
                }
            }
        } else {
            for (mark, lines) in [("-", &edit.removed), ("+", &edit.added)] {
                hasher.update(mark.as_bytes());
                lines.iter().take(left).for_each(|line| take(&mut hasher, &words(line)));
            }
        }
        left = left.saturating_sub(edit.removed.len().max(edit.added.len()));
    }
    hasher.digest()
}

/// How many words at the beginning and the end of two lines are equal, but for one on each side.
fn around(one: &[Word<'_>], other: &[Word<'_>]) -> [usize; 2] {
    let equal = |pair: &(&Word<'_>, &Word<'_>)| pair.0.text == pair.1.text;
    let before = one.iter().zip(other).take_while(equal).count();
    let most = one.len().min(other.len()) - before;
    let after = one.iter().rev().zip(other.iter().rev()).take(most).take_while(equal).count();
    [before.saturating_sub(1), after.saturating_sub(1)]
}

fn take(hasher: &mut Xxh3, words: &[Word<'_>]) {
    for word in words {
        hasher.update(if may_move(word.text) { b"0" } else { word.text.as_bytes() });
        hasher.update(b" ");
    }
    hasher.update(b"\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(removed: &[&'static str], added: &[&'static str]) -> u64 {
        alike(&[Edit { removed: removed.to_vec(), added: added.to_vec() }])
    }

    #[test]
    fn what_differs_in_numbers_alone_is_alike() {
        assert_eq!(of(&["Price 17 EUR"], &["Price 18 EUR"]), of(&["Price 3 EUR"], &["Price 401 EUR"]));
        assert_eq!(of(&["Price 17 EUR"], &["sold out"]), of(&["Price 3 EUR"], &["sold out"]));
        assert_eq!(of(&[], &["New since 3 May"]), of(&[], &["New since 5 June"]));
        assert_ne!(of(&["Price 17 EUR"], &["Price 18 EUR"]), of(&["Stock 17 pieces"], &["Stock 18 pieces"]));
        assert_ne!(of(&["Price 17 EUR"], &["Price 18 EUR"]), of(&[], &["Price 18 EUR"]));
    }

    #[test]
    fn what_stays_of_a_line_does_not_count() {
        let one = of(&["A guide to apples, by Acme Limited"], &["A guide to apples, by Acme Group"]);
        assert_eq!(one, of(&["All of bread, by Acme Limited"], &["All of bread, by Acme Group"]));
        assert_ne!(one, of(&["All of bread, by Ajax Limited"], &["All of bread, by Ajax Group"]));
    }
}
