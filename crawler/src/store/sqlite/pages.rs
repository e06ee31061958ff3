//! `pages`: one line per URL, in its latest state or that of a sequence.

use std::collections::BTreeSet;

use rusqlite::{Connection, Result, Row, types::ToSql};

use super::{
    batches::{self, BATCH},
    current::{OF_SEQUENCE, STATE_IN_SEQUENCE},
    fields,
    moment::of_one_moment,
    schema, summary,
    words::{word, word_or_none},
};
use crate::{
    extract::{MetaRobots, PageHead},
    store::{ContentTypes, PageChange, PageColumn, PageFilter, PageLine, PageOrder, PageOutcome},
};

const OUTCOME: &str = "CASE stand.state WHEN 'finished' THEN
    CASE visit.change WHEN 'gone' THEN 'gone' ELSE coalesce(visit.outcome, 'finished') END ELSE stand.state END";

const CHANGE: &str = "nullif(visit.change, 'gone')";

/// The latest state of every URL.
const LATEST: &str = "SELECT id AS place, url, key, admitted_in AS sequence, hop, via, depth, state, reason, visit, NULL AS found_by FROM url";

/// The URLs that a sequence lost and did not admit.
const LOST: &str =
    "SELECT lost.id, url, NULL, sequence, NULL, via, NULL, 'lost', iif(recovered_in IS NULL, state, 'recovered'),
            NULL, found_by
     FROM lost WHERE sequence = ?1 AND (admitted IS NULL OR recovered_in IS NOT NULL)";

/// Those that it lost and admitted after all.
const LET_IN: &str = "lost.admitted = url.id AND lost.sequence = ?1";

/// Those that it admitted and an earlier one had lost, each once.
const RECOVERED: &str =
    "lost.id IN (SELECT max(id) FROM lost WHERE recovered_in = ?1 GROUP BY admitted) AND lost.admitted = url.id";

/// Shows every line that passes, in the order of admission, to `each` until it answers `false`.
pub(super) fn pages(
    connection: &Connection,
    filter: &PageFilter,
    mut each: impl FnMut(PageLine) -> bool,
) -> Result<()> {
    let (states, columns) = (states(filter), columns(connection)?);
    let sequence = sequence(connection, filter)?;
    let (outcome, change) = (filter.outcome.map(PageOutcome::as_str), filter.change.map(PageChange::as_str));
    let mut values: Vec<&dyn ToSql> = sequence.iter().map(|sequence| sequence as _).collect();
    let mut conditions = vec!["1".to_owned()];
    let filters: [(&str, Option<&dyn ToSql>); 6] = [
        ("visit.status >= ?", filter.status.as_ref().map(|range| range.start() as _)),
        ("visit.status <= ?", filter.status.as_ref().map(|range| range.end() as _)),
        (&format!("{OUTCOME} = ?"), outcome.as_ref().map(|value| value as _)),
        (&format!("{CHANGE} = ?"), change.as_ref().map(|value| value as _)),
        ("substr(lower(visit.content_type), 1, length(?1)) = lower(?1)", filter.content_type.as_ref().map(|v| v as _)),
        ("stand.depth <= ?", filter.max_depth.as_ref().map(|value| value as _)),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            values.push(value);
            conditions.push(condition.replace("?1", "?").replace('?', &format!("?{}", values.len())));
        }
    }
    let matching = |row: &Row<'_>| {
        let url = row.get_ref(0)?.as_str_or_null()?;
        let is_shown = filter.matching.as_ref().is_none_or(|pattern| url.is_some_and(|url| pattern.is_match(url)));
        is_shown.then(|| line(row)).transpose()
    };
    // A place is no key of what was lost. In another order each batch would sort all that is left.
    if filter.order.is_some() || filter.recovered || filter.asks_for_lost() {
        let query = query(&states, (&conditions, &columns), filter.order);
        return batches::of_query(connection, &query, &*values, |row| Ok(matching(row)?.is_none_or(&mut each)));
    }
    conditions.push(format!("stand.place > ?{}", values.len() + 1));
    let query = format!("{} LIMIT {BATCH}", query(&states, (&conditions, &columns), None));
    let mut select = connection.prepare(&query)?;
    let batch = |behind: u64| {
        let values: Vec<&dyn ToSql> = values.iter().copied().chain([&behind as &dyn ToSql]).collect();
        select.query_map(&*values, |row| Ok((row.get(18)?, matching(row)?)))?.collect()
    };
    batches::by_key(connection, batch, |line| Ok(line.is_none_or(&mut each)))
}

/// The line of the URL of this number, in its latest state.
pub(super) fn one(connection: &Connection, id: u64) -> Result<PageLine> {
    connection.query_row(&query(LATEST, (&["stand.place = ?1".to_owned()], &columns(connection)?), None), [id], line)
}

/// The columns that older databases do not have.
fn columns(connection: &Connection) -> Result<String> {
    let are_kept = schema::has_said_columns(connection)?;
    let said = if are_kept { "visit.language, visit.h1, visit.robots, visit.words" } else { "NULL, NULL, NULL, NULL" };
    let graph = if schema::has_removed_table(connection)? {
        "graph.links, graph.importance, similar.url"
    } else {
        "NULL, NULL, NULL"
    };
    Ok(format!("{}, {said}, {graph}", fields::column(connection)?))
}

/// Where what the index knows of pages is. What was lost has no place of a page.
const GRAPH: &str = "LEFT JOIN indexed_page AS graph ON graph.url = stand.place AND stand.found_by IS NULL
              LEFT JOIN url AS similar ON similar.id = graph.similar";

/// The query for lines. What came of a URL is of the sequence it is in: an older visit says nothing of one that is queued again.
fn query(states: &str, (conditions, columns): (&[String], &str), order: Option<PageOrder>) -> String {
    let has_graph = columns.contains("graph.");
    // An older database knows nothing of it.
    let is_of_graph = |order: &PageOrder| matches!(order.by, PageColumn::InLinks | PageColumn::Importance);
    let order = order.filter(|order| has_graph || !is_of_graph(order));
    format!(
        "SELECT stand.url, stand.key, visit.status, {OUTCOME}, coalesce(visit.reason, stand.reason), visit.content_type,
                visit.bytes, visit.digest, visit.title, stand.depth, stand.hop, via.url, stand.sequence,
                visit.fetched_at, visit.redirect, visit.truncated, {CHANGE}, stand.found_by, stand.place,
                visit.description, visit.canonical, coalesce(visit.needs_js, 0), {columns}
         FROM ({states}) AS stand
              LEFT JOIN visit ON visit.id = stand.visit AND stand.state = 'finished'
              LEFT JOIN url AS via ON via.id = stand.via {}
         WHERE {} ORDER BY {}stand.place",
        if has_graph { GRAPH } else { "" },
        conditions.join(" AND "),
        order.map(ordered).unwrap_or_default(),
    )
}

/// What comes before the order of admission.
fn ordered(order: PageOrder) -> String {
    let by = match order.by {
        PageColumn::Url => "stand.url",
        PageColumn::Status => "visit.status",
        PageColumn::Outcome => OUTCOME,
        PageColumn::Change => CHANGE,
        PageColumn::ContentType => "visit.content_type",
        PageColumn::Bytes => "visit.bytes",
        PageColumn::Title => "visit.title",
        PageColumn::Depth => "stand.depth",
        PageColumn::Sequence => "stand.sequence",
        PageColumn::FetchedAt => "visit.fetched_at",
        PageColumn::InLinks => "graph.links",
        PageColumn::Importance => "graph.importance",
    };
    format!("{by}{}, ", if order.reversed { " DESC" } else { "" })
}

/// The query for the states of the URLs asked for.
fn states(filter: &PageFilter) -> String {
    if filter.recovered {
        of_sequence(Some(RECOVERED))
    } else if filter.asks_for_lost() {
        format!("{} UNION ALL {LOST}", of_sequence(Some(LET_IN)))
    } else if filter.sequence.is_some() {
        of_sequence(None)
    } else {
        LATEST.to_owned()
    }
}

/// How the URLs of a sequence stood at its end, or stand: all of them, or those of the rows of `lost` that this picks.
fn of_sequence(of_lost: Option<&str>) -> String {
    let (of, found_by) = if of_lost.is_some() { ("lost CROSS JOIN ", "lost.found_by") } else { ("", "NULL") };
    format!(
        "SELECT url.id AS place, url.url, key, ?1 AS sequence, hop, url.via, depth, {STATE_IN_SEQUENCE} AS state,
                iif(admitted_in = ?1, url.reason, past.reason) AS reason,
                iif(admitted_in = ?1, url.visit, (SELECT id FROM visit AS made WHERE made.url = url.id AND made.sequence = ?1
                                                  ORDER BY id DESC LIMIT 1)) AS visit, {found_by} AS found_by
         FROM {of}{OF_SEQUENCE} AND {}",
        of_lost.unwrap_or("1")
    )
}

/// The sequence they are asked of.
fn sequence(connection: &Connection, filter: &PageFilter) -> Result<Option<u32>> {
    if filter.sequence.is_some() || !(filter.recovered || filter.asks_for_lost()) {
        return Ok(filter.sequence);
    }
    let last = of_one_moment(connection, || summary::last_sequence(connection))?;
    Ok(Some(last.unwrap_or_default()))
}

/// Looks for a content type that begins with `prefix`, as [`PageFilter::content_type`] does; names others, `most` of them,
/// if there is none. None begins with nothing.
pub(super) fn content_types(connection: &Connection, prefix: &str, most: usize) -> Result<ContentTypes> {
    let mut select = connection.prepare("SELECT content_type FROM visit WHERE content_type IS NOT NULL")?;
    let (mut rows, mut others) = (select.query([])?, BTreeSet::new());
    while let Some(row) = rows.next()? {
        let found = row.get_ref(0)?.as_str()?;
        let begins = found.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if begins && !prefix.is_empty() {
            return Ok(ContentTypes { is_match: true, others: Vec::new() });
        }
        let plain = found.split(';').next().unwrap_or_default().trim();
        if others.len() < most && !others.contains(plain) {
            others.insert(plain.to_owned());
        }
    }
    Ok(ContentTypes { is_match: false, others: others.into_iter().collect() })
}

fn line(row: &Row<'_>) -> Result<PageLine> {
    Ok(PageLine {
        url: row.get(0)?,
        key: row.get(1)?,
        status: row.get(2)?,
        outcome: word(row, 3, PageOutcome::from_word)?,
        reason: row.get(4)?,
        content_type: row.get(5)?,
        bytes: row.get(6)?,
        digest: row.get(7)?,
        head: PageHead {
            title: row.get(8)?,
            description: row.get(19)?,
            canonical: row.get(20)?,
            needs_js: row.get(21)?,
            language: row.get(23)?,
            heading: row.get(24)?,
            robots: row.get_ref(25)?.as_str_or_null()?.map(MetaRobots::from_word).unwrap_or_default(),
            words: row.get(26)?,
        },
        depth: row.get(9)?,
        hop: word_or_none(row, 10, |word| word.parse().ok())?,
        via: row.get(11)?,
        sequence: row.get(12)?,
        fetched_at: row.get(13)?,
        redirect: row.get(14)?,
        truncated: row.get(15)?,
        change: word_or_none(row, 16, PageChange::from_word)?,
        found_by: row.get(17)?,
        fields: row.get(22)?,
        in_links: row.get(27)?,
        importance: row.get(28)?,
        similar_to: row.get(29)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_urls_is_not_sorted() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::migrate(&mut connection, 0).unwrap();
        connection.execute_batch(schema::INDEX_OF_VISITS).unwrap();
        for sequence in [None, Some(0)] {
            let states = states(&PageFilter { sequence, ..PageFilter::default() });
            let query = query(&states, (&["stand.place > 5".to_owned()], "NULL"), None);
            let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {query} LIMIT {BATCH}")).unwrap();
            let plan = explain.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>>>().unwrap();
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE") || step.starts_with("SCAN")), "{plan:#?}");
        }
    }
}
