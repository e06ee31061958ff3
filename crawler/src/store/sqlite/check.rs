//! `check`: recounts URLs and every invariant from rows alone.
//!
//! Invariant: memory does not grow with the crawl. Most rules are checked row by row; what must be compared whole is
//! sorted in temporary files, in the crawl directory or, where that cannot be written, in the system's temporary
//! folder.

mod archive;
mod checked_database;
mod columns;
mod labels;
mod links;
mod references;
mod rules;
mod search;
mod sequences;
mod tables;
mod urls;

use rusqlite::{Connection, Result};

use self::{
    archive::{ARCHIVE_RULES, ARCHIVED},
    checked_database::CheckedDatabase,
    columns::{ALLOWED, READABLE},
    labels::{LABELS, NAMES},
    links::KeptLinks,
    references::REFERENCES,
    rules::{CHECKED_RULES, FORGOTTEN_RULES, LOST_RULES, NOISE_RULES, REMOVED_RULES, RULES, STAND, WHOLE_RULES},
    search::{SEARCH_RULES, SIMILAR_RULES},
    sequences::{RowsLeft, Sequence, sequences},
    urls::{FINGERPRINT, IS_URL, ONCE, OWN_HOST},
};
use super::{
    checked_ends,
    error::{Fault, is_of_wrong_type},
    prune, schema,
};
use crate::{
    queue::Counts,
    store::{CheckReport, Counters, Finding},
};

const WHOLE: &str = "the database file is whole";
const SUMS: &str = "candidates = admitted + duplicate + refused, and pages stored are counted";
const KEPT: &str = "with an exact cache, every kept link has a row";
const RECORDED: &str = "after a sweep, every kept link has a row or is recorded as lost";

/// Every invariant that `webloom check` can find broken.
pub fn invariants() -> impl Iterator<Item = &'static str> {
    let others = [
        WHOLE,
        READABLE,
        ALLOWED,
        REFERENCES,
        SUMS,
        IS_URL,
        OWN_HOST,
        FINGERPRINT,
        ONCE,
        KEPT,
        LABELS,
        NAMES,
        RECORDED,
        ARCHIVED,
    ];
    RULES
        .iter()
        .chain(LOST_RULES)
        .chain(CHECKED_RULES)
        .chain(FORGOTTEN_RULES)
        .chain(REMOVED_RULES)
        .chain(NOISE_RULES)
        .chain(WHOLE_RULES)
        .chain(ARCHIVE_RULES)
        .chain(SEARCH_RULES)
        .chain(SIMILAR_RULES)
        .map(|(invariant, _)| *invariant)
        .chain(others)
}

/// Checks a crawl directory's database. Where it is damaged, that is found, and the rest as far as it can be read.
pub(super) fn check(connection: &Connection) -> Result<CheckReport, Fault> {
    let mut findings: Vec<_> = damage(connection).into_iter().collect();
    match single_values(connection, &mut findings).and_then(|()| recount(connection)) {
        Ok(mut report) => {
            report.findings.splice(0..0, findings);
            Ok(report)
        }
        // What is wrong keeps the rest from being read.
        Err(Fault::Database(_)) if !findings.is_empty() => Ok(nothing_but(findings)),
        Err(Fault::Database(error)) if is_of_wrong_type(&error) => {
            Ok(nothing_but(vec![Finding { invariant: READABLE, count: 1, example: error.to_string() }]))
        }
        Err(error) => Err(error),
    }
}

/// What is wrong with values, whatever other rows say.
fn single_values(connection: &Connection, findings: &mut Vec<Finding>) -> Result<(), Fault> {
    findings.extend(columns::findings(connection, &tables::all(connection)?)?);
    findings.extend(references::finding(connection)?);
    Ok(())
}

/// What is wrong with the file itself. Indices are compared with their tables: a URL that is missing in one would never
/// be fetched.
fn damage(connection: &Connection) -> Option<Finding> {
    let whole = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
    let example = whole.unwrap_or_else(|error| error.to_string());
    (example != "ok").then_some(Finding { invariant: WHOLE, count: 1, example })
}

fn nothing_but(findings: Vec<Finding>) -> CheckReport {
    CheckReport {
        counts: Counts::default(),
        visits: 0,
        links: 0,
        links_without_row: 0,
        lost: 0,
        lost_admitted: 0,
        findings,
    }
}

fn recount(connection: &Connection) -> Result<CheckReport, Fault> {
    let mut findings = Vec::new();
    let of_checks = if checked_ends::columns(connection)?.is_some() { CHECKED_RULES } else { &[] };
    let of_history = if schema::has_forgotten_column(connection)? { FORGOTTEN_RULES } else { &[] };
    let of_archive = if super::archive::is_kept(connection)? { ARCHIVE_RULES } else { &[] };
    let of_search = search::rules(connection)?;
    let of_whole = if schema::has_removed(connection)? { &[] } else { WHOLE_RULES };
    let is_newest = schema::has_removed_table(connection)?;
    let [of_removed, of_similar] = if is_newest { [REMOVED_RULES, SIMILAR_RULES] } else { [&[][..]; 2] };
    let of_noise = if schema::has_mask_table(connection)? { NOISE_RULES } else { &[] };
    let further = [of_noise, of_checks, of_history, of_archive, of_search, of_whole, of_removed, of_similar]
        .into_iter()
        .flatten();
    for (invariant, broken) in RULES.iter().chain(LOST_RULES).chain(further) {
        findings.extend(rule(connection, invariant, broken)?);
    }
    let source = CheckedDatabase::new(connection);
    let mut counts = Counts::default();
    let mut kept = KeptLinks::default();
    for sequence in sequences(connection)? {
        counts = super::resume::counts(connection, sequence.number)?;
        if sequence.rows != RowsLeft::Forgotten {
            findings.extend(sums(connection, &sequence, counts.admitted)?);
            kept.read(&source, &sequence)?;
        }
    }
    findings.extend(urls::findings(&source)?);
    findings.extend(labels::finding(connection)?);
    findings.extend(labels::finding_of_names(connection)?);
    findings.extend(archive::finding(connection)?);
    if let Some(example) = kept.example {
        findings.push(Finding { invariant: KEPT, count: kept.unexplained, example });
    }
    if let Some(example) = kept.unrecorded_example {
        findings.push(Finding { invariant: RECORDED, count: kept.unrecorded, example });
    }
    let (lost, lost_admitted) =
        connection.query_row("SELECT count(*), count(admitted) FROM lost", [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let visits = kept.visits;
    let links = kept.links;
    let links_without_row = kept.without_row;
    Ok(CheckReport { counts, visits, links, links_without_row, lost, lost_admitted, findings })
}

fn rule(connection: &Connection, invariant: &'static str, broken: &str) -> Result<Option<Finding>> {
    let query = format!("WITH {STAND}, broken (example) AS ({broken}) SELECT count(*), min(example) FROM broken");
    let (count, example): (u64, Option<String>) =
        connection.query_row(&query, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(example.map(|example| Finding { invariant, count, example }))
}

/// The sums of a sequence against the rows.
fn sums(connection: &Connection, sequence: &Sequence, admitted: u64) -> Result<Option<Finding>> {
    let (invariant, number) = (SUMS, sequence.number);
    let counters: Counters = match serde_json::from_str(&sequence.counters) {
        Ok(counters) => counters,
        Err(error) => return Ok(Some(Finding { invariant, count: 1, example: format!("counters: {error}") })),
    };
    let refused: u64 = counters.refused.values().sum();
    let stored: u64 = connection.query_row(
        "SELECT count(*) FROM visit WHERE outcome = 'stored' AND sequence = ?",
        [number],
        |row| row.get(0),
    )?;
    let adds_up =
        sequence.rows == RowsLeft::PastKnown || counters.candidates == admitted + counters.duplicate + refused;
    let counted = counters.stored + counters.stored_again;
    let is_counted = counted == stored || (prune::is_pruned(connection, number)? && counted > stored);
    let holds = adds_up && is_counted;
    let example = format!(
        "sequence {number}: {} candidates, {admitted} admitted, {} duplicate, {refused} refused; {} pages counted, {stored} stored",
        counters.candidates, counters.duplicate, counted
    );
    Ok((!holds).then_some(Finding { invariant, count: 1, example }))
}
