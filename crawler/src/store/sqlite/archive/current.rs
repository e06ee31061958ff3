//! The pages as they are now, with their archived bodies.

use std::{cell::RefCell, collections::HashMap, fs::File, path::Path};

use rusqlite::{Connection, Result, Row, params};

use super::{
    FOLDER, failed,
    read::{RecordPlace, block_of},
};
use crate::{
    store::{
        StoreError,
        sqlite::{archive::is_kept, current_copy::current_copy},
    },
    time::Moment,
};

/// Files that are kept open at most.
const OPEN_FILES: usize = 16;

/// Which pages are asked for: those that were new or had changed in a later sequence than this one, or since this time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChangedSince {
    /// All pages.
    #[default]
    Ever,
    /// Of sequences after this one.
    After(u32),
    /// Since this time.
    Moment(Moment),
}

/// A page as it is now, or was when it answered last.
#[derive(Debug, Clone)]
pub struct CurrentPage {
    /// Its URL.
    pub url: String,
    /// The sequence of the copy.
    pub sequence: u32,
    /// When it was fetched.
    pub at: Moment,
    /// SHA-256 of the decoded body.
    pub digest: Option<[u8; 32]>,
    /// `new`, `changed` or `unchanged`, in that sequence.
    pub change: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// `Content-Type` as sent.
    pub content_type: Option<String>,
    /// Whether it is HTML.
    pub is_html: bool,
    /// The content codings of the body.
    pub coding: Option<String>,
    /// Where its body is; `None` if it is not archived.
    place: Option<RecordPlace>,
}

impl CurrentPage {
    /// Whether its body is archived.
    pub fn is_archived(&self) -> bool {
        self.place.is_some()
    }
}

/// Reads bodies of the archive, whose files it keeps open.
#[derive(Debug)]
pub struct ArchivedBodies<'a> {
    dir: &'a Path,
    files: RefCell<HashMap<String, File>>,
}

impl ArchivedBodies<'_> {
    /// The body of a page as it was sent, with its codings; `None` if it is not archived.
    ///
    /// # Errors
    /// [`StoreError::Archive`] when it cannot be read.
    pub fn body(&self, page: &CurrentPage) -> std::result::Result<Option<Vec<u8>>, StoreError> {
        let Some(place) = &page.place else { return Ok(None) };
        let path = self.dir.join(FOLDER).join(&place.file);
        let mut files = self.files.borrow_mut();
        let mut read = || {
            if !files.contains_key(&place.file) {
                if files.len() >= OPEN_FILES {
                    files.clear();
                }
                files.insert(place.file.clone(), File::open(&path)?);
            }
            let file = files.get_mut(&place.file).expect("it was inserted");
            block_of(file, place).map(|(_, body)| body)
        };
        read().map(Some).map_err(|source| StoreError::Archive { path: path.clone(), source })
    }
}

/// Pages in the order of their URLs' numbers.
const PAGES: &str = concat!(
    "SELECT url.url, copy.sequence, copy.fetched_at, copy.digest, copy.change, copy.title, copy.content_type, copy.html,
           whole.coding, archive_file.name, whole.start, whole.length
    FROM url JOIN visit AS last ON last.id = url.visit
     LEFT JOIN page_state ON page_state.url = url.id JOIN visit AS copy ON copy.id = ",
    current_copy!(),
    " LEFT JOIN archive_record AS record ON record.visit = copy.id
    LEFT JOIN archive_record AS whole ON whole.visit = coalesce(record.body, record.visit)
    LEFT JOIN archive_file ON archive_file.id = whole.file
    WHERE ?1 IS NULL OR url.id IN (
        SELECT url FROM visit WHERE sequence > ?1 AND fetched_at >= ?2 AND (change = 'new' OR change = 'changed')
        UNION ALL SELECT url FROM change WHERE sequence > ?1 AND at >= ?2 AND change = 'back')
    ORDER BY url.id"
);

/// Shows each to `each`, with what reads its body, until that answers `false`.
pub(in crate::store::sqlite) fn pages<E: From<StoreError>>(
    (connection, dir): (&Connection, &Path),
    since: ChangedSince,
    mut each: impl FnMut(&CurrentPage, &ArchivedBodies<'_>) -> std::result::Result<bool, E>,
) -> std::result::Result<(), E> {
    if !is_kept(connection).map_err(failed())? {
        return Ok(());
    }
    let (after, from) = match since {
        ChangedSince::Ever => (None, 0),
        ChangedSince::After(sequence) => (Some(i64::from(sequence)), 0),
        ChangedSince::Moment(moment) => (Some(-1), moment.millis()),
    };
    let reader = ArchivedBodies { dir, files: RefCell::default() };
    let mut select = connection.prepare(PAGES).map_err(failed())?;
    let mut rows = select.query(params![after, from]).map_err(failed())?;
    while let Some(row) = rows.next().map_err(failed())? {
        if !each(&page(row).map_err(failed())?, &reader)? {
            break;
        }
    }
    Ok(())
}

fn page(row: &Row<'_>) -> Result<CurrentPage> {
    let place = match row.get(9)? {
        Some(file) => Some(RecordPlace { file, start: row.get(10)?, length: row.get(11)? }),
        None => None,
    };
    Ok(CurrentPage {
        url: row.get(0)?,
        sequence: row.get(1)?,
        at: Moment::from_millis(row.get(2)?),
        digest: row.get(3)?,
        change: row.get(4)?,
        title: row.get(5)?,
        content_type: row.get(6)?,
        is_html: row.get(7)?,
        coding: row.get(8)?,
        place,
    })
}

/// Shows where each URL that is a redirect leads.
pub(in crate::store::sqlite) fn redirects(connection: &Connection, mut each: impl FnMut(&str, &str)) -> Result<()> {
    let redirects = "SELECT url.url, visit.redirect FROM url JOIN visit ON visit.id = url.visit
        WHERE visit.outcome = 'redirected' AND visit.redirect IS NOT NULL ORDER BY url.id";
    let mut select = connection.prepare(redirects)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        each(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
    }
    Ok(())
}

/// The names of the WARC files.
pub(in crate::store::sqlite) fn file_names(connection: &Connection) -> Result<Vec<String>> {
    if !is_kept(connection)? {
        return Ok(Vec::new());
    }
    connection.prepare("SELECT name FROM archive_file ORDER BY id")?.query_map([], |row| row.get(0))?.collect()
}

/// Shows each URL that was ever admitted and is not forgotten, in the order of their numbers.
pub(in crate::store::sqlite) fn urls(connection: &Connection, mut each: impl FnMut(&str)) -> Result<()> {
    let mut select = connection.prepare("SELECT url FROM url ORDER BY id")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        each(row.get_ref(0)?.as_str()?);
    }
    Ok(())
}

/// Shows each URL whose page was reported as gone or moved since, and is not there now.
pub(in crate::store::sqlite) fn deleted(
    connection: &Connection,
    since: ChangedSince,
    mut each: impl FnMut(&str),
) -> Result<()> {
    let deleted = "SELECT DISTINCT url.url FROM change JOIN url ON url.id = change.url JOIN visit ON visit.id = url.visit
        WHERE change.change IN ('gone', 'moved') AND change.sequence > ?1 AND change.at >= ?2 AND visit.outcome <> 'stored'
        ORDER BY url.id";
    let (after, from) = match since {
        ChangedSince::Ever => (-1, 0),
        ChangedSince::After(sequence) => (i64::from(sequence), 0),
        ChangedSince::Moment(moment) => (-1, moment.millis()),
    };
    let mut select = connection.prepare(deleted)?;
    let mut rows = select.query(params![after, from])?;
    while let Some(row) = rows.next()? {
        each(row.get_ref(0)?.as_str()?);
    }
    Ok(())
}
