//! [`AlikeChanges`]: changes of many pages that are nearly the same, as one line.

use std::collections::{HashMap, HashSet};

use crate::{changes::Change, store::ChangeLine};

/// So many changes or more are one line.
const SEVERAL: u64 = 5;

/// Which changes are nearly the same: the sequence, the kind, and what they have in common.
type Key = (u32, Change, i64);

/// Counts the changes that are nearly the same, and says then which of them has a line.
#[derive(Debug, Default)]
pub(crate) struct AlikeChanges {
    counts: HashMap<Key, u64>,
    shown: HashSet<Key>,
    /// Changes that have no line of their own.
    pub(crate) without_line: u64,
}

impl AlikeChanges {
    /// Counts one.
    pub(crate) fn count(&mut self, line: &ChangeLine) {
        if let Some(key) = key(line) {
            *self.counts.entry(key).or_default() += 1;
        }
    }

    /// The line for one, once all are counted: with the number of those it is there for; nothing where another one has that line.
    pub(crate) fn line(&mut self, line: ChangeLine) -> Option<ChangeLine> {
        let alike = key(&line).map(|key| (key, self.counts.get(&key).copied().unwrap_or_default()));
        let Some((key, count)) = alike.filter(|(_, count)| *count >= SEVERAL) else { return Some(line) };
        if self.shown.insert(key) {
            return Some(ChangeLine { count: Some(count), ..line });
        }
        self.without_line += 1;
        None
    }
}

fn key(line: &ChangeLine) -> Option<Key> {
    Some((line.sequence, line.change, line.alike?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(url: &str, change: Change, alike: Option<i64>) -> ChangeLine {
        let url = url.to_owned();
        let digest = None;
        ChangeLine {
            url,
            change,
            sequence: 1,
            at: 0,
            before: digest,
            after: digest,
            to: None,
            count: None,
            alike,
            texts: None,
            links: Vec::new(),
        }
    }

    #[test]
    fn from_five_on_there_is_one_line() {
        let mut lines: Vec<_> = ["a", "b", "c", "d", "e"].map(|url| line(url, Change::ChangedText, Some(7))).into();
        lines.extend(["f", "g", "h", "i"].map(|url| line(url, Change::Moved, Some(7))));
        lines.extend(["j", "k", "l", "m", "n"].map(|url| line(url, Change::New, None)));
        let mut alike = AlikeChanges::default();
        for line in &lines {
            alike.count(line);
        }
        let shown: Vec<_> = lines.into_iter().filter_map(|line| alike.line(line)).collect();
        assert_eq!((shown.len(), shown[0].count, alike.without_line), (10, Some(5), 4));
        assert!(shown[1..].iter().all(|line| line.count.is_none()));
    }
}
