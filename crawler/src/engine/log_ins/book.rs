//! [`LogInBook`]: what is known of the log-ins of a crawl.
//!
//! A *witness* is a page that has been seen with the log-in, and that looked otherwise without it. So it shows whether a session goes on.

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

/// What is known of log-ins. It does not print: URLs may hold secrets.
#[derive(Default)]
pub struct LogInBook {
    book: Mutex<Book>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Book {
    /// The domains that the user gave cookies for, without a dot in front.
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
    #[serde(skip)]
    public: u32,
    #[serde(skip)]
    is_logged_out: bool,
}

/// A page that shows whether a session goes on.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Witness {
    /// Its URL.
    pub(super) url: Box<str>,
    /// What it looks like without log-in.
    sign: Sign,
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
        let bare = domains.iter().map(|domain| domain.trim_start_matches('.').into());
        *self.locked() = Book { domains: bare.collect(), is_changed: true, ..Book::default() };
    }

    /// Takes up what [`text`](Self::text) gave. What cannot be read is learnt anew.
    pub fn read(&self, text: &str) {
        *self.locked() = serde_json::from_str(text).unwrap_or_default();
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
        let domains = &self.locked().domains;
        let mut name = url.host();
        loop {
            if domains.contains(name) {
                return true;
            }
            match name.split_once('.') {
                Some((_, rest)) if url.ip_literal().is_none() => name = rest,
                _ => return false,
            }
        }
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
            let is_known = host.witnesses.iter().any(|witness| witness.sign == *sign);
            let tried = host.public + u32::try_from(host.witnesses.len()).unwrap_or(u32::MAX);
            match () {
                () if is_known || sign.asks(url, !host.forms_are_usual) => Likely::LogIn,
                () if sign.is_content() && host.witnesses.len() < ENOUGH && tried < MOST_TRIED => Likely::Telling,
                () => Likely::Plain,
            }
        })
    }

    /// A page looks so with the log-in, and so without.
    pub(super) fn learn(&self, url: &WebUrl, with: &Sign, without: &Sign) {
        let is_witness = with.is_content() && without.differs_from(with);
        self.host(url, |host| {
            if !is_witness {
                host.public += 1;
            } else if host.witnesses.iter().all(|known| *known.url != *url.as_str()) {
                host.witnesses.push(Witness { url: url.as_str().into(), sign: without.clone() });
            }
            // It is seen with the log-in, and has such a field all the same.
            host.forms_are_usual |= matches!(with, Sign::Page { asks_password: true, .. });
        });
        self.locked().is_changed |= is_witness;
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

    /// Whether pages of the host were seen that were the same without log-in.
    pub(super) fn has_public(&self, url: &WebUrl) -> bool {
        self.host(url, |host| host.public > 0)
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
    /// Whether it looks as without log-in.
    pub(super) fn is_seen_without(&self, sign: &Sign) -> bool {
        self.sign == *sign
    }
}
