//! [`LogInBook`]: what is known of the log-ins of a crawl.
//!
//! A *witness* is a page that has been seen with the log-in, and that looked otherwise without it. So it shows whether a session goes on.
//! A *good* one is refused without it. Of others the title alone differs, which may have other reasons.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::sign::Sign;
use crate::url::WebUrl;

/// Witnesses of a host that are enough.
const ENOUGH: usize = 3;

/// Pages of a host that are asked for without log-in to find them.
const MOST_TRIED: u32 = 6;

/// Hosts that are known at most. Those beyond are crawled as if nothing were known of log-ins.
const MOST_HOSTS: usize = 1_000;

/// What is known of log-ins. It does not print: URLs may hold secrets.
#[derive(Default)]
pub struct LogInBook {
    book: Mutex<Book>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    /// The hosts that the user gave cookies for; a dot in front means all below a name, too.
    domains: BTreeSet<Box<str>>,
    /// By `host[:port]`.
    hosts: BTreeMap<Box<str>, HostBook>,
    #[serde(skip)]
    is_changed: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct HostBook {
    witnesses: Vec<Witness>,
    /// Pages have a field for a password though the user is logged in.
    forms_are_usual: bool,
    /// Pages that were the same without log-in.
    public: u32,
    #[serde(skip)]
    is_logged_out: bool,
}

/// A page that shows whether a session goes on.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Witness {
    /// Its URL.
    pub(super) url: Box<str>,
    /// What it looks like with the log-in,
    with: Sign,
    /// and without.
    without: Sign,
}

/// What a witness shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionState {
    /// Nobody is logged in.
    LoggedOut,
    /// The session goes on.
    LoggedIn,
    /// It is another page than it was, and none that refuses.
    Other,
    /// Whether somebody is logged in makes no difference that is plain.
    Unclear,
    /// Its host has trouble that may pass.
    Trouble,
    /// Nothing: it is another page now.
    Nothing,
}

/// What an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likely {
    /// A page, or anything else that says nothing of the log-in.
    Plain,
    /// A page by which more may be found out about the log-in.
    Telling,
    /// What the host answers without log-in.
    LogIn,
}

impl LogInBook {
    /// A new log-in, for these domains.
    pub fn begin(&self, domains: &BTreeSet<Box<str>>) {
        *self.locked() = Book { domains: domains.clone(), is_changed: true, ..Book::default() };
    }

    /// Takes up what [`text`](Self::text) gave; whether that can be read.
    pub fn read(&self, text: &str) -> bool {
        let Ok(book) = serde_json::from_str(text) else { return false };
        *self.locked() = book;
        true
    }

    /// All of it, in one line.
    pub fn text(&self) -> String {
        serde_json::to_string(&*self.locked()).unwrap_or_default()
    }

    /// Whether it has changed since this was asked last.
    pub fn take_change(&self) -> bool {
        std::mem::take(&mut self.locked().is_changed)
    }

    /// Whether the user gave cookies for the host of a URL.
    pub(super) fn logs_in(&self, url: &WebUrl) -> bool {
        let book = self.locked();
        let is_one = book.domains.contains(url.host()) || is_below(url, &book.domains);
        is_one && (book.hosts.len() < MOST_HOSTS || book.hosts.contains_key(url.authority()))
    }

    /// Whether the session at the host of a URL has ended.
    pub(super) fn is_logged_out(&self, url: &WebUrl) -> bool {
        self.host(url, |host| host.is_logged_out)
    }

    /// It has.
    pub(super) fn log_out(&self, url: &WebUrl) {
        self.host(url, |host| host.is_logged_out = true);
    }

    /// What the answer for a URL may be that looks so.
    pub(super) fn likely(&self, url: &WebUrl, sign: &Sign) -> Likely {
        self.host(url, |host| {
            let is_known = host.witnesses.iter().any(|witness| witness.without == *sign);
            let is_wanted = host.witnesses.iter().filter(|witness| witness.is_good()).count() < ENOUGH;
            let tried = host.public + u32::try_from(host.witnesses.len()).unwrap_or(u32::MAX);
            match () {
                () if is_known || sign.asks(url, !host.forms_are_usual) => Likely::LogIn,
                () if sign.is_page() && is_wanted && tried < MOST_TRIED => Likely::Telling,
                () => Likely::Plain,
            }
        })
    }

    /// A page looks so with the log-in, and so without.
    pub(super) fn learn(&self, url: &WebUrl, with: &Sign, without: &Sign) {
        let is_witness = without.differs_from(with);
        self.host(url, |host| {
            if !is_witness {
                host.public += 1;
            } else if host.witnesses.iter().all(|known| *known.url != *url.as_str()) {
                let witness = Witness { url: url.as_str().into(), with: with.clone(), without: without.clone() };
                // Good ones first.
                let place = if witness.is_good() { 0 } else { host.witnesses.len() };
                host.witnesses.insert(place, witness);
            }
            // It is seen with the log-in, and has such a field all the same.
            host.forms_are_usual |= matches!(with, Sign::Page { asks_password: true, .. });
        });
        self.locked().is_changed = true;
    }

    /// The witnesses of the host of a URL.
    pub(super) fn witnesses(&self, url: &WebUrl) -> Vec<Witness> {
        self.host(url, |host| host.witnesses.clone())
    }

    /// One is none any more.
    pub(super) fn forget(&self, witness: &WebUrl) {
        self.host(witness, |host| host.witnesses.retain(|known| *known.url != *witness.as_str()));
        self.locked().is_changed = true;
    }

    /// Whether pages of the host were seen for which nobody need be logged in.
    pub(super) fn has_public(&self, url: &WebUrl) -> bool {
        self.host(url, |host| host.public > 0 || host.witnesses.iter().any(|witness| !witness.is_good()))
    }

    fn host<T>(&self, url: &WebUrl, work: impl FnOnce(&mut HostBook) -> T) -> T {
        let mut book = self.locked();
        if !book.hosts.contains_key(url.authority()) {
            book.hosts.insert(url.authority().into(), HostBook::default());
        }
        work(book.hosts.get_mut(url.authority()).expect("it was put there"))
    }

    fn locked(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LogInBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogInBook")
    }
}

impl Witness {
    /// Whether it is refused without log-in.
    pub(super) fn is_good(&self) -> bool {
        self.without.is_plain_refusal()
    }

    /// What it shows that looks so now.
    pub(super) fn shows(&self, url: &WebUrl, sign: &Sign) -> SessionState {
        match sign {
            _ if *sign == self.without || sign.asks(url, true) && *sign != self.with => SessionState::LoggedOut,
            _ if *sign == self.with => {
                if self.is_good() {
                    SessionState::LoggedIn
                } else {
                    SessionState::Unclear
                }
            }
            Sign::Status(408 | 425 | 429 | 500..) => SessionState::Trouble,
            Sign::Page { .. } => {
                if self.is_good() {
                    SessionState::Other
                } else {
                    SessionState::Unclear
                }
            }
            _ => SessionState::Nothing,
        }
    }
}

/// Whether the host of a URL is one of these with a dot in front, or below one.
fn is_below(url: &WebUrl, domains: &BTreeSet<Box<str>>) -> bool {
    if url.ip_literal().is_some() {
        return false;
    }
    let mut name = Some(url.host());
    while let Some(domain) = name {
        if domains.contains(&*format!(".{domain}")) {
            return true;
        }
        name = domain.split_once('.').map(|(_, rest)| rest);
    }
    false
}
