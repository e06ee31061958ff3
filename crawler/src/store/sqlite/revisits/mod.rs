//! Visits between sequences: what a policy remembers of each page, and which pages are due.
//!
//! Owns: the table `revisit`, and queuing pages of the current sequence once more.
//!
//! Invariants: what is due is queued in the sequence that has come to its end last, in one transaction with what makes that
//! sequence one of several visits a page: a kill leaves it due. A visit is learnt from once, whenever that is. Planning reads an
//! index, and changes no page.
//!
//! Does not know: how visits are divided (the policy does), and when a plan is made.

mod due;
mod learning;
#[cfg(test)]
mod tests;

pub(super) use learning::state;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{CrawlDirectory, schema};
use crate::{
    queue::DUE_AGAIN,
    revisit::{Census, Class, RevisitPolicy},
    store::{DuePages, RevisitOrder, StoreError},
};

impl CrawlDirectory {
    /// Has the policy learn from what was visited since it did last, and queues the pages that are due once more in the last
    /// sequence. A sequence that has not come to its end, with nothing left to fetch, is left as it is.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be written.
    pub fn queue_due(&mut self, policy: &mut dyn RevisitPolicy, order: &RevisitOrder) -> Result<DuePages, StoreError> {
        let mut write = |connection: &mut Connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            learning::learn(&transaction, policy)?;
            let found = queue(&transaction, policy, order)?;
            transaction.commit()?;
            Ok(found)
        };
        let found = write(&mut self.connection).map_err(self.failed())?;
        self.pass("after_queue_due");
        Ok(found)
    }
}

fn queue(connection: &Connection, policy: &dyn RevisitPolicy, order: &RevisitOrder) -> rusqlite::Result<DuePages> {
    let census = census(connection)?;
    let plan = policy.plan(&census, order.budget);
    let found = DuePages { pages: census.total(), explore: plan.explore(), ..DuePages::default() };
    let drained = "SELECT n FROM sequence WHERE n = (SELECT max(n) FROM sequence) AND end = 'drained'";
    let mut select = connection.prepare_cached(drained)?;
    let Some(sequence) = select.query_map([], |row| row.get::<_, u32>(0))?.next().transpose()? else {
        return Ok(found);
    };
    let mut queued = 0;
    for page in due::pages(connection, &census, &plan, order)? {
        queued += usize::from(queue_one(connection, page, sequence)?);
    }
    if queued == 0 {
        return Ok(DuePages { next: due::next(connection, &census, &plan)?, ..found });
    }
    connection.execute_batch(schema::INDEX_OF_KEYS)?;
    connection.execute_batch(schema::INDICES_OF_KNOWN)?;
    connection.execute("UPDATE sequence SET revisited = 1, end = NULL WHERE n = ?", [sequence])?;
    // First visits are no changes, and may have had no look.
    connection.execute("UPDATE crawl SET looked_at = coalesce(looked_at, learnt)", [])?;
    Ok(DuePages { queued, ..found })
}

/// How many pages there are of each class.
fn census(connection: &Connection) -> rusqlite::Result<Census> {
    let mut select = connection.prepare_cached(CENSUS)?;
    let mut rows = select.query([])?;
    let mut census = Census::default();
    while let Some(row) = rows.next()? {
        census.add_pages(Class(row.get(0)?), row.get(1)?);
    }
    Ok(census)
}

const CENSUS: &str = "SELECT class, count(*) FROM revisit INDEXED BY revisit_due GROUP BY class";

/// Queues a page. One that is not to be had (its robots.txt or its own sequence has left it out since) leaves the plan until it
/// is visited again.
fn queue_one(connection: &Connection, page: i64, sequence: u32) -> rusqlite::Result<bool> {
    let mut update = connection.prepare_cached(
        "UPDATE url SET state = 'queued', due = NULL, failed_at = NULL, attempts = 0, reason = ?3
         WHERE id = ?1 AND state = 'finished' AND admitted_in = ?2",
    )?;
    let is_queued = update.execute(params![page, sequence, DUE_AGAIN])? > 0;
    if !is_queued {
        connection.prepare_cached("DELETE FROM revisit WHERE url = ?")?.execute([page])?;
    }
    Ok(is_queued)
}
