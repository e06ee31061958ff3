//! Gives all pages their class anew, where what decides it has changed: the policy, or the sections with an interval of their own.

use rusqlite::{Connection, OptionalExtension, Result};

use super::book::{Book, Remembered};
use crate::revisit::{About, Hint, SectionPath, Sections};

/// Looks at every page, unless the classes are of this policy and these sections.
pub(super) fn renew(book: &mut Book<'_>, classed_by: &str) -> Result<()> {
    let connection = book.connection;
    let before: Option<String> = connection.query_row("SELECT classed_by FROM crawl", [], |row| row.get(0))?;
    if before.as_deref() == Some(classed_by) {
        return Ok(());
    }
    let any = connection.query_row("SELECT 1 FROM revisit LIMIT 1", [], |_| Ok(())).optional()?.is_some();
    connection.execute("DELETE FROM revisit_section", [])?;
    if let Some(sections) = book.policy.sections() {
        *sections = Sections::default();
    }
    if any {
        each(connection, |page, about, address| {
            let before = page.class;
            page.class = book.given_class(address).unwrap_or_else(|| book.policy.classify(&page.page, about).0.into());
            recall(book, page, about);
            if page.class == before { Ok(()) } else { book.reclass(page, before) }
        })?;
    }
    if any && book.policy.sections().is_some() {
        // The first ones had their class before the rate of their section was known.
        each(connection, |page, about, _| {
            let before = page.class;
            if page.is_divided() {
                book.policy.forget(&page.page, &about.path);
                page.class = book.policy.classify(&page.page, about).0.into();
                recall(book, page, about);
            }
            if page.class == before { Ok(()) } else { book.reclass(page, before) }
        })?;
    }
    connection.execute("UPDATE crawl SET classed_by = ?", [classed_by]).map(|_| ())
}

fn recall(book: &mut Book<'_>, page: &mut Remembered, about: &About) {
    if let Ok(class) = u8::try_from(page.class) {
        page.page.class = crate::revisit::Class(class);
        book.policy.recall(&page.page, &about.path);
    }
}

/// Shows every page, with its address and what is known of it beside its visits.
fn each(connection: &Connection, mut each: impl FnMut(&mut Remembered, &About, &str) -> Result<()>) -> Result<()> {
    let mut select = connection.prepare(
        "SELECT revisit.url, class, revisit.state, weight, url.url, (SELECT steady FROM visit WHERE id = url.visit)
         FROM revisit CROSS JOIN url ON url.id = revisit.url ORDER BY revisit.url",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let mut page = Remembered::of(row)?;
        let address = row.get_ref(4)?.as_str()?;
        let hint = row.get::<_, Option<u32>>(5)?.and_then(Hint::of_seconds);
        let about = About { path: SectionPath::of(address), importance: page.importance, hint };
        each(&mut page, &about, address)?;
    }
    Ok(())
}
