//! What visits teach a policy of revisits.

use rusqlite::{Connection, Result, Row};

use super::book::{Book, Remembered};
use crate::{
    revisit::{About, Class, Hint, Importance, PageState, SectionPath, Seen},
    time::Moment,
};

/// A visit that is learnt from.
struct Visit<'r> {
    url: i64,
    at: Moment,
    teaches: Lesson,
    address: &'r str,
    hint: Option<Hint>,
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
pub(super) fn learn(book: &mut Book<'_>) -> Result<()> {
    let connection = book.connection;
    let learnt: Option<i64> = connection.query_row("SELECT learnt FROM crawl", [], |row| row.get(0))?;
    let last: i64 = connection.query_row("SELECT coalesce(max(id), 0) FROM visit", [], |row| row.get(0))?;
    let learnt = learnt.unwrap_or(0);
    if learnt >= last {
        return Ok(());
    }
    each_visit(connection, learnt, last, |visit| one(book, visit))?;
    connection.execute("UPDATE crawl SET learnt = ?", [last]).map(|_| ())
}

fn each_visit(
    connection: &Connection,
    behind: i64,
    last: i64,
    mut each: impl FnMut(&Visit<'_>) -> Result<()>,
) -> Result<()> {
    let mut select = connection.prepare_cached(
        "SELECT visit.url, fetched_at, outcome, status, change, truncated, url.url, steady
         FROM visit CROSS JOIN url ON url.id = visit.url WHERE visit.id > ? AND visit.id <= ? ORDER BY visit.id",
    )?;
    let mut rows = select.query([behind, last])?;
    while let Some(row) = rows.next()? {
        each(&visit(row)?)?;
    }
    Ok(())
}

fn visit<'r>(row: &'r Row<'_>) -> Result<Visit<'r>> {
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
        address: row.get_ref(6)?.as_str()?,
        hint: row.get::<_, Option<u32>>(7)?.and_then(Hint::of_seconds),
    })
}

fn one(book: &mut Book<'_>, visit: &Visit<'_>) -> Result<()> {
    let known = book.page(visit.url)?;
    let path = SectionPath::of(visit.address);
    match (known, visit.teaches) {
        (None, Lesson::Nothing | Lesson::Gone) => Ok(()),
        (Some(page), Lesson::Gone) => book.remove(&page, &path),
        (known, _) => {
            let page = taught(book, known, visit, path)?;
            book.write(&page, visit.at, known.map(|known| known.class))
        }
    }
}

/// What is remembered of a page after a visit.
fn taught(book: &mut Book<'_>, known: Option<Remembered>, visit: &Visit<'_>, path: SectionPath) -> Result<Remembered> {
    let Some(mut now) = known else {
        let importance = Importance::default();
        let class = if let Some(class) = book.given_class(visit.address) {
            class
        } else {
            book.know(&path)?;
            book.policy.admit(&About { path, importance, hint: visit.hint }).0.into()
        };
        return Ok(Remembered { url: visit.url, class, page: PageState::new(visit.at, Class::default()), importance });
    };
    match visit.teaches {
        Lesson::Changed(changed) => {
            let seen = Seen { at: visit.at, changed };
            if now.is_divided() {
                book.know(&path)?;
                let about = About { path, importance: now.importance, hint: visit.hint };
                book.policy.observe(&mut now.page, &about, seen);
                now.class = now.page.class.0.into();
            } else {
                now.page.add(seen, 1.0);
            }
        }
        Lesson::Copy => now.page.renew(visit.at),
        Lesson::Nothing | Lesson::Gone => {}
    }
    Ok(now)
}
