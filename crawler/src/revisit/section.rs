//! Sections: the folders of a site, whose pages lend their rate of change to one that was seldom visited.

use std::collections::{BTreeSet, HashMap};

use xxhash_rust::xxh3::xxh3_64;

/// Folders of a path that count as sections.
const DEPTH: usize = 3;

/// The most sections that are kept, about 5 MiB of them; pages of others have the rate of the folder above.
const MOST: usize = 1 << 16;

/// A sum of rates counts so many to a change a second: as a whole number it is the same in whatever order visits came.
/// The slowest class has some hundreds, and ten million pages of the fastest one do not overflow.
const UNITS: f64 = (1_u64 << 38) as f64;

/// The number of the site as a whole.
const SITE: u64 = 0;

/// How many pages a folder must have before its own rate counts as much as that of the folder above. Fewer make much of what a few
/// visits saw: chosen on the trace of the PHP manual (1, 5, 20, 50, 100 and 300 were tried), and then judged on another.
const PAGES_OF_PRIOR: f64 = 100.0;

/// The rate of change of a site of which nothing is known: once a year.
const UNKNOWN: f64 = 1.0 / (365.0 * 86_400.0);

/// The sections that a page belongs to: the site, and up to three folders of its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionPath {
    /// The outermost first; the last ones may be repeated.
    hashes: [u64; DEPTH],
    folders: u8,
}

impl SectionPath {
    /// The sections of the page at this path, which may be a whole URL.
    pub fn of(path: &str) -> Self {
        let (mut hashes, mut folders) = ([0; DEPTH], 0);
        let host = path.find("://").map_or(0, |at| at + 3);
        let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > host && at + 1 < path.len());
        for (place, end) in ends.take(DEPTH).enumerate() {
            hashes[place] = xxh3_64(&path.as_bytes()[..end]).max(SITE + 1);
            folders += 1;
        }
        Self { hashes, folders }
    }

    fn folders(&self) -> &[u64] {
        &self.hashes[..usize::from(self.folders)]
    }

    /// The numbers of its sections, that of the site first: the same for ever.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(SITE).chain(self.folders().iter().copied())
    }
}

/// The visited pages of a section.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Section {
    /// How many there are.
    pub pages: i64,
    /// The sum of their rates, in 2^-38 changes a second.
    pub rates: i64,
}

/// Mean rates of change, of the site and its folders.
///
/// A store that keeps them has those [put in](Self::put) that a visit concerns, and writes down what
/// [has changed](Self::take_changed).
#[derive(Debug, Clone, Default)]
pub struct Sections {
    known: HashMap<u64, Section>,
    /// Folders there are, those that were not put in included.
    folders: usize,
    changed: BTreeSet<u64>,
}

impl Section {
    fn rate(self, above: f64) -> f64 {
        (PAGES_OF_PRIOR * above + self.rates as f64 / UNITS) / (PAGES_OF_PRIOR + self.pages as f64)
    }
}

impl Sections {
    /// Whether a section is known.
    pub fn knows(&self, number: u64) -> bool {
        self.known.contains_key(&number)
    }

    /// Puts in a section as it was written down.
    pub fn put(&mut self, number: u64, section: Section) {
        self.known.insert(number, section);
    }

    /// So many sections were written down, the site's not included.
    pub fn set_folders(&mut self, folders: usize) {
        self.folders = folders;
    }

    /// What is to be written down, in ascending order of numbers.
    pub fn take_changed(&mut self) -> Vec<(u64, Section)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|number| (number, self.known[&number])).collect()
    }

    /// The rate to be expected of a page there, in changes a second; above 0.
    pub(super) fn rate(&self, path: &SectionPath) -> f64 {
        let site = self.known.get(&SITE).copied().unwrap_or_default();
        let known = path.folders().iter().map_while(|number| self.known.get(number));
        known.fold(site.rate(UNKNOWN), |above, section| section.rate(above))
    }

    /// Adds a visited page of this rate.
    pub(super) fn add(&mut self, path: &SectionPath, rate: f64) {
        for number in path.numbers() {
            if !self.knows(number) {
                if number != SITE && self.folders >= MOST {
                    continue;
                }
                self.folders += usize::from(number != SITE);
            }
            let section = self.known.entry(number).or_default();
            section.pages += 1;
            section.rates = section.rates.saturating_add(units(rate));
            self.changed.insert(number);
        }
    }

    /// Takes a page away that was added with this rate.
    pub(super) fn remove(&mut self, path: &SectionPath, rate: f64) {
        for number in path.numbers() {
            // A page that came before there was room for its folder may leave after another one has made it.
            if let Some(section) = self.known.get_mut(&number) {
                section.pages = (section.pages - 1).max(0);
                section.rates = (section.rates - units(rate)).max(0);
                self.changed.insert(number);
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a change a second is 2^38, and rates are no higher")]
fn units(rate: f64) -> i64 {
    (rate * UNITS).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_own_rate_and_lends_it() {
        let mut sections = Sections::default();
        let [fast, slow] = ["/news/", "/docs/"];
        for page in 0..2000 {
            sections.add(&SectionPath::of(&format!("{fast}{page}")), 1e-4);
            sections.add(&SectionPath::of(&format!("{slow}{page}")), 1e-8);
        }
        let rate = |path: &str| sections.rate(&SectionPath::of(path));
        assert!(rate("/news/new") > 0.9e-4 && rate("/docs/a/b/c/new") < 3e-6);
        assert!((4e-5..6e-5).contains(&rate("/elsewhere/new")));
    }

    #[test]
    fn what_is_taken_away_leaves_what_was_there() {
        let mut sections = Sections::default();
        let [one, other] = ["/a/b/1", "/a/2"].map(SectionPath::of);
        sections.add(&one, 1.0 / 3.0);
        let before = sections.take_changed();
        for rate in [0.1, 1.0 / 7.0, 1e-9] {
            sections.add(&other, rate);
        }
        for rate in [1e-9, 0.1, 1.0 / 7.0] {
            sections.remove(&other, rate);
        }
        let after = sections.take_changed();
        assert_eq!((after.len(), &after[0]), (2, &before[0]), "the site, and /a");
        let mut again = Sections::default();
        for (number, section) in before {
            again.put(number, section);
        }
        assert!((again.rate(&one) - sections.rate(&one)).abs() < 1e-12);
    }

    #[test]
    fn sections_are_folders_and_bounded() {
        assert_eq!(SectionPath::of("/a").folders().len(), 0);
        assert_eq!(SectionPath::of("/a/").folders().len(), 0);
        assert_eq!(SectionPath::of("/a/b/"), SectionPath::of("/a/c"));
        assert_eq!(SectionPath::of("https://h/a").folders().len(), 1);
        assert_eq!(SectionPath::of("/a/b/c/d/e/f").folders().len(), DEPTH);
        let mut sections = Sections::default();
        for number in 0..MOST + 9 {
            sections.add(&SectionPath::of(&format!("/{number}/x")), 1.0);
        }
        assert_eq!((sections.folders, sections.known.len()), (MOST, MOST + 1));
        assert_eq!(sections.take_changed().len(), MOST + 1);
        assert_eq!(sections.take_changed(), []);
    }
}
