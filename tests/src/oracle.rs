//! What a full crawl of a real site must find, as independent parsers saw it.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use crate::shared;

/// What is reached from a site's start page: over `a` and `area` in the lists, over all links that a crawl follows in a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Oracle {
    /// One entry an address.
    pub entries: Vec<Entry>,
}

/// One address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Fewest links from the start page.
    pub depth: u32,
    /// What is there.
    pub kind: Kind,
    /// Size of the file, 0 for a broken link.
    pub bytes: u64,
    /// Path below the site's root, with a leading `/`.
    pub path: String,
}

/// What is at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An HTML page.
    Page,
    /// Another file.
    Other,
    /// Nothing.
    Broken,
}

impl Oracle {
    /// The oracle for a package; `None` after saying `skipped: …`, when it is not here.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn of(package: &str) -> Result<Option<Self>> {
        let name = format!("sites/pages-{package}.tsv.zst");
        shared::text(&name)?.map(|text| Self::parse(&text).with_context(|| format!("read {name}"))).transpose()
    }

    /// Reads `depth<TAB>kind<TAB>bytes<TAB>path` lines.
    ///
    /// # Errors
    /// When a line is not of this form.
    pub fn parse(text: &str) -> Result<Self> {
        let entries = text.lines().map(|line| entry(line).with_context(|| format!("line {line:?}")));
        Ok(Self { entries: entries.collect::<Result<_>>()? })
    }

    /// The paths of one kind.
    pub fn paths(&self, kind: Kind) -> BTreeSet<&str> {
        self.entries.iter().filter(|entry| entry.kind == kind).map(|entry| entry.path.as_str()).collect()
    }
}

fn entry(line: &str) -> Result<Entry> {
    let [depth, kind, bytes, path] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else { bail!("has no four fields") };
    let kind = match kind {
        "page" => Kind::Page,
        "other" => Kind::Other,
        "broken" => Kind::Broken,
        _ => bail!("no kind {kind:?}"),
    };
    Ok(Entry { depth: depth.parse()?, kind, bytes: bytes.parse()?, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_lines() {
        let oracle = Oracle::parse("0\tpage\t10\t/\n1\tother\t5\t/a b\n2\tbroken\t0\t/c\n").unwrap();
        assert_eq!(oracle.paths(Kind::Other), BTreeSet::from(["/a b"]));
        assert_eq!(oracle.entries[2], Entry { depth: 2, kind: Kind::Broken, bytes: 0, path: "/c".to_owned() });
        assert!(Oracle::parse("0\tpage\t/\n").is_err());
        assert!(Oracle::parse("0\tpicture\t1\t/\n").is_err());
    }
}
