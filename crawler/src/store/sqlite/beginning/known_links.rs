//! [`KnownLinks`]: how many pages link to each URL that is known, by all links that were kept.
//!
//! What a run counts of links while it crawls is an estimate, and ends with the answer of a URL. When a sequence begins that visits what
//! is known first, all links of the copies are there, and are counted exactly.
//!
//! Invariant: memory holds neither all links nor all URLs; both are sorted in temporary files, and read side by side.

use std::io;

use rusqlite::Connection;

use super::super::{
    error::Fault,
    revisits::linking_pages,
    runs::{self, Sorted},
};
use crate::order::LinkClass;

/// Numbers of classes.
const CLASSES: u64 = 4;

/// The class of each URL, in the order of their rows.
pub(super) struct KnownLinks {
    classes: Sorted,
    next: Option<u64>,
}

impl KnownLinks {
    /// Counts the links of all copies.
    pub(super) fn count(connection: &Connection) -> Result<Self, Fault> {
        let folders = runs::folders(connection);
        let folders: Vec<_> = folders.iter().map(|folder| &**folder).collect();
        let class = |pages| u64::from(LinkClass::of_pages(pages).number());
        let mut classes = linking_pages(connection, &folders, |url, pages| url * CLASSES + class(pages))?;
        let next = classes.next()?;
        Ok(Self { classes, next })
    }

    /// The class of a URL; they are asked for in ascending order.
    pub(super) fn class(&mut self, url: u64) -> io::Result<LinkClass> {
        while self.next.is_some_and(|next| next / CLASSES < url) {
            self.next = self.classes.next()?;
        }
        let number = self.next.filter(|next| next / CLASSES == url).map_or(0, |next| next % CLASSES);
        Ok(LinkClass::of_number(u8::try_from(number).unwrap_or(u8::MAX)))
    }
}
