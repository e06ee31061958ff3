//! Giving what is queued the ranks of another order.

use rusqlite::{Connection, Result, functions::FunctionFlags};

use super::{again::Current, summary};
use crate::order::Ranking;

/// Reads the URL table once, and writes the queued rows whose rank is another.
fn rerank(current: Current) -> String {
    format!("UPDATE url SET rank = rank_of(url, depth) WHERE {} AND rank <> rank_of(url, depth)", current.queued())
}

/// Puts what is queued in the last sequence in the order of `ranking`, where it was queued in another.
pub(super) fn rank_by(connection: &Connection, ranking: &Ranking) -> Result<()> {
    let (name, ranking) = ("rank_of", ranking.clone());
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    connection
        .create_scalar_function(name, 2, flags, move |row| Ok(ranking.rank(row.get_raw(0).as_str()?, row.get(1)?)))?;
    if let Some(sequence) = summary::last_sequence(connection)? {
        connection.execute(&rerank(Current::of(connection, sequence)?), [sequence])?;
    }
    connection.remove_function(name, 2)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::{
        order::{Order, Priority, Weight},
        store::sqlite::schema,
    };

    #[test]
    fn what_is_queued_in_the_last_sequence_gets_the_ranks_of_the_order() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection, 0).unwrap();
        connection
            .execute_batch(
                "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, 0, 0, '{}'), (1, 0, 0, '{}');
                 INSERT INTO host (id, origin) VALUES (0, 'http://h');
                 INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, due)
                 VALUES (1, 0, 'http://h/a', x'', 'link', 2, 0, 1, 'queued', NULL),
                        (2, 0, 'http://h/b', x'', 'link', 3, 0, 1, 'queued', 5),
                        (3, 0, 'http://h/b', x'', 'link', 3, 0, 1, 'finished', NULL),
                        (4, 0, 'http://h/b', x'', 'link', 3, 0, 0, 'queued', NULL)",
            )
            .unwrap();
        let rules = vec![Priority { pattern: Regex::new("/b$").unwrap(), weight: Weight::MOST }];
        for order in [Order::Best, Order::BestOfLevel, Order::Depth, Order::Breadth] {
            rank_by(&connection, &Ranking::new(order, rules.clone())).unwrap();
            let mut select = connection.prepare("SELECT rank FROM url ORDER BY id").unwrap();
            let ranks: Result<Vec<i64>> = select.query_map([], |row| row.get(0)).unwrap().collect();
            assert_eq!(ranks, Ok(vec![order.rank(2, Weight::USUAL), order.rank(3, Weight::MOST), 0, 0]), "{order:?}");
        }
    }
}
