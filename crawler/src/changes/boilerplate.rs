//! [`Boilerplate`]: the lines that many pages of a section share: menus, footers, banners.

use std::collections::{HashMap, HashSet};

use super::line_hash::hash;
use crate::text::Text;

/// A line is boilerplate where it is on more than this share of the sampled pages, in percent: far more than a word
/// of content does, and little enough for a menu that half of a section has.
const SHARE: usize = 30;

/// On fewer pages than this a line is no boilerplate: two pages with one line in common are no pattern yet.
const FEWEST: usize = 5;

/// Counts the lines of sampled pages of one section.
///
/// ```
/// use webloom::internals::{changes::BoilerplateSample, text::Text};
/// let page = |number: u8| Text::from_lines(["Home | News", format!("Page {number}").as_str()]);
/// let mut sample = BoilerplateSample::default();
/// (0..5).for_each(|number| sample.add(&page(number)));
/// assert_eq!(sample.boilerplate().main(&page(7)).as_str(), "Page 7");
/// ```
#[derive(Debug, Clone, Default)]
pub struct BoilerplateSample {
    texts: usize,
    counts: HashMap<u64, usize>,
}

/// The boilerplate of a section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Boilerplate {
    lines: HashSet<u64>,
}

impl BoilerplateSample {
    /// Another page. A line counts once, however often it occurs there.
    pub fn add(&mut self, text: &Text) {
        self.texts += 1;
        let lines: HashSet<_> = text.lines().map(hash).collect();
        for line in lines {
            *self.counts.entry(line).or_default() += 1;
        }
    }

    /// What is boilerplate among these pages.
    pub fn boilerplate(&self) -> Boilerplate {
        let many = |count: usize| count >= FEWEST && count * 100 > self.texts * SHARE;
        Boilerplate { lines: self.counts.iter().filter(|(_, count)| many(**count)).map(|(line, _)| *line).collect() }
    }
}

impl Boilerplate {
    /// That of these pages.
    #[cfg(test)]
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Self {
        let mut sample = BoilerplateSample::default();
        texts.into_iter().for_each(|text| sample.add(text));
        sample.boilerplate()
    }

    /// Takes in that of another section.
    pub fn add(&mut self, other: &Self) {
        self.lines.extend(&other.lines);
    }

    /// How many lines are boilerplate.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether this line is.
    pub fn contains(&self, line: &str) -> bool {
        self.lines.contains(&hash(line))
    }

    /// Whether the line with this hash is.
    pub(super) fn holds(&self, line: u64) -> bool {
        self.lines.contains(&line)
    }

    /// The main text: all other lines.
    pub fn main(&self, text: &Text) -> Text {
        if self.is_empty() {
            return text.clone();
        }
        Text::from_lines(text.lines().filter(|line| !self.contains(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pages: usize, with_menu: usize) -> Vec<Text> {
        let page = |number: usize| {
            let menu = if number < with_menu { "menu" } else { "other" };
            Text::from_lines([menu, menu, format!("unique {number}").as_str()])
        };
        (0..pages).map(page).collect()
    }

    #[test]
    fn more_than_thirty_percent_is_boilerplate() {
        assert!(!Boilerplate::of(&texts(100, 30)).contains("menu"));
        assert!(Boilerplate::of(&texts(100, 31)).contains("menu"));
    }

    #[test]
    fn few_pages_have_none() {
        assert!(Boilerplate::of(&texts(4, 4)).is_empty());
        assert!(!Boilerplate::of(&texts(8, 4)).contains("menu"));
        assert_eq!(Boilerplate::of(&texts(5, 5)).len(), 1);
        assert!(Boilerplate::of([]).is_empty());
    }

    #[test]
    fn the_main_text_is_the_rest() {
        let texts = texts(10, 10);
        let boilerplate = Boilerplate::of(&texts);
        assert_eq!(boilerplate.main(&texts[3]).as_str(), "unique 3");
        assert!(boilerplate.main(&Text::from_lines(["menu"])).is_empty());
        assert_eq!(Boilerplate::default().main(&texts[3]), texts[3]);
        let mut both = Boilerplate::default();
        both.add(&boilerplate);
        assert_eq!(both, boilerplate);
    }
}
