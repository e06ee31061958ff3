//! The least number of links from a start to each URL, over all pages that were read, in whatever order they were found.
//!
//! Invariants: depths only fall, by all that the links say or not at all; a queued row that comes within the depth limit is counted once.
//! `via` stays the page on which a URL was first found.

use std::collections::HashMap;

use rusqlite::params;

use super::{AT_ONCE, Fault, LinkSweep, runs::Sorter};
use crate::{
    candidate::HostId,
    queue::{DepthLimit, Nearer},
    store::sqlite::held::HELD,
};

/// Rows whose depths have fallen: their depths before, and in which pass over the links they fell last.
const LOWERED: &str = "CREATE TEMP TABLE lowered (id INTEGER PRIMARY KEY, was INTEGER NOT NULL, pass INTEGER NOT NULL)";

/// What has come within the limit has not failed yet, whatever it did when it was within a larger one.
const BEGIN_ANEW: &str = "UPDATE url SET attempts = 0, due = NULL, failed_at = NULL, reason = NULL
    WHERE id = ? AND state = 'queued' AND admitted_in = ?";

impl LinkSweep<'_> {
    /// Lowers the depth of each row to what the links tell; says which queued rows come within the limit.
    pub(super) fn lower_depths(&self, limit: DepthLimit) -> Result<Vec<Nearer>, Fault> {
        let transaction = self.connection.unchecked_transaction()?;
        transaction.execute_batch(LOWERED)?;
        let mut pass = 0;
        // A page that has come nearer brings what it links to nearer.
        while self.lower(pass, limit)? {
            pass += 1;
        }
        let nearer = if pass > 0 { self.nearer(limit)? } else { Vec::new() };
        transaction.execute_batch("DROP TABLE temp.lowered")?;
        (self.moment)();
        transaction.commit()?;
        Ok(nearer)
    }

    /// One pass over the links of all pages, or of those whose depth fell in the pass before; whether any depth fell.
    fn lower(&self, pass: u32, limit: DepthLimit) -> Result<bool, Fault> {
        let (mut links, mut rows): (Sorter<u128>, Sorter<u128>) = (self.sorter(), self.sorter());
        let fell = format!("AND url.id IN (SELECT id FROM temp.lowered WHERE pass = {pass})");
        let mut is_over = true;
        self.each_visit(if pass == 0 { "" } else { &fell }, |kept| {
            is_over &= kept.links.is_empty();
            kept.links().try_for_each(|link| Ok(links.push(pair(link, kept.leads_to))?))
        })?;
        if is_over {
            return Ok(false);
        }
        self.each_row(|row, depth| Ok(rows.push(pair(row, depth))?))?;
        let (mut links, mut rows) = (links.sorted()?, rows.sorted()?);
        let mut found = HashMap::new();
        let mut any = false;
        let mut last = None;
        let mut row = rows.next()?.map(parts);
        while let Some((link, depth)) = links.next()?.map(parts) {
            // The first of several is the nearest.
            if last.replace(link) == Some(link) {
                continue;
            }
            while row.is_some_and(|(row, _)| row < link) {
                row = rows.next()?.map(parts);
            }
            if row.is_some_and(|(row, before)| row == link && before > depth) {
                found.insert(link, depth);
                any = true;
            }
            if found.len() >= AT_ONCE {
                self.write(&std::mem::take(&mut found), pass + 1, limit)?;
            }
        }
        self.write(&found, pass + 1, limit)?;
        Ok(any)
    }

    /// Writes depths, found by links, and the ranks that follow from them.
    fn write(&self, depths: &HashMap<u64, u32>, pass: u32, limit: DepthLimit) -> Result<(), Fault> {
        if depths.is_empty() {
            return Ok(());
        }
        let DepthLimit { most, order } = limit;
        let mut update = self.connection.prepare_cached("UPDATE url SET depth = ?, rank = ? WHERE id = ?")?;
        let mut begin_anew = self.connection.prepare_cached(BEGIN_ANEW)?;
        let mut note = self.connection.prepare(
            "INSERT INTO temp.lowered (id, was, pass) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET pass = excluded.pass",
        )?;
        for Row { id, depth: was, rank, link, is_held } in self.rows_of(depths)? {
            let depth = depths[&link];
            update.execute(params![depth, order.at_depth(rank, was, depth), id])?;
            if depth <= most && (most < was || is_held) {
                begin_anew.execute(params![id, self.current.sequence])?;
            }
            // What was held may be within its own limit now, and is held again if it is not.
            note.execute(params![id, if is_held { i64::MAX } else { was.into() }, pass])?;
        }
        Ok(())
    }

    fn rows_of(&self, links: &HashMap<u64, u32>) -> Result<Vec<Row>, Fault> {
        let query = format!(
            "SELECT id, depth, rank, substr(fingerprint, 1, 8), due IS {HELD} AND state = 'queued' FROM url WHERE {}",
            self.current.rows()
        );
        let mut select = self.connection.prepare(&query)?;
        let rows = select.query_map([self.current.sequence], |row| {
            let link = u64::from_be_bytes(row.get(3)?);
            Ok(Row { id: row.get(0)?, depth: row.get(1)?, rank: row.get(2)?, link, is_held: row.get(4)? })
        })?;
        let is_found = |row: &Row| links.get(&row.link).is_some_and(|depth| *depth < row.depth);
        Ok(rows.filter(|row| row.as_ref().map_or(true, is_found)).collect::<Result<_, _>>()?)
    }

    /// The queued rows that have come within the limit.
    fn nearer(&self, limit: DepthLimit) -> Result<Vec<Nearer>, Fault> {
        let query = format!(
            "SELECT host, depth, count(*) FROM temp.lowered CROSS JOIN url ON url.id = lowered.id
             WHERE was > ?2 AND depth <= ?2 AND {} GROUP BY host, depth",
            self.current.queued()
        );
        let mut select = self.connection.prepare(&query)?;
        let nearer = select.query_map([self.current.sequence, limit.most], |row| {
            Ok(Nearer { host: HostId(row.get(0)?), depth: row.get(1)?, rows: row.get(2)? })
        })?;
        Ok(nearer.collect::<Result<_, _>>()?)
    }
}

struct Row {
    id: u64,
    depth: u32,
    rank: i64,
    link: u64,
    is_held: bool,
}

/// A link and a depth as one number, by which the nearest of equal links is first.
fn pair(link: u64, depth: u32) -> u128 {
    (u128::from(link) << 64) | u128::from(depth)
}

#[expect(clippy::cast_possible_truncation, reason = "both parts are what they were made from")]
fn parts(pair: u128) -> (u64, u32) {
    ((pair >> 64) as u64, pair as u32)
}
