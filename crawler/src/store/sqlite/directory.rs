//! [`CrawlDirectory`]: finding, making and locking one, and what it holds before a run.

use std::{
    collections::HashSet,
    fs::{File, Metadata, Permissions, TryLockError},
    io::{self, Write},
    net::IpAddr,
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::{FailPoint, again, error::database_error, resume, schema, takers::Takers};
use crate::{
    health::FailureCause,
    store::{AreaRow, LastSequence, StoreError},
    url::{Canonicalizer, Fingerprint, FingerprintSeed},
};

pub(super) const DATABASE: &str = "webloom.sqlite";

/// Files of a crawl directory that may grow, by what they are.
pub const FILES: [(&str, &str); 2] = [("database", DATABASE), ("log", "webloom.sqlite-wal")];
const SETTINGS_COPY: &str = "crawl.toml";
const LOCK: &str = "lock";

/// Steps of the database's machine after which it looks whether it is to stop: less than a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 5_000;

/// How long a lock may last that nobody means to keep: a process that was killed has it until the system has taken it away, and a
/// child that is being started until it runs its own program.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The mode of all files of a crawl directory.
pub(super) const OWN: u32 = 0o600;

/// Keeps a crawl directory for this process, also while nothing of it is open.
#[derive(Debug, Clone)]
pub struct DirectoryLock {
    /// Where the directory was when it was locked.
    path: PathBuf,
    file: Arc<File>,
}

impl DirectoryLock {
    /// Where the directory is, though it was moved since. Another one may be where it was.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when it is gone.
    pub fn directory(&self) -> Result<PathBuf, StoreError> {
        let number = |file: Metadata| (file.dev(), file.ino());
        let held = self.file.metadata().map(number).ok();
        let is_held = |path: &Path| held.is_some() && std::fs::metadata(path.join(LOCK)).map(number).ok() == held;
        if is_held(&self.path) {
            return Ok(self.path.clone());
        }
        let moved = std::fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd())).ok();
        let moved = moved.and_then(|lock| lock.parent().map(Path::to_owned)).filter(|path| is_held(path));
        moved.ok_or_else(|| StoreError::Missing { path: self.path.clone() })
    }

    /// Writes a file of the directory, which only its owner may read: the whole of it, or nothing.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be written.
    pub fn replace(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let path = self.directory()?;
        let new = path.join(format!("{name}.new"));
        let write = || {
            let mut file = private(&new)?;
            file.set_len(0)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, path.join(name))
        };
        write().map_err(|source| StoreError::Unwritable { path, source })
    }
}

/// A crawl directory, locked for this process until it and all that was made of its lock are dropped.
#[derive(Debug)]
pub struct CrawlDirectory {
    path: PathBuf,
    pub(super) connection: Connection,
    lock: DirectoryLock,
    fail_point: Option<FailPoint>,
    pub(super) takers: Takers,
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
        Self::open_locked(lock(path)?)
    }

    /// The same for a directory that this process has kept.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read any more.
    pub fn open_locked(lock: DirectoryLock) -> Result<Self, StoreError> {
        let path = &lock.directory()?;
        let unwritable = |source| StoreError::Unwritable { path: path.clone(), source };
        let database = path.join(DATABASE);
        let failed = || database_error(&database);
        // What the database makes beside its file has the mode of that file.
        make(&database).and_then(|()| own_files(path)).map_err(unwritable)?;
        let mut connection = Connection::open(no_uri(&database)).map_err(failed())?;
        schema::prepare(&connection).map_err(failed())?;
        let version = schema::version(&connection, &database)?;
        schema::prepare_writing(&connection).map_err(failed())?;
        schema::migrate(&mut connection, version.unwrap_or(0)).map_err(failed())?;
        // Before anything is written that other rules would not understand.
        resume::key_rules(&connection).map_err(failed())?;
        again::keep_past(&connection).map_err(failed())?;
        Ok(Self { path: path.clone(), connection, lock, fail_point: None, takers: Takers::default() })
    }

    /// Has the process die at this moment, in tests of kill and resume.
    #[must_use]
    pub fn dying_at(self, fail_point: Option<FailPoint>) -> Self {
        Self { fail_point, ..self }
    }

    /// Has these take the visits that are written.
    #[must_use]
    pub fn with(self, takers: Takers) -> Self {
        Self { takers, ..self }
    }

    /// Has what takes long before the first message to its writer end, with [`StoreError::Interrupted`], once this is so. What is not
    /// committed by then is taken back.
    ///
    /// # Errors
    /// [`StoreError`] when the database refuses.
    pub fn interrupted_when(self, is_stopped: impl Fn() -> bool + Send + 'static) -> Result<Self, StoreError> {
        let failed = self.failed();
        let mut interruptible = self;
        interruptible.connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_stopped)).map_err(failed)?;
        Ok(interruptible)
    }

    /// Has nothing end before it is done any more.
    pub(super) fn uninterrupted(&mut self) -> rusqlite::Result<()> {
        self.connection.progress_handler(0, None::<fn() -> bool>)
    }

    /// What keeps it for this process.
    pub fn lock(&self) -> DirectoryLock {
        self.lock.clone()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stored settings (JSON); `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn settings(&self) -> Result<Option<String>, StoreError> {
        resume::settings(&self.connection).map_err(self.failed())
    }

    /// Every URL that is in the scope by itself, as given or redirected to.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn areas(&self) -> Result<Vec<AreaRow>, StoreError> {
        resume::areas(&self.connection).map_err(self.failed())
    }

    /// Shows the origin of each host whose robots.txt was read, and the address that answered.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn host_addresses(&self, mut each: impl FnMut(&str, IpAddr)) -> Result<(), StoreError> {
        let mut read = || {
            let mut select = self.connection.prepare("SELECT origin, address FROM host WHERE address IS NOT NULL")?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                if let Ok(address) = row.get_ref(1)?.as_str()?.parse() {
                    each(row.get_ref(0)?.as_str()?, address);
                }
            }
            Ok(())
        };
        read().map_err(self.failed())
    }

    /// Whether the texts of pages were kept in some sequence.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn keeps_texts(&self) -> Result<bool, StoreError> {
        let any = "SELECT EXISTS (SELECT 1 FROM sequence WHERE text_rule IS NOT NULL)";
        self.connection.query_row(any, [], |row| row.get(0)).map_err(self.failed())
    }

    /// The secret seed of the fingerprints; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn fingerprint_seed(&self) -> Result<Option<FingerprintSeed>, StoreError> {
        resume::fingerprint_seed(&self.connection).map_err(self.failed())
    }

    /// The rules that make its keys; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read, or this version does not know its rules.
    pub fn key_rules(&self) -> Result<Option<Canonicalizer>, StoreError> {
        resume::key_rules(&self.connection).map_err(self.failed())
    }

    /// URLs that were removed, and are not asked for again.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn removed(&self) -> Result<HashSet<Fingerprint>, StoreError> {
        resume::removed(&self.connection).map_err(self.failed())
    }

    /// The state of the last sequence; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn last_sequence(&self) -> Result<Option<LastSequence>, StoreError> {
        resume::last_sequence(&self.connection).map_err(self.failed())
    }

    /// The text of a file of the directory, if it is there.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub fn own_file(&self, name: &str) -> Result<Option<String>, StoreError> {
        match std::fs::read_to_string(self.path.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Unwritable { path: self.path.clone(), source }),
        }
    }

    /// Has hosts be asked again that were paused because a log-in had expired.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn lift_log_ins(&self) -> Result<(), StoreError> {
        let lift = "UPDATE host SET failures = NULL, ailing_since = NULL, cause = NULL, not_before = NULL, wait = NULL, known_good = NULL
             WHERE cause = ?";
        let lifted = self.connection.execute(lift, [FailureCause::LogIn.to_string()]);
        lifted.map(|_| ()).map_err(self.failed())
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

    /// What an error of the database means here.
    pub(super) fn failed(&self) -> impl FnOnce(rusqlite::Error) -> StoreError + use<> {
        database_error(self.path.join(DATABASE))
    }

    /// The connection alone; nothing is locked any more.
    #[cfg(test)]
    pub(super) fn into_connection(self) -> Connection {
        self.connection
    }

    /// A moment at which the process may be made to die.
    pub(super) fn pass(&self, moment: &'static str) {
        FailPoint::pass(self.fail_point.as_ref(), moment);
    }
}

/// The same path, which `SQLite` takes for no URI, whatever the directory is called.
pub(super) fn no_uri(database: &Path) -> PathBuf {
    if database.is_relative() { Path::new(".").join(database) } else { database.to_owned() }
}

/// Makes the names of new files in a folder survive a power loss.
pub(super) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    // The parent of a relative path of one part.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.map_err(|source| StoreError::Unwritable { path: path.to_owned(), source })
}

/// Opens a file, or makes it, which only its owner may read: a crawl may hold passwords and what is behind them.
pub(super) fn private(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).mode(OWN).open(path)
}

/// Makes a database of which that holds. One that is there is not opened: whoever closes it would take away the locks that another
/// connection of this process has on it.
fn make(database: &Path) -> io::Result<()> {
    let made = File::options().create_new(true).write(true).mode(OWN).open(database);
    match made {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Takes files that an earlier version made from the eyes of others. Those of another user are left as they are.
fn own_files(path: &Path) -> io::Result<()> {
    for file in [DATABASE, "webloom.sqlite-wal", "webloom.sqlite-shm", SETTINGS_COPY, "cookies.txt", LOCK] {
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

fn lock(path: &Path) -> Result<DirectoryLock, StoreError> {
    let unwritable = |source| StoreError::Unwritable { path: path.to_owned(), source };
    let file = private(&path.join(LOCK)).map_err(unwritable)?;
    let first = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(DirectoryLock { path: path.to_owned(), file: Arc::new(file) }),
            Err(TryLockError::WouldBlock) if first.elapsed() < LOCK_PATIENCE => thread::sleep(LOCK_PAUSE),
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(unwritable(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_a_lock_that_is_about_to_go_and_for_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        let copy = first.file.try_clone().unwrap();
        drop(first);
        let freed = thread::spawn(move || {
            thread::sleep(LOCK_PATIENCE / 5);
            drop(copy);
        });
        let second = lock(folder.path()).unwrap();
        freed.join().unwrap();
        assert!(matches!(lock(folder.path()), Err(StoreError::Locked { .. })));
        drop(second);
    }
}
