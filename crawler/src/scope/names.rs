//! [`Names`]: a set of names, close together in memory: there may be very many.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

/// Names, in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// One behind the other.
    text: String,
    /// Where each of them ends.
    ends: Vec<u32>,
    /// Their numbers, by their text.
    table: HashTable<u32>,
    hasher: RandomState,
}

impl Names {
    pub(super) fn contains(&self, name: &str) -> bool {
        match self.ends.len() {
            // Most crawls have one, and every link is looked up: that takes no hash.
            1 => self.text == name,
            _ => self.table.find(self.hasher.hash_one(name), |number| self.name(*number) == name).is_some(),
        }
    }

    pub(super) fn insert(&mut self, name: &str) {
        if self.contains(name) {
            return;
        }
        let number = u32::try_from(self.ends.len()).expect("there are fewer than 2^32 names");
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("the names of a scope have less than 4 GiB"));
        let mut table = std::mem::take(&mut self.table);
        table.insert_unique(self.hasher.hash_one(name), number, |number| self.hasher.hash_one(self.name(*number)));
        self.table = table;
    }

    fn name(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start as usize..self.ends[number] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_added_and_nothing_else() {
        let mut names = Names::default();
        assert!(!names.contains("") && !names.contains("h0"));
        for number in 0..1_000 {
            let name = format!("h{number}");
            assert!(!names.contains(&name));
            names.insert(&name);
            names.insert(&name);
            assert!(names.contains(&name) && names.contains("h0") && !names.contains("h") && !names.contains("h00"));
        }
        assert_eq!(names.ends.len(), 1_000);
    }
}
