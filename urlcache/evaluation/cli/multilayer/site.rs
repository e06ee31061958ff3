//! URLs for the comparison: the members of a set, and others that are not in it, by how they are made.
//!
//! Invariants: members are all different; no question is a member, and no question of a kind is asked twice. Everything is
//! a function of the numbers given, so that a run can be repeated. It does not know what is compared.

use std::{collections::HashSet, path::Path};

use anyhow::{Result, ensure};
use serde::Serialize;
use urlcache::{HashSeed, segments};
use xxhash_rust::xxh3::xxh3_64;

use crate::keys;

/// Lines that are read from a file, at most.
const MOST_LINES: usize = 50_000_000;

/// Candidates that are made for a question that is asked, at most: most are refused where few different ones exist.
const TRIES: u64 = 4;

/// Names of the folders of the generated site, the same at each depth.
const FOLDERS: [&str; 24] = [
    "about", "archive", "blog", "books", "data", "docs", "en", "events", "files", "games", "help", "images", "jobs",
    "law", "maps", "media", "music", "news", "people", "press", "shop", "sport", "travel", "video",
];

/// Hosts of the generated site.
const HOSTS: u64 = 50;

/// How a URL that is not in the set was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Another URL of the same file.
    HeldOut,
    /// A member with a last segment that no member has.
    NewLeaf,
    /// Each segment from another member, from the same place.
    Recombined,
    /// A member with two of its directories exchanged.
    Swapped,
    /// A member on a host that no member has.
    NewHost,
}

/// A set of URLs, and what may be asked of it.
pub(super) struct Site<'u> {
    pub(super) members: &'u [Box<str>],
    held_out: &'u [Box<str>],
    layers: usize,
    /// Which members have so many segments.
    by_arity: Vec<Vec<u32>>,
}

/// Numbers that follow from a seed.
struct Draw {
    seed: HashSeed,
    drawn: u32,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::HeldOut, Self::NewLeaf, Self::Recombined, Self::Swapped, Self::NewHost];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HeldOut => "held out",
            Self::NewLeaf => "new leaf",
            Self::Recombined => "recombined",
            Self::Swapped => "swapped",
            Self::NewHost => "new host",
        }
    }
}

/// The different lines of a file, in an order that has nothing to do with theirs.
pub(super) fn of_file(path: &Path) -> Result<Vec<Box<str>>> {
    let mut lines: Vec<Box<str>> = keys::lines(path, MOST_LINES)?.into_iter().map(String::into_boxed_str).collect();
    lines.retain(|line| !line.is_empty());
    lines.sort_by_cached_key(|line| (xxh3_64(line.as_bytes()), line.clone()));
    lines.dedup();
    ensure!(lines.len() > 1, "{} has fewer than two different URLs", path.display());
    Ok(lines)
}

/// So many URLs of a site of 50 hosts, with three levels of folders from 24 names and leaves that 2 or 3 URLs share: nearly
/// all that its segments could form are no members.
pub(super) fn generated(count: u64) -> Vec<Box<str>> {
    let leaves = (count * 2 / 5).max(1);
    (0..count).map(|index| generated_url(index % leaves, index / leaves)).collect()
}

/// URL number `round` (0 to 3) of those with this leaf; the folders of all four differ.
fn generated_url(leaf: u64, round: u64) -> Box<str> {
    let names = FOLDERS.len() as u64;
    let places = HOSTS * names.pow(3);
    let mixed = HashSeed::new(leaf).derive(0, 0).value();
    let step = 1 + (mixed >> 32) % (places / 4 - 1);
    let place = (mixed % places + round * step) % places;
    let folder = |level: u32| FOLDERS[usize::try_from(place / names.pow(level) % names).unwrap_or(0)];
    let host = place / names.pow(3);
    format!("https://www{host:02}.example.org/{}/{}/{}/{leaf:08}.html", folder(0), folder(1), folder(2)).into()
}

/// So many of these URLs in no order; some may come twice.
pub(super) fn some(urls: &[Box<str>], count: usize) -> Vec<&str> {
    let mut draw = Draw::new(0, u32::MAX);
    (0..count).map(|_| &*urls[draw.below(urls.len())]).collect()
}

impl<'u> Site<'u> {
    /// A set of these, out of URLs of which the others are known too; of each at most so many segments are distinguished.
    pub(super) fn new(members: &'u [Box<str>], held_out: &'u [Box<str>], layers: usize) -> Self {
        let mut by_arity = vec![Vec::new(); layers + 1];
        for (index, url) in (0..).zip(members) {
            by_arity[segments(url.as_bytes(), layers).count()].push(index);
        }
        Self { members, held_out, layers, by_arity }
    }

    /// How many different segments each layer has.
    pub(super) fn distinct_segments(&self) -> Vec<u64> {
        let mut layers = vec![HashSet::new(); self.layers];
        for url in self.members {
            for (layer, segment) in layers.iter_mut().zip(segments(url.as_bytes(), self.layers)) {
                layer.insert(xxh3_64(segment));
            }
        }
        layers.iter().map(|layer| layer.len() as u64).collect()
    }

    /// How many different segments there are in all layers together.
    pub(super) fn all_distinct_segments(&self) -> u64 {
        let all = self.members.iter().flat_map(|url| segments(url.as_bytes(), self.layers).map(xxh3_64));
        all.collect::<HashSet<_>>().len() as u64
    }

    /// At most so many different URLs that are not among `known`, the members.
    pub(super) fn questions(&self, kind: Kind, most: u64, known: &HashSet<&str>) -> impl Iterator<Item = String> {
        let mut asked = HashSet::new();
        let numbers = if kind == Kind::HeldOut { self.held_out.len() as u64 } else { most.saturating_mul(TRIES) };
        let candidates = (0..numbers).filter_map(move |number| self.candidate(kind, number));
        let fresh =
            candidates.filter(move |url| !known.contains(url.as_str()) && asked.insert(xxh3_64(url.as_bytes())));
        fresh.take(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Candidate `number`, if it gives one.
    fn candidate(&self, kind: Kind, number: u64) -> Option<String> {
        let mut draw = Draw::new(number, kind as u32);
        let member = &self.members[draw.below(self.members.len())];
        let mut parts: Vec<&str> = self.parts(member);
        match kind {
            Kind::HeldOut => Some(self.held_out[usize::try_from(number).ok()?].to_string()),
            Kind::NewLeaf => with_new_leaf(&parts, number),
            Kind::Recombined => self.recombined(&mut parts, &mut draw),
            Kind::Swapped => swapped(&mut parts, &mut draw),
            Kind::NewHost => Some(with_new_host(&parts, number)),
        }
    }

    fn parts(&self, url: &'u str) -> Vec<&'u str> {
        // Cuts are at slashes, so that each part is text again.
        segments(url.as_bytes(), self.layers).map(|part| std::str::from_utf8(part).unwrap_or_default()).collect()
    }

    fn recombined(&self, parts: &mut [&'u str], draw: &mut Draw) -> Option<String> {
        let alike = &self.by_arity[parts.len()];
        for (place, part) in parts.iter_mut().enumerate().skip(1) {
            let other = &self.members[alike[draw.below(alike.len())] as usize];
            *part = self.parts(other).get(place)?;
        }
        (parts.len() > 1).then(|| parts.join("/"))
    }
}

fn with_new_leaf(parts: &[&str], number: u64) -> Option<String> {
    let folders = parts.get(..parts.len().checked_sub(1)?)?.join("/");
    (parts.len() > 1).then(|| format!("{folders}/new-{number:08x}.html"))
}

fn with_new_host(parts: &[&str], number: u64) -> String {
    let host = format!("https://new{number:08x}.example.net");
    [&[host.as_str()], parts.get(1..).unwrap_or_default()].concat().join("/")
}

/// Two different directories exchanged; what is between the host and the last segment is a directory.
fn swapped(parts: &mut [&str], draw: &mut Draw) -> Option<String> {
    let directories = parts.len().checked_sub(2).filter(|count| *count > 1)?;
    let (one, other) = (1 + draw.below(directories), 1 + draw.below(directories));
    if parts[one] == parts[other] {
        return None;
    }
    parts.swap(one, other);
    Some(parts.join("/"))
}

impl Draw {
    fn new(number: u64, stream: u32) -> Self {
        Self { seed: HashSeed::new(number).derive(1, stream), drawn: 0 }
    }

    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        self.drawn += 1;
        let drawn = self.seed.derive(2, self.drawn).value();
        usize::try_from((u128::from(drawn) * limit as u128) >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_urls_differ() {
        for count in [1, 2, 4, 7, 9, 1_000, 30_000] {
            let urls = generated(count);
            assert_eq!(urls.iter().collect::<HashSet<_>>().len() as u64, count);
        }
    }

    #[test]
    fn questions_are_what_they_say() {
        let members = generated(3_000);
        let site = Site::new(&members, &[], 5);
        let known: HashSet<&str> = members.iter().map(|url| &**url).collect();
        let layers: Vec<HashSet<&str>> =
            (0..5).map(|layer| members.iter().map(|url| site.parts(url)[layer]).collect()).collect();
        for kind in Kind::ALL {
            let questions: Vec<String> = site.questions(kind, 500, &known).collect();
            assert_eq!(questions.len(), if kind == Kind::HeldOut { 0 } else { 500 }, "{kind:?}");
            for url in &questions {
                let known: Vec<bool> = segments(url.as_bytes(), 5)
                    .zip(&layers)
                    .map(|(part, layer)| layer.contains(std::str::from_utf8(part).unwrap()))
                    .collect();
                let expected = match kind {
                    Kind::NewLeaf | Kind::HeldOut => [true, true, true, true, false],
                    Kind::NewHost => [false, true, true, true, true],
                    Kind::Recombined | Kind::Swapped => [true; 5],
                };
                assert_eq!(known, expected, "{url}");
            }
        }
        assert_eq!(site.distinct_segments(), [50, 24, 24, 24, 1_200]);
        assert_eq!(site.all_distinct_segments(), 50 + 24 + 1_200);
    }

    #[test]
    fn a_set_of_one_url_without_a_path_has_few_questions() {
        let members: Vec<Box<str>> = vec!["http://h".into()];
        let site = Site::new(&members, &[], 5);
        let known = HashSet::from(["http://h"]);
        let counts = Kind::ALL.map(|kind| site.questions(kind, 9, &known).count());
        assert_eq!(counts, [0, 0, 0, 0, 9]);
    }

    #[test]
    fn the_lines_of_a_file_are_distinguished_and_mixed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("urls");
        std::fs::write(&path, "http://a/1\n\nhttp://a/2\nhttp://a/1\nhttp://b/\n").unwrap();
        let lines = of_file(&path).unwrap();
        assert_eq!(lines.len(), 3);
        std::fs::write(&path, "http://a/1\nhttp://a/1\n").unwrap();
        assert!(of_file(&path).unwrap_err().to_string().ends_with("has fewer than two different URLs"));
    }
}
