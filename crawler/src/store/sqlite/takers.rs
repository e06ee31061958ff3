//! [`Taker`]: gets each visit beside the URL table, in the transaction that writes the visit.
//!
//! Owns: the order of takers, and when their output is synced.
//!
//! Invariants: a taker gets the visits in the order of their rows; its output is synced before a commit or checkpoint after which the row
//! survives a power loss.
//!
//! Does not know: what a taker makes of a visit.

use rusqlite::Connection;

use crate::store::{KeptPart, StoreError, VisitRow};

/// A visit whose row was written.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// The number of its row.
    pub visit: i64,
    /// The row of its URL.
    pub url: u64,
    /// What its row holds.
    pub row: &'a VisitRow,
    /// What the other half of the taker has kept of the answer.
    pub kept: Option<&'a KeptPart>,
}

/// Takes visits. What it keeps is rows of the same database, or a file whose length it keeps there: after a kill that may be longer than
/// the rows say, never shorter.
pub trait Taker: Send {
    /// Begins, and takes back what was not committed: a file is cut to the length that the database has for it.
    ///
    /// # Errors
    /// When that cannot be: the run does not begin.
    fn resume(&mut self, connection: &Connection) -> Result<(), StoreError>;

    /// Takes a visit, within the transaction that writes its row.
    ///
    /// # Errors
    /// When it cannot: the transaction is taken back, and the run ends.
    fn take(&mut self, visit: &Taken<'_>, connection: &Connection) -> Result<(), StoreError>;

    /// Has what it wrote survive a power loss.
    ///
    /// # Errors
    /// When it cannot: the run ends.
    fn sync(&mut self) -> Result<(), StoreError>;
}

/// All takers of a run, in their order.
#[derive(Default)]
pub struct Takers(Vec<Box<dyn Taker>>);

impl Takers {
    /// These.
    pub fn new(takers: Vec<Box<dyn Taker>>) -> Self {
        Self(takers)
    }

    pub(super) fn resume(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.0.iter_mut().try_for_each(|taker| taker.resume(connection))
    }

    /// Each gets the visit with what was kept for it.
    pub(super) fn take(&mut self, visit: &Taken<'_>, connection: &Connection) -> Result<(), StoreError> {
        let kept = visit.row.kept.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let mut each = self.0.iter_mut().zip(kept);
        each.try_for_each(|(taker, kept)| taker.take(&Taken { kept, ..*visit }, connection))
    }

    pub(super) fn sync(&mut self) -> Result<(), StoreError> {
        self.0.iter_mut().try_for_each(|taker| taker.sync())
    }
}

impl std::fmt::Debug for Takers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Takers").field(&self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::{Duration, Instant},
    };

    use super::*;
    use crate::{
        candidate::Ticket,
        store::{
            Incoming, Message, NewCrawl, Step, Store, StoreWriter, UrlChange, VisitOutcome, WriterSettings,
            sqlite::{CrawlDirectory, Records},
        },
        time::Moment,
        url::{Canonicalizer, FingerprintSeed},
    };

    /// Says what is asked of it, and fails at its third visit.
    struct Noting(Arc<Mutex<Vec<String>>>);

    impl Noting {
        fn note(&self, text: String) {
            self.0.lock().unwrap().push(text);
        }
    }

    impl Taker for Noting {
        fn resume(&mut self, _: &Connection) -> Result<(), StoreError> {
            self.note("resume".to_owned());
            Ok(())
        }

        fn take(&mut self, visit: &Taken<'_>, connection: &Connection) -> Result<(), StoreError> {
            let kept = visit.kept.and_then(KeptPart::get::<&str>);
            let written = connection.query_row("SELECT count(*) FROM visit", [], |row| row.get::<_, u64>(0)).unwrap();
            self.note(format!("take {} of {} {kept:?} among {written}", visit.visit, visit.url));
            if visit.visit == 3 { Err(StoreError::Full { path: "archive".into() }) } else { Ok(()) }
        }

        fn sync(&mut self) -> Result<(), StoreError> {
            self.note("sync".to_owned());
            Ok(())
        }
    }

    fn directory(folder: &std::path::Path) -> CrawlDirectory {
        let mut directory = CrawlDirectory::open(folder).unwrap();
        let (fingerprint_seed, key_rules) = (FingerprintSeed::new(7), Canonicalizer::default());
        let (settings, areas) = ("{}".to_owned(), Vec::new());
        let new = NewCrawl { at: Moment::EPOCH, fingerprint_seed, key_rules, hash_seed: 1, settings, areas };
        directory.create(&new).unwrap();
        let rows = "INSERT INTO host (id, origin) VALUES (0, 'http://h');
             INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
             SELECT value, 0, 'http://h/' || value, randomblob(16), 'link', 1, 0, 0, 'queued' FROM json_each('[5, 6, 7]')";
        directory.connection.execute_batch(rows).unwrap();
        directory
    }

    #[test]
    fn a_taker_gets_each_visit_in_its_transaction_and_is_synced_before_what_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Arc::new(Mutex::new(Vec::new()));
        let takers: Vec<Box<dyn Taker>> = vec![Box::new(Noting(Arc::default())), Box::new(Noting(Arc::clone(&notes)))];
        let directory = directory(folder.path()).with(Takers::new(takers));
        let began = Instant::now();
        let mut writer = directory.writer(WriterSettings::each_step(), began).unwrap();
        let mut visit = |url: u64, seconds| {
            let visit = VisitRow {
                kept: vec![None, (url < 6).then(|| KeptPart::new("body", 4))],
                ..VisitRow::new(Ticket(url), Moment::EPOCH, VisitOutcome::Failed, None)
            };
            let change = Some((Ticket(url), UrlChange::Finished));
            let step = Box::new(Step { visit: Some(visit), change, ..Step::default() });
            let message = Message::Steps(vec![step], Box::new(()));
            writer.write(Incoming::Message(message), began + Duration::from_secs(seconds)).map(|_| ())
        };
        // A commit is synced once a second. What the first taker refuses, the second is not asked for.
        visit(5, 0).unwrap();
        visit(6, 2).unwrap();
        assert!(matches!(visit(7, 2), Err(StoreError::Full { path }) if path.ends_with("archive")));
        drop(writer);
        let expected = ["resume", "take 1 of 5 Some(\"body\") among 1", "take 2 of 6 None among 2", "sync"];
        assert_eq!(*notes.lock().unwrap(), expected);
        let records = Records::open(folder.path()).unwrap();
        let kept = records.connection().query_row("SELECT count(*) FROM visit", [], |row| row.get::<_, u64>(0));
        assert_eq!(kept, Ok(2), "what a taker refuses is taken back");
    }
}
