//! Rows that refer to missing rows: the schema says which columns refer to rows.

use rusqlite::{Connection, Result};

use crate::store::Finding;

pub(super) const REFERENCES: &str = "a row that another names is there";

/// Each row is looked up by its key.
pub(super) fn finding(connection: &Connection) -> Result<Option<Finding>> {
    let mut select = connection.prepare(
        "SELECT broken.\"table\" || coalesce(' ' || broken.rowid, '') || ' names no ' || broken.parent || ' in ' || list.\"from\"
         FROM pragma_foreign_key_check AS broken
         JOIN pragma_foreign_key_list(broken.\"table\") AS list ON list.id = broken.fkid",
    )?;
    let mut rows = select.query([])?;
    let mut finding: Option<Finding> = None;
    while let Some(row) = rows.next()? {
        match &mut finding {
            Some(finding) => finding.count += 1,
            None => finding = Some(Finding { invariant: REFERENCES, count: 1, example: row.get(0)? }),
        }
    }
    Ok(finding)
}
