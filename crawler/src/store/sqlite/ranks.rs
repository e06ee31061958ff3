//! Writing the ranks of URLs of which more is known than when they were admitted.
//!
//! Invariant: only what is queued gets another rank, and depth and weight by the rules stay what they are. What has its answer keeps the
//! rank that it was fetched by. What comes first, because it was modified since its copy was fetched, does so until it has its answer.

use rusqlite::{Connection, OptionalExtension, Result, Row, params};

use super::current::Current;
use crate::{
    order::Order,
    store::{RankRow, RankRows},
    time::Moment,
};

/// Writes ranks. The rows are found by the index of keys.
pub(super) fn write(connection: &Connection, ranks: &RankRows, current: Current) -> Result<()> {
    let query =
        format!(
        "SELECT id, depth, rank, EXISTS (SELECT 1 FROM visit WHERE id = coalesce(url.copy, url.visit) AND outcome = 'stored' AND fetched_at < ?4)
         FROM url WHERE fingerprint = ?2 AND host = ?3 AND {}",
        current.queued()
    );
    let mut select = connection.prepare_cached(&query)?;
    let mut update = connection.prepare_cached("UPDATE url SET rank = ?2 WHERE id = ?1")?;
    for row in &ranks.rows {
        let modified = row.modified.map(Moment::millis);
        let key = params![current.sequence, row.fingerprint.to_bytes(), row.host.0, modified];
        let found = select.query_row(key, |found| {
            Ok((found.get::<_, u64>(0)?, found.get::<_, i64>(2)?, anew(found, row, ranks.order)?))
        });
        let Some((id, before, rank)) = found.optional()? else { continue };
        if rank != before {
            update.execute(params![id, rank])?;
        }
    }
    Ok(())
}

/// The rank of a row of which more is known.
fn anew(found: &Row<'_>, known: &RankRow, order: Order) -> Result<i64> {
    let (depth, before) = (found.get(1)?, found.get(2)?);
    let is_newer: bool = found.get(3)?;
    let rank = order.rank_with(depth, known.rule, order.merit(before, depth).with(known.merit));
    Ok(if is_newer || Order::is_ahead(before) { Order::ahead(rank) } else { rank })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        candidate::HostId,
        order::{LinkClass, ListedPriority, Merit, Weight},
        store::sqlite::schema,
        url::Fingerprint,
    };

    const ORDER: Order = Order::Best;

    fn merit(pages: u64, priority: Option<f64>) -> Merit {
        Merit { links: LinkClass::of_pages(pages), listed: priority.and_then(ListedPriority::new) }
    }

    fn rank(pages: u64, priority: Option<f64>) -> i64 {
        ORDER.rank_with(2, Weight::USUAL, merit(pages, priority))
    }

    /// One URL of each state, of two sequences, with the ranks of admission.
    fn crawled() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection, 0).unwrap();
        connection.execute_batch(schema::INDEX_OF_KEYS).unwrap();
        connection
            .execute_batch(
                "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, 0, 0, '{}'), (1, 0, 0, '{}');
                 INSERT INTO host (id, origin) VALUES (0, 'http://h'), (1, 'http://i')",
            )
            .unwrap();
        let insert = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
            VALUES (?1, ?2, 'http://h/' || ?1, ?3, 'link', 2, ?4, ?5, ?6)";
        let states = [(0, 1, "queued"), (1, 1, "queued"), (0, 1, "finished"), (0, 0, "finished"), (0, 1, "abandoned")];
        for (id, (host, admitted_in, state)) in (1_u64..).zip(states) {
            let values = params![id, host, key(id).to_bytes(), rank(1, None), admitted_in, state];
            connection.execute(insert, values).unwrap();
        }
        connection
    }

    fn key(id: u64) -> Fingerprint {
        Fingerprint::from_bytes(u128::from(id).to_be_bytes())
    }

    fn learn(connection: &Connection, merit: Merit, known_first: bool) {
        learn_of(connection, ORDER, (merit, None), known_first);
    }

    fn learn_of(connection: &Connection, order: Order, known: (Merit, Option<Moment>), known_first: bool) {
        let (merit, modified) = known;
        let row = |id| RankRow { host: HostId(0), fingerprint: key(id), rule: Weight::USUAL, merit, modified };
        let ranks = RankRows { order, rows: (1..9).map(row).collect() };
        write(connection, &ranks, Current { known_first, ..Current::by_links(1) }).unwrap();
    }

    #[test]
    fn what_was_modified_since_its_copy_was_fetched_comes_first_in_every_order() {
        for order in [Order::Breadth, Order::Depth, Order::Best] {
            let connection = crawled();
            let low = order.rank(2, Weight::USUAL);
            connection.execute("UPDATE url SET rank = ?1", [low]).unwrap();
            connection
                .execute_batch(
                    "INSERT INTO visit (id, url, sequence, fetched_at, outcome, html, bytes, wire_bytes, links)
                     VALUES (1, 4, 0, 5000, 'stored', 1, 0, 0, x''), (2, 1, 0, 5000, 'failed', 1, 0, 0, x'');
                     UPDATE url SET visit = 1 WHERE id = 4;
                     UPDATE url SET visit = 2 WHERE id = 1",
                )
                .unwrap();
            let modified = |millis| (Merit::default(), Some(Moment::from_millis(millis)));
            learn_of(&connection, order, modified(5_000), true);
            assert_eq!(ranks(&connection), [low; 5], "it is as old as the copy");
            learn_of(&connection, order, modified(5_001), false);
            assert_eq!(ranks(&connection), [low; 5], "it is of an earlier sequence");
            learn_of(&connection, order, modified(5_001), true);
            assert_eq!(ranks(&connection), [low, low, low, Order::ahead(low), low]);
            learn_of(&connection, order, (merit(8, None), None), true);
            let more = order.rank_with(2, Weight::USUAL, merit(8, None));
            assert_eq!(ranks(&connection)[3], Order::ahead(more), "it stays first");
        }
    }

    fn ranks(connection: &Connection) -> Vec<i64> {
        let mut select = connection.prepare("SELECT rank FROM url ORDER BY id").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_>>().unwrap()
    }

    #[test]
    fn what_is_queued_on_its_host_is_ranked_anew() {
        let connection = crawled();
        learn(&connection, merit(4, None), false);
        let [low, high] = [rank(1, None), rank(4, None)];
        assert_eq!(ranks(&connection), [high, low, low, low, low]);
        learn(&connection, merit(4, None), true);
        assert_eq!(ranks(&connection), [high, low, low, high, low], "what is known is queued too");
    }

    #[test]
    fn what_was_known_before_stays() {
        let connection = crawled();
        for (learnt, known) in [
            (merit(8, None), merit(8, None)),
            (merit(2, Some(0.9)), merit(8, Some(0.9))),
            (merit(1, Some(0.1)), merit(8, Some(0.1))),
        ] {
            learn(&connection, learnt, false);
            assert_eq!(ranks(&connection)[0], ORDER.rank_with(2, Weight::USUAL, known));
        }
    }

    #[test]
    fn rows_are_found_by_their_keys() {
        let connection = crawled();
        for known_first in [false, true] {
            let current = Current { known_first, ..Current::by_links(1) };
            let query = format!(
                "EXPLAIN QUERY PLAN SELECT id FROM url WHERE fingerprint = ?2 AND host = ?3 AND {}",
                current.queued()
            );
            let mut plan = connection.prepare(&query).unwrap();
            let steps: Result<Vec<String>> = plan.query_map(["1", "", "0"], |row| row.get(3)).unwrap().collect();
            assert_eq!(steps.unwrap(), ["SEARCH url USING INDEX url_fingerprint (fingerprint=?)"]);
        }
    }
}
