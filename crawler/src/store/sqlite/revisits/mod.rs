//! Visits between sequences: what a policy remembers of each page, and which pages are due.
//!
//! Owns: the table `revisit` with the sums that are kept of it, and queuing pages of the current sequence once more.
//!
//! Invariants: what is due is queued in the sequence that has come to its end last, in one transaction with what makes that
//! sequence one of several visits a page: a kill leaves it due. A visit is learnt from once, whenever that is, and what is kept
//! of it is written in the same transaction: learning costs in proportion to the visits that are new. Planning reads the number of
//! pages of each class and the first ones in an index, and changes no page.
//!
//! Does not know: how visits are divided (the policy does), and when a plan is made.

mod book;
mod classes;
mod due;
#[cfg(test)]
mod large;
mod learning;
#[cfg(test)]
mod tests;
mod weights;

pub(super) use book::state;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use self::book::Book;
use super::{CrawlDirectory, directory::DATABASE, error::Fault, schema};
use crate::{
    queue::DUE_AGAIN,
    revisit::{RevisitPolicy, SectionPath},
    store::{DuePages, RevisitOrder, StoreError},
    time::Moment,
};

impl CrawlDirectory {
    /// Has the policy learn from what was visited since it did last, and queues the pages that are due once more in the last
    /// sequence. One that has not come to its end, with nothing left to fetch, is left as it is, unless that is because of such
    /// pages: then others are queued beside those that are left.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn queue_due(&mut self, policy: &mut dyn RevisitPolicy, order: &RevisitOrder) -> Result<DuePages, StoreError> {
        let folder = self.path().to_owned();
        let found = queue_due(&mut self.connection, &folder, policy, order);
        let found = found.map_err(|fault| fault.of(&folder.join(DATABASE)))?;
        self.pass("after_queue_due");
        Ok(found)
    }
}

fn queue_due(
    connection: &mut Connection,
    folder: &Path,
    policy: &mut dyn RevisitPolicy,
    order: &RevisitOrder,
) -> Result<DuePages, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut book = Book::open(&transaction, policy, &order.given)?;
    classes::renew(&mut book, &order.classed_by)?;
    learning::learn(&mut book)?;
    weights::count(&mut book, folder)?;
    book.close()?;
    let found = queue(&mut book, order)?;
    book.close()?;
    transaction.commit()?;
    Ok(found)
}

/// The last sequence, if pages of it may be visited once more, and how many are left of those that were to be.
const OPEN: &str = "SELECT n, iif(end = 'drained', 0, (SELECT count(*) FROM url WHERE admitted_in = n AND state = 'queued'))
    FROM sequence WHERE n = (SELECT max(n) FROM sequence) AND (end = 'drained' OR (revisited IS NOT NULL AND end IS NOT NULL))";

fn queue(book: &mut Book<'_>, order: &RevisitOrder) -> rusqlite::Result<DuePages> {
    let connection = book.connection;
    let (census, of_rules) = book::census(connection, order.given.rules().len())?;
    let plan = book.policy.plan(&census, order.budget);
    let mut found = DuePages { pages: census.total(), explore: plan.explore(), ..DuePages::default() };
    let mut select = connection.prepare_cached(OPEN)?;
    let Some((sequence, left)) = select.query_row([], |row| Ok((row.get::<_, u32>(0)?, row.get(1)?))).optional()?
    else {
        return Ok(found);
    };
    found.left = left;
    let by_rules = due::by_rules(connection, &order.given, &of_rules, order.at, order.most_given)?;
    found.next_given = by_rules.next;
    for page in by_rules.pages {
        found.given += usize::from(queue_one(book, page, (sequence, order.at))?);
    }
    for page in due::pages(connection, &census, &plan, order)? {
        found.queued += usize::from(queue_one(book, page, (sequence, order.at))?);
    }
    if found.queued == 0 {
        found.next = due::next(connection, &census, &plan)?;
    }
    if found.queued + found.given > 0 {
        connection.execute_batch(schema::INDEX_OF_KEYS)?;
        connection.execute_batch(schema::INDICES_OF_KNOWN)?;
        connection.execute("UPDATE sequence SET revisited = 1, end = NULL WHERE n = ?", [sequence])?;
        // First visits are no changes, and may have had no look.
        connection.execute("UPDATE crawl SET looked_at = coalesce(looked_at, learnt)", [])?;
    }
    Ok(found)
}

/// Queues a page at this moment, and has it be the last of its class until it was visited: so one whose host is away keeps no
/// other from its turn. One that is not to be had (its robots.txt or its own sequence has left it out since) leaves the plan until
/// it is visited again.
fn queue_one(book: &mut Book<'_>, url: i64, (sequence, at): (u32, Moment)) -> rusqlite::Result<bool> {
    let mut update = book.connection.prepare_cached(
        "UPDATE url SET state = 'queued', due = NULL, failed_at = NULL, attempts = 0, reason = ?3
         WHERE id = ?1 AND state = 'finished' AND admitted_in = ?2",
    )?;
    let is_queued = update.execute(params![url, sequence, DUE_AGAIN])? > 0;
    if is_queued || was_queued(book.connection, url, sequence)? {
        let mut wait = book.connection.prepare_cached("UPDATE revisit SET visited_at = ? WHERE url = ?")?;
        wait.execute(params![at.millis(), url])?;
    } else if let Some(page) = book.page(url)? {
        let mut select = book.connection.prepare_cached("SELECT url FROM url WHERE id = ?")?;
        let path = select.query_row([url], |row| Ok(SectionPath::of(row.get_ref(0)?.as_str()?)))?;
        book.remove(&page, &path)?;
    }
    Ok(is_queued)
}

fn was_queued(connection: &Connection, url: i64, sequence: u32) -> rusqlite::Result<bool> {
    let mut select =
        connection.prepare_cached("SELECT 1 FROM url WHERE id = ? AND state = 'queued' AND admitted_in = ?")?;
    select.exists(params![url, sequence])
}
