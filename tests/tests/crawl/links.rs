//! `links`: which pages link to what, and what the links say of themselves.

use std::{collections::BTreeSet, path::Path};

use rusqlite::Connection;
use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{REDISCOVER, Run, Webloom, assert_clean},
};

use crate::{
    Folder, crawl,
    escapes::{HOSTILE, assert_harmless},
    serve,
};

/// Settings that keep of links only where they lead.
const FINGERPRINTS: (&str, &str) = ("WEBLOOM_STORE_LINKS", "fingerprints");

/// A site with broken links, chains of redirects and links that leave it. Pages tell by an `ETag` that they are as before.
fn site(asked: &Asked) -> Reply {
    let page = match asked.target.as_str() {
        "/" => {
            "<title>start</title><a href=/a>to <b>A</b> &amp; on</a><a href=b rel='nofollow  me'><img src=i alt='the B'></a>
             <a href=/gone>gone</a><a href=/r1>moved</a><a href=/dead>dead end</a><a href=/loop>round</a>
             <a href='http://elsewhere.invalid/x#y' rel=external>away</a><a href=/out>over there</a>"
        }
        "/a" => {
            "<a href=/gone><img src=x></a> <a href='/gone#again'>once  more\n gone</a><map><area href=/down alt='a map'></map>
             <a href=/r2>half way</a><a href='http://elsewhere.invalid/x'></a>"
        }
        "/b" => "<a href=/gone rel=x>it is</a><a href='//user:word@elsewhere.invalid/y'>user</a><a href=mailto:x@y>mail</a>",
        "/end" => "the end",
        "/down" => return Reply::status(403),
        "/r1" => return Reply::redirect(301, "/r2"),
        "/r2" => return Reply::redirect(302, "/end"),
        "/dead" => return Reply::redirect(301, "/dead2"),
        "/dead2" => return Reply::redirect(301, "/gone"),
        "/loop" => return Reply::redirect(301, "/loop2"),
        "/loop2" => return Reply::redirect(301, "/loop"),
        "/out" => return Reply::redirect(301, "http://elsewhere.invalid/z"),
        _ => return Reply::status(404),
    };
    let tag = format!("\"{}\"", page.len());
    let is_same = asked.headers.iter().any(|header| header.to_lowercase() == format!("if-none-match: {tag}"));
    if is_same { Reply::status(304) } else { Reply::html(page).header(format!("ETag: {tag}")) }
}

fn links(dir: &Path, arguments: &[&str]) -> Run {
    Webloom::new(["links"]).args([dir]).args(arguments).run()
}

/// The lines of an answer, with paths in the place of the server's URLs.
fn listed(server: &Server, dir: &Path, arguments: &[&str]) -> Vec<Value> {
    let run =
        links(dir, arguments.iter().chain(&["--format", "jsonl"]).copied().collect::<Vec<_>>().as_slice()).expect(0);
    let shown = run.stdout.replace(server.url("").as_str(), "");
    shown.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Some columns of each line.
fn columns<const N: usize>(lines: &[Value], names: [&str; N]) -> Vec<Value> {
    lines.iter().map(|line| names.iter().map(|name| line[name].clone()).collect()).collect()
}

#[test]
fn all_pages_that_link_to_a_url_are_listed() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let to = server.url("/x/../gone#part").to_uppercase().replace("X/../GONE#PART", "x/../gone#part");
    let lines = listed(&server, &dir, &["--to", &to]);
    assert_eq!(
        columns(&lines, ["from", "to", "element", "rel", "text", "status", "outcome"]),
        [
            json!(["/", "/gone", "a", null, "gone", 404, "broken"]),
            json!(["/a", "/gone", "a", null, "once more gone", 404, "broken"]),
            json!(["/b", "/gone", "a", "x", "it is", 404, "broken"]),
        ]
    );
    let away = listed(&server, &dir, &["--to", "http://elsewhere.invalid/x"]);
    assert_eq!(
        columns(&away, ["from", "to", "rel", "text", "status", "outcome", "reason"]),
        [
            json!(["/", "http://elsewhere.invalid/x", "external", "away", null, null, "scope"]),
            json!(["/a", "http://elsewhere.invalid/x", null, "", null, null, "scope"]),
        ]
    );
    let moved = listed(&server, &dir, &["--to", &server.url("/r1")]);
    assert_eq!(columns(&moved, ["from", "status", "redirect"]), [json!(["/", 301, "/end"])]);
    let none = links(&dir, &["--to", &server.url("/dead2")]).expect(0);
    assert!(none.stderr.contains("no link matches") && none.stdout.lines().count() == 1, "{none:?}");
}

#[test]
fn the_links_of_a_page_are_listed() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let lines = listed(&server, &dir, &["--from", &server.url("/")]);
    assert_eq!(
        columns(&lines, ["to", "element", "rel", "text", "outcome", "redirect"]),
        [
            json!(["/a", "a", null, "to A & on", "stored", null]),
            json!(["/b", "a", "nofollow me", "the B", "stored", null]),
            json!(["/gone", "a", null, "gone", "broken", null]),
            json!(["/r1", "a", null, "moved", "redirected", "/end"]),
            json!(["/dead", "a", null, "dead end", "redirected", "/gone"]),
            json!(["/loop", "a", null, "round", "redirected", "/loop2"]),
            json!(["/out", "a", null, "over there", "redirected", "http://elsewhere.invalid/z"]),
            json!(["http://elsewhere.invalid/x", "a", "external", "away", null, null]),
        ]
    );
    let line = &listed(&server, &dir, &["--from", &server.url("/a")])[1];
    assert_eq!(columns(std::slice::from_ref(line), ["to", "element", "text"]), [json!(["/down", "area", "a map"])]);
}

#[test]
fn broken_links_are_those_that_end_broken() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let lines = listed(&server, &dir, &["--broken"]);
    let shown: BTreeSet<_> =
        columns(&lines, ["to", "from", "status", "text", "redirect", "redirect_status", "redirect_outcome"])
            .iter()
            .map(ToString::to_string)
            .collect();
    let named: Vec<_> = lines.iter().filter_map(|line| line["redirect_loop"].as_str()).collect();
    assert_eq!(named, ["/loop -> /loop2 -> /loop"]);
    let expected = [
        json!(["/gone", "/", 404, "gone", null, null, null]),
        json!(["/gone", "/a", 404, "once more gone", null, null, null]),
        json!(["/gone", "/b", 404, "it is", null, null, null]),
        json!(["/down", "/a", 403, "a map", null, null, null]),
        json!(["/dead", "/", 301, "dead end", "/gone", 404, "broken"]),
        json!(["/loop", "/", 301, "round", "/loop2", 301, "redirected"]),
    ];
    assert_eq!(shown, expected.iter().map(ToString::to_string).collect());
    assert_eq!(lines.len(), expected.len());
    let targets: Vec<_> = lines.iter().map(|line| &line["to"]).collect();
    assert!(targets.windows(3).any(|three| three == [&json!("/gone"); 3]), "a target's pages stand together");
    let redirects = columns(&listed(&server, &dir, &["--redirects"]), ["to", "from", "redirect", "redirect_outcome"]);
    let shown: BTreeSet<_> = redirects.iter().map(ToString::to_string).collect();
    let expected = [
        json!(["/r1", "/", "/end", "stored"]),
        json!(["/r2", "/a", "/end", "stored"]),
        json!(["/dead", "/", "/gone", "broken"]),
        json!(["/loop", "/", "/loop2", "redirected"]),
        json!(["/out", "/", "http://elsewhere.invalid/z", null]),
    ];
    assert_eq!(shown, expected.iter().map(ToString::to_string).collect());
}

#[test]
fn what_failed_is_broken_and_what_was_there_before_is_gone() {
    let (server, folder) = (
        serve(|asked| match (asked.target.as_str(), asked.before) {
            ("/", _) => Reply::html("<a href=/fails>fails</a><a href=/was>was there</a>"),
            ("/was", 0) => Reply::html("here"),
            ("/fails", _) => Reply::hang_up(),
            _ => Reply::status(404),
        }),
        Folder::new(),
    );
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let lines = listed(&server, &dir, &["--broken"]);
    assert_eq!(columns(&lines, ["to", "status", "outcome"]), [json!(["/fails", null, "failed"])]);
    assert!(lines[0]["reason"].is_string(), "{lines:?}");
    Webloom::go_on(&dir).args(["--again"]).run().expect(0);
    let lines = listed(&server, &dir, &["--broken"]);
    assert_eq!(
        columns(&lines, ["to", "outcome", "text"]),
        [json!(["/fails", "failed", "fails"]), json!(["/was", "gone", "was there"])]
    );
}

#[test]
fn links_that_left_the_scope_are_listed() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &["--exclude", "/down"]);
    let lines = listed(&server, &dir, &["--external"]);
    assert_eq!(
        columns(&lines, ["from", "to", "element", "rel", "text", "reason"]),
        [
            json!(["/", "http://elsewhere.invalid/x", "a", "external", "away", "scope"]),
            json!(["/a", "/down", "area", null, "a map", "exclude"]),
            json!(["/a", "http://elsewhere.invalid/x", "a", null, "", "scope"]),
            json!(["/b", "http://elsewhere.invalid/y", "a", null, "user", "scope"]),
        ]
    );
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--nofollow", "obey"]);
    let lines = listed(&server, &folder.crawl(), &["--external"]);
    assert!(lines.iter().all(|line| line["reason"] == "scope"), "{lines:?}");
    let of_start = listed(&server, &folder.crawl(), &["--from", &server.url("/")]);
    let left = of_start.iter().find(|line| line["to"] == "/b").expect("it is kept");
    assert_eq!((&left["reason"], &left["outcome"], &left["text"]), (&json!("nofollow"), &Value::Null, &json!("the B")));
}

#[test]
fn pages_that_are_not_modified_keep_their_links() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let questions = [&["--broken"] as &[&str], &["--redirects"], &["--external"], &["--from", &server.url("/a")]];
    // A page that was not modified has another status.
    let all = || {
        let lines = questions.iter().flat_map(|question| listed(&server, &dir, question)).collect::<Vec<_>>();
        columns(&lines, ["from", "to", "element", "rel", "text", "outcome", "reason", "redirect", "redirect_outcome"])
    };
    let first = all();
    let summary = Webloom::go_on(&dir).args(["--again"]).run().expect(0).json();
    assert_eq!(summary["requests"]["by_status"]["304"], 4, "{summary}");
    assert_clean(&dir);
    assert_eq!(all(), first);
    Webloom::go_on(&dir).args(REDISCOVER).run().expect(0);
    assert_clean(&dir);
    assert_eq!(all(), first);
    let kept: u64 = Connection::open(dir.join("webloom.sqlite"))
        .unwrap()
        .query_row("SELECT count(*) FROM visit WHERE labels IS NOT NULL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 4, "nothing is written twice");
}

#[test]
fn where_links_lead_is_known_without_their_labels() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    let start = server.url("/");
    Webloom::crawl(&dir, &start).env(FINGERPRINTS.0, FINGERPRINTS.1).run().expect(0);
    assert_clean(&dir);
    let lines = listed(&server, &dir, &["--broken"]);
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(|line| line["element"].is_null() && line["rel"].is_null() && line["text"].is_null()));
    let to: Vec<_> = listed(&server, &dir, &["--to", &server.url("/gone")]);
    assert_eq!(columns(&to, ["from"]), [json!(["/"]), json!(["/a"]), json!(["/b"])]);
    let external = links(&dir, &["--external"]).expect(0);
    assert!(external.stderr.contains("for 4 of 4 pages") && external.stderr.contains("store.links"), "{external:?}");
    let unknown = links(&dir, &["--to", "http://elsewhere.invalid/x"]).expect(2);
    assert!(unknown.stderr.contains("store.links"), "{unknown:?}");
    // What a page is sent anew with is kept with it from now on.
    Webloom::go_on(&dir).args(REDISCOVER).env("WEBLOOM_STORE_LINKS", "full").run().expect(0);
    assert_clean(&dir);
    assert_eq!(columns(&listed(&server, &dir, &["--to", &server.url("/down")]), ["text"]), [json!(["a map"])]);
    assert_eq!(listed(&server, &dir, &["--external"]).len(), 3);
}

#[test]
fn a_question_that_makes_no_sense_is_refused() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    for arguments in [
        &[] as &[&str],
        &["--broken", "--redirects"],
        &["--to", "http://h/", "--external"],
        &["--to", "nonsense"],
        &["--from", "ftp://h/"],
    ] {
        let run = links(&dir, arguments).expect(2);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{run:?}");
    }
    for flag in ["--to", "--from"] {
        let run = links(&dir, &[flag, &server.url("/nowhere")]).expect(2);
        assert!(run.stderr.contains("explain url") && run.stderr.contains("/nowhere"), "{run:?}");
    }
    links(&folder.0.path().join("none"), &["--broken"]).expect(2);
}

#[test]
fn hostile_links_are_shown_without_harm() {
    let (server, folder) = (
        serve(|asked| {
            match asked.target.as_str() {
            "/" => Reply::html(format!(
                "<a href='/x?{HOSTILE}' rel='{HOSTILE}'>=1+1{HOSTILE}</a><a href='http://e.invalid/{HOSTILE}'>@SUM{HOSTILE}</a>
                 <a href=/c><img alt='+{HOSTILE}'></a>"
            )),
            _ => Reply::status(404),
        }
        }),
        Folder::new(),
    );
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    for question in
        [&["--broken"] as &[&str], &["--external"], &["--from", &server.url("/")], &["--to", &server.url("/c")]]
    {
        for format in ["table", "csv", "jsonl"] {
            let run = links(&dir, &[question, &["--format", format]].concat()).expect(0);
            assert_harmless(&run);
            assert!(run.stdout.lines().count() > usize::from(format != "jsonl"), "{run:?}");
        }
    }
    let lines = listed(&server, &dir, &["--broken"]);
    assert!(
        lines[0]["text"].as_str().unwrap().starts_with("=1+1\u{1b}]0;owned\u{7}\u{9b}2J"),
        "it reads back as it was"
    );
    let csv = links(&dir, &["--broken", "--format", "csv"]).stdout;
    assert!(csv.contains(r"'=1+1\u{1b}]0;owned") && csv.contains(r"'+\u{1b}]0;owned"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "a link is a line: {csv}");
}

/// A directory from somebody else holds whatever they wrote into its rows.
#[test]
fn a_foreign_directory_is_read_without_harm() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let database = Connection::open(dir.join("webloom.sqlite")).unwrap();
    database.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    for update in [
        "UPDATE visit SET labels = substr(labels, 1, length(labels) - 2)",
        "UPDATE visit SET labels = x'01'",
        "UPDATE visit SET links = coalesce(substr(links, 1, 7), links)",
        "UPDATE visit SET redirect = ?1, reason = ?1, outcome = iif(id % 2 = 0, outcome, ?1)",
        "UPDATE url SET url = url || ?1, reason = ?1",
    ] {
        let values: &[&dyn rusqlite::ToSql] = if update.contains("?1") { &[&HOSTILE] } else { &[] };
        database.execute(update, values).unwrap();
        for question in ["--broken", "--redirects", "--external"] {
            assert_harmless(&links(&dir, &[question]).expect(0));
        }
        assert_harmless(&links(&dir, &["--from", &server.url("/")]).expect(0));
        assert_harmless(&links(&dir, &["--to", &server.url("/gone")]).expect(0));
    }
}
