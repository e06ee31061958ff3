//! What visits teach a policy of revisits.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use crate::{
    revisit::{Class, Importance, PageState, RevisitPolicy, SectionPath, Seen},
    time::Moment,
};

/// A visit that is learnt from.
struct Visit {
    url: i64,
    at: Moment,
    teaches: Lesson,
    path: SectionPath,
}

/// What it says of the page's rate of change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lesson {
    /// Whether it was another than before.
    Changed(bool),
    /// A copy, and nothing to compare it with.
    Copy,
    /// That the page was not to be had this time.
    Nothing,
    /// That there is none any more.
    Gone,
}

/// Shows the policy what it has not seen yet.
pub(super) fn learn(connection: &Connection, policy: &mut dyn RevisitPolicy) -> Result<()> {
    let learnt: Option<i64> = connection.query_row("SELECT learnt FROM crawl", [], |row| row.get(0))?;
    let last: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM visit", [], |row| row.get(0))?;
    let learnt = learnt.unwrap_or(0);
    if learnt >= last {
        return Ok(());
    }
    recall(connection, policy)?;
    let mut select = connection.prepare(
        "SELECT visit.url, fetched_at, outcome, status, change, truncated, url.url
         FROM visit CROSS JOIN url ON url.id = visit.url WHERE visit.id > ? AND visit.id <= ? ORDER BY visit.id",
    )?;
    let mut rows = select.query([learnt, last])?;
    while let Some(row) = rows.next()? {
        one(connection, policy, &visit(row)?)?;
    }
    connection.execute("UPDATE crawl SET learnt = ?", [last]).map(|_| ())
}

/// What the policy keeps beside the pages is made from them again.
fn recall(connection: &Connection, policy: &mut dyn RevisitPolicy) -> Result<()> {
    let mut select = connection
        .prepare("SELECT class, revisit.state, url.url FROM revisit CROSS JOIN url ON url.id = revisit.url")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        policy.recall(&state(row, 0)?, &SectionPath::of(row.get_ref(2)?.as_str()?));
    }
    Ok(())
}

fn visit(row: &Row<'_>) -> Result<Visit> {
    let (outcome, status): (_, Option<u16>) = (row.get_ref(2)?.as_str()?, row.get(3)?);
    let (change, truncated) = (row.get_ref(4)?.as_str_or_null()?, row.get_ref(5)?.as_str_or_null()?);
    let teaches = match (outcome, change) {
        // It was cut short by the network, and tells nothing.
        ("stored", _) if matches!(truncated, Some("disconnect" | "time" | "slow")) => Lesson::Copy,
        ("stored", Some("changed")) => Lesson::Changed(true),
        ("stored", Some("unchanged")) => Lesson::Changed(false),
        ("stored", _) => Lesson::Copy,
        // Where it leads to has a page of its own.
        ("redirected", _) => Lesson::Gone,
        ("broken", _) if matches!(status, Some(404 | 410)) => Lesson::Gone,
        _ => Lesson::Nothing,
    };
    Ok(Visit {
        url: row.get(0)?,
        at: Moment::from_millis(row.get(1)?),
        teaches,
        path: SectionPath::of(row.get_ref(6)?.as_str()?),
    })
}

fn one(connection: &Connection, policy: &mut dyn RevisitPolicy, visit: &Visit) -> Result<()> {
    // In-links are not counted.
    let importance = Importance::default();
    let mut select = connection.prepare_cached("SELECT class, state FROM revisit WHERE url = ?")?;
    let known = select.query_row([visit.url], |row| state(row, 0)).optional()?;
    let page = match (known, visit.teaches) {
        (None, Lesson::Nothing | Lesson::Gone) => return Ok(()),
        (None, _) => PageState::new(visit.at, policy.admit(&visit.path, importance)),
        (Some(mut page), Lesson::Changed(changed)) => {
            policy.observe(&mut page, &visit.path, importance, Seen { at: visit.at, changed });
            page
        }
        (Some(mut page), Lesson::Copy) => {
            page.renew(visit.at);
            page
        }
        (Some(page), Lesson::Nothing) => page,
        (Some(page), Lesson::Gone) => {
            policy.forget(&page, &visit.path);
            return connection.prepare_cached("DELETE FROM revisit WHERE url = ?")?.execute([visit.url]).map(|_| ());
        }
    };
    let mut write = connection.prepare_cached(
        "INSERT INTO revisit (url, class, visited_at, state) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET class = ?2, visited_at = ?3, state = ?4",
    )?;
    write.execute(params![visit.url, page.class.0, visit.at.millis(), page.to_bytes()]).map(|_| ())
}

/// Class and state, in two columns from this one on.
pub(in crate::store::sqlite) fn state(row: &Row<'_>, column: usize) -> Result<PageState> {
    Ok(PageState::from_bytes(row.get(column + 1)?, Class(row.get(column)?)))
}
