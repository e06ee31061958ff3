//! `docs/database.md`: its tables and columns are the schema's, and its queries run on a crawl.

use std::collections::BTreeMap;

use rusqlite::{Connection, OpenFlags};

use crate::{
    program::{Site, shell},
    text::{blocks, first_column, read, section},
};

/// Queries that find nothing on the practice site, whose pages all differ, have titles and do not change, and none of which
/// is lost.
const FIND_NOTHING: &[&str] = &[
    "-- Addresses with the same content.",
    "-- Pages without a title.",
    "-- Which URLs did the last sequence not find again?",
    "-- How many URLs were lost, and what became of them?",
    "-- Which pages link to URLs that are still lost?",
    "-- Which URLs did a later sequence find that an earlier one had lost?",
    "-- Which style sheets load the most?",
    "-- Which pages could not be read again?",
    "-- Which pages have the same text?",
    "-- Which changes did each sequence report?",
    "-- Which pages wait for a second look?",
    "-- Which pages have waited longest for a visit?",
    "-- How many pages are in each class?",
    "-- How often does a page of each section change",
    "-- Which hosts do pages link to",
    "SELECT sequence, count(*) AS lines FROM site_wide",
];

#[test]
fn the_schema_is_described_and_the_queries_run() {
    let (site, dir) = (Site::serve(), tempfile::tempdir().unwrap());
    let crawled = shell(
        &format!(
            "webloom crawl -q --text on --archive warc --field title=title --items items.jsonl -d docs {}",
            site.url
        ),
        dir.path(),
    );
    assert!(crawled.status.success(), "{}", String::from_utf8_lossy(&crawled.stderr));
    assert!(shell("webloom crawl -q -d docs --again --revisit rediscover", dir.path()).status.success());
    let path = dir.path().join("docs/webloom.sqlite");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let document = read("docs/database.md");
    tables_match(&database, &document);
    queries_run(&database, &document);
}

fn tables_match(database: &Connection, document: &str) {
    let mut select = database
        .prepare(
            "SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS c WHERE m.type = 'table'
                 AND c.hidden <> 1 AND m.name NOT LIKE 'page_words_%'",
        )
        .unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut schema: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
    for (table, column) in rows.map(Result::unwrap) {
        schema.entry(table).or_default().insert(column);
    }
    let headings = document.lines().filter_map(|line| line.strip_prefix("## `")?.split('`').next());
    let described = headings.map(|table| (table.to_owned(), first_column(section(document, &format!("## `{table}`")))));
    assert_eq!(described.collect::<BTreeMap<_, _>>(), schema);
    let version: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert!(document.contains(&format!("version of the schema ({version})")));
}

/// Every query runs, and nearly every one finds something.
fn queries_run(database: &Connection, document: &str) {
    let queries = blocks(document, "sql");
    assert!(queries.len() > 8);
    for query in queries {
        let mut select = database.prepare(&query).unwrap_or_else(|error| panic!("{error}\n{query}"));
        let mut rows = select.query([]).unwrap();
        let first = rows.next().unwrap_or_else(|error| panic!("{error}\n{query}"));
        assert!(
            first.is_some() || FIND_NOTHING.iter().any(|title| query.starts_with(title)),
            "finds nothing:\n{query}"
        );
    }
    let delay: Option<String> =
        database.query_row("SELECT settings ->> '$.politeness.delay' FROM crawl", [], |row| row.get(0)).unwrap();
    assert!(delay.is_some(), "settings are JSON by section and key");
}
