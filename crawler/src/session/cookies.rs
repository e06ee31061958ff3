//! [`KeptCookies`]: the cookies of a crawl, as its directory keeps them, and the file with which the user logs in.
//!
//! Owns: when such a file is read, and when the directory's own is written. The same file is read once: what servers have set since then
//! is newer.
//!
//! Invariants: the directory's file is its owner's alone, and whole whatever kills the process; nothing of a cookie is printed.
//!
//! Does not know: which cookie goes where ([`CookieJar`] does).

use std::{
    convert::Infallible,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

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

/// The cookies of a run, and where they are kept. Clones share them.
#[derive(Clone)]
pub(crate) struct KeptCookies {
    jar: Arc<CookieJar>,
    log_ins: Arc<LogInBook>,
    lock: DirectoryLock,
    /// Of the file that was read last.
    imported: Option<u64>,
    /// What was read from it now.
    read_now: Option<CookiesRead>,
    /// One writes the file at a time.
    turn: Arc<Mutex<()>>,
}

impl KeptCookies {
    /// The cookies that the directory keeps, with those of the file that is given; none where none are wanted. A file that was given in an
    /// earlier run, perhaps in another folder, is not read. One that cannot be read ends no `watch` that has cookies.
    pub(crate) fn open(
        choice: &CookieChoice,
        directory: &CrawlDirectory,
        (is_given, is_watched): (bool, bool),
    ) -> Result<Option<Self>, CommandFailure> {
        let file = match choice {
            CookieChoice::Off => return Ok(None),
            CookieChoice::On => None,
            CookieChoice::File(path) => Some(path).filter(|path| is_given && !is_own(path, directory)),
        };
        let kept = directory.own_file(FILE)?;
        let mut cookies = Self {
            jar: Arc::default(),
            log_ins: Arc::default(),
            lock: directory.lock(),
            imported: None,
            read_now: None,
            turn: Arc::default(),
        };
        if let Some(text) = &kept {
            let said = |mark: &str| text.lines().find_map(|line| line.strip_prefix(mark));
            // Somebody may have emptied it.
            cookies.jar.read_own(text);
            cookies.imported = said(IMPORTED).and_then(|hash| u64::from_str_radix(hash, 16).ok());
            let is_known = said(LOG_INS).is_some_and(|text| cookies.log_ins.read(text));
            if !is_known && cookies.imported.is_some() {
                cookies.log_ins.begin(&domains(text));
            }
        }
        if let Some(path) = file {
            let imported = read(path).and_then(|text| cookies.import(&text));
            match imported {
                Err(why) if is_watched && kept.is_some() => {
                    tracing::warn!(file = %path.display(), why, "the file of cookies cannot be used; those that are kept are");
                }
                Err(why) => return Err(CommandFailure::Usage(format!("--cookies: {}: {why}", path.display()))),
                Ok(()) => {}
            }
        }
        if kept.is_none() && file.is_none() && matches!(choice, CookieChoice::File(_)) {
            tracing::warn!("the cookies of this crawl are gone: give their file again with --cookies");
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
    fn save_changes(&self) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if !(self.jar.take_change() | self.log_ins.take_change()) {
            return;
        }
        if let Err(error) = self.save() {
            tracing::warn!(%error, "cannot keep the cookies that servers have set");
            self.jar.note_change();
        }
    }

    /// Does that again and again.
    async fn keep(&self) -> Infallible {
        loop {
            tokio::time::sleep(PAUSE).await;
            let cookies = self.clone();
            // The disk may take its time. What a panic would keep from it is saved the next time.
            drop(tokio::task::spawn_blocking(move || cookies.save_changes()).await);
        }
    }

    fn import(&mut self, text: &str) -> Result<(), String> {
        let hash = xxh3_64(text.as_bytes());
        if self.imported == Some(hash) {
            return Ok(());
        }
        // Another log-in: what servers have set for the one before would be sent beside it.
        let jar = CookieJar::default();
        let read = jar.read(text).map_err(|error| error.to_string())?;
        if read.kept == 0 {
            return Err("all of its cookies have expired".to_owned());
        }
        self.jar = Arc::new(jar);
        // It may see other pages.
        self.log_ins.begin(&domains(text));
        (self.imported, self.read_now) = (Some(hash), Some(read));
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, String> {
    let length = std::fs::metadata(path).map(|file| file.len());
    match length {
        Ok(LONGEST..) => Err("it is longer than 16 MiB".to_owned()),
        Ok(_) => std::fs::read_to_string(path).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a file is the directory's own.
fn is_own(path: &Path, directory: &CrawlDirectory) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    whole(path).is_some_and(|path| Some(path) == whole(&directory.path().join(FILE)))
}

/// Does something, and keeps cookies as they change meanwhile.
pub(crate) async fn kept_beside<T>(cookies: Option<&KeptCookies>, work: impl Future<Output = T>) -> T {
    let Some(cookies) = cookies else { return work.await };
    let done = tokio::select! {
        biased;
        done = work => done,
        never = cookies.keep() => match never {},
    };
    cookies.save_changes();
    done
}
