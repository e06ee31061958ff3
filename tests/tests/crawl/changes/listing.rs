//! What `webloom changes` shows, and how.

use rusqlite::Connection;
use webloom_tests::webloom::{Webloom, pages};

use super::site::{Answer, SOON, Site, TEXT};
use crate::escapes::{HOSTILE, assert_harmless};

/// A site with a change in each of two sequences.
fn changed() -> Site {
    let site = Site::numbered(12);
    site.crawl(&[&TEXT[..], &SOON].concat());
    site.page("/3", "The page /3 begins\nin another way\nand comes to the end of /3");
    site.again(&[]);
    site.set("/4", Answer::Redirect("/5".to_owned()));
    site.again(&[]);
    site
}

#[test]
fn changes_are_asked_for_since_a_sequence_or_a_time() {
    let site = changed();
    let (first, second) = ("changed_text /3", "moved /4 -> /5");
    assert_eq!(site.reported(&["--since", "0"]), [first, second]);
    assert_eq!(site.reported(&["--since", "1"]), [first, second]);
    assert_eq!(site.reported(&["--since", "2"]), [second]);
    assert!(site.reported(&["--since", "3"]).is_empty());
    let at: Vec<_> = site.lines(&[]).iter().map(|line| line["at"].as_str().expect("a time").to_owned()).collect();
    assert_eq!(site.reported(&["--since", &at[0]]), [first, second]);
    assert_eq!(site.reported(&["--since", &at[1]]), [second]);
    assert_eq!(site.reported(&["--since", "2001-01-01T00:00:00+02:00"]), [first, second]);
    assert!(site.reported(&["--since", "2999-01-01T00:00:00Z"]).is_empty());
    assert_eq!(site.reported(&["--since", "last"]), [second]);
    assert_eq!(site.reported(&["--since", &at[0][..10]]), [first, second]);
    assert!(site.reported(&["--since", "2999-01-01"]).is_empty());
    let beyond = site.changes(&["--since", "4"]).expect(2);
    assert!(beyond.stderr.contains("the sequences 0 to 2"), "{beyond:?}");
    assert_eq!(site.reported(&["--change", "moved"]), [second]);
    assert_eq!(site.reported(&["--match", "/3$"]), [first]);
    for bad in [
        &["--since", "yesterday"][..],
        &["--since=-1"],
        &["--since", "2024-13-01T00:00:00Z"],
        &["--since", ""],
        &["--change", "vanished"],
        &["--format", "xml"],
        &["--match", "("],
    ] {
        let run = site.changes(bad).expect(2);
        assert!(run.stdout.is_empty() && run.stderr.lines().count() <= 8, "{run:?}");
    }
    assert_eq!(Webloom::new(["changes", "/nowhere"]).run().code, Some(2));
}

#[test]
fn what_waits_for_a_second_look_is_named_before_it_is_reported() {
    let site = Site::numbered(12);
    site.crawl(&[]);
    site.status("/3", 404);
    site.page("/4", "Another text\nof the page /4\nthat is as long");
    let run = Webloom::new(["crawl", "--again", "-d"]).args([site.dir()]).run().expect(0);
    assert!(
        run.stdout.contains("changes     0 new, 1 changed, 11 unchanged, 1 gone; 1 waits for a second look"),
        "{run:?}"
    );
    assert!(run.stdout.contains(" = 12 pages (12 HTML) + 1 gone\n"), "{run:?}");
    let listed = site.changes(&["--diff"]).expect(0);
    assert!(listed.stdout.contains("changed") && !listed.stdout.contains("/3"), "{listed:?}");
    let notes: Vec<_> = listed.stderr.lines().collect();
    let [no_texts, pending] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(no_texts.contains("no texts of these pages are kept") && no_texts.contains("--text on"), "{no_texts}");
    assert!(pending.starts_with("1 change waits for a second look") && pending.contains("--pending"), "{pending}");
    assert_eq!(site.changes(&["--match", "/4$"]).expect(0).stderr, "");
    let waiting = site.lines(&["--pending"]);
    let [line] = waiting.as_slice() else { panic!("{waiting:?}") };
    assert_eq!((&line["url"], &line["doubt"]), (&site.server.url("/3").into(), &"missing".into()));
    let [since, due] = ["since", "due"].map(|key| line[key].as_str().unwrap().split_once('T').unwrap());
    assert!(since.1 == due.1 && since.0 < due.0, "a day later: {line}");
    site.status("/5", 404);
    site.again(&["--exclude", "/5$"]);
    assert_eq!(site.lines(&["--pending"]).len(), 1, "what is excluded is not looked at again");
    site.again(&SOON);
    assert!(site.lines(&["--pending"]).is_empty());
    assert_eq!(site.reported(&["--since", "last"]), ["gone /3"]);
    assert!(site.changes(&["--pending"]).expect(0).stderr.contains("no change waits"));
}

#[test]
fn every_format_has_the_same_lines() {
    let site = changed();
    let lines = site.lines(&[]);
    let page = &pages(&site.dir())[&site.server.url("/3")];
    let first = &lines[0];
    assert_eq!((&first["sequence"], &first["after"], &first["to"]), (&1.into(), &page["digest"], &().into()));
    assert!(first["before"].as_str().is_some_and(|digest| digest.starts_with("sha256:")));
    assert_ne!(first["before"], first["after"]);
    assert_eq!((&lines[1]["after"], &lines[1]["count"]), (&().into(), &().into()));
    let csv = site.changes(&["--format", "csv"]).expect(0).stdout;
    let table = site.changes(&[]).expect(0).stdout;
    for (text, mark) in [(csv, ','), (table, '\t')] {
        let rows: Vec<_> = text.lines().map(|row| row.split(mark).collect::<Vec<_>>()).collect();
        assert_eq!(rows[0], ["at", "sequence", "change", "url", "to", "count", "before", "after"]);
        assert_eq!(rows.len(), 3, "{text}");
        assert_eq!(rows[2][1..5], ["2", "moved", &site.server.url("/4"), &site.server.url("/5")]);
    }
}

#[test]
fn a_diff_shows_how_a_text_became_another() {
    let site = changed();
    let diff = " The page /3 begins\n-with /3 in the middle\n+in another way\n and comes to the end of /3";
    let lines = site.lines(&["--diff"]);
    assert!(lines[0]["diff"].as_str().is_some_and(|shown| shown.contains(diff)), "{}", lines[0]);
    assert_eq!((&lines[1]["diff"], &site.lines(&[])[0]["diff"]), (&().into(), &().into()));
    let table = site.changes(&["--diff"]).expect(0).stdout;
    assert!(table.contains("\n    -with /3 in the middle\n    +in another way\n"), "{table}");
}

#[test]
fn what_changed_is_shown_without_harm() {
    let site = Site::numbered(30);
    site.page("/2", &format!("{HOSTILE}=1+1\n=cmd"));
    site.crawl(&TEXT);
    site.page("/2", &format!("=1+1{HOSTILE}\n+{HOSTILE}2"));
    site.page("/3", &format!("@{HOSTILE}"));
    site.set("/4", Answer::Redirect("/\u{9b}2J\u{202e}?=\u{202e}".to_owned()));
    assert_eq!(site.again(&["--confirm", "0s"]).len(), 2 + 1);
    assert_shown_without_harm(&site);
    // Whatever is in a directory from somebody else.
    let poison = format!("=1{HOSTILE}\nend");
    let database = Connection::open(site.dir().join("webloom.sqlite")).unwrap();
    for update in [
        "UPDATE url SET url = ?1 || url",
        "UPDATE change SET target = ?1, address = ?1",
        "UPDATE text SET body = CAST(?1 AS BLOB) WHERE id % 2 = 0",
    ] {
        database.execute(update, [&poison]).unwrap_or_else(|error| panic!("{error}: {update}"));
    }
    assert_shown_without_harm(&site);
    let csv = site.changes(&["--format", "csv"]).expect(0).stdout;
    let unquoted = csv.lines().skip(1).flat_map(|row| row.split(',')).map(|cell| cell.trim_start_matches('"'));
    assert!(unquoted.into_iter().all(|cell| !cell.starts_with(['=', '@', '+'])), "{csv}");
    assert_eq!(site.lines(&[])[0]["to"], poison, "it reads back as it was");
    // A kind of change that there is not is refused.
    database.execute("UPDATE change SET change = ?1", [&poison]).expect("it can be changed");
    assert_harmless(&site.changes(&[]).expect(1));
}

fn assert_shown_without_harm(site: &Site) {
    for format in ["table", "csv", "jsonl"] {
        for arguments in [&["--format", format][..], &["--diff", "--format", format]] {
            let run = site.changes(arguments).expect(0);
            assert_harmless(&run);
            assert!(run.stdout.lines().count() >= 3, "{run:?}");
        }
    }
}
