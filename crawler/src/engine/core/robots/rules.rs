//! [`RulesInMemory`]: the parsed robots.txt of the hosts asked last.
//!
//! Invariant: the rules together take less memory than a bound, however many hosts there are; the newest are always
//! there. Does not know: how dropped rules are read again.

use hashlink::LruCache;

use crate::{candidate::HostId, robots::Robots};

/// What all rules may take: those of some hundred thousand hosts with short files, of thirty with the longest.
const MOST_BYTES: usize = 16 * 1024 * 1024;

#[cfg(test)]
thread_local! {
    /// What they may take in a simulation.
    pub(in crate::engine) static MOST: std::cell::Cell<usize> = const { std::cell::Cell::new(MOST_BYTES) };
}

/// What a host's entry takes beside its rules.
const ENTRY_BYTES: usize = 64;

/// Rules by host; the least recently used go first.
#[derive(Debug)]
pub(super) struct RulesInMemory {
    rules: LruCache<HostId, Robots>,
    bytes: usize,
    most: usize,
}

impl RulesInMemory {
    pub(super) fn new() -> Self {
        #[cfg(not(test))]
        let most = MOST_BYTES;
        #[cfg(test)]
        let most = MOST.get();
        Self { rules: LruCache::new_unbounded(), bytes: 0, most }
    }

    /// Whether they keep to their bound, and know what they take.
    #[cfg(test)]
    pub(super) fn stand(&self) -> bool {
        let bytes: usize = self.rules.iter().map(|(_, rules)| size(rules)).sum();
        bytes == self.bytes && (bytes <= self.most || self.rules.len() == 1)
    }

    /// The host's rules, if they are still there.
    pub(super) fn get(&mut self, host: HostId) -> Option<&Robots> {
        self.rules.get(&host)
    }

    /// Takes a host's rules in; others make room for them.
    pub(super) fn insert(&mut self, host: HostId, rules: Robots) {
        self.bytes += size(&rules);
        if let Some(old) = self.rules.insert(host, rules) {
            self.bytes -= size(&old);
        }
        while self.bytes > self.most && self.rules.len() > 1 {
            if let Some((_, dropped)) = self.rules.remove_lru() {
                self.bytes -= size(&dropped);
            }
        }
    }
}

fn size(rules: &Robots) -> usize {
    ENTRY_BYTES + rules.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::ProductToken;

    fn rules(length: usize) -> Robots {
        let file = format!("User-agent: *\nDisallow: /{}\n", "x".repeat(length));
        Robots::parse(file.as_bytes(), &ProductToken::new("weaver").unwrap())
    }

    #[test]
    fn the_least_recently_used_make_room() {
        let mut memory = RulesInMemory { most: 3 * size(&rules(1_000)), ..RulesInMemory::new() };
        (0..3).for_each(|host| memory.insert(HostId(host), rules(1_000)));
        assert!(memory.get(HostId(0)).is_some());
        memory.insert(HostId(3), rules(1_000));
        let held = [0, 1, 2, 3].map(|host| memory.get(HostId(host)).is_some());
        assert_eq!(held, [true, false, true, true]);
        assert!(memory.bytes <= memory.most);
    }

    #[test]
    fn the_newest_is_there_however_long_and_a_new_file_takes_the_place_of_the_old() {
        let mut memory = RulesInMemory { most: 1, ..RulesInMemory::new() };
        memory.insert(HostId(1), rules(10));
        memory.insert(HostId(2), rules(5_000));
        assert!(memory.get(HostId(1)).is_none() && memory.get(HostId(2)).is_some());
        memory.insert(HostId(2), rules(10));
        assert_eq!(memory.bytes, size(&rules(10)));
    }
}
