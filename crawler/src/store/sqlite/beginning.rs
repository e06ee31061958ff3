//! What a run begins with, from one pass over the URL table.
//!
//! Owns: the sums, the queue of each host, which starts are new, and what is written to a row before it is queued: a new try, the rank of
//! another order, a due time in place of one that a wrong clock wrote, or that it no longer belongs to the crawl.
//!
//! Invariant: each row is read once, where a sequence begins with what is known also the links to it, if they rank it; the changes and the
//! settings that they follow from are written in one transaction.

mod known_links;

use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, Result, Row, Statement, Transaction, params};

use super::{CrawlDirectory, current::Current, directory::DATABASE, error::Fault, held::HELD, resume};
use crate::{
    candidate::{Hop, Ticket},
    health::Wait,
    order::{Order, Ranking},
    queue::Counts,
    scope::CrawlScope,
    sections::{SectionUse, UrlSections},
    store::{Abandonment, HostState, PendingStart, Resumed, StoreError},
    time::Moment,
    url::{Fingerprint, WebUrl},
};
use known_links::KnownLinks;

/// What a run asks of the URL table, and has written to it.
#[derive(Debug, Default)]
pub struct Beginning<'a> {
    /// Starts, which may be new to the sequence.
    pub starts: HashSet<Fingerprint>,
    /// The settings, to be stored.
    pub settings: Option<&'a str>,
    /// What is queued outside of it is left out: nobody waits any more for a host of which nothing is left, unless the host itself has
    /// asked for a pause.
    pub scope: Option<&'a CrawlScope>,
    /// The order in which what is queued is to be.
    pub ranking: Option<&'a Ranking>,
    /// The longest that a retry could have been made to wait: a clock that was ahead wrote what lies beyond it.
    pub latest_due: Option<Moment>,
    /// Whether URLs are queued again that were abandoned for what may be mended since: a name that was none, an address that was not
    /// allowed.
    pub tries_again: bool,
    /// The depth limit.
    pub max_depth: Option<u32>,
    /// The sections whose limits are used up by what was fetched.
    pub sections: UrlSections,
    /// Whether pages are read for other fields from now on than in the sequence before.
    pub other_fields: bool,
}

impl Beginning<'_> {
    /// What is no URL is found by those who look for faults.
    fn is_outside(&self, text: &str, is_asset: bool) -> bool {
        let judge = |scope: &CrawlScope, url: &WebUrl| {
            if is_asset && scope.judge_asset(url).is_ok() { Ok(()) } else { scope.judge(url) }
        };
        self.scope.is_some_and(|scope| WebUrl::parse(text).is_ok_and(|url| judge(scope, &url).is_err()))
    }
}

/// What the URL table said.
#[derive(Debug)]
pub struct BeginningAnswer {
    /// What the crawl needs to go on.
    pub resumed: Resumed,
    /// Which of the starts belong to the sequence.
    pub admitted: HashSet<Fingerprint>,
    /// Retries that were due too late.
    pub clamped: u64,
}

impl CrawlDirectory {
    /// Reads what the crawl needs to go on, and writes what is asked for; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read or written.
    pub fn begin(&self, beginning: &Beginning<'_>) -> Result<Option<BeginningAnswer>, StoreError> {
        let begin = || {
            let transaction = self.connection.unchecked_transaction()?;
            let found = found(&transaction, beginning)?;
            if let Some(settings) = beginning.settings {
                transaction.execute("UPDATE crawl SET settings = ?", [settings])?;
            }
            if beginning.other_fields {
                super::apply::note_other_reading(&transaction)?;
            }
            transaction.commit()?;
            // What was read is not needed again.
            self.connection.execute_batch("PRAGMA shrink_memory")?;
            Ok(found)
        };
        begin().map_err(|fault: Fault| fault.of(&self.path().join(DATABASE)))
    }

    /// What the crawl needs to go on; `None` when the directory is new.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn resume(&self, max_depth: Option<u32>) -> Result<Option<Resumed>, StoreError> {
        Ok(self.begin(&Beginning { max_depth, ..Beginning::default() })?.map(|found| found.resumed))
    }

    /// Whether the last sequence has no visit yet.
    ///
    /// # Errors
    /// [`StoreError`] when the database cannot be read.
    pub fn is_untouched(&self) -> Result<bool, StoreError> {
        is_untouched(&self.connection).map_err(self.failed())
    }
}

/// Later sequences have later visits.
fn is_untouched(connection: &Connection) -> Result<bool> {
    let last = "SELECT (SELECT sequence FROM visit ORDER BY id DESC LIMIT 1) IS NOT (SELECT max(n) FROM sequence)";
    connection.query_row(last, [], |row| row.get(0))
}

pub(super) fn found(
    transaction: &Transaction<'_>,
    beginning: &Beginning<'_>,
) -> Result<Option<BeginningAnswer>, Fault> {
    let Some((current, mut resumed)) = resume::without_urls(transaction)? else { return Ok(None) };
    let is_untouched = is_untouched(transaction)?;
    let is_weighted = beginning.ranking.is_some_and(|ranking| ranking.order().is_weighted());
    let weighs_known = is_untouched && is_weighted && current.known_first;
    let mut pass = Pass {
        beginning,
        current,
        counts: Counts::default(),
        hosts: resume::hosts(transaction)?,
        pending: Vec::new(),
        admitted: HashSet::new(),
        left_out: BTreeSet::new(),
        clamped: 0,
        keeps_ahead: beginning.max_depth.is_none() && !is_untouched,
        links: weighs_known.then(|| KnownLinks::count(transaction)).transpose()?,
        section_use: SectionUse::new(beginning.sections.clone()),
    };
    pass.run(transaction)?;
    pass.forget_hosts(transaction)?;
    let Pass { mut counts, hosts, pending, admitted, clamped, section_use, .. } = pass;
    counts.queued = counts.admitted - counts.finished - counts.abandoned;
    if current.known_first {
        // What is known is there from the beginning.
        resumed.admitted_before = resumed.admitted_before.max(Some(counts.admitted));
    }
    let resumed = Resumed { counts, hosts, pending_starts: pending, section_use, ..resumed };
    Ok(Some(BeginningAnswer { resumed, admitted, clamped }))
}

struct Pass<'a> {
    beginning: &'a Beginning<'a>,
    current: Current,
    counts: Counts,
    hosts: Vec<HostState>,
    pending: Vec<PendingStart>,
    admitted: HashSet<Fingerprint>,
    /// Hosts of which something was left out.
    left_out: BTreeSet<u32>,
    clamped: u64,
    /// Whether what comes before all others stays there: the sequence has begun, and levels are not finished one by one.
    keeps_ahead: bool,
    /// How many pages link to what is known, where the sequence begins with that and weighs it.
    links: Option<KnownLinks>,
    /// What was fetched of sections.
    section_use: SectionUse,
}

/// What is written to single rows.
struct Writes<'c> {
    try_again: Statement<'c>,
    leave_out: Statement<'c>,
    rank: Statement<'c>,
    due: Statement<'c>,
}

impl<'c> Writes<'c> {
    fn of(transaction: &'c Transaction<'_>) -> Result<Self> {
        Ok(Self {
            try_again: transaction.prepare(
                "UPDATE url SET state = 'queued', reason = NULL, attempts = 0, due = NULL, failed_at = NULL WHERE id = ?",
            )?,
            leave_out: transaction.prepare(
                "UPDATE url SET admitted_in = ?2, state = 'abandoned', attempts = 0, due = NULL, failed_at = NULL, reason = ?3
                 WHERE id = ?1",
            )?,
            rank: transaction.prepare("UPDATE url SET rank = ?2 WHERE id = ?1")?,
            due: transaction.prepare("UPDATE url SET due = ?2 WHERE id = ?1")?,
        })
    }
}

const UNHEALTHY: &str = "SELECT 1 FROM host WHERE cause IS NOT NULL";

/// Visits tell of hosts, and are looked at where the sequence has any, or where a host does not answer. The rows come in the order of
/// their numbers, which nothing that is written changes.
fn query(transaction: &Transaction<'_>) -> Result<String> {
    let (columns, join) = if is_untouched(transaction)? && !transaction.prepare(UNHEALTHY)?.exists([])? {
        ("NULL, NULL, ?1", "")
    } else {
        ("visit.outcome, visit.status, visit.sequence IS ?1", "LEFT JOIN visit ON visit.id = url.visit")
    };
    Ok(format!(
        "SELECT url.id, url.ticket, url.host, url.url, url.depth, url.state, url.reason, url.admitted_in, url.due, url.attempts,
                url.rank, url.fingerprint, {columns}, url.hop
         FROM url NOT INDEXED {join} ORDER BY url.id"
    ))
}

/// Whether a page shows or loads it.
fn is_asset(row: &Row<'_>) -> Result<bool> {
    Ok(row.get_ref(15)?.as_str()? == Hop::Asset.as_str())
}

/// A row that is queued.
struct Queued {
    id: u64,
    host: u32,
    depth: u32,
    due: Option<u64>,
    attempts: u32,
}

impl Pass<'_> {
    fn run(&mut self, transaction: &Transaction<'_>) -> Result<(), Fault> {
        let mut writes = Writes::of(transaction)?;
        let mut select = transaction.prepare(&query(transaction)?)?;
        let mut rows = select.query([self.current.sequence])?;
        while let Some(row) = rows.next()? {
            self.row(row, &mut writes)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Row<'_>, writes: &mut Writes<'_>) -> Result<(), Fault> {
        let admitted_in: u32 = row.get(7)?;
        let state = row.get_ref(5)?.as_str()?;
        self.visited(row, state == "finished")?;
        let is_own = admitted_in == self.current.sequence;
        let is_known = self.current.known_first && admitted_in < self.current.sequence;
        if !(is_own || is_known) {
            return Ok(());
        }
        self.counts.admitted += 1;
        if !self.beginning.starts.is_empty() {
            let fingerprint = Fingerprint::from_bytes(row.get(11)?);
            if self.beginning.starts.contains(&fingerprint) {
                self.admitted.insert(fingerprint);
            }
        }
        match state {
            // What an earlier sequence left is begun anew.
            _ if !is_own => self.queued(row, None, writes),
            "queued" if row.get::<_, Option<i64>>(8)? == Some(HELD) => {
                // The limits may be others now.
                writes.try_again.execute([row.get::<_, u64>(0)?])?;
                self.queued(row, None, writes)
            }
            "queued" => self.queued(row, row.get(8)?, writes),
            "abandoned" if self.is_tried_again(row)? => {
                writes.try_again.execute([row.get::<_, u64>(0)?])?;
                self.queued(row, None, writes)
            }
            "abandoned" => {
                self.counts.abandoned += 1;
                Ok(())
            }
            _ => {
                self.counts.finished += u64::from(state == "finished");
                Ok(())
            }
        }
    }

    fn is_tried_again(&self, row: &Row<'_>) -> Result<bool> {
        let reason = row.get_ref(6)?.as_str_or_null()?;
        let is_mended = |one: &Abandonment| reason == Some(one.as_str());
        Ok(self.beginning.tries_again && Abandonment::TRIED_AGAIN.iter().any(is_mended))
    }

    /// What the last visit of a URL tells of its host: one of an earlier sequence, that the page had an answer. A URL that is due once
    /// more counts when it has been visited.
    fn visited(&mut self, row: &Row<'_>, is_finished: bool) -> Result<()> {
        let Some(outcome) = row.get_ref(12)?.as_str_or_null()? else { return Ok(()) };
        let stored = outcome == "stored";
        let text = row.get_ref(3)?.as_str()?;
        let Some(host) = resume::host_of(&mut self.hosts, row.get(2)?) else { return Ok(()) };
        if stored && host.known_good.is_none() && !self.beginning.is_outside(text, is_asset(row)?) {
            host.known_good = Some(text.into());
        }
        if !row.get::<_, bool>(14)? {
            return Ok(());
        }
        host.answered |= row.get::<_, Option<u16>>(13)?.is_some();
        if is_finished {
            host.fetched += 1;
            host.stored += u64::from(stored);
            self.section_use.count(text, stored);
        }
        Ok(())
    }

    fn queued(&mut self, row: &Row<'_>, due: Option<u64>, writes: &mut Writes<'_>) -> Result<(), Fault> {
        let is_own = row.get::<_, u32>(7)? == self.current.sequence && row.get_ref(5)?.as_str()? == "queued";
        let attempts = if is_own { row.get(9)? } else { 0 };
        let mut queued = Queued { id: row.get(0)?, host: row.get(2)?, depth: row.get(4)?, due, attempts };
        let (text, is_asset) = (row.get_ref(3)?.as_str()?, is_asset(row)?);
        if self.beginning.is_outside(text, is_asset) {
            writes.leave_out.execute(params![queued.id, self.current.sequence, Abandonment::Scope.as_str()])?;
            self.counts.abandoned += 1;
            self.left_out.insert(queued.host);
            return Ok(());
        }
        if let Some(ranking) = self.beginning.ranking {
            let before = row.get(10)?;
            let rank = self.rank(ranking, text, &queued, before)?;
            if rank != before {
                writes.rank.execute(params![queued.id, rank])?;
            }
        }
        if let Some(latest) = self.beginning.latest_due.map(Moment::millis).filter(|latest| due > Some(*latest)) {
            writes.due.execute(params![queued.id, latest])?;
            self.clamped += 1;
            queued.due = Some(latest);
        }
        if queued.depth == 0 && !is_asset {
            self.pending.push(PendingStart { id: Ticket(row.get(1)?), url: text.to_owned() });
        }
        self.count(&queued);
        Ok(())
    }

    /// The rank of a row that has another one, which says what is known of it.
    fn rank(&mut self, ranking: &Ranking, text: &str, queued: &Queued, before: i64) -> Result<i64, Fault> {
        let mut merit = ranking.order().merit(before, queued.depth);
        if let Some(links) = &mut self.links {
            merit.links = links.class(queued.id)?;
        }
        let rank = ranking.rank_with(text, queued.depth, merit);
        // A sequence learns anew what was modified.
        Ok(if self.keeps_ahead && Order::is_ahead(before) { Order::ahead(rank) } else { rank })
    }

    fn count(&mut self, queued: &Queued) {
        let max_depth = self.beginning.max_depth;
        let Some(host) = resume::host_of(&mut self.hosts, queued.host) else { return };
        if max_depth.is_some_and(|most| queued.depth > most) {
            host.held += 1;
            return;
        }
        host.tried += u64::from(queued.attempts > 0);
        match queued.due {
            Some(_) => host.waiting += 1,
            None => host.plain += 1,
        }
        host.next_due = host.next_due.into_iter().chain(queued.due.map(Moment::from_millis)).min();
        if max_depth.is_none() {
            return;
        }
        match host.by_depth.binary_search_by_key(&queued.depth, |(depth, _)| *depth) {
            Ok(there) => host.by_depth[there].1 += 1,
            Err(place) => {
                // There may be very many hosts, and most have one depth.
                host.by_depth.reserve_exact(1);
                host.by_depth.insert(place, (queued.depth, 1));
            }
        }
    }

    /// Forgets how hosts were of which nothing is left.
    fn forget_hosts(&mut self, transaction: &Transaction<'_>) -> Result<()> {
        let mut forget = transaction.prepare(
            "UPDATE host SET failures = NULL, ailing_since = NULL, cause = NULL, not_before = NULL, wait = NULL, known_good = NULL
             WHERE id = ? AND wait = 'back_off'",
        )?;
        for id in &self.left_out {
            let Some(host) = resume::host_of(&mut self.hosts, *id) else { continue };
            if host.plain + host.waiting + host.held == 0 {
                forget.execute([id])?;
                host.health = host.health.take().filter(|health| health.wait != Wait::BackOff);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
