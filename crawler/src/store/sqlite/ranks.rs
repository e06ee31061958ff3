//! Writing the ranks of URLs of which more is known than when they were admitted.
//!
//! Invariant: only what is queued gets another rank, and depth and weight by the rules stay what they are. What has its answer keeps the
//! rank that it was fetched by.

use rusqlite::{Connection, OptionalExtension, Result, params};

use super::current::Current;
use crate::store::RankRows;

/// Writes ranks. The rows are found by the index of keys.
pub(super) fn write(connection: &Connection, ranks: &RankRows, current: Current) -> Result<()> {
    let query =
        format!("SELECT id, depth, rank FROM url WHERE fingerprint = ?2 AND host = ?3 AND {}", current.queued());
    let mut select = connection.prepare_cached(&query)?;
    let mut update = connection.prepare_cached("UPDATE url SET rank = ?2 WHERE id = ?1")?;
    for row in &ranks.rows {
        let found = select.query_row(params![current.sequence, row.fingerprint.to_bytes(), row.host.0], |row| {
            Ok((row.get::<_, u64>(0)?, row.get(1)?, row.get(2)?))
        });
        let Some((id, depth, before)) = found.optional()? else { continue };
        let merit = ranks.order.merit(before, depth).with(row.merit);
        let rank = ranks.order.rank_with(depth, row.rule, merit);
        if rank != before {
            update.execute(params![id, rank])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        candidate::HostId,
        order::{LinkClass, ListedPriority, Merit, Order, Weight},
        store::RankRow,
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
        let row = |id| RankRow { host: HostId(0), fingerprint: key(id), rule: Weight::USUAL, merit };
        let ranks = RankRows { order: ORDER, rows: (1..9).map(row).collect() };
        write(connection, &ranks, Current { known_first, ..Current::by_links(1) }).unwrap();
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
