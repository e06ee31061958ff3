//! [`Finder`]: what a pass over the visits works with.

use std::path::Path;

use rusqlite::Connection;

use crate::store::{ChangeRules, sqlite::current::Current};

/// Looks at what was visited.
pub(in crate::store::sqlite) struct Finder<'a> {
    pub(in crate::store::sqlite) connection: &'a Connection,
    /// For temporary files.
    pub(in crate::store::sqlite) folder: &'a Path,
    pub(in crate::store::sqlite) rules: &'a ChangeRules,
    pub(in crate::store::sqlite) current: Current,
    /// Whether every page of the sequence was looked at.
    pub(in crate::store::sqlite) complete: bool,
}
