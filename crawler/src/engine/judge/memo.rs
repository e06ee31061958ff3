//! [`Memo`]: where links seen before lead, and how the scope judged them.
//!
//! Nearly all links of a page are on earlier pages too, written the same way. The memo gives their fingerprints, so neither a URL nor a key
//! is made for them.
//!
//! Invariants: its memory is fixed; its entries belong to one scope, and are dropped when the scope changes; a link that is not remembered
//! is only slower.
//!
//! Does not know: whether a URL was seen.

use crate::{
    extract::ReferenceHash,
    scope::Refusal,
    url::{Fingerprint, KeyRuleSet},
};

/// Links that share a place in the table: the last used of them stay.
const WAYS: usize = 4;

/// Such places: with 32 bytes a link 2 MiB in all.
const SETS: usize = 1 << 14;

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Target {
    /// To nothing on the web.
    Nowhere,
    /// To a URL.
    Url {
        fingerprint: Fingerprint,
        /// Of the URL, in bytes.
        length: u32,
        /// The rules that changed its key.
        changed: KeyRuleSet,
        /// What the scope says.
        judged: Result<(), Refusal>,
    },
}

/// A table with a bounded number of links.
#[derive(Debug)]
pub(in crate::engine) struct Memo {
    sets: Box<[[Entry; WAYS]]>,
    generation: u64,
}

/// What is known of one link. (Numbers as bytes: half the memory.)
#[derive(Debug, Clone, Copy)]
struct Entry {
    tag: u64,
    fingerprint: [u8; 16],
    length: u32,
    changed: KeyRuleSet,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Unused,
    Nowhere,
    Judged(Result<(), Refusal>),
}

const UNUSED: Entry =
    Entry { tag: 0, fingerprint: [0; 16], length: 0, changed: KeyRuleSet::NONE, state: State::Unused };

impl Memo {
    /// Remembers nothing yet.
    pub(in crate::engine) fn new() -> Self {
        Self { sets: vec![[UNUSED; WAYS]; SETS].into(), generation: 0 }
    }

    /// For judging by the scope of this generation: what was found under an earlier one is forgotten. False if a later
    /// one was in use already; then it cannot help.
    pub(in crate::engine) fn serve(&mut self, generation: u64) -> bool {
        if self.generation < generation {
            self.sets.fill([UNUSED; WAYS]);
            self.generation = generation;
        }
        self.generation == generation
    }

    /// What is known of a link.
    pub(in crate::engine) fn get(&mut self, link: ReferenceHash) -> Option<Target> {
        let (set, tag) = self.set(link);
        let way = set.iter().position(|entry| entry.tag == tag)?;
        let target = set[way].target()?;
        set[..=way].rotate_right(1);
        Some(target)
    }

    /// Remembers a link, in place of the one of its set that was not used for longest.
    pub(in crate::engine) fn put(&mut self, link: ReferenceHash, target: Target) {
        let (set, tag) = self.set(link);
        set.rotate_right(1);
        set[0] = Entry::of(tag, target);
    }

    fn set(&mut self, link: ReferenceHash) -> (&mut [Entry; WAYS], u64) {
        let [high, low] = link.halves();
        let [first, second, ..] = high.to_le_bytes();
        let number = usize::from(u16::from_le_bytes([first, second]));
        (&mut self.sets[number % SETS], low)
    }
}

impl Entry {
    fn of(tag: u64, target: Target) -> Self {
        match target {
            Target::Nowhere => Self { tag, state: State::Nowhere, ..UNUSED },
            Target::Url { fingerprint, length, changed, judged } => {
                Self { tag, fingerprint: fingerprint.to_bytes(), length, changed, state: State::Judged(judged) }
            }
        }
    }

    fn target(&self) -> Option<Target> {
        match self.state {
            State::Unused => None,
            State::Nowhere => Some(Target::Nowhere),
            State::Judged(judged) => {
                let fingerprint = Fingerprint::from_bytes(self.fingerprint);
                Some(Target::Url { fingerprint, length: self.length, changed: self.changed, judged })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        extract::{LinkLimits, Reading, ReferenceSeed, scan},
        url::WebUrl,
    };

    fn hashes(links: usize) -> Vec<ReferenceHash> {
        let html: String = (0..links).fold(String::new(), |html, number| html + "<a href=" + &number.to_string() + ">");
        let url = WebUrl::parse("http://h/").unwrap();
        let page =
            scan(html.as_bytes(), Some("text/html"), &url, &Reading::links(LinkLimits::NONE, ReferenceSeed::random()));
        page.links.iter().map(|link| link.hash.unwrap()).collect()
    }

    fn target(number: u32) -> Target {
        let fingerprint = Fingerprint::from_bytes(u128::from(number).to_be_bytes());
        Target::Url {
            fingerprint,
            length: number,
            changed: if number.is_multiple_of(3) { KeyRuleSet::DEFAULT } else { KeyRuleSet::NONE },
            judged: if number.is_multiple_of(2) { Ok(()) } else { Err(Refusal::Scope) },
        }
    }

    #[test]
    fn remembers_the_links_used_last_and_no_wrong_ones() {
        let (mut memo, links) = (Memo::new(), hashes(3 * WAYS * SETS));
        for (link, number) in links.iter().zip(0..) {
            memo.put(*link, target(number));
            assert_eq!(memo.get(links[0]), Some(target(0)), "used all the time");
        }
        let known: Vec<_> = links.iter().map(|link| memo.get(*link)).collect();
        assert!(known.iter().zip(0..).all(|(known, number)| known.is_none_or(|known| known == target(number))));
        let count = known.iter().flatten().count();
        assert!(count > WAYS * SETS * 9 / 10 && count <= WAYS * SETS, "{count}");
        assert_eq!(size_of::<Entry>(), 32);
    }

    #[test]
    fn forgets_when_the_scope_changes() {
        let (mut memo, link) = (Memo::new(), hashes(1)[0]);
        memo.put(link, Target::Nowhere);
        assert!(memo.serve(0) && memo.get(link) == Some(Target::Nowhere));
        assert!(memo.serve(1) && memo.get(link).is_none());
        assert!(!memo.serve(0), "one lease was granted before the scope changed");
    }
}
