//! [`rotating`]: the lines of a page that differ at each look: counters, dates, tokens.

use std::time::Duration;

use super::align::align;
use crate::{text::Text, time::Moment};

/// Looks that follow each other within this time are two looks at one page: what differs between them rotates.
const SHORTLY: Duration = Duration::from_hours(1);

/// Lines of a page that are followed, at most.
const MOST_LINES: usize = 50;

/// The texts of a page that are kept, oldest first, each another than the one before. All were made by one rule.
#[derive(Debug, Clone)]
pub struct KeptTexts {
    /// The page.
    pub url: String,
    /// How often it was seen.
    pub looks: u64,
    /// When each text was seen first, and what is compared of it.
    pub texts: Vec<(Moment, Text)>,
}

/// One line of a page, as each text has it.
pub(super) type Versions = Vec<String>;

/// The lines that are others in each text, while something else stays. Of two texts alone nothing follows, unless one look came
/// shortly after the other.
pub(super) fn rotating(page: &KeptTexts) -> Vec<Versions> {
    let texts: Vec<Vec<&str>> = page.texts.iter().map(|(_, text)| text.lines().collect()).collect();
    let shortly = |pair: &[(Moment, Text)]| pair[1].0.since(pair[0].0) <= SHORTLY;
    if texts.len() < 2 || (texts.len() == 2 && !shortly(&page.texts)) {
        return Vec::new();
    }
    let mut followed: Vec<Vec<usize>> = Vec::new();
    for (number, pair) in texts.windows(2).enumerate() {
        let replaced = replaced(&pair[0], &pair[1]);
        if number == 0 {
            followed = replaced.iter().map(|(before, after)| vec![*before, *after]).take(MOST_LINES).collect();
            continue;
        }
        followed.retain_mut(|places| {
            let next = replaced.iter().find(|(before, _)| places.last() == Some(before)).map(|(_, after)| *after);
            places.extend(next);
            next.is_some()
        });
    }
    let line = |(text, place): (usize, &usize)| texts[text][*place].to_owned();
    followed.iter().map(|places| places.iter().enumerate().map(line).collect()).collect()
}

/// The lines of which each became one other, by their places before and after; none where nothing stays.
fn replaced(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let runs = align(before, after);
    if !runs.iter().any(|run| run.same) {
        return Vec::new();
    }
    let edits = runs.iter().filter(|run| !run.same && run.before.len() == run.after.len());
    edits.flat_map(|run| run.before.clone().zip(run.after.clone())).collect()
}

/// The lines of a page that stand: each is in a text and in the next one, at the same place among the others; or the page was
/// seen more than once, and has one text.
pub(super) fn standing(page: &KeptTexts) -> Vec<&str> {
    let texts: Vec<Vec<&str>> = page.texts.iter().map(|(_, text)| text.lines().collect()).collect();
    if let ([only], true) = (&texts[..], page.looks > 1) {
        return only.clone();
    }
    let mut all = Vec::new();
    for pair in texts.windows(2) {
        let same = align(&pair[0], &pair[1]).into_iter().filter(|run| run.same);
        all.extend(same.flat_map(|run| pair[0][run.before].to_vec()));
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A page with these texts, their lines parted by `|`, seen so many seconds apart.
    pub(crate) fn page(seconds: u64, texts: &[&str]) -> KeptTexts {
        let text = |(number, text): (u64, &&str)| {
            (Moment::from_millis(number * seconds * 1_000), Text::from_lines(text.split('|')))
        };
        let texts: Vec<_> = (0..).zip(texts).map(text).collect();
        KeptTexts { url: "http://h/".to_owned(), looks: texts.len() as u64, texts }
    }

    const DAY: u64 = 86_400;

    #[test]
    fn what_is_another_each_time_rotates() {
        let found = rotating(&page(DAY, &["a|1|b|7 seen", "a|2|b|8 seen", "a|3|c|9 seen"]));
        assert_eq!(found, [["1", "2", "3"], ["7 seen", "8 seen", "9 seen"]]);
        assert!(rotating(&page(DAY, &["a|1|b", "a|2|b", "a|2|c"])).is_empty(), "it stood once");
        assert!(rotating(&page(DAY, &["1", "2", "3"])).is_empty(), "nothing stays");
    }

    #[test]
    fn two_texts_tell_it_shortly_after_each_other() {
        assert_eq!(rotating(&page(600, &["a|1", "a|2"])), [["1", "2"]]);
        assert!(rotating(&page(DAY, &["a|1", "a|2"])).is_empty());
        assert!(rotating(&page(600, &["a|1"])).is_empty());
    }

    #[test]
    fn lines_that_stand_are_known() {
        assert_eq!(standing(&page(9, &["a|1|b", "a|2|b", "c|3|b"])), ["a", "b"]);
        assert!(standing(&page(9, &["a"])).is_empty(), "it was seen once");
        assert_eq!(standing(&KeptTexts { looks: 2, ..page(9, &["a|b"]) }), ["a", "b"]);
    }
}
