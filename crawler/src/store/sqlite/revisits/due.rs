//! Which pages are due: of each class those longest unvisited, through its index.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
};

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::book::GIVEN;
use crate::{
    revisit::{Census, Class, GivenIntervals, Plan},
    store::RevisitOrder,
    time::Moment,
};

/// The pages of a class that were visited up to a moment, longest unvisited first.
pub(super) const OLDEST: &str = "SELECT url, visited_at FROM revisit INDEXED BY revisit_due
    WHERE class = ? AND visited_at <= ? ORDER BY visited_at";

/// A page, and how urgent it is. The least urgent is on top of a heap.
type Rated = Reverse<(u64, i64)>;

/// The pages that are due and longest unvisited, as many as there may be.
pub(super) fn pages(connection: &Connection, census: &Census, plan: &Plan, order: &RevisitOrder) -> Result<Vec<i64>> {
    let unvisited = |_, visited: Moment| order.at.since(visited).as_secs_f64();
    let latest = |_| order.at.millis().checked_sub(millis(order.soonest));
    let exploring = order.exploring.min(order.most);
    let explored = most_urgent(connection, census, exploring, latest, unvisited)?;
    let overdue = |class, visited| plan.overdue(class, visited, order.at);
    let latest = |class| order.at.millis().checked_sub(millis(plan.interval(class)));
    // Those that are explored may be due as well.
    let due = most_urgent(connection, census, order.most, latest, overdue)?;
    let already: HashSet<_> = explored.iter().copied().collect();
    let others = due.into_iter().filter(|page| !already.contains(page));
    Ok(explored.iter().copied().chain(others).take(order.most).collect())
}

/// The pages with an interval of their own of which that has passed, longest unvisited first, and when the next one is due.
#[derive(Debug, Default)]
pub(super) struct DueByRule {
    pub(super) pages: Vec<i64>,
    pub(super) next: Option<Moment>,
}

/// At most `most` of them; `pages` says how many each rule has.
pub(super) fn by_rules(
    connection: &Connection,
    given: &GivenIntervals,
    pages: &[u64],
    at: Moment,
    most: usize,
) -> Result<DueByRule> {
    let mut found = DueByRule::default();
    let mut select = connection.prepare_cached(OLDEST)?;
    let mut behind = connection.prepare_cached(NEXT)?;
    for ((class, rule), _) in (GIVEN..).zip(given.rules()).zip(pages).filter(|(_, pages)| **pages > 0) {
        let latest = at.millis().checked_sub(millis(rule.interval));
        let mut is_due = false;
        if let Some(latest) = latest {
            let mut rows = select.query(params![class, latest])?;
            while let Some(row) = rows.next()? {
                is_due = true;
                if found.pages.len() >= most {
                    found.next = Some(at);
                    break;
                }
                found.pages.push(row.get(0)?);
            }
        }
        let visited: Option<u64> = behind.query_row(params![class, latest], |row| row.get(0)).optional()?;
        let due = visited.map(Moment::from_millis).into_iter().chain(is_due.then_some(at));
        found.next = due.map(|visited| visited + rule.interval).chain(found.next).min();
    }
    Ok(found)
}

/// When the page of each rule was visited that was not for the longest time.
pub(in super::super) fn longest_unvisited(
    connection: &Connection,
    given: &GivenIntervals,
) -> Result<Vec<Option<Moment>>> {
    let mut first = connection.prepare_cached(NEXT)?;
    let mut first = |class| {
        let visited: Option<u64> = first.query_row(params![class, None::<u64>], |row| row.get(0)).optional()?;
        Ok(visited.map(Moment::from_millis))
    };
    (GIVEN..).zip(given.rules()).map(|(class, _)| first(class)).collect()
}

/// When the page of a class was visited that comes first behind a moment, or first of all.
pub(super) const NEXT: &str = "SELECT visited_at FROM revisit INDEXED BY revisit_due
    WHERE class = ? AND visited_at > coalesce(?, -1) ORDER BY visited_at LIMIT 1";

/// At most `most` pages of all classes, the most urgent first; of each class those that were visited by `latest`, in whose order
/// the urgency falls.
fn most_urgent(
    connection: &Connection,
    census: &Census,
    most: usize,
    latest: impl Fn(Class) -> Option<u64>,
    urgency: impl Fn(Class, Moment) -> f64,
) -> Result<Vec<i64>> {
    let mut found: BinaryHeap<Rated> = BinaryHeap::new();
    if most == 0 {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached(OLDEST)?;
    for class in census.classes() {
        let Some(latest) = latest(class) else { continue };
        let mut rows = select.query(params![class.0, latest])?;
        while let Some(row) = rows.next()? {
            // Of a number that is not negative the bits have the same order.
            let rated = Reverse((urgency(class, Moment::from_millis(row.get(1)?)).to_bits(), row.get(0)?));
            if found.len() < most {
                found.push(rated);
            } else if found.peek().is_some_and(|least| rated < *least) {
                found.pop();
                found.push(rated);
            } else {
                break;
            }
        }
    }
    Ok(found.into_sorted_vec().into_iter().map(|Reverse((_, page))| page).collect())
}

/// When the first page is due.
pub(super) fn next(connection: &Connection, census: &Census, plan: &Plan) -> Result<Option<Moment>> {
    let mut select = connection.prepare_cached(OLDEST)?;
    let mut next = None;
    for class in census.classes() {
        let visited = select.query_row(params![class.0, i64::MAX], |row| row.get(1)).optional()?;
        let due = visited.map(|visited| Moment::from_millis(visited) + plan.interval(class));
        next = due.into_iter().chain(next).min();
    }
    Ok(next)
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
