//! A clock that was wrong.

use std::time::Duration;

use rusqlite::Connection;
use webloom_tests::webloom::{Webloom, assert_clean};

use crate::{Folder, assert_counts, serve, star};

#[test]
fn a_retry_of_a_clock_a_day_ahead_does_not_wait_a_day() {
    let (server, folder) = (serve(star(3)), Folder::new());
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "2"]).run().expect(0);
    let database = Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    let later =
        "UPDATE url SET attempts = 1, reason = 'closed', due = (unixepoch() + 86400) * 1000 WHERE state = 'queued'";
    assert_eq!(database.execute(later, []).unwrap(), 2);
    drop(database);
    assert_clean(&folder.crawl());
    let run = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]).env("WEBLOOM_RETRY_MAX_BACKOFF", "100ms");
    let run = run.env("WEBLOOM_POLITENESS_MAX_RETRY_AFTER", "100ms").patience(Duration::from_secs(30)).run().expect(0);
    assert!(run.stderr.contains("clock"), "{}", run.stderr);
    let summary = run.json();
    assert_counts(&summary);
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &4.into()));
    assert_clean(&folder.crawl());
}
