//! Whether a run may end as it did.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::{
    super::{
        crawl::{Request, SimulatedCrawl},
        faults::{Outage, Trouble},
        web::SimulatedRobots,
    },
    depths,
};
use crate::{engine::RunEnd, queue::most_fetched, sections::SectionUse, store::sqlite::Records};

/// Whether the last run may have ended so.
pub(in crate::engine::simulation) fn justify(crawl: &SimulatedCrawl, end: Option<RunEnd>) -> Result<(), String> {
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let connection = records.connection();
    let count = |condition: &str| count(connection, crawl.sequence, condition);
    closed_for_nothing(crawl, connection)?;
    match end {
        Some(RunEnd::Drained) => match count("state = 'queued'") {
            0 => depths::judge(crawl, connection),
            queued => Err(format!("drained, and {queued} are queued")),
        },
        Some(RunEnd::Budget) => budget(crawl, connection).and_then(|()| depths::judge(crawl, connection)),
        Some(RunEnd::Unreachable) => unreachable(crawl, connection),
        _ => Ok(()),
    }
}

fn count(connection: &Connection, sequence: u32, condition: &str) -> u64 {
    // What is known and not touched yet is queued, where all that is known is due.
    let query = format!(
        "WITH stand AS (SELECT iif(admitted_in < ?1, 'queued', state) AS state, depth, visit,
                               iif(admitted_in < ?1, 0, attempts) AS attempts, iif(admitted_in < ?1, NULL, reason) AS reason FROM url
                        WHERE admitted_in = ?1 OR (SELECT revisit IS NOT NULL FROM sequence WHERE n = ?1))
         SELECT count(*) FROM stand AS url LEFT JOIN visit ON visit.id = url.visit WHERE {condition}"
    );
    connection.query_row(&query, [sequence], |row| row.get(0)).unwrap()
}

/// No host is closed because its name has no address, which had one whenever it was asked.
fn closed_for_nothing(crawl: &SimulatedCrawl, connection: &Connection) -> Result<(), String> {
    let query = "SELECT DISTINCT origin FROM host JOIN url ON url.host = host.id
                 WHERE state = 'abandoned' AND reason = 'no_name' AND admitted_in = ?";
    let mut select = connection.prepare(query).unwrap();
    let closed = select.query_map([crawl.sequence], |row| row.get::<_, String>(0)).unwrap();
    for origin in closed.map(Result::unwrap).filter(|origin| crawl.web.hosts.contains_key(origin)) {
        let host = &crawl.web.hosts[&origin];
        let no_name = |outage: &&Outage| outage.trouble == Trouble::NoName;
        let had_no_name = |request: &Request| {
            let mut outages = host.outages.iter().chain(&host.robots_outages).filter(no_name);
            outages.any(|outage| outage.holds(request.from))
        };
        if !crawl.requests.iter().any(|request| request.origin == origin && had_no_name(request)) {
            return Err(format!("{origin} was closed as one without a name, and has one"));
        }
    }
    Ok(())
}

/// A budget is reached, or all that is queued is beyond a depth or a host's budget.
fn budget(crawl: &SimulatedCrawl, connection: &Connection) -> Result<(), String> {
    let budget = &crawl.settings.budget;
    let count = |condition: &str| count(connection, crawl.sequence, condition);
    let Seen { pages, sent, bytes, requests } = seen(crawl);
    let fetched = count("state = 'finished' OR attempts > 0");
    // What was killed may have been fetched and forgotten, and what was in flight when the budget was spent is stored too.
    let stored = count("visit.outcome = 'stored' AND state = 'finished'");
    if budget.max_pages.is_some_and(|most| stored > most.get()) {
        return Err(format!("{stored} pages stored, more than the budget"));
    }
    if sent < stored {
        return Err(format!("{stored} pages stored, and {sent} were sent"));
    }
    let is_spent = budget.max_pages.is_some_and(|most| pages >= most.get() || fetched >= most_fetched(most))
        || budget.max_bytes.is_some_and(|most| bytes >= most.get());
    if fetched > requests {
        return Err(format!("{fetched} URLs fetched, with {requests} requests"));
    }
    let deepest = crawl.settings.depth_limit().unwrap_or(u32::MAX);
    let deep = count(&format!("state = 'queued' AND (depth > {deepest} OR url.reason IS 'section')"));
    sections(crawl, connection)?;
    let queued = count("state = 'queued'");
    // Pages that are due after the sequence may lead to others, which the end of these visits leaves.
    let is_cut = crawl.between.is_some() && queued > deep;
    let is_held = queued == deep || is_cut || budget.max_pages_per_host.is_some();
    if is_spent || (is_held && (queued > 0 || waits_for_rescue(connection, crawl.sequence))) {
        Ok(())
    } else {
        Err(format!(
            "no budget is reached with {pages} pages, {stored} of them stored, {fetched} URLs and {bytes} bytes; {queued} are queued"
        ))
    }
}

/// What is held is beyond a limit of its section, and no section has more pages than it may have.
fn sections(crawl: &SimulatedCrawl, connection: &Connection) -> Result<(), String> {
    let sections = &crawl.settings.scope.sections;
    let query = "SELECT url.url, depth, state, coalesce(outcome = 'stored', 0), url.reason IS 'section' FROM url
                 LEFT JOIN visit ON visit.id = url.visit WHERE admitted_in = ?";
    let mut select = connection.prepare(query).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let [is_finished, is_stored, is_held] = [row.get::<_, String>(2)? == "finished", row.get(3)?, row.get(4)?];
        Ok((row.get::<_, String>(0)?, row.get::<_, u32>(1)?, is_held, is_finished.then_some(is_stored)))
    };
    let rows: Vec<_> = select.query_map([crawl.sequence], row).unwrap().map(Result::unwrap).collect();
    let mut used = SectionUse::new(sections.clone());
    let mut pages = BTreeMap::<usize, u64>::new();
    for (url, _, _, finished) in &rows {
        let Some(is_stored) = *finished else { continue };
        used.count(url, is_stored);
        if let Some((number, section)) = sections.of(url).filter(|_| is_stored) {
            let pages = pages.entry(number).or_default();
            *pages += 1;
            if section.max_pages.is_some_and(|most| *pages > most.get()) {
                return Err(format!("{pages} pages of {} are stored", section.pattern));
            }
        }
    }
    let mut is_beyond = |url: &str, depth| {
        used.begin(url);
        let is_beyond = used.is_beyond(url, depth, crawl.settings.budget.max_depth);
        used.end(url);
        is_beyond
    };
    match rows.iter().find(|(url, depth, is_held, _)| *is_held && !is_beyond(url, *depth)) {
        Some((url, depth, ..)) => Err(format!("{url} at depth {depth} is held, and is beyond no limit")),
        None => Ok(()),
    }
}

/// What the servers saw of the sequence.
struct Seen {
    /// Pages that came, and are counted.
    pages: u64,
    /// Pages that came, also in visits after the sequence, where what was no page before may be one.
    sent: u64,
    /// Bytes of all bodies.
    bytes: u64,
    requests: u64,
}

fn seen(crawl: &SimulatedCrawl) -> Seen {
    let of = || crawl.requests.iter().filter(|request| request.sequence == crawl.sequence);
    let sent = || of().filter(|request| request.page.is_some());
    let urls = |of: &mut dyn Iterator<Item = &Request>| of.map(|request| &*request.url).collect::<BTreeSet<_>>().len();
    Seen {
        pages: urls(&mut sent().filter(|request| request.is_look() && !request.purpose.is_due())) as u64,
        sent: urls(&mut sent()) as u64,
        bytes: of().map(|request| request.bytes).sum(),
        requests: of().count() as u64,
    }
}

/// Only hosts that did not answer are left.
fn unreachable(crawl: &SimulatedCrawl, connection: &Connection) -> Result<(), String> {
    let query = "SELECT origin, cause FROM host WHERE id IN (
             SELECT host FROM url WHERE (state = 'queued' AND admitted_in = ?1)
                 OR (admitted_in < ?1 AND (SELECT revisit IS NOT NULL FROM sequence WHERE n = ?1)))";
    let mut select = connection.prepare(query).unwrap();
    let left =
        select.query_map([crawl.sequence], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)));
    let left: Vec<_> = left.unwrap().map(Result::unwrap).collect();
    // Pages may be left to be fetched again for what was lost.
    let links = "SELECT EXISTS (SELECT 1 FROM link_check WHERE wanted_in = ?1 AND checked_in IS NOT ?1)";
    let links_wait: bool = connection.query_row(links, [crawl.sequence], |row| row.get(0)).unwrap();
    if left.is_empty() && !links_wait && !waits_for_rescue(connection, crawl.sequence) {
        return Err("unreachable, and nothing is left".into());
    }
    // What a budget holds back is left as well.
    let budget = &crawl.settings.budget;
    let is_held = budget.max_pages_per_host.is_some()
        || budget.max_depth.is_some_and(|most| most < 10)
        || !crawl.settings.scope.sections.is_empty();
    match left.iter().find(|(_, cause)| cause.is_none()).filter(|_| !is_held) {
        // Its robots.txt may be at a host that does not answer.
        Some((origin, _)) if !is_elsewhere(crawl, origin) => {
            Err(format!("{origin} is called unreachable, and is well"))
        }
        _ => Ok(()),
    }
}

/// Whether a page is to be fetched again for what was lost.
fn waits_for_rescue(connection: &Connection, sequence: u32) -> bool {
    let query = "SELECT EXISTS (SELECT 1 FROM lost WHERE sequence = ? AND state = 'lost')";
    connection.query_row(query, [sequence], |row| row.get(0)).unwrap()
}

fn is_elsewhere(crawl: &SimulatedCrawl, origin: &str) -> bool {
    crawl.web.hosts.get(origin).is_some_and(|host| matches!(host.robots, SimulatedRobots::At(_)))
}
