//! [`Current`]: which sequence is crawled, and which rows belong to a sequence.

use rusqlite::{Connection, OptionalExtension, Result};

/// The sequence in which nothing was there before.
pub(super) const FIRST: u32 = 0;

/// The sequence that is being crawled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) sequence: u32,
    /// Whether every URL with a row is due in it: those that it has not touched yet are the rows of an earlier sequence.
    pub(super) known_first: bool,
    /// Whether pages of it were visited once more: any of its URLs may have a copy.
    pub(super) revisited: bool,
}

impl Current {
    /// What is known of a sequence.
    pub(super) fn of(connection: &Connection, sequence: u32) -> Result<Self> {
        let query = "SELECT revisit IS NOT NULL, revisited IS NOT NULL FROM sequence WHERE n = ?";
        let found = connection.query_row(query, [sequence], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (known_first, revisited) = found.unwrap_or_default();
        Ok(Self { sequence, known_first, revisited })
    }

    /// A sequence whose URLs are found from the starts.
    #[cfg(test)]
    pub(super) fn by_links(sequence: u32) -> Self {
        Self { sequence, known_first: false, revisited: false }
    }

    /// Whether nothing was there before it.
    pub(super) fn is_first(self) -> bool {
        self.sequence == FIRST
    }

    /// Whether none of its URLs has a copy.
    pub(super) fn is_without_copies(self) -> bool {
        self.is_first() && !self.revisited
    }

    /// The condition for the rows that belong to it, where `?1` is its number.
    pub(super) fn rows(self) -> &'static str {
        if self.known_first { "admitted_in <= ?1" } else { "admitted_in = ?1" }
    }

    /// The condition for those of them that are to be fetched.
    pub(super) fn queued(self) -> &'static str {
        if self.known_first {
            "(admitted_in < ?1 OR (admitted_in = ?1 AND state = 'queued'))"
        } else {
            "(state = 'queued' AND admitted_in = ?1)"
        }
    }
}

/// The URLs of sequence `?1`, in the order of their rows, with what `past` has of them. The index of visits by URL is there wherever a
/// URL belongs to a later one.
pub(super) const OF_SEQUENCE: &str = "url LEFT JOIN past ON past.url = url.id AND past.sequence = ?1
    WHERE (admitted_in = ?1 OR past.url IS NOT NULL OR (admitted_in > ?1
        AND EXISTS (SELECT 1 FROM visit AS made WHERE made.url = url.id AND made.sequence = ?1)))";

/// The state of each of them at the end of that sequence, or now.
pub(super) const STATE_IN_SEQUENCE: &str = "iif(admitted_in = ?1, url.state, coalesce(past.state, 'finished'))";
