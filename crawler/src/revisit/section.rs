//! Sections: the folders of a site, whose pages lend their rate of change to one that was seldom visited.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Folders of a path that count as sections.
const DEPTH: usize = 3;

/// The most sections that are kept, about 5 MiB of them; pages of others have the rate of the folder above.
const MOST: usize = 1 << 16;

/// How many pages a folder must have before its own rate counts as much as that of the folder above.
const PAGES_OF_PRIOR: f64 = 5.0;

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
            let mut state = DefaultHasher::new();
            path[..end].hash(&mut state);
            hashes[place] = state.finish();
            folders += 1;
        }
        Self { hashes, folders }
    }

    fn folders(&self) -> &[u64] {
        &self.hashes[..usize::from(self.folders)]
    }
}

/// The visited pages of a section.
#[derive(Debug, Clone, Copy, Default)]
struct Section {
    pages: f64,
    /// The sum of their rates.
    rates: f64,
}

/// Mean rates of change, of the site and its folders.
#[derive(Debug, Clone, Default)]
pub(super) struct Sections {
    site: Section,
    folders: HashMap<u64, Section>,
}

impl Section {
    fn rate(self, above: f64) -> f64 {
        (PAGES_OF_PRIOR * above + self.rates) / (PAGES_OF_PRIOR + self.pages)
    }

    fn add(&mut self, pages: f64, rates: f64) {
        self.pages = (self.pages + pages).max(0.0);
        // What is subtracted was rounded otherwise than what was added.
        self.rates = (self.rates + rates).max(0.0);
    }
}

impl Sections {
    /// The rate to be expected of a page there, in changes a second; above 0.
    pub(super) fn rate(&self, path: &SectionPath) -> f64 {
        let known = path.folders().iter().map_while(|hash| self.folders.get(hash));
        known.fold(self.site.rate(UNKNOWN), |above, section| section.rate(above))
    }

    /// Adds so many visited pages, and to the sum of their rates; negative where they leave.
    pub(super) fn add(&mut self, path: &SectionPath, pages: f64, rates: f64) {
        self.site.add(pages, rates);
        for hash in path.folders() {
            let full = self.folders.len() >= MOST;
            match self.folders.get_mut(hash) {
                Some(section) => section.add(pages, rates),
                None if full || pages <= 0.0 => {}
                None => self.folders.entry(*hash).or_default().add(pages, rates),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_its_own_rate_and_lends_it() {
        let mut sections = Sections::default();
        let [fast, slow] = ["/news/", "/docs/"];
        for page in 0..100 {
            sections.add(&SectionPath::of(&format!("{fast}{page}")), 1.0, 1e-4);
            sections.add(&SectionPath::of(&format!("{slow}{page}")), 1.0, 1e-8);
        }
        let rate = |path: &str| sections.rate(&SectionPath::of(path));
        assert!(rate("/news/new") > 0.9e-4 && rate("/docs/a/b/c/new") < 3e-6);
        assert!((4e-5..6e-5).contains(&rate("/elsewhere/new")));
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
            sections.add(&SectionPath::of(&format!("/{number}/x")), 1.0, 1.0);
        }
        assert_eq!(sections.folders.len(), MOST);
    }
}
