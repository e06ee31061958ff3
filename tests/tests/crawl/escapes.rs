//! What a server or a crawl directory says never steers the terminal, disguises text, or becomes a formula.

use rusqlite::Connection;
use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Run, Webloom},
};

use crate::{Folder, crawl, serve};

/// Sets the terminal's title, clears it, turns text around, hides, breaks lines.
pub(crate) const HOSTILE: &str =
    "\u{1b}]0;owned\u{7}\u{9b}2J\u{7f}\u{202e}txt\u{2066}\u{200b}\u{61c}\u{feff}\u{2028}\u{200f}\u{e0041}\r\u{8}";

fn is_harmless(c: char) -> bool {
    let disguises = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0041}');
    matches!(c, '\n' | '\t') || !(c.is_control() || disguises)
}

#[track_caller]
pub(crate) fn assert_harmless(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        assert!(text.chars().all(is_harmless), "{text:?}");
    }
}

fn hostile() -> Server {
    serve(|asked| match asked.target.as_str() {
        "/" => Reply::html(format!(
            "<title>={HOSTILE}</title><a href=\"/a{HOSTILE}?{HOSTILE}\"><a href=/text><a href=/to>"
        )),
        "/text" => Reply::Whole(200, vec!["content-type: text/plain;\u{9b}2J\u{202e}".to_owned()], b"text".to_vec()),
        "/to" => Reply::redirect(301, "/b\u{9b}2J\u{202e}#\u{202e}"),
        _ => Reply::status(404),
    })
}

fn read(arguments: &[&str], dir: &std::path::Path) -> Run {
    Webloom::new(arguments).args([dir]).run()
}

#[test]
fn what_a_server_says_is_shown_without_harm() {
    let (server, folder) = (hostile(), Folder::new());
    let run =
        Webloom::new(["crawl", &server.url("/"), "--log-format", "json", "-vv", "-d"]).args([folder.crawl()]).run();
    assert_harmless(&run.expect(0));
    let text = Webloom::new(["crawl", "-vv", "--again", "-d"]).args([folder.crawl()]).run();
    assert_harmless(&text.expect(0));
    for format in ["table", "csv", "jsonl"] {
        assert_harmless(&read(&["pages", "--format", format], &folder.crawl()).expect(0));
    }
    let lines = read(&["pages", "--format", "jsonl"], &folder.crawl()).json_lines();
    let title = lines[0]["title"].as_str().unwrap();
    assert!(title.starts_with("=\u{1b}]0;owned\u{7}\u{9b}2J\u{7f}\u{202e}txt"), "it reads back as it was: {title:?}");
    let csv = read(&["pages", "--format", "csv", "--match", "/$"], &folder.crawl()).stdout;
    assert!(csv.lines().nth(1).unwrap().contains(r#","'=\u{1b}]0;owned\u{7}"#), "{csv}");
}

/// A directory from somebody else holds whatever they wrote into its rows.
/// Words that have one of a few values.
const WORDS: [&str; 5] = [
    "UPDATE url SET hop = ?1",
    "UPDATE visit SET change = ?1",
    "UPDATE visit SET outcome = ?1 WHERE id = 1",
    "UPDATE url SET state = ?1 WHERE id = 2",
    "UPDATE change SET change = ?1",
];

#[test]
fn what_a_directory_says_is_shown_without_harm() {
    let (server, folder) = (hostile(), Folder::new());
    crawl(&server, &folder.crawl(), &[]);
    let database = Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    database.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    let poison = format!("=1{HOSTILE}\nend");
    for update in [
        "UPDATE url SET url = url || ?1, key = ?1, reason = ?1",
        "UPDATE visit SET title = ?1, content_type = ?1, reason = ?1, redirect = ?1, truncated = ?1",
        "UPDATE sequence SET end = ?1, cache = json_set(cache, '$.strategy', ?1, '$.layout', ?1),
                counters = json_set(counters, '$.refused', json_object(?1, 1))",
        "UPDATE host SET origin = origin || ?1, cause = 'refused', failures = 2, ailing_since = 0, not_before = 0, wait = 'back_off'",
        "INSERT INTO page_state (url, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned)
         SELECT id, ?1, 'mass', 0, 0, 0, 0, 0, 0 FROM url WHERE url LIKE '%' || ?1",
        "INSERT INTO change (sequence, at, url, address, change, target)
         VALUES (0, 0, 2, ?1, 'moved', ?1), (0, 0, NULL, ?1, 'changed', ?1)",
    ] {
        database.execute(update, [&poison]).unwrap_or_else(|error| panic!("{error}: {update}"));
    }
    let dir = folder.crawl();
    let commands = [
        &["pages"] as &[&str],
        &["pages", "--format", "csv"],
        &["pages", "--format", "jsonl"],
        &["status"],
        &["status", "--json"],
        &["links", "--broken"],
        &["links", "--redirects", "--format", "csv"],
        &["changes"],
        &["changes", "--format", "csv"],
        &["changes", "--pending"],
        &["check"],
        &["check", "--json"],
        &["crawl", "-d"],
        &["crawl", "http://127.0.0.2:1/", "-d"],
    ];
    let show = || {
        for command in commands {
            let run = read(command, &dir);
            assert!(!run.stdout.is_empty() || !run.stderr.is_empty());
            assert_harmless(&run);
        }
    };
    show();
    let lines = read(&["pages", "--format", "jsonl"], &dir).json_lines();
    assert_eq!(lines[0]["title"], poison);
    assert_eq!(read(&["status", "--json"], &dir).json()["end"], poison);
    for format in ["table", "csv"] {
        let rows = read(&["pages", "--format", format], &dir).stdout;
        assert_eq!(rows.lines().count(), 1 + lines.len(), "a row is a line");
    }
    // Words that nobody writes make a command fail, without harm.
    for update in WORDS {
        database.execute(update, [&poison]).unwrap();
        show();
    }
    database.execute("UPDATE area SET url = url || ?1", [&poison]).unwrap();
    assert_harmless(&read(&["crawl", "http://127.0.0.2:1/", "-d"], &dir).expect(2));
}

#[test]
fn what_a_user_repeats_is_shown_without_harm() {
    let folder = Folder::new();
    let named = folder.0.path().join(HOSTILE);
    let (start, dir) = ("http://127.0.0.1:1/", named.to_str().unwrap());
    let scheme = format!("ftp://{HOSTILE}");
    for command in [
        &["status", dir] as &[&str],
        &["crawl", &scheme, "-d", dir],
        &["crawl", start, "-d", dir, "--delay", HOSTILE],
        &["crawl", start, "--allow-private", HOSTILE, "-d", dir],
        &["pages", dir, "--format", HOSTILE],
        &["crawl", start, "--profile", HOSTILE],
        &["config", "show", "--user-agent", "agent/1 \u{202e}"],
    ] {
        let run = Webloom::new(command).run();
        assert_harmless(&run);
        assert!(run.code == Some(2) || command[0] == "config", "{run:?}");
    }
    let input = format!("{}\n{HOSTILE}\n", Value::from_iter([("url", format!("http://h/{HOSTILE}#{HOSTILE}"))]));
    assert_harmless(&Webloom::new(["explain", "url"]).run_with(&input).expect(0));
    let page = Value::from_iter([("html", &*format!("<title>{HOSTILE}</title>")), ("base", "http://h/")]);
    let answer = Webloom::new(["explain", "links"]).run_with(&format!("{page}\n")).expect(0);
    assert_harmless(&answer);
    assert!(answer.json()["title"].as_str().unwrap().contains('\u{202e}'), "it reads back as it was");
}
