//! [`KeptCookies`]: the cookies of a crawl, as its directory keeps them, and the file with which the user logs in.
//!
//! Owns: when such a file is read, and when the directory's own is written. The same file is read once: what servers have set since then
//! is newer.
//!
//! Invariants: the directory's file is its owner's alone, and whole whatever kills the process; nothing of a cookie is printed.
//!
//! Does not know: which cookie goes where ([`CookieJar`] does).

use std::{path::Path, sync::Arc, time::Duration};

use xxhash_rust::xxh3::xxh3_64;

use super::{
    CommandFailure,
    directory::{CrawlDirectory, DirectoryLock},
};
use crate::{
    config::CookieChoice,
    engine::LogInBook,
    fetch::cookies::{CookieJar, CookiesRead, domains},
};

/// The directory's own file.
const FILE: &str = "cookies.txt";

/// How often it is written while servers change cookies.
const PAUSE: Duration = Duration::from_secs(5);

/// The longest file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// In front of what the directory's file says beside cookies.
const IMPORTED: &str = "# webloom-imported: ";
const LOG_INS: &str = "# webloom-log-ins: ";

/// The cookies of a run, and where they are kept.
pub(crate) struct KeptCookies {
    jar: Arc<CookieJar>,
    log_ins: Arc<LogInBook>,
    lock: DirectoryLock,
    /// Of the file that was read last.
    imported: Option<u64>,
    /// What was read from it now.
    read_now: Option<CookiesRead>,
}

impl KeptCookies {
    /// The cookies that the directory keeps, with those of the file that is to be read; none where none are wanted. `is_given` says that
    /// the choice is of this run, and was not found in the directory.
    pub(crate) fn open(
        choice: &CookieChoice,
        directory: &CrawlDirectory,
        is_given: bool,
    ) -> Result<Option<Self>, CommandFailure> {
        let file = match choice {
            CookieChoice::Off => return Ok(None),
            CookieChoice::On => None,
            CookieChoice::File(path) => Some(path),
        };
        let kept = directory.own_file(FILE)?;
        let mut cookies = Self {
            jar: Arc::default(),
            log_ins: Arc::default(),
            lock: directory.lock(),
            imported: None,
            read_now: None,
        };
        if let Some(text) = &kept {
            let said = |mark: &str| text.lines().find_map(|line| line.strip_prefix(mark));
            // Somebody may have emptied it.
            drop(cookies.jar.read(text));
            cookies.imported = said(IMPORTED).and_then(|hash| u64::from_str_radix(hash, 16).ok());
            said(LOG_INS).inspect(|text| cookies.log_ins.read(text));
        }
        if let Some(path) = file {
            match read(path) {
                Ok(text) => cookies.import(path, &text)?,
                // It did its work in an earlier run, perhaps in another folder.
                Err(_) if kept.is_some() && !is_given => {}
                Err(error) => return Err(refused(path, &error.to_string())),
            }
        }
        cookies.jar.take_change();
        Ok(Some(cookies))
    }

    /// The jar.
    pub(crate) fn jar(&self) -> Arc<CookieJar> {
        Arc::clone(&self.jar)
    }

    /// What is known of log-ins.
    pub(crate) fn log_ins(&self) -> Arc<LogInBook> {
        Arc::clone(&self.log_ins)
    }

    /// What a file brought in that was not read before.
    pub(crate) fn read_now(&self) -> Option<CookiesRead> {
        self.read_now
    }

    /// Writes the directory's file.
    pub(crate) fn save(&self) -> Result<(), CommandFailure> {
        let mut text = self.jar.text();
        if let Some(hash) = self.imported {
            text += &format!("{IMPORTED}{hash:016x}\n");
        }
        text += &format!("{LOG_INS}{}\n", self.log_ins.text());
        Ok(self.lock.replace(FILE, &text)?)
    }

    /// Does the same where something has changed. What cannot be written now may be later: the crawl goes on.
    pub(crate) fn save_changes(&self) {
        if (self.jar.take_change() | self.log_ins.take_change())
            && let Err(error) = self.save()
        {
            tracing::warn!(%error, "cannot keep the cookies that servers have set");
        }
    }

    /// Does that again and again.
    pub(crate) async fn keep(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(PAUSE).await;
            self.save_changes();
        }
    }

    fn import(&mut self, path: &Path, text: &str) -> Result<(), CommandFailure> {
        let hash = xxh3_64(text.as_bytes());
        if self.imported == Some(hash) {
            return Ok(());
        }
        // Another log-in: what servers have set for the one before would be sent beside it.
        self.jar = Arc::default();
        let read = self.jar.read(text).map_err(|error| refused(path, &error.to_string()))?;
        if read.kept == 0 {
            return Err(refused(path, "all of its cookies have expired"));
        }
        // Another log-in may see other pages.
        self.log_ins.begin(&domains(text));
        (self.imported, self.read_now) = (Some(hash), Some(read));
        Ok(())
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > LONGEST {
        return Err(std::io::Error::other("it is longer than 16 MiB"));
    }
    std::fs::read_to_string(path)
}

fn refused(path: &Path, why: &str) -> CommandFailure {
    CommandFailure::Usage(format!("--cookies: {}: {why}", path.display()))
}
