//! Visits between sequences: what a policy remembers of each page, which pages are due, and which wait for a second look.
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
mod looks;
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
    store::{DuePages, RevisitOrder, SecondLooks, StoreError},
    time::Moment,
};

impl CrawlDirectory {
    /// Has the policy, if there is one, learn from what was visited since it did last, and queues the pages that are due once
    /// more in the last sequence, and those whose second look is. A sequence that has not come to its end, with nothing left to
    /// fetch, is left as it is, unless that is because of such pages: then others are queued beside those that are left.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn queue_due(&mut self, visits: Option<Planned<'_>>, looks: &SecondLooks) -> Result<DuePages, StoreError> {
        let folder = self.path().to_owned();
        let found = queue_due(&mut self.connection, &folder, visits, looks);
        let found = found.map_err(|fault| fault.of(&folder.join(DATABASE)))?;
        self.pass("after_queue_due");
        Ok(found)
    }
}

/// The policy that plans visits, and what it is asked.
type Planned<'a> = (&'a mut dyn RevisitPolicy, &'a RevisitOrder);

fn queue_due(
    connection: &mut Connection,
    folder: &Path,
    visits: Option<Planned<'_>>,
    looks: &SecondLooks,
) -> Result<DuePages, Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let open = open(&transaction)?;
    let sequence = open.map(|(sequence, _)| sequence);
    let mut found = DuePages::default();
    if let Some((policy, order)) = visits {
        let mut book = Book::open(&transaction, policy, &order.given)?;
        classes::renew(&mut book, &order.classed_by)?;
        learning::learn(&mut book)?;
        weights::count(&mut book, folder)?;
        book.close()?;
        found = queue_planned(&mut book, order, sequence)?;
        book.close()?;
    }
    if let Some((sequence, left)) = open {
        found.left = left;
        looks::queue(&transaction, looks, sequence, &mut found)?;
        if found.queued + found.given + found.looks > 0 {
            begin(&transaction, sequence)?;
        }
    }
    transaction.commit()?;
    Ok(found)
}

/// The last sequence, if pages of it may be visited once more, and how many are left of those that were to be.
const OPEN: &str = "SELECT n, iif(end = 'drained', 0,
        (SELECT count(*) FROM url WHERE admitted_in = n AND state = 'queued' AND due IS NULL)
        + (SELECT count(*) FROM url WHERE admitted_in = n AND state = 'queued' AND due IS NOT NULL))
    FROM sequence WHERE n = (SELECT max(n) FROM sequence) AND (end = 'drained' OR (revisited IS NOT NULL AND end IS NOT NULL))";

fn open(connection: &Connection) -> rusqlite::Result<Option<(u32, u64)>> {
    connection.prepare_cached(OPEN)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Has the sequence go on, with several visits a page.
fn begin(connection: &Connection, sequence: u32) -> rusqlite::Result<()> {
    connection.execute_batch(schema::INDEX_OF_KEYS)?;
    connection.execute_batch(schema::INDICES_OF_KNOWN)?;
    connection.execute("UPDATE sequence SET revisited = 1, end = NULL WHERE n = ?", [sequence])?;
    // First visits are no changes, and may have had no look.
    connection.execute("UPDATE crawl SET looked_at = coalesce(looked_at, learnt)", [])?;
    Ok(())
}

/// Queues what the policy takes to be due, and what is due after an interval of its own.
fn queue_planned(book: &mut Book<'_>, order: &RevisitOrder, sequence: Option<u32>) -> rusqlite::Result<DuePages> {
    let connection = book.connection;
    let (census, of_rules) = book::census(connection, order.given.rules().len())?;
    let plan = book.policy.plan(&census, order.budget);
    let mut found = DuePages { pages: census.total(), explore: plan.explore(), ..DuePages::default() };
    let Some(sequence) = sequence else { return Ok(found) };
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
    Ok(found)
}

/// Queues a page at this moment, and has it be the last of its class until it was visited: so one whose host is away keeps no
/// other from its turn. One that is not to be had (its robots.txt or its own sequence has left it out since) leaves the plan until
/// it is visited again.
fn queue_one(book: &mut Book<'_>, url: i64, (sequence, at): (u32, Moment)) -> rusqlite::Result<bool> {
    let is_queued = queue_again(book.connection, url, sequence)?;
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

/// Whether the page can be queued once more, and is.
fn queue_again(connection: &Connection, url: i64, sequence: u32) -> rusqlite::Result<bool> {
    let mut update = connection.prepare_cached(
        "UPDATE url SET state = 'queued', due = NULL, failed_at = NULL, attempts = 0, reason = ?3
         WHERE id = ?1 AND state = 'finished' AND admitted_in = ?2",
    )?;
    Ok(update.execute(params![url, sequence, DUE_AGAIN])? > 0)
}

fn was_queued(connection: &Connection, url: i64, sequence: u32) -> rusqlite::Result<bool> {
    let mut select =
        connection.prepare_cached("SELECT 1 FROM url WHERE id = ? AND state = 'queued' AND admitted_in = ?")?;
    select.exists(params![url, sequence])
}
