//! [`LinkSweep`]: finds the kept links that have no row, the pages that have these links, and how near each URL is.
//!
//! Owns: the comparison of the links kept with a sequence's latest visits and its URL rows, the rows of lost URLs and what becomes of them,
//! the choice of the pages to be fetched again (`parents`), and the depths (`depths`).
//!
//! Invariants: memory holds neither all links nor all URLs; repeating a sweep changes nothing that was right; in a run a page is named for
//! a lost URL once, so the rounds end.
//!
//! Does not know: how pages are fetched.

mod depths;
mod parents;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use rusqlite::{Connection, OptionalExtension, params};

use super::{
    again,
    current::Current,
    error::Fault,
    runs::{self, Sorter},
};
use crate::store::{AfterSweep, LostState, SweepRequest, Swept};

/// Memory for the links, and again for the URLs.
const MEMORY: usize = 8 << 20;

/// URLs that are recorded in one transaction, or looked for in one look at all visits.
const AT_ONCE: usize = 65_536;

/// One comparison.
pub(super) struct LinkSweep<'a> {
    connection: &'a Connection,
    folder: &'a Path,
    current: Current,
    /// Called before anything is written.
    moment: &'a dyn Fn(),
    memory: usize,
}

/// The latest visit to a page, with its links.
struct KeptVisit<'r> {
    page: u64,
    visit: u64,
    /// How deep it leads.
    leads_to: u32,
    /// Up to which lost URL it was fetched again for those that it links to, and whether their absence proves anything.
    refetched: Option<(u64, bool)>,
    links: &'r [u8],
}

impl KeptVisit<'_> {
    /// The leading halves of the fingerprints that it links to.
    fn links(&self) -> impl Iterator<Item = u64> {
        self.links.chunks_exact(8).map(|link| u64::from_be_bytes(link.try_into().expect("chunks of 8 bytes")))
    }
}

impl<'a> LinkSweep<'a> {
    /// A sweep of a sequence whose rows are committed; `folder` is for its temporary file.
    pub(super) fn new(connection: &'a Connection, folder: &'a Path, current: Current, moment: &'a dyn Fn()) -> Self {
        Self { connection, folder, current, moment, memory: MEMORY }
    }

    /// Compares, records what has no row, and names the pages to be fetched again.
    pub(super) fn run(&self, request: SweepRequest) -> Result<Swept, Fault> {
        let mut swept = self.compare(request)?;
        if let Some(limit) = request.limit {
            swept.nearer = self.lower_depths(limit)?;
        }
        swept.orders = self.parents(request.then)?;
        if swept.orders.is_empty() && swept.nearer.is_empty() {
            self.complete(request.then, swept.links)?;
        }
        Ok(swept)
    }

    fn compare(&self, request: SweepRequest) -> Result<Swept, Fault> {
        let (mut links, mut rows) = (self.sorter(), self.sorter());
        let mut swept = Swept::default();
        self.each_visit("", |kept| {
            for link in kept.links() {
                swept.links += 1;
                links.push(link)?;
            }
            Ok(())
        })?;
        self.each_row(|row, _| Ok(rows.push(row)?))?;
        let mut fresh = Vec::new();
        runs::subtract(links.sorted()?, rows.sorted()?, |link| {
            swept.lost += 1;
            if !self.is_recorded(link)? {
                fresh.push(link);
            }
            if fresh.len() >= AT_ONCE { self.record(&std::mem::take(&mut fresh), request) } else { Ok(()) }
        })?;
        self.record(&fresh, request)?;
        Ok(swept)
    }

    fn sorter<N: runs::Number>(&self) -> Sorter<N> {
        Sorter::new(&[self.folder], self.memory)
    }

    /// Shows the sequence's latest visits, those `among` (a condition) if not all, pages in ascending order.
    fn each_visit(&self, among: &str, mut each: impl FnMut(KeptVisit<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
        let mut select = self.connection.prepare(&format!(
            "SELECT url.id, visit.id, url.depth + (visit.outcome <> 'redirected'), up_to, read, kept.links
             FROM url JOIN visit ON visit.id = url.visit JOIN visit AS kept ON kept.id = coalesce(visit.same, visit.id)
                      LEFT JOIN refetch ON refetch.visit = visit.id
             WHERE visit.sequence = ? {among} ORDER BY url.id"
        ))?;
        let mut visits = select.query([self.current.sequence])?;
        while let Some(visit) = visits.next()? {
            let up_to: Option<u64> = visit.get(3)?;
            each(KeptVisit {
                page: visit.get(0)?,
                visit: visit.get(1)?,
                leads_to: visit.get(2)?,
                refetched: up_to.zip(visit.get(4)?),
                links: visit.get_ref(5)?.as_blob().unwrap_or_default(),
            })?;
        }
        Ok(())
    }

    /// Shows the leading half of each fingerprint of the sequence, with the depth of its row.
    fn each_row(&self, mut each: impl FnMut(u64, u32) -> Result<(), Fault>) -> Result<(), Fault> {
        let query = format!("SELECT substr(fingerprint, 1, 8), depth FROM url WHERE {}", self.current.rows());
        let mut select = self.connection.prepare(&query)?;
        let mut rows = select.query([self.current.sequence])?;
        while let Some(row) = rows.next()? {
            each(u64::from_be_bytes(row.get(0)?), row.get(1)?)?;
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
        let pages = self.first_pages(links)?;
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

    /// For each link the first page that has it.
    fn first_pages(&self, links: &[u64]) -> Result<HashMap<u64, u64>, Fault> {
        let (mut left, mut pages): (HashSet<u64>, _) = (links.iter().copied().collect(), HashMap::new());
        if links.is_empty() {
            return Ok(pages);
        }
        self.each_visit("", |kept| {
            pages.extend(kept.links().filter(|link| left.remove(link)).map(|link| (link, kept.page)));
            Ok(())
        })?;
        Ok(pages)
    }

    /// Notes that nothing more can be done; what is still missing may be found by another rescue.
    fn complete(&self, then: AfterSweep, links: u64) -> Result<(), Fault> {
        let missing =
            "SELECT EXISTS (SELECT 1 FROM lost WHERE sequence = ? AND swept AND admitted IS NULL AND state <> ?)";
        let params = params![self.current.sequence, LostState::NoLongerLinked.as_str()];
        let proved =
            if self.connection.query_row(missing, params, |row| row.get(0))? { AfterSweep::Report } else { then };
        let update = "UPDATE sequence SET swept = ?, swept_links = ? WHERE n = ?";
        self.connection.execute(update, params![proved.as_str(), links, self.current.sequence])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::step_context::{StepContext, StepRows},
        *,
    };
    use crate::{
        candidate::HostId,
        order::Order,
        queue::{DepthLimit, Nearer},
        store::{RescueRow, VisitOutcome},
        time::Moment,
    };

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
            visit(&connection, *page, links);
        }
        connection
    }

    fn visit(connection: &Connection, page: u64, links: &[u64]) {
        admit(connection, page);
        let links: Vec<u8> = links.iter().flat_map(|link| link.to_be_bytes()).collect();
        let visit =
            "INSERT INTO visit (url, sequence, fetched_at, outcome, html, bytes, wire_bytes, digest, links_hash, links)
                     VALUES (?, 0, 0, 'stored', 1, 0, 0, zeroblob(32), 0, ?)";
        connection.execute(visit, params![page, links]).unwrap();
        connection.execute("UPDATE url SET visit = last_insert_rowid() WHERE id = ?", [page]).unwrap();
    }

    fn admit(connection: &Connection, page: u64) {
        let fingerprint = [page.to_be_bytes(), [7; 8]].concat();
        let insert = "INSERT OR IGNORE INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                      VALUES (?, 0, ?, ?, 'link', 0, 0, 0, 'finished')";
        connection.execute(insert, params![page, format!("http://h/{page}"), fingerprint]).unwrap();
    }

    fn sweep(connection: &Connection, then: AfterSweep, memory: usize) -> Swept {
        let folder = tempfile::tempdir().unwrap();
        let sweep = LinkSweep { connection, folder: folder.path(), current: CURRENT, moment: &|| {}, memory };
        let swept = sweep.run(SweepRequest { at: Moment::from_millis(5), then, limit: None }).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        swept
    }

    /// One that goes on to rescue, with little memory.
    fn round(connection: &Connection) -> Swept {
        sweep(connection, AfterSweep::Rescue, 64)
    }

    fn orders(swept: &Swept) -> Vec<(u64, Vec<u64>)> {
        let sorted = |links: &[u64]| {
            let mut links = links.to_vec();
            links.sort_unstable();
            links
        };
        swept.orders.iter().map(|order| (order.parent.id.0, sorted(&order.links))).collect()
    }

    /// Each page that was ordered was fetched again, and has none of the links any more; those `without` a proof give no page.
    fn fetched(connection: &Connection, swept: &Swept, without: &[u64]) {
        for order in &swept.orders {
            let parent = order.parent.id;
            let answer = (!without.contains(&parent.0)).then_some(VisitOutcome::Stored);
            let context = StepContext::of(connection, CURRENT, StepRows::New).unwrap();
            let row = RescueRow { parent, refetch: order.refetch, rescued: Vec::new(), answer };
            super::super::lost::fetched_again(connection, &row, &mut again::Tickets::new(connection, context)).unwrap();
        }
    }

    /// Fetches again what is ordered until nothing is; the pages of each round.
    fn rounds(connection: &Connection, without: &[u64]) -> Vec<Vec<u64>> {
        let mut rounds = Vec::new();
        loop {
            let swept = round(connection);
            if swept.orders.is_empty() {
                return rounds;
            }
            fetched(connection, &swept, without);
            rounds.push(orders(&swept).into_iter().map(|(page, _)| page).collect());
        }
    }

    fn states(connection: &Connection) -> Vec<String> {
        let mut select = connection.prepare("SELECT state FROM lost ORDER BY fingerprint").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
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
    fn names_each_page_once_and_as_many_more_as_were_asked() {
        let links: &[(u64, &[u64])] = &[(1, &[50, 51, 2]), (2, &[50, 3]), (3, &[50, 4]), (4, &[50, 5]), (5, &[50])];
        let connection = crawled(links);
        assert_eq!(orders(&round(&connection)), [(1, vec![50, 51])]);
        assert_eq!(swept_as(&connection), None, "it is not complete");
        let again = round(&connection);
        assert_eq!(orders(&again), [(1, vec![50, 51])], "nothing was fetched meanwhile");
        assert_eq!(rounds(&connection, &[]), [vec![1], vec![2], vec![3, 4], vec![5]]);
        assert_eq!(
            (swept_as(&connection).as_deref(), states(&connection)),
            (Some("rescue"), vec!["no_longer_linked".to_owned(); 2])
        );
    }

    #[test]
    fn what_gave_no_page_proves_nothing_and_is_asked_again_in_the_next_run() {
        let connection = crawled(&[(1, &[50, 51]), (2, &[50]), (3, &[51])]);
        assert_eq!(rounds(&connection, &[2]), [vec![1], vec![2, 3]]);
        assert_eq!(states(&connection), ["parent_unreachable", "no_longer_linked"]);
        assert_eq!(swept_as(&connection).as_deref(), Some("report"), "a rescue may yet find it");
        let never = crate::store::RunStart {
            is_over: false,
            cache: crate::store::Errs::Never,
            audit_sample: None,
            finds_keys: false,
            text_rule: None,
        };
        super::super::prepare::begin_run(&connection, never).unwrap();
        assert_eq!(rounds(&connection, &[]), [vec![2]]);
        assert_eq!(
            (swept_as(&connection).as_deref(), states(&connection)),
            (Some("rescue"), vec!["no_longer_linked".to_owned(); 2])
        );
    }

    #[test]
    fn a_redirect_is_no_page_of_the_same_kind() {
        let connection = crawled(&[(1, &[50])]);
        connection.execute("UPDATE visit SET outcome = 'redirected'", []).unwrap();
        assert_eq!(rounds(&connection, &[]), [vec![1]]);
        assert_eq!(states(&connection), ["parent_unreachable"]);
    }

    #[test]
    fn what_a_page_may_still_link_to_is_so_when_it_is_visited_once_more() {
        let connection = crawled(&[(1, &[50])]);
        assert_eq!(rounds(&connection, &[1]), [vec![1]]);
        visit(&connection, 1, &[]);
        assert!(rounds(&connection, &[]).is_empty());
        assert_eq!(states(&connection), ["parent_unreachable"]);
        assert_eq!(swept_as(&connection).as_deref(), Some("report"), "a rescue may yet find it");
    }

    #[test]
    fn a_page_that_is_new_is_asked_for_what_was_given_up() {
        let connection = crawled(&[(1, &[50])]);
        assert_eq!(rounds(&connection, &[]), [vec![1]]);
        visit(&connection, 2, &[50]);
        assert_eq!(swept_as(&connection).as_deref(), Some("rescue"));
        assert_eq!(sweep(&connection, AfterSweep::Report, 64).lost, 1);
        assert_eq!((swept_as(&connection).as_deref(), states(&connection)), (Some("report"), vec!["lost".to_owned()]));
        assert_eq!(rounds(&connection, &[]), [vec![2]]);
    }

    #[test]
    fn depths_fall_to_what_the_links_tell() {
        // 6 is found over a redirect that is no deeper than its page, and 7 behind it; 5 stays too deep.
        let connection = crawled(&[(1, &[2, 3]), (2, &[6]), (3, &[4]), (4, &[5, 6]), (6, &[7])]);
        for (page, depth) in [(2, 1), (3, 1), (4, 2), (6, 3), (5, 3), (7, 4)] {
            admit(&connection, page);
            connection.execute("UPDATE url SET depth = ?1, rank = ?1 WHERE id = ?2", [depth, page]).unwrap();
        }
        connection.execute("UPDATE visit SET outcome = 'redirected' WHERE url = 2", []).unwrap();
        connection.execute("UPDATE url SET state = 'queued', attempts = 1, due = 9 WHERE id IN (5, 7)", []).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let sweep =
            LinkSweep { connection: &connection, folder: folder.path(), current: CURRENT, moment: &|| {}, memory: 64 };
        let limit = Some(DepthLimit { most: 2, order: Order::Breadth });
        let request = SweepRequest { at: Moment::EPOCH, then: AfterSweep::Rescue, limit };
        let swept = sweep.run(request).unwrap();
        assert_eq!(swept.nearer, [Nearer { host: HostId(0), depth: 2, rows: 1 }]);
        assert_eq!(swept_as(&connection), None, "it is to be fetched");
        let mut select = connection.prepare("SELECT depth, rank, due FROM url ORDER BY id").unwrap();
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let rows: Vec<(u32, i64, Option<u64>)> = rows.collect::<Result<_, _>>().unwrap();
        let due = [None, None, None, None, Some(9), None, None];
        assert_eq!(
            rows,
            std::iter::zip([0, 1, 1, 2, 3, 1, 2], due)
                .map(|(depth, due)| (depth, depth.into(), due))
                .collect::<Vec<_>>()
        );
        assert_eq!(sweep.run(request).unwrap().nearer, [], "nothing changes any more");
        assert_eq!(swept_as(&connection).as_deref(), Some("rescue"));
    }

    #[test]
    fn what_has_a_row_by_now_is_not_lost() {
        let connection = crawled(&[(1, &[50, 51])]);
        assert_eq!(orders(&round(&connection)), [(1, vec![50, 51])]);
        admit(&connection, 50);
        connection.execute("UPDATE lost SET admitted = 50, state = 'found' WHERE id = 1", []).unwrap();
        let swept = round(&connection);
        assert_eq!((orders(&swept), swept.lost), (vec![(1, vec![51])], 1));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_that_says_so() {
        let connection = crawled(&[(1, &[50, 51, 52, 53])]);
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        let sweep = LinkSweep { connection: &connection, folder: &gone, current: CURRENT, moment: &|| {}, memory: 16 };
        let error = sweep.run(SweepRequest { at: Moment::EPOCH, then: AfterSweep::Rescue, limit: None }).unwrap_err();
        let error = error.of(&gone.join("webloom.sqlite")).to_string();
        assert!(error.contains("temporary file") && error.contains("--sweep off"), "{error}");
        assert_eq!(swept_as(&connection), None);
        let full = Fault::from(std::io::Error::from(std::io::ErrorKind::StorageFull)).of(Path::new("d/webloom.sqlite"));
        assert!(full.to_string().contains("is full"), "{full}");
    }
}
