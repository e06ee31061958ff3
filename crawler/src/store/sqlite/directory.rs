//! [`CrawlDirectory`]: finding, making and locking one.

use std::{
    collections::HashSet,
    fs::{File, Permissions, TryLockError},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, params};

use super::{FailPoint, StoreError, again, apply, ranks, resume, schema};
use crate::{
    order::Ranking,
    store::{Abandonment, AreaRow, Counters, Resumed},
    time::Moment,
    url::{Canonicalizer, Fingerprint, FingerprintSeed},
};

pub(super) const DATABASE: &str = "webloom.sqlite";
const SETTINGS_COPY: &str = "crawl.toml";
const LOCK: &str = "lock";

/// The mode of all files of a crawl directory.
pub(super) const OWN: u32 = 0o600;

/// A crawl directory, locked for this process until it is dropped.
#[derive(Debug)]
pub struct CrawlDirectory {
    path: PathBuf,
    connection: Connection,
    lock: File,
}

/// Whether a URL cache can call a new URL seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errs {
    /// It is exact.
    Never,
    /// It has false positives.
    Sometimes,
}

/// What a run brings with it.
#[derive(Debug, Clone, Copy)]
pub struct RunStart {
    /// Whether its URL cache can err.
    pub cache: Errs,
    /// URLs its audit holds at most; `None` is no audit.
    pub audit_sample: Option<u64>,
    /// Whether its URL cache forgets, so that the writer must know every key.
    pub forgets: bool,
}

/// What a new crawl begins with.
#[derive(Debug)]
pub struct NewCrawl {
    /// When.
    pub at: Moment,
    /// The secret seed of its fingerprints.
    pub fingerprint_seed: FingerprintSeed,
    /// The rules that make its keys.
    pub key_rules: Canonicalizer,
    /// The secret hash seed of its URL cache.
    pub hash_seed: u64,
    /// The settings, as JSON.
    pub settings: String,
    /// Its start URLs.
    pub areas: Vec<AreaRow>,
}

/// What a further sequence begins with, besides what the crawl is.
#[derive(Debug)]
pub struct NextSequence {
    /// When.
    pub at: Moment,
    /// The settings, as JSON.
    pub settings: String,
    /// Start URLs given with it; those of the crawl are among its starts in any case.
    pub areas: Vec<AreaRow>,
}

/// How the last sequence of a crawl stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastSequence {
    /// Its number.
    pub number: u32,
    /// How its last run ended; `None` after a kill, or when it has had none.
    pub end: Option<String>,
    /// URLs that it admitted, and links that it did not judge.
    pub admitted: u64,
}

impl CrawlDirectory {
    /// Whether there is a database in a directory.
    pub fn exists(path: &Path) -> bool {
        path.join(DATABASE).exists()
    }

    /// Locks a crawl directory and opens its database, made empty when there is none.
    ///
    /// # Errors
    /// [`StoreError`] when the directory is not writable, not ours, in use, or written by a newer program.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let unwritable = |source| StoreError::Unwritable { path: path.to_owned(), source };
        std::fs::create_dir_all(path).map_err(unwritable)?;
        if !path.join(DATABASE).exists() && !is_empty(path).map_err(unwritable)? {
            return Err(StoreError::Foreign { path: path.to_owned() });
        }
        let lock = lock(path)?;
        let database = path.join(DATABASE);
        let failed = || StoreError::database(&database);
        // What the database makes beside its file has the mode of that file.
        private(&database).and_then(|_| own_files(path)).map_err(unwritable)?;
        let mut connection = Connection::open(&database).map_err(failed())?;
        schema::prepare(&connection).map_err(failed())?;
        let version = schema::version(&connection, &database)?;
        schema::prepare_writing(&connection).map_err(failed())?;
        schema::migrate(&mut connection, version.unwrap_or(0)).map_err(failed())?;
        // Before anything is written that other rules would not understand.
        resume::key_rules(&connection).map_err(failed())?;
        again::keep_history(&connection).map_err(failed())?;
        Ok(Self { path: path.to_owned(), connection, lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the crawl needs to go on; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn resume(&self, max_depth: Option<u32>) -> Result<Option<Resumed>, StoreError> {
        let load = || {
            let resumed = resume::load(&self.connection, max_depth)?;
            // What was read or kept in a temporary table is not needed again.
            self.connection.execute_batch("PRAGMA shrink_memory")?;
            Ok(resumed)
        };
        load().map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// The stored settings (JSON); `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn settings(&self) -> Result<Option<String>, StoreError> {
        resume::settings(&self.connection).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Every URL that is in the scope by itself, as given or redirected to.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn areas(&self) -> Result<Vec<AreaRow>, StoreError> {
        resume::areas(&self.connection).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// The secret seed of the fingerprints; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn fingerprint_seed(&self) -> Result<Option<FingerprintSeed>, StoreError> {
        resume::fingerprint_seed(&self.connection).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// The rules that make its keys; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read, or this version does not know its rules.
    pub fn key_rules(&self) -> Result<Option<Canonicalizer>, StoreError> {
        resume::key_rules(&self.connection).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// How the last sequence stands; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn last_sequence(&self) -> Result<Option<LastSequence>, StoreError> {
        resume::last_sequence(&self.connection).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Which of these URLs were admitted in the last sequence. May read all rows, once: for starts before a run.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn admitted(&self, given: &HashSet<Fingerprint>) -> Result<HashSet<Fingerprint>, StoreError> {
        let read = || {
            let table = "CREATE TEMP TABLE given (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID";
            self.connection.execute_batch(table)?;
            let mut insert = self.connection.prepare("INSERT INTO given VALUES (?)")?;
            given.iter().try_for_each(|fingerprint| insert.execute([fingerprint.to_bytes()]).map(|_| ()))?;
            let mut select = self.connection.prepare(
                "SELECT fingerprint FROM url WHERE fingerprint IN (SELECT fingerprint FROM given)
                                               AND admitted_in = (SELECT max(n) FROM sequence)",
            )?;
            let found = select.query_map([], |row| row.get(0).map(Fingerprint::from_bytes))?;
            let found = found.collect::<rusqlite::Result<_>>()?;
            self.connection.execute_batch("DROP TABLE given")?;
            Ok(found)
        };
        read().map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Begins a crawl: its identity and sequence 0, in one transaction that survives a power loss.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn create(&mut self, crawl: &NewCrawl, fail_point: Option<&FailPoint>) -> Result<(), StoreError> {
        let counters = serde_json::to_string(&Counters::default()).expect("counters are plain JSON");
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO crawl (id, created_at, fingerprint_seed, key_rules, settings) VALUES (1, ?, ?, ?, ?)",
                params![
                    crawl.at.millis(),
                    crawl.fingerprint_seed.value().cast_signed(),
                    crawl.key_rules.name(),
                    crawl.settings
                ],
            )?;
            transaction.execute(
                "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, ?, ?, ?)",
                params![crawl.at.millis(), crawl.hash_seed.cast_signed(), counters],
            )?;
            crawl.areas.iter().try_for_each(|row| apply::area(&transaction, row))?;
            transaction.commit()
        };
        write(&mut self.connection).map_err(StoreError::database(self.path.join(DATABASE)))?;
        sync_folder(&self.path)?;
        // Whether the user may read the folder around it is not ours to demand.
        drop(self.path.parent().map(sync_folder));
        FailPoint::pass(fail_point, "after_create");
        Ok(())
    }

    /// Begins the next sequence, in one transaction that survives a power loss: its number, its sums, and what it was asked
    /// to be. Its URLs are those that it will find; no row of an earlier one is touched. The hash seed stays: which
    /// strategies draw another one from it for each sequence is theirs to say.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn begin_sequence(&mut self, next: &NextSequence, fail_point: Option<&FailPoint>) -> Result<(), StoreError> {
        let counters = serde_json::to_string(&Counters::default()).expect("counters are plain JSON");
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            transaction.execute_batch(schema::INDEX_OF_KEYS)?;
            transaction.execute(
                "INSERT INTO sequence (n, began_at, hash_seed, counters)
                 SELECT n + 1, ?, hash_seed, ? FROM sequence ORDER BY n DESC LIMIT 1",
                params![next.at.millis(), counters],
            )?;
            transaction.execute("UPDATE crawl SET settings = ?", [&next.settings])?;
            next.areas.iter().try_for_each(|row| apply::area(&transaction, row))?;
            transaction.commit()
        };
        write(&mut self.connection).map_err(StoreError::database(self.path.join(DATABASE)))?;
        FailPoint::pass(fail_point, "after_begin_sequence");
        Ok(())
    }

    /// Notes starts that the user gives once more, or that the crawl has come upon by itself before.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn give(&mut self, starts: &[AreaRow]) -> Result<(), StoreError> {
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            starts.iter().try_for_each(|row| apply::area(&transaction, row))?;
            transaction.commit()
        };
        write(&mut self.connection).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Stores changed settings.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn store_settings(&self, settings: &str) -> Result<(), StoreError> {
        let update = self.connection.execute("UPDATE crawl SET settings = ?", [settings]);
        update.map(|_| ()).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Puts what is queued in the last sequence in this order, if it was queued in another.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn rank_by(&self, ranking: &Ranking) -> Result<(), StoreError> {
        ranks::rank_by(&self.connection, ranking).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Queues URLs of the last sequence again that were abandoned for what may be mended since: a name that was none, an
    /// address that was not allowed. Returns how many there were.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn retry_abandoned(&self) -> Result<usize, StoreError> {
        let update = "UPDATE url SET state = 'queued', reason = NULL, attempts = 0, due = NULL, failed_at = NULL
                      WHERE state = 'abandoned' AND reason IN (?, ?) AND admitted_in = (SELECT max(n) FROM sequence)";
        let reasons = Abandonment::TRIED_AGAIN.map(Abandonment::as_str);
        self.connection.execute(update, reasons).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Has no retry of the last sequence wait beyond `latest`, the longest that one could have been told to wait: a clock
    /// that was ahead wrote what lies beyond it. Returns how many there were.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn clamp_due(&self, latest: Moment) -> Result<usize, StoreError> {
        let clamp = "UPDATE url INDEXED BY url_retry SET due = ?1 WHERE state = 'queued' AND due > ?1
                     AND admitted_in = (SELECT max(n) FROM sequence)";
        self.connection.execute(clamp, [latest.millis()]).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Notes that the current sequence is being crawled, whether with a URL cache that cannot err, and whether with an
    /// audit; what an earlier sweep proved holds no longer. What was not audited cannot be audited afterwards, so the
    /// smallest sample counts, and an audit that was off begins anew.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn begin_run(&self, run: RunStart) -> Result<(), StoreError> {
        let never = i64::from(run.cache == Errs::Never);
        let update = "UPDATE sequence SET end = NULL, exact = min(exact, ?1), swept = NULL, swept_links = NULL,
                audit_sample = min(coalesce(audit_sample, ?2), ?2),
                audit_urls = iif(?2 IS NULL OR audit_sample IS NOT NULL, audit_urls, ?3),
                audit_lost = iif(?2 IS NULL OR audit_sample IS NOT NULL, audit_lost, (SELECT coalesce(max(id), 0) FROM lost))
             WHERE n = (SELECT max(n) FROM sequence)";
        let begin = || {
            if run.forgets {
                self.connection.execute_batch(schema::INDEX_OF_KEYS)?;
            }
            let last = resume::last_ticket(&self.connection)?;
            self.connection.execute(update, params![never, run.audit_sample, last])
        };
        begin().map(|_| ()).map_err(StoreError::database(self.path.join(DATABASE)))
    }

    /// Writes `crawl.toml`, the copy of the settings for people.
    ///
    /// # Errors
    /// [`StoreError`] when the file cannot be written.
    pub fn write_settings_copy(&self, toml: &str) -> Result<(), StoreError> {
        let write = || {
            let mut copy = private(&self.path.join(SETTINGS_COPY))?;
            copy.set_len(0)?;
            copy.write_all(toml.as_bytes())
        };
        write().map_err(|source| StoreError::Unwritable { path: self.path.clone(), source })
    }

    /// The connection for the writer, and what keeps the directory locked.
    pub(super) fn into_parts(self) -> (PathBuf, Connection, File) {
        (self.path.join(DATABASE), self.connection, self.lock)
    }
}

/// Makes the names of new files in a folder survive a power loss.
fn sync_folder(path: &Path) -> Result<(), StoreError> {
    // The parent of a relative path of one part.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|source| StoreError::Unwritable { path: path.to_owned(), source })
}

/// Opens a file, or makes it, which only its owner may read: a crawl may hold passwords and what is behind them.
fn private(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).mode(OWN).open(path)
}

/// Takes files that an earlier version made from the eyes of others. Those of another user are left as they are.
fn own_files(path: &Path) -> io::Result<()> {
    for file in [DATABASE, "webloom.sqlite-wal", "webloom.sqlite-shm", SETTINGS_COPY, LOCK] {
        let file = path.join(file);
        match std::fs::metadata(&file) {
            Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
                drop(std::fs::set_permissions(file, Permissions::from_mode(OWN)));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// A lock and nothing else may be left by a process that died early.
fn is_empty(path: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(path)? {
        if entry?.file_name() != LOCK {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let unwritable = |source| StoreError::Unwritable { path: path.to_owned(), source };
    let file = private(&path.join(LOCK)).map_err(unwritable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(unwritable(source)),
    }
}
