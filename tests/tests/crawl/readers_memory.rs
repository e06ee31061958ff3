//! What reads a crawl takes no more memory for a large one.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use rusqlite::Connection;
use webloom_tests::{
    grown::grow,
    webloom::{REDISCOVER, Webloom, program},
};

use crate::{Folder, crawl, serve, star};

/// Runs a command that may have so many megabytes of data (heap and other memory of its own).
fn within(megabytes: u32, arguments: &[&str], dir: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &(megabytes * 1024).to_string()]);
    shell.arg(program()).args(arguments).arg(dir).stdout(Stdio::piped()).output().expect("there is a shell")
}

#[test]
fn what_reads_streams() {
    let (server, folder) = (serve(star(3)), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    crawl_again(&dir);
    grow(&dir, 20_000).expect("rows can be written");
    // As a list, the rows or fingerprints of 200,000 URLs take from 6 MB to 40 MB more.
    for (megabytes, command) in [
        (8, &["status"] as &[&str]),
        (8, &["pages"]),
        (8, &["pages", "--sequence", "0", "--format", "csv"]),
        (8, &["pages", "--sequence", "1", "--outcome", "queued"]),
        (10, &["pages", "--lost"]),
        (10, &["pages", "--recovered"]),
        (20, &["check"]),
    ] {
        let output = within(megabytes, command, &dir);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    let lines = |arguments: &[&str]| {
        let output = Webloom::new(["pages"]).args([&dir]).args(arguments).run().expect(0).stdout;
        output.lines().count() - 1
    };
    assert_eq!([lines(&[]), lines(&["--sequence", "0"])], [200_004, 160_004]);
    assert_eq!([lines(&["--sequence", "1"]), lines(&["--lost"]), lines(&["--recovered"])], [160_004, 2_000, 2_000]);
}

/// Of 160,000 pages with four links each one in five is broken, and one in five redirects to a broken one.
#[test]
fn links_are_found_part_by_part() {
    let (server, folder) = (serve(star(3)), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    crawl_again(&dir);
    grow(&dir, 20_000).expect("rows can be written");
    let database = Connection::open(dir.join("webloom.sqlite")).expect("it is there");
    database
        .execute_batch(
            "UPDATE visit SET outcome = 'broken', status = 404 WHERE url % 10 = 4 AND url > 10;
             UPDATE visit SET outcome = 'redirected', status = 301, redirect = 'x',
                 links = (SELECT substr(fingerprint, 1, 8) FROM url WHERE id = visit.url + 1) WHERE url % 10 = 3 AND url > 10",
        )
        .expect("rows can be written");
    for question in ["--broken", "--redirects"] {
        let output = within(20, &["links", question], &dir);
        assert!(output.status.success(), "{question}: {output:?}");
        let lines = String::from_utf8_lossy(&output.stdout).lines().count();
        assert!(lines > 60_000, "{lines}");
    }
}

fn crawl_again(dir: &Path) {
    Webloom::go_on(dir).args(REDISCOVER).run().expect(0);
}
