//! The links kept with the visits, against what their sequence admitted.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::{checked_database::CheckedDatabase, sequences::Sequence};
use crate::store::{
    Counters,
    sqlite::{
        current::{Current, OF_SEQUENCE},
        error::Fault,
        runs,
    },
};

/// Links without a row that are looked for at once.
const MISSING: usize = 1 << 17;

/// What was found of them.
#[derive(Default)]
pub(super) struct KeptLinks {
    pub(super) visits: u64,
    pub(super) links: u64,
    pub(super) without_row: u64,
    /// Those of them under an exact cache,
    pub(super) unexplained: u64,
    /// and one of these.
    pub(super) example: Option<String>,
    /// Those of the sequences that a sweep has proved, and that it did not record.
    pub(super) unrecorded: u64,
    pub(super) unrecorded_example: Option<String>,
}

/// A link, and where it is kept.
struct KeptLink {
    visit: u64,
    url: u64,
    link: u64,
}

impl KeptLinks {
    pub(super) fn read(&mut self, source: &CheckedDatabase<'_>, sequence: &Sequence) -> Result<(), Fault> {
        let (mut links, mut admitted) = (source.sorter(), source.sorter());
        self.visits += each_link(source.connection, sequence, |kept| {
            self.links += 1;
            Ok(links.push(kept.link)?)
        })?;
        each_admitted(source.connection, sequence, |row| Ok(admitted.push(row)?))?;
        let mut missing = Vec::new();
        runs::subtract(links.sorted()?, admitted.sorted()?, |link| {
            missing.push(link);
            if missing.len() < MISSING { Ok(()) } else { self.find(source, sequence, &std::mem::take(&mut missing)) }
        })?;
        self.find(source, sequence, &missing)
    }

    /// Counts the links without a row, each as often as it is kept; they are given in order.
    fn find(&mut self, source: &CheckedDatabase<'_>, sequence: &Sequence, missing: &[u64]) -> Result<(), Fault> {
        if missing.is_empty() {
            return Ok(());
        }
        // A restart leaves links to the next sequence.
        let counters: Option<Counters> = serde_json::from_str(&sequence.counters).ok();
        let exact = sequence.exact && counters.is_none_or(|counters| counters.unjudged() == 0);
        each_link(source.connection, sequence, |kept| {
            if missing.binary_search(&kept.link).is_err() {
                return Ok(());
            }
            self.without_row += 1;
            let example = || format!("visit {} of url {}, link {:016x}", kept.visit, kept.url, kept.link);
            if exact {
                self.unexplained += 1;
                self.example.get_or_insert_with(example);
            }
            if sequence.swept && !is_recorded(source.connection, sequence, kept.link)? {
                self.unrecorded += 1;
                self.unrecorded_example.get_or_insert_with(example);
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Shows every kept link of a sequence; the number of its visits.
fn each_link(
    connection: &Connection,
    sequence: &Sequence,
    mut each: impl FnMut(KeptLink) -> Result<(), Fault>,
) -> Result<u64, Fault> {
    let query = "SELECT visit.id, visit.url, kept.links FROM visit JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id)
                 WHERE typeof(kept.links) = 'blob' AND visit.sequence = ?";
    let mut select = connection.prepare_cached(query)?;
    let mut rows = select.query([sequence.number])?;
    let mut visits = 0;
    while let Some(row) = rows.next()? {
        visits += 1;
        let (visit, url) = (row.get(0)?, row.get(1)?);
        for link in row.get_ref(2)?.as_blob().unwrap_or_default().chunks_exact(8) {
            each(KeptLink { visit, url, link: u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes")) })?;
        }
    }
    Ok(visits)
}

/// Shows the leading half of each fingerprint that a sequence admitted.
fn each_admitted(
    connection: &Connection,
    sequence: &Sequence,
    mut each: impl FnMut(u64) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let current = Current::of(connection, sequence.number)?;
    let query = if current.known_first {
        // What a later one has found is more than was known.
        "SELECT fingerprint FROM url WHERE ?1 >= 0".to_owned()
    } else {
        format!("SELECT fingerprint FROM {OF_SEQUENCE}")
    };
    let mut select = connection.prepare_cached(&query)?;
    let mut rows = select.query([sequence.number])?;
    while let Some(row) = rows.next()? {
        if let Some(leading) = row.get_ref(0)?.as_blob().ok().and_then(|bytes| bytes.first_chunk().copied()) {
            each(u64::from_be_bytes(leading))?;
        }
    }
    Ok(())
}

/// Whether a sequence is known to have lost a link's target.
fn is_recorded(connection: &Connection, sequence: &Sequence, link: u64) -> Result<bool, Fault> {
    let query = "SELECT 1 FROM lost WHERE substr(fingerprint, 1, 8) = ? AND sequence = ?";
    let mut select = connection.prepare_cached(query)?;
    let found = select.query_row(params![link.to_be_bytes(), sequence.number], |_| Ok(())).optional()?;
    Ok(found.is_some())
}
