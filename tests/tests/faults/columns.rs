//! One value after another is altered, and `check` names it; or else every command can do with it.

use std::{
    collections::BTreeMap,
    fmt, fs,
    path::Path,
    sync::{LazyLock, Mutex},
    thread,
    time::Duration,
};

use rusqlite::Connection;
use tempfile::TempDir;
use webloom::internals::store::{LinkQuery, PageFilter, ReadError, ReadSide, Since, StoreError, sqlite::Records};
use webloom_tests::webloom::Webloom;

use super::filled::{self, Filled};

static FILLED: LazyLock<Filled> = LazyLock::new(filled::crawl);

/// The share of the alterations that are named, in hundredths.
const NAMED: usize = 95;

/// Has columns take values of any type,
const LAX: &str = "
    PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF;
    CREATE TEMP TABLE strict AS SELECT name, sql FROM main.sqlite_schema;
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, WITHOUT ROWID', ') WITHOUT ROWID'), ') STRICT', ')');
    PRAGMA writable_schema = RESET;
";

/// and those of their own type again, as a file has it in which bytes were damaged.
const STRICT: &str = "
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = (SELECT sql FROM strict WHERE strict.name = sqlite_schema.name);
";

/// Text that a server or the user wrote, or why a fetch failed: no other text could be distinguished from it. The classes of another
/// policy are made anew.
const ANY_TEXT: &[&str] = &[
    "visit.title",
    "visit.description",
    "visit.language",
    "visit.h1",
    "visit.content_type",
    "visit.reason",
    "visit.redirect",
    "url.reason",
    "past.reason",
    "change.target",
    "crawl.classed_by",
    "items_file.name",
    "items_file.path",
    "archive_file.name",
    "archive_record.content_type",
    "archive_record.coding",
    "page_state.masks",
    "mask.mask",
    "mask.address",
    "sequence.noise",
    "change.links",
    "second_look.links",
];

/// Bytes that a server sent, of any length.
const ANY_BYTES: &[&str] =
    &["visit.etag", "visit.last_modified", "host.robots_body", "text.places", "second_look.places"];

/// A page need not have links.
const MAY_BE_EMPTY: &str = "visit.links";

/// Numbers that were drawn or are hashes: any number is as good, but not below 0 where it is a rule.
const ANY_NUMBER: &[&str] = &[
    "change.edit",
    "change.alike",
    "site_wide.line",
    "revisit_section.section",
    "text.rule",
    "sequence.text_rule",
    "items_file.bytes",
    "items_file.line",
    "items_file.hash",
    "indexed_page.words",
    "indexed_page.similarity",
    "mask.section",
    "second_look.rule",
];

/// Numbers of rows that the schema does not say to be such.
const NUMBERS_OF_ROWS: &[&str] = &[
    "crawl.looked_at",
    "crawl.pruned_to",
    "crawl.forgotten_to",
    "crawl.learnt",
    "crawl.weighed",
    "sequence.n",
    "sequence.audit_urls",
    "sequence.audit_lost",
    "sequence.links_since",
    "host.id",
    "url.id",
    "visit.id",
    "visit.text",
    "visit.before",
    "refetch.up_to",
    "change.before_text",
    "change.after_text",
    "revisit.class",
    "revisit_class.class",
    "site_wide.sequence",
];

/// A column.
struct Column {
    table: String,
    name: String,
    declared: String,
    /// Whether it is the number of a row.
    is_reference: bool,
    /// The columns of the key of its table.
    key: Vec<String>,
}

/// A value that one row is given.
struct Alteration {
    table: String,
    statement: String,
}

/// What came of the alterations of a table.
#[derive(Default)]
struct Tally {
    named: usize,
    unnamed: Vec<String>,
}

impl Column {
    fn path(&self) -> String {
        format!("{}.{}", self.table, self.name)
    }

    /// Values that it should not have.
    fn values(&self) -> Vec<&'static str> {
        let is_in = |paths: &[&str]| paths.contains(&self.path().as_str());
        let mut values = vec!["NULL"];
        values.extend(match self.declared.as_str() {
            "INTEGER" => &["'no number'", "x'01020304'", "1.5"][..],
            "REAL" => &["'no number'", "x'01020304'", "-7.5", "1e300"],
            "TEXT" => &["x'01020304'", "CAST(x'ff01' AS TEXT)"],
            "BLOB" => &["7", "'no bytes'"],
            declared => panic!("{}: {declared}", self.path()),
        });
        match self.declared.as_str() {
            "INTEGER" if !is_in(ANY_NUMBER) => values.extend(["-7", "4611686018427387904"]),
            "TEXT" if !is_in(ANY_TEXT) => values.push("'no such word'"),
            "BLOB" if is_in(&[MAY_BE_EMPTY]) => values.push("x'0102030405'"),
            "BLOB" if !is_in(ANY_BYTES) => values.extend(["x'0102030405'", "x''"]),
            _ => {}
        }
        if self.is_reference || is_in(NUMBERS_OF_ROWS) {
            values.push("1000000007");
        }
        values
    }

    /// Gives the last row that has a value another one.
    fn alterations(&self) -> impl Iterator<Item = Alteration> {
        let Self { table, name, key, .. } = self;
        let key = key.join(", ");
        let last = format!("SELECT {key} FROM {table} WHERE \"{name}\" IS NOT NULL ORDER BY {key} DESC LIMIT 1");
        self.values().into_iter().map(move |value| Alteration {
            table: table.clone(),
            statement: format!("UPDATE {table} SET \"{name}\" = {value} WHERE ({key}) = ({last})"),
        })
    }
}

impl Alteration {
    /// A crawl directory in which it was made; `None` where the database itself refuses it.
    fn make(&self) -> Option<TempDir> {
        let dir = tempfile::tempdir().expect("a folder can be made");
        let database = dir.path().join("webloom.sqlite");
        fs::write(&database, &FILLED.database).expect("the copy can be written");
        let connection = Connection::open(&database).expect("it opens");
        connection.execute_batch(LAX).expect("the schema can be altered");
        let changed = connection.execute(&self.statement, []).ok()?;
        assert_eq!(changed, 1, "{}", self.statement);
        connection.execute_batch(STRICT).expect("the schema can be altered back");
        Some(dir)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:4} of {:4} named", self.named, self.named + self.unnamed.len())
    }
}

#[test]
fn nearly_every_altered_value_is_named_and_with_the_others_every_command_works() {
    let columns = columns().expect("the tables can be read");
    let tallies = Mutex::new(BTreeMap::<String, Tally>::new());
    let alterations = Mutex::new(columns.iter().flat_map(Column::alterations).collect::<Vec<_>>());
    thread::scope(|scope| {
        // Most of the time a further sequence waits for the silent server.
        for _ in 0..16 {
            scope.spawn(|| {
                while let Some(alteration) = { alterations.lock().expect("no panic").pop() } {
                    let Some(dir) = alteration.make() else { continue };
                    let is_named = is_named(dir.path(), &alteration.statement);
                    if !is_named {
                        expect_that_commands_work(dir.path(), &alteration.statement);
                    }
                    let mut tallies = tallies.lock().expect("no panic");
                    let tally = tallies.entry(alteration.table).or_default();
                    if is_named { tally.named += 1 } else { tally.unnamed.push(alteration.statement) }
                }
            });
        }
    });
    let tallies = tallies.into_inner().expect("no panic");
    let mut all = Tally::default();
    for (table, tally) in tallies {
        println!("{table:16} {tally}");
        all.named += tally.named;
        all.unnamed.extend(tally.unnamed);
    }
    println!("{:16} {all}\nnot named:\n{}", "all", all.unnamed.join("\n"));
    let of_all = all.named + all.unnamed.len();
    assert!(all.named * 100 >= of_all * NAMED, "{all}");
}

#[test]
fn the_crawl_has_a_value_in_each_column_and_is_clean() {
    let dir = tempfile::tempdir().expect("a folder can be made");
    fs::write(dir.path().join("webloom.sqlite"), &FILLED.database).expect("the copy can be written");
    let connection = Connection::open(dir.path().join("webloom.sqlite")).expect("it opens");
    let empty = columns().expect("the tables can be read").into_iter().filter(|Column { table, name, .. }| {
        let any = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE \"{name}\" IS NOT NULL)");
        !connection.query_row(&any, [], |row| row.get::<_, bool>(0)).expect("a column")
    });
    assert_eq!(empty.map(|column| column.path()).collect::<Vec<_>>(), Vec::<String>::new());
    let findings = Records::open(dir.path()).expect("a crawl").check().expect("it can be read").findings;
    assert_eq!(findings, Vec::new());
    expect_that_commands_work(dir.path(), "nothing");
}

/// Every column that has a value of its own.
fn columns() -> rusqlite::Result<Vec<Column>> {
    let file = tempfile::NamedTempFile::new().expect("a file can be made");
    fs::write(file.path(), &FILLED.database).expect("the copy can be written");
    let connection = Connection::open(file.path())?;
    let mut select = connection.prepare(
        "SELECT tables.name, columns.name, columns.type,
                (SELECT group_concat(name) FROM pragma_table_info(tables.name) WHERE pk > 0),
                columns.name IN (SELECT \"from\" FROM pragma_foreign_key_list(tables.name))
         FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND tables.name NOT LIKE 'page_words%'",
    )?;
    let column = |row: &rusqlite::Row<'_>| {
        let key = row.get::<_, String>(3)?.split(',').map(str::to_owned).collect();
        Ok(Column { table: row.get(0)?, name: row.get(1)?, declared: row.get(2)?, is_reference: row.get(4)?, key })
    };
    select.query_map([], column)?.collect()
}

/// Whether it is found, or the crawl cannot be opened, which says it.
fn is_named(dir: &Path, statement: &str) -> bool {
    match Records::open(dir) {
        Ok(records) => match records.check() {
            Ok(report) => !report.findings.is_empty(),
            Err(error) => panic!("{statement}: {error}"),
        },
        Err(StoreError::Damaged { .. } | StoreError::KeyRules { .. }) => true,
        Err(error) => panic!("{statement}: {error}"),
    }
}

/// What `pages`, `changes`, `status` and `links` read, and a further sequence.
fn expect_that_commands_work(dir: &Path, statement: &str) {
    if let Err(error) = read(dir) {
        panic!("{statement}: {error}");
    }
    let run = filled::run(Webloom::go_on(dir).args(["--again"])).run();
    // The server that is silent is so still.
    assert!(matches!(run.code, Some(0 | 4)), "{statement}: {:?}: {}", run.code, run.stderr);
}

fn read(dir: &Path) -> Result<(), ReadError> {
    let records = Records::open(dir).expect("a crawl");
    records.pages(&PageFilter::default(), |_| true)?;
    records.changes(Since::Ever, true, |_| true)?;
    records.pending_changes(Duration::ZERO, Duration::ZERO, |_| true)?;
    drop(records.summary()?);
    drop(records.losses(9)?);
    for query in [LinkQuery::Broken, LinkQuery::Redirects, LinkQuery::External] {
        records.links(&query, |_| true)?;
    }
    records.masks(|_| true)
}
