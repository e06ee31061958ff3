//! [`Urls`]: what is added and asked for, with fingerprints ready.
//!
//! Invariant: all different. The first half of them is added to filters, the second half is never. It knows no filter.

use std::{collections::HashSet, path::Path};

use anyhow::{Result, ensure};

use crate::keys::{key, lines, url};

/// Lines of a file that are read, for each URL that is needed: the rest may be repetitions.
const LINES_A_URL: usize = 4;

/// Different URLs, one behind the other in memory.
pub(crate) struct Urls {
    text: Vec<u8>,
    ends: Vec<usize>,
    fingerprints: Vec<u128>,
}

impl Urls {
    /// Made up: as many to add, and as many to ask for.
    pub(crate) fn generated(keys: usize) -> Self {
        let (count, length) = (2 * keys, url(0).len());
        let text = Vec::with_capacity(count * length);
        let mut urls = Self { text, ends: Vec::with_capacity(count), fingerprints: Vec::with_capacity(count) };
        (0..count as u64).for_each(|index| urls.push(&url(index)));
        urls
    }

    /// The different lines of a file: as many to add as said, or as there are, and as many to ask for.
    ///
    /// # Errors
    /// The file cannot be read, or has too few different lines.
    pub(crate) fn of_file(path: &Path, keys: Option<usize>, most: usize, least: usize) -> Result<Self> {
        let wanted = 2 * keys.unwrap_or(most);
        let mut urls = Self { text: Vec::new(), ends: Vec::new(), fingerprints: Vec::new() };
        let mut known = HashSet::new();
        for line in lines(path, wanted * LINES_A_URL)? {
            if urls.ends.len() < wanted && known.insert(key(&line).hash) {
                urls.push(&line);
            }
        }
        let found = urls.ends.len();
        let needed = 2 * keys.unwrap_or(least);
        let help = if found >= 2 * least {
            format!("give --keys {}, or a longer file", found / 2)
        } else {
            "give a longer file".to_owned()
        };
        let path = path.display();
        ensure!(
            found >= needed,
            "{path} has {found} different lines but {needed} are needed, half to add and half to ask for: {help}"
        );
        urls.ends.truncate(found / 2 * 2);
        urls.fingerprints.truncate(found / 2 * 2);
        Ok(urls)
    }

    fn push(&mut self, url: &str) {
        self.text.extend(url.as_bytes());
        self.ends.push(self.text.len());
        self.fingerprints.push(key(url).hash);
    }

    /// How many are added; as many are asked for.
    pub(crate) fn keys(&self) -> usize {
        self.ends.len() / 2
    }

    /// The bytes of a URL.
    #[inline]
    pub(crate) fn bytes(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The fingerprint of a URL.
    #[inline]
    pub(crate) fn fingerprint(&self, index: usize) -> u128 {
        self.fingerprints[index]
    }

    /// The URLs of a range as strings of their own, as a list or a hash set holds them.
    pub(crate) fn strings(&self, range: std::ops::Range<usize>) -> Vec<String> {
        range.map(|index| String::from_utf8_lossy(self.bytes(index)).into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_urls_are_different_and_have_the_fingerprints_of_their_text() {
        let urls = Urls::generated(500);
        let strings = urls.strings(0..1_000);
        assert_eq!((urls.keys(), strings.iter().collect::<HashSet<_>>().len()), (500, 1_000));
        assert_eq!((strings[7].as_str(), urls.fingerprint(7)), (url(7).as_str(), key(&url(7)).hash));
    }

    #[test]
    fn repeated_lines_of_a_file_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("urls");
        std::fs::write(&file, "http://h/1\nhttp://h/2\nhttp://h/1\nhttp://h/3\nhttp://h/4\nhttp://h/5\n").unwrap();
        let urls = Urls::of_file(&file, None, 100, 1).unwrap();
        assert_eq!((urls.keys(), urls.bytes(2)), (2, &b"http://h/3"[..]));
        assert_eq!(Urls::of_file(&file, Some(1), 100, 1).unwrap().keys(), 1);
        let error = Urls::of_file(&file, Some(3), 100, 1).err().unwrap().to_string();
        assert!(error.contains("5 different lines but 6 are needed") && error.contains("--keys 2"), "{error}");
        let error = Urls::of_file(&file, None, 100, 50).err().unwrap().to_string();
        assert!(error.contains("but 100 are needed") && error.ends_with("give a longer file"), "{error}");
    }
}
