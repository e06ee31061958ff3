//! Visits between sequences: what a policy remembers of each page, which pages are due, and which wait for a second look.
//!
//! Owns: the table `revisit` with its sums, and handing out pages of a sequence that has ended.
//!
//! Invariants: a page that is handed out becomes the last of its class: so the pages of a host that is away hide no others, and a kill
//! leaves them due after the time of another visit. A policy learns from each visit once, and what it keeps is written in the same
//! transaction: learning costs in proportion to the new visits. Planning reads the number of pages of each class and the first ones in an
//! index, and changes no page.
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
pub(super) use due::longest_unvisited;
pub(super) use weights::linking_pages;

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Result, Transaction, TransactionBehavior, params};

use self::book::Book;
use super::{CrawlDirectory, current::Current, directory::DATABASE, error::Fault, refill, resume, schema};
use crate::{
    queue::WorkItem,
    revisit::SectionPath,
    store::{DuePages, DueRequest, RevisitOrder, StoreError},
    time::Moment,
};

impl CrawlDirectory {
    /// The pages of the last sequence that are due, where nobody crawls: asked for none of them, it says when the next is.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn due(&mut self, request: DueRequest) -> std::result::Result<DuePages, StoreError> {
        let folder = self.path().to_owned();
        let find = || {
            let Some(last) = resume::last_sequence(&self.connection)? else { return Ok(DuePages::default()) };
            hand_out(&self.connection, &folder, request, Current::of(&self.connection, last.number)?)
        };
        find().map_err(|fault: Fault| fault.of(&folder.join(DATABASE)))
    }
}

/// Has the policy, if there is one, learn from what was visited since it did last, and hands out the pages that are due, and those
/// whose second look is.
pub(super) fn hand_out(
    connection: &Connection,
    folder: &Path,
    request: DueRequest,
    current: Current,
) -> std::result::Result<DuePages, Fault> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let mut found = DuePages::default();
    if let Some((mut policy, order)) = request.visits {
        let mut book = Book::open(&transaction, &mut *policy, &order.given)?;
        classes::renew(&mut book, &order.classed_by)?;
        learning::learn(&mut book)?;
        weights::count(&mut book, folder)?;
        book.close()?;
        found = planned(&mut book, &order, current)?;
        book.close()?;
    }
    if let Some(looks) = request.looks {
        looks::hand_out(&transaction, &looks, current, &mut found)?;
    }
    if !found.items.is_empty() {
        begin(&transaction)?;
    }
    transaction.commit()?;
    Ok(found)
}

/// The last sequence had come to its end, and goes on: URLs of it are visited once more.
pub(super) fn go_on(connection: &Connection) -> Result<()> {
    let update = "UPDATE sequence SET revisited = 1, end = NULL, swept = NULL, swept_links = NULL
        WHERE n = (SELECT max(n) FROM sequence)";
    connection.execute(update, [])?;
    begin(connection)
}

/// What visits after the first of a sequence need.
fn begin(connection: &Connection) -> Result<()> {
    connection.execute_batch(schema::INDEX_OF_KEYS)?;
    connection.execute_batch(schema::INDEX_OF_VISITS)?;
    connection.execute_batch(schema::INDEX_OF_KNOWN)?;
    // First visits are no changes, and may have had no look.
    connection.execute("UPDATE crawl SET looked_at = coalesce(looked_at, learnt)", []).map(|_| ())
}

/// Hands out what the policy takes to be due, and what is due after an interval of its own.
fn planned(book: &mut Book<'_>, order: &RevisitOrder, current: Current) -> Result<DuePages> {
    let connection = book.connection;
    let (census, of_rules) = book::census(connection, order.given.rules().len())?;
    let plan = book.policy.plan(&census, order.budget);
    let mut found = DuePages { pages: census.total(), explore: plan.explore(), ..DuePages::default() };
    let by_rules = due::by_rules(connection, &order.given, &of_rules, order.at, order.most_given)?;
    found.next_given = by_rules.next;
    for page in by_rules.pages {
        found.items.extend(one(book, page, (current, order.at))?);
    }
    found.given = found.items.len();
    for page in due::pages(connection, &census, &plan, order)? {
        found.items.extend(one(book, page, (current, order.at))?);
    }
    found.divided = found.items.len() - found.given;
    if found.divided == 0 {
        found.next = due::next(connection, &census, &plan)?;
    }
    Ok(found)
}

/// Hands out a page at this moment, and has it be the last of its class until it was visited. One that is not to be had (its
/// robots.txt or its own sequence has left it out since) leaves the plan until it is visited again.
fn one(book: &mut Book<'_>, url: i64, (current, at): (Current, Moment)) -> Result<Option<WorkItem>> {
    let item = refill::due_again(book.connection, url, current.sequence)?;
    if item.is_some() || !is_abandoned(book.connection, url, current)? {
        let mut wait = book.connection.prepare_cached("UPDATE revisit SET visited_at = ? WHERE url = ?")?;
        wait.execute(params![at.millis(), url])?;
    } else if let Some(page) = book.page(url)? {
        let mut select = book.connection.prepare_cached("SELECT url FROM url WHERE id = ?")?;
        let path = select.query_row([url], |row| Ok(SectionPath::of(row.get_ref(0)?.as_str()?)))?;
        book.remove(&page, &path)?;
    }
    Ok(item)
}

/// Whether the sequence has left a page out.
fn is_abandoned(connection: &Connection, url: i64, current: Current) -> Result<bool> {
    let mut select =
        connection.prepare_cached("SELECT state = 'abandoned' AND admitted_in = ? FROM url WHERE id = ?")?;
    Ok(select.query_row(params![current.sequence, url], |row| row.get(0)).optional()?.unwrap_or(true))
}
