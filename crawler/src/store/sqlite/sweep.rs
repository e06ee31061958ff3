//! [`Sweep`]: finds the kept links that have no row, and the pages that have these links.
//!
//! Owns: the comparison of the links kept with a sequence's latest visits with its URL rows, the rows of what was lost,
//! and the choice of the pages to be fetched again.
//!
//! Invariants: memory holds neither all links nor all URLs; doing it again changes nothing that was right; a page is
//! named for a lost URL once, in ascending order, and only so many pages in all: so the rounds end.
//!
//! Does not know: how pages are fetched.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    again::{self, Current},
    error::Fault,
    refill,
    runs::{self, Sorter},
};
use crate::store::{AfterSweep, LostState, RescueOrder, SweepRequest, Swept};

/// Memory for the links, and again for the URLs.
const MEMORY: usize = 8 << 20;

/// Lost URLs that are recorded in one transaction, with one look at all visits for the pages that link to them.
const RECORDED: usize = 65_536;

/// Lost URLs that pages are fetched for before the next sweep.
const RESCUED: u32 = 4_096;

/// Pages fetched again for one lost URL at most.
const MOST_TRIES: u32 = 3;

/// One comparison.
pub(super) struct Sweep<'a> {
    connection: &'a Connection,
    folder: &'a Path,
    current: Current,
    /// Called before anything is written.
    moment: &'a dyn Fn(),
    memory: usize,
}

impl<'a> Sweep<'a> {
    /// A sweep of a sequence whose rows are committed; `folder` is for its temporary file.
    pub(super) fn new(connection: &'a Connection, folder: &'a Path, current: Current, moment: &'a dyn Fn()) -> Self {
        Self { connection, folder, current, moment, memory: MEMORY }
    }

    /// Compares, records what has no row, and names the pages to be fetched again.
    pub(super) fn run(&self, request: SweepRequest) -> Result<Swept, Fault> {
        let sorter = || Sorter::new(&[self.folder], self.memory);
        let (mut links, mut rows) = (sorter(), sorter());
        let mut swept = Swept::default();
        self.each_link(|_, link| {
            swept.links += 1;
            Ok(links.push(link)?)
        })?;
        self.each_row(|row| Ok(rows.push(row)?))?;
        let mut fresh = Vec::new();
        runs::subtract(links.sorted()?, rows.sorted()?, |link| {
            swept.lost += 1;
            if !self.is_recorded(link)? {
                fresh.push(link);
            }
            if fresh.len() >= RECORDED { self.record(&std::mem::take(&mut fresh), request) } else { Ok(()) }
        })?;
        self.record(&fresh, request)?;
        if request.then == AfterSweep::Rescue {
            swept.orders = self.orders()?;
        }
        if swept.orders.is_empty() {
            self.complete(request.then, swept.links)?;
        }
        Ok(swept)
    }

    /// Shows every kept link of the sequence's latest visits with its page, pages in ascending order.
    fn each_link(&self, mut each: impl FnMut(u64, u64) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut select = self.connection.prepare(
            "SELECT url.id, kept.links FROM url JOIN visit ON visit.id = url.visit
                                            JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id)
             WHERE visit.sequence = ? ORDER BY url.id",
        )?;
        let mut visits = select.query([self.current.sequence])?;
        while let Some(visit) = visits.next()? {
            let page = visit.get(0)?;
            for link in visit.get_ref(1)?.as_blob().unwrap_or_default().chunks_exact(8) {
                each(page, u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes")))?;
            }
        }
        Ok(())
    }

    fn each_row(&self, mut each: impl FnMut(u64) -> Result<(), Fault>) -> Result<(), Fault> {
        let query = format!("SELECT substr(fingerprint, 1, 8) FROM url WHERE {}", self.current.rows());
        let mut select = self.connection.prepare(&query)?;
        let mut rows = select.query([self.current.sequence])?;
        while let Some(row) = rows.next()? {
            each(u64::from_be_bytes(row.get(0)?))?;
        }
        Ok(())
    }

    fn is_recorded(&self, link: u64) -> Result<bool, Fault> {
        let mut select = self
            .connection
            .prepare_cached("SELECT swept FROM lost WHERE substr(fingerprint, 1, 8) = ? AND sequence = ?")?;
        let swept =
            select.query_row(params![link.to_be_bytes(), self.current.sequence], |row| row.get(0)).optional()?;
        Ok(swept.unwrap_or(false))
    }

    /// Records lost URLs, those that the audit knows included.
    fn record(&self, links: &[u64], request: SweepRequest) -> Result<(), Fault> {
        let pages = self.pages(&links.iter().map(|link| (*link, 0)).collect())?;
        let transaction = self.connection.unchecked_transaction()?;
        for link in links {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO lost (sequence, fingerprint, url, found_by, found_at, via, swept, state)
                 VALUES (?, ?, ?, 'sweep', ?, ?, 1, ?) ON CONFLICT DO UPDATE SET swept = 1",
            )?;
            let (state, via) = (LostState::Lost.as_str(), pages.get(link));
            let url = again::address(&transaction, *link, self.current.sequence)?;
            insert.execute(params![self.current.sequence, link.to_be_bytes(), url, request.at.millis(), via, state])?;
        }
        (self.moment)();
        Ok(transaction.commit()?)
    }

    /// For each link the first page behind the given one that has it.
    fn pages(&self, behind: &HashMap<u64, u64>) -> Result<HashMap<u64, u64>, Fault> {
        let mut pages = HashMap::new();
        if behind.is_empty() {
            return Ok(pages);
        }
        self.each_link(|page, link| {
            if behind.get(&link).is_some_and(|behind| page > *behind) {
                pages.entry(link).or_insert(page);
            }
            Ok(())
        })?;
        Ok(pages)
    }

    /// The pages to be fetched again for lost URLs that have any left; those that have none are given up.
    fn orders(&self) -> Result<Vec<RescueOrder>, Fault> {
        loop {
            let open = self.open()?;
            if open.is_empty() {
                return Ok(Vec::new());
            }
            let pages = self.pages(&open)?;
            let given_up = open.keys().filter(|link| !pages.contains_key(link));
            self.give_up(given_up)?;
            let mut links: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for (link, page) in pages {
                links.entry(page).or_default().push(link);
            }
            if !links.is_empty() {
                return links.into_iter().map(|(page, links)| self.order(page, links)).collect();
            }
        }
    }

    fn order(&self, page: u64, links: Vec<u64>) -> Result<RescueOrder, Fault> {
        Ok(RescueOrder { parent: refill::one(self.connection, page)?, links })
    }

    /// Lost URLs for which a page may be fetched again, with the last one that was.
    fn open(&self) -> Result<HashMap<u64, u64>, Fault> {
        let mut select = self.connection.prepare(
            "SELECT substr(fingerprint, 1, 8), tried FROM lost
             WHERE sequence = ? AND swept AND admitted IS NULL AND tries < ? ORDER BY id LIMIT ?",
        )?;
        let open = select.query_map(params![self.current.sequence, MOST_TRIES, RESCUED], |row| {
            Ok((u64::from_be_bytes(row.get(0)?), row.get(1)?))
        })?;
        Ok(open.collect::<Result<_, _>>()?)
    }

    fn give_up<'l>(&self, links: impl Iterator<Item = &'l u64>) -> Result<(), Fault> {
        let transaction = self.connection.unchecked_transaction()?;
        for link in links {
            let mut update = transaction
                .prepare_cached("UPDATE lost SET tries = ? WHERE substr(fingerprint, 1, 8) = ? AND sequence = ?")?;
            update.execute(params![MOST_TRIES, link.to_be_bytes(), self.current.sequence])?;
        }
        Ok(transaction.commit()?)
    }

    fn complete(&self, then: AfterSweep, links: u64) -> Result<(), Fault> {
        let update = "UPDATE sequence SET swept = ?, swept_links = ? WHERE n = ?";
        self.connection.execute(update, params![then.as_str(), links, self.current.sequence])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{candidate::Ticket, time::Moment};

    const CURRENT: Current = Current { sequence: 0, known_first: false, revisited: false };

    /// A crawl of the given pages, each a list of links; page n has the link n, whose row it is. What is linked and has no
    /// page was lost.
    fn crawled(pages: &[(u64, &[u64])]) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        super::super::schema::migrate(&mut connection, 0).unwrap();
        connection
            .execute_batch(
                "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, 0, 0, '{}');
                 INSERT INTO host (id, origin) VALUES (0, 'http://h')",
            )
            .unwrap();
        for (page, links) in pages {
            admit(&connection, *page);
            let links: Vec<u8> = links.iter().flat_map(|link| link.to_be_bytes()).collect();
            let visit = "INSERT INTO visit (url, sequence, fetched_at, outcome, html, bytes, wire_bytes, links)
                         VALUES (?, 0, 0, 'stored', 1, 0, 0, ?)";
            connection.execute(visit, params![page, links]).unwrap();
            connection.execute("UPDATE url SET visit = last_insert_rowid() WHERE id = ?", [page]).unwrap();
        }
        connection
    }

    fn admit(connection: &Connection, page: u64) {
        let fingerprint = [page.to_be_bytes(), [7; 8]].concat();
        let insert = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                      VALUES (?, 0, ?, ?, 'link', 0, 0, 0, 'finished')";
        connection.execute(insert, params![page, format!("http://h/{page}"), fingerprint]).unwrap();
    }

    fn sweep(connection: &Connection, then: AfterSweep, memory: usize) -> Swept {
        let folder = tempfile::tempdir().unwrap();
        let sweep = Sweep { connection, folder: folder.path(), current: CURRENT, moment: &|| {}, memory };
        let swept = sweep.run(SweepRequest { at: Moment::from_millis(5), then }).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        swept
    }

    fn orders(swept: &Swept) -> Vec<(u64, Vec<u64>)> {
        let sorted = |links: &[u64]| {
            let mut links = links.to_vec();
            links.sort_unstable();
            links
        };
        swept.orders.iter().map(|order| (order.parent.id.0, sorted(&order.links))).collect()
    }

    fn fetched(connection: &Connection, parent: u64, missing: &[u64]) {
        let row = crate::store::RescueRow {
            parent: Ticket(parent),
            rescued: Vec::new(),
            missing: missing.to_vec(),
            why: LostState::NoLongerLinked,
        };
        super::super::lost::fetched_again(connection, &row, &mut again::Tickets::new(connection, CURRENT)).unwrap();
    }

    fn swept_as(connection: &Connection) -> Option<String> {
        connection.query_row("SELECT swept FROM sequence", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn finds_what_has_no_row_also_when_nothing_fits_into_memory() {
        // 300 pages, each linking to three more; every seventh has no row.
        let links: Vec<[u64; 3]> = (1..=300_u64).map(|page| [page * 2, page * 3, page + 1]).collect();
        let exists = |page: u64| page <= 300 && !page.is_multiple_of(7);
        let pages: Vec<(u64, &[u64])> = (1..=300_u64)
            .zip(&links)
            .filter(|(page, _)| exists(*page))
            .map(|(page, links)| (page, &links[..]))
            .collect();
        let expected: std::collections::BTreeSet<u64> =
            pages.iter().flat_map(|(_, links)| links.iter().copied()).filter(|link| !exists(*link)).collect();
        for memory in [64, 1_000, MEMORY] {
            let connection = crawled(&pages);
            let swept = sweep(&connection, AfterSweep::Report, memory);
            assert_eq!((swept.links, swept.lost), (pages.len() as u64 * 3, expected.len() as u64), "{memory}");
            let mut select = connection.prepare("SELECT fingerprint, via FROM lost ORDER BY fingerprint").unwrap();
            let rows = select.query_map([], |row| Ok((u64::from_be_bytes(row.get(0)?), row.get(1)?))).unwrap();
            let rows: Vec<(u64, u64)> = rows.collect::<Result<_, _>>().unwrap();
            let first = |link| pages.iter().find(|(_, links)| links.contains(link)).unwrap().0;
            assert_eq!(rows, expected.iter().map(|link| (*link, first(link))).collect::<Vec<_>>());
            assert_eq!(swept_as(&connection).as_deref(), Some("report"));
            // Once more, nothing is recorded twice.
            assert_eq!(sweep(&connection, AfterSweep::Report, memory), swept);
        }
    }

    #[test]
    fn names_each_page_once_and_then_gives_up() {
        let connection = crawled(&[(1, &[50, 51, 2]), (2, &[50, 3]), (3, &[50, 4]), (4, &[50, 5]), (5, &[50])]);
        let round = || sweep(&connection, AfterSweep::Rescue, 64);
        assert_eq!(orders(&round()), [(1, vec![50, 51])]);
        assert_eq!(swept_as(&connection), None, "it is not complete");
        assert_eq!(orders(&round()), [(1, vec![50, 51])], "nothing was fetched meanwhile");
        fetched(&connection, 1, &[50, 51]);
        assert_eq!(orders(&round()), [(2, vec![50])]);
        fetched(&connection, 2, &[50]);
        assert_eq!(orders(&round()), [(3, vec![50])]);
        fetched(&connection, 3, &[50]);
        let last = round();
        assert_eq!((orders(&last), last.lost), (vec![], 2), "three pages are enough");
        assert_eq!(swept_as(&connection).as_deref(), Some("rescue"));
    }

    #[test]
    fn what_has_a_row_by_now_is_not_lost() {
        let connection = crawled(&[(1, &[50, 51])]);
        assert_eq!(orders(&sweep(&connection, AfterSweep::Rescue, 64)), [(1, vec![50, 51])]);
        admit(&connection, 50);
        connection.execute("UPDATE lost SET admitted = 50, state = 'found' WHERE id = 1", []).unwrap();
        let swept = sweep(&connection, AfterSweep::Rescue, 64);
        assert_eq!((orders(&swept), swept.lost), (vec![(1, vec![51])], 1));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_that_says_so() {
        let connection = crawled(&[(1, &[50, 51, 52, 53])]);
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let sweep = Sweep { connection: &connection, folder: &gone, current: CURRENT, moment: &|| {}, memory: 16 };
        let error = sweep.run(SweepRequest { at: Moment::EPOCH, then: AfterSweep::Rescue }).unwrap_err();
        let error = error.of(&gone.join("webloom.sqlite")).to_string();
        assert!(error.contains("temporary file") && error.contains("--sweep off"), "{error}");
        assert_eq!(swept_as(&connection), None);
        let full = Fault::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).of(Path::new("d/webloom.sqlite"));
        assert!(full.to_string().contains("is full"), "{full}");
    }
}
