//! One finished crawl, of which every case gets its own copy.

use std::{fs, path::Path, sync::LazyLock};

use rusqlite::Connection;
use tempfile::TempDir;
use webloom_practice::{PracticeServer, PracticeSite, Shape};
use webloom_tests::webloom::{REDISCOVER, Webloom};

/// The database of a finished crawl of a small practice site under an exact URL cache, over two sequences.
static FINISHED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let shape = Shape { pages: 60, hub_links: 40, chain: 5, ..Shape::default() };
    let server = runtime.block_on(PracticeServer::start(PracticeSite::new(shape))).expect("a port is free");
    let dir = tempfile::tempdir().expect("a folder can be made");
    let crawl = Webloom::crawl(dir.path(), &server.url()).args(["--cache", "exact", "--per-host", "8"]);
    drop(crawl.run().expect(0));
    drop(Webloom::go_on(dir.path()).args(REDISCOVER).run().expect(0));
    fs::read(dir.path().join("webloom.sqlite")).expect("the crawl left its database")
});

/// What `check` says of a copy that was tampered with: its exit code, and the invariants it names.
pub(crate) fn checked(tamper: impl FnOnce(&Path)) -> (Option<i32>, Vec<String>) {
    let dir = copy();
    tamper(&dir.path().join("webloom.sqlite"));
    let run = Webloom::new(["check", "--json"]).args([dir.path()]).run();
    assert!(!run.stdout.is_empty(), "{}", run.stderr);
    let report = run.json();
    let findings = report["findings"].as_array().expect("a list of findings").iter();
    (run.code, findings.map(|finding| finding["invariant"].as_str().expect("a text").to_owned()).collect())
}

/// Runs statements on a database that neither keys nor what its columns demand protect.
pub(crate) fn sql(database: &Path, statements: &str) {
    let connection = Connection::open(database).expect("it opens");
    let unprotected = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
    connection.execute_batch(&format!("{unprotected}; {statements}")).expect(statements);
    assert!(connection.total_changes() > 0, "nothing was changed by {statements}");
}

fn copy() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder can be made");
    fs::write(dir.path().join("webloom.sqlite"), &*FINISHED).expect("the copy can be written");
    dir
}
