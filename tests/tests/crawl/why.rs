//! `why`: what became of a URL, whatever spelling it is asked for in, and what keeps others out.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{REDISCOVER, Run, Webloom, assert_clean},
};

use crate::{
    Folder, closing, crawl,
    escapes::{HOSTILE, assert_harmless},
    serve,
};

/// Rules by which `/a/index.html?utm_source=x` and `/a` are one page.
const RULES: (&str, &str) = ("WEBLOOM_KEY_RULES", "unreserved\nhex-case\nempty-query\ntrailing-slash\nindex-page");

/// A site that writes `/a` in three ways, with pages of every fate.
fn site(asked: &Asked) -> Reply {
    let host = asked.headers.iter().find_map(|header| header.to_lowercase().strip_prefix("host: ").map(str::to_owned));
    let host = host.expect("a host");
    match asked.target.as_str() {
        "/robots.txt" => {
            Reply::text(format!("User-agent: *\nDisallow: /no\nAllow: /no/but\nSitemap: http://{host}/map.xml\n"))
        }
        "/map.xml" => Reply::Whole(
            200,
            vec!["content-type: application/xml".to_owned()],
            format!(
                "<urlset><url><loc>http://{host}/only</loc></url><url><loc>http://{host}/gone</loc></url></urlset>"
            )
            .into(),
        ),
        "/" => Reply::html(
            "<a href=/a?utm_source=x><a href=/b><a href=/no/1><a href=/gone><a href=/r>
             <a href='http://elsewhere.invalid/x?utm_source=y'><a href=/paper.pdf><a href=/print rel=nofollow>",
        ),
        "/b" => {
            Reply::html("<a href=/a/index.html><a href=/gone><a href=/only rel=nofollow><link rel=canonical href=/a>")
        }
        "/r" => Reply::redirect(301, "/a/"),
        "/only" => Reply::html("text"),
        target if target.starts_with("/a") => Reply::html("text"),
        _ => Reply::status(404),
    }
}

/// Crawls that site with rules that merge, patterns, and sitemaps.
fn crawled() -> (Server, Folder) {
    let (server, folder) = (serve(site), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/"))
        .args(["--strip-query", "tracking", "--exclude", r"\.pdf$", "--nofollow", "obey", "--per-host", "1"])
        .env(RULES.0, RULES.1)
        .env("WEBLOOM_SOURCES_SITEMAPS", "on");
    assert_eq!(run.run().expect(0).json()["end"], "drained");
    assert_clean(&folder.crawl());
    (server, folder)
}

fn why(dir: &Path, url: &str, arguments: &[&str]) -> Run {
    Webloom::new(["why"]).args([dir]).args([url]).args(arguments).run()
}

/// The answer for a path of the server, or a URL, with paths in the place of the server's URLs, and no times.
fn asked(server: &Server, dir: &Path, url: &str) -> Value {
    let url = if url.starts_with('/') { server.url(url) } else { url.to_owned() };
    let run = why(dir, &url, &["--json"]).expect(0);
    let mut answer: Value = serde_json::from_str(&run.stdout.replace(&server.url(""), "")).expect("JSON");
    let fetched = answer["fetched_at"].take();
    let is_fetched = ["stored", "redirected", "broken", "gone", "failed"].map(Value::from).contains(&answer["outcome"]);
    assert_eq!(fetched.as_str().is_some_and(|at| at.ends_with('Z')), is_fetched, "{answer}");
    answer
}

/// An answer as it is where nothing else is said.
fn answer(differences: Value) -> Value {
    let mut answer = json!({
        "rules": [], "reason": null, "merged": null, "outcome": null, "status": null, "redirect": null,
        "canonical": null, "title": null, "depth": null, "hop": null, "via": null, "sequence": null, "last_sequence": 0,
        "fetched_at": null, "attempts": null, "due": null, "proposed_by": [], "link_check": null, "robots": {"allowed": true, "rule": null},
        "host": {"origin": "", "healthy": true, "cause": null, "since": null, "not_before": null, "waiting": 0},
    });
    let Value::Object(differences) = differences else { panic!("an object") };
    answer.as_object_mut().expect("an object").extend(differences);
    let count = answer["proposed_by"].as_array().expect("a list").len();
    answer["proposed_by_count"] = count.into();
    answer
}

fn text(server: &Server, dir: &Path, url: &str) -> String {
    why(dir, &server.url(url), &[]).expect(0).stdout.replace(&server.url(""), "")
}

#[track_caller]
fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no {word:?}: {text}");
    }
}

#[test]
fn a_url_in_any_spelling_is_the_page_that_was_fetched_for_it() {
    let (server, folder) = crawled();
    let dir = folder.crawl();
    let page = json!({
        "key": "/a", "state": "finished", "outcome": "stored", "status": 200, "depth": 1, "hop": "link", "via": "/",
        "sequence": 0, "attempts": 0,
        "proposed_by": [{"via": "/", "hop": "link"}, {"via": "/b", "hop": "link"}, {"via": "/r", "hop": "redirect"}],
    });
    let spelled = |url: &str, rules: Value, merged: Value| {
        let mut page = answer(page.clone());
        page["url"] = url.into();
        page["rules"] = rules;
        page["merged"] = merged;
        page
    };
    let fetched = "/a?utm_source=x";
    for (url, rules) in [
        ("/a", json!([])),
        ("/a/", json!(["trailing-slash"])),
        ("/a/index.html?gclid=7", json!(["strip-query", "index-page", "trailing-slash"])),
    ] {
        assert_eq!(asked(&server, &dir, url), spelled(url, rules, fetched.into()), "{url}");
    }
    let own = spelled(fetched, json!(["strip-query"]), Value::Null);
    assert_eq!(asked(&server, &dir, &format!("{fetched}#part")), own);
    let login = server.url(fetched).replace("http://", "http://me:s3cret@");
    assert_eq!(asked(&server, &dir, &login), own);
    let said = text(&server, &dir, "/a/");
    assert_says(
        &said,
        &[
            "/a/ is in the crawl: the server answered with status 200, and its page is stored; sequence 0 fetched it at 2",
            "The crawl has it as /a?utm_source=x: both have the key /a (rules: trailing-slash), so they are one page.",
            "What leads to it: / (link), /b (link), /r (redirect).",
            "robots.txt allows it.",
        ],
    );
    assert_eq!(said.lines().count(), 4, "{said}");
}

#[test]
fn what_came_of_a_url_is_said_and_what_leads_to_it() {
    let (server, folder) = crawled();
    let dir = folder.crawl();
    let start = json!({"url": "/", "key": "/", "state": "finished", "outcome": "stored", "status": 200, "depth": 0, "hop": "start",
        "sequence": 0, "attempts": 0, "proposed_by": [{"via": null, "hop": "start"}]});
    assert_eq!(asked(&server, &dir, "/"), answer(start));
    let gone = json!({"url": "/gone", "key": "/gone", "state": "finished", "outcome": "broken", "status": 404, "depth": 1,
        "hop": "link", "via": "/", "sequence": 0, "attempts": 0,
        "proposed_by": [{"via": "/", "hop": "link"}, {"via": "/map.xml", "hop": "sitemap"}, {"via": "/b", "hop": "link"}]});
    let mut found = asked(&server, &dir, "/gone");
    // A sitemap and a page may be read in any order.
    let mut expected = answer(gone);
    for answer in [&mut found, &mut expected] {
        let list = answer["proposed_by"].as_array_mut().expect("a list");
        list.sort_by_key(Value::to_string);
        answer["hop"].take();
        answer["via"].take();
    }
    assert_eq!(found, expected);
    assert_says(
        &text(&server, &dir, "/gone"),
        &["the server answered with status 404, and no page is stored", "Next: `webloom links "],
    );
    let moved = json!({"url": "/r", "key": "/r", "state": "finished", "outcome": "redirected", "status": 301, "redirect": "/a/", "depth": 1,
        "hop": "link", "via": "/", "sequence": 0, "attempts": 0, "proposed_by": [{"via": "/", "hop": "link"}]});
    assert_eq!(asked(&server, &dir, "/r"), answer(moved));
    assert_says(
        &text(&server, &dir, "/r"),
        &["the server redirects with status 301 to /a/", "/a/` says what is there."],
    );
    let other = json!({"url": "/b", "key": "/b", "state": "finished", "outcome": "stored", "status": 200, "canonical": "/a", "depth": 1,
        "hop": "link", "via": "/", "sequence": 0, "attempts": 0, "proposed_by": [{"via": "/", "hop": "link"}]});
    assert_eq!(asked(&server, &dir, "/b"), answer(other));
    assert_says(&text(&server, &dir, "/b"), &["The page names /a as the canonical one."]);
    let listed = asked(&server, &dir, "/only");
    let lists = json!([{"via": "/map.xml", "hop": "sitemap"}, {"via": "/b", "hop": "link"}]);
    assert_eq!((&listed["state"], &listed["proposed_by"]), (&"finished".into(), &lists));
    let map = asked(&server, &dir, "/map.xml");
    assert_eq!((&map["hop"], &map["proposed_by"]), (&"sitemap".into(), &json!([{"via": null, "hop": "sitemap"}])));
    assert_says(&text(&server, &dir, "/map.xml"), &["What leads to it: robots.txt or a setting (sitemap)."]);
}

#[test]
fn what_keeps_a_url_out_is_said() {
    let (server, folder) = crawled();
    let dir = folder.crawl();
    let forbidden = json!({"url": "/no/1", "key": "/no/1", "state": "abandoned", "reason": "robots", "outcome": "abandoned", "depth": 1,
        "hop": "link", "via": "/", "sequence": 0, "attempts": 0, "proposed_by": [{"via": "/", "hop": "link"}],
        "robots": {"allowed": false, "rule": "Disallow: /no"}});
    assert_eq!(asked(&server, &dir, "/no/1"), answer(forbidden));
    assert_says(
        &text(&server, &dir, "/no/1"),
        &[
            "/no/1 was given up before it was fetched: robots.txt forbids it.",
            "by the line \"Disallow: /no\"",
            "--ignore-robots 127.0.0.1",
        ],
    );
    let away = "http://elsewhere.invalid/x";
    let outside = json!({"url": away, "key": away, "state": "refused", "reason": "scope", "outcome": "refused",
        "proposed_by": [{"via": "/", "hop": "link"}], "robots": null, "host": null});
    assert_eq!(asked(&server, &dir, away), answer(outside));
    let said = why(&dir, away, &[]).expect(0).stdout;
    assert_says(
        &said,
        &[
            "is not in the crawl: it is outside of the scope of every start (--scope host).",
            "Next: `webloom crawl -d ",
            "--add http://elsewhere.invalid/x`",
            "--again --scope any` for a wider scope.",
        ],
    );
    let excluded = json!({"url": "/paper.pdf", "key": "/paper.pdf", "state": "refused", "reason": "exclude", "outcome": "refused",
        "proposed_by": [{"via": "/", "hop": "link"}]});
    assert_eq!(asked(&server, &dir, "/paper.pdf"), answer(excluded));
    assert_says(&text(&server, &dir, "/paper.pdf"), &[r#"--exclude leaves out what matches "\\.pdf$"."#]);
    let unfollowed = json!({"url": "/print", "key": "/print", "state": "refused", "reason": "nofollow", "outcome": "refused",
        "proposed_by": [{"via": "/", "hop": "link"}]});
    assert_eq!(asked(&server, &dir, "/print"), answer(unfollowed));
    assert_says(&text(&server, &dir, "/print"), &["each page that links to it asks not to follow the link"]);
    let unknown = json!({"url": "/no/but?b", "key": "/no/but?b", "state": "unknown", "robots": {"allowed": true, "rule": "Allow: /no/but"}});
    assert_eq!(asked(&server, &dir, "/no/but?b"), answer(unknown));
    assert_says(
        &text(&server, &dir, "/x?a&b"),
        &["no page or sitemap of the crawl leads to it", "/x?a&b'` makes it a start"],
    );
    let long = format!("/{}", "x".repeat(2048));
    assert_eq!(asked(&server, &dir, &long)["reason"], "too_long");
    // With all pages left out, each name of a setting that says so is found.
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--include", "/$"]).run().expect(0);
    assert_eq!(asked(&server, &folder.crawl(), "/b")["reason"], "include");
}

#[test]
fn what_waits_is_said_with_what_it_waits_for() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).args(["--max-depth", "0"]).run().expect(0);
    let deep = json!({"url": "/b", "key": "/b", "state": "queued", "reason": "max_depth", "outcome": "queued", "depth": 1, "hop": "link",
        "via": "/", "sequence": 0, "attempts": 0, "proposed_by": [{"via": "/", "hop": "link"}]});
    let mut found = asked(&server, &dir, "/b");
    assert!(found["host"]["waiting"].as_u64().is_some_and(|waiting| waiting > 3), "{found}");
    found["host"]["waiting"] = 0.into();
    assert_eq!(found, answer(deep));
    assert_says(
        &text(&server, &dir, "/b"),
        &[
            "/b waits in the queue: it is 1 link away from a start, and the crawl follows 0 (--max-depth).",
            "--max-depth N` goes on",
        ],
    );
    let folder = Folder::new();
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).args(["--max-pages", "1", "--per-host", "1"]).run().expect(0);
    assert_eq!(asked(&server, &dir, "/r")["reason"], "budget");
    assert_says(
        &text(&server, &dir, "/r"),
        &["sequence 0 had reached a budget before its turn came", "--max-pages N` goes on"],
    );
    // Every URL of a sequence that begins with known pages waits until it was visited.
    Webloom::go_on(&dir).args(["--max-pages", "unlimited"]).run().expect(0);
    Webloom::go_on(&dir).args(["--again", "--max-pages", "1"]).run().expect(0);
    let waits = asked(&server, &dir, "/b");
    let expected = [json!("queued"), json!("budget"), json!("stored"), json!(0), json!(1)];
    assert_eq!(["state", "reason", "outcome", "sequence", "last_sequence"].map(|name| waits[name].clone()), expected);
    assert_says(
        &text(&server, &dir, "/b"),
        &["The last sequence, 1, has not come to it yet; what came of it is from sequence 0."],
    );
}

#[test]
fn a_host_that_does_not_answer_is_named() {
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/" if asked.before == 0 => Reply::links(["/1", "/2"]),
        "/robots.txt" => Reply::status(404),
        _ => Reply::hang_up(),
    };
    let (server, folder) = (serve(closing(answer)), Folder::new());
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4);
    let found = asked(&server, &dir, "/1");
    let host = &found["host"];
    let expected = [json!(false), json!("closed"), json!(2)];
    assert_eq!(["healthy", "cause", "waiting"].map(|name| host[name].clone()), expected, "{found}");
    assert!(["since", "not_before"].iter().all(|at| host[at].as_str().is_some_and(|at| at.ends_with('Z'))), "{host}");
    assert_eq!(found["state"], "queued");
    let said = text(&server, &dir, "/1");
    assert_says(
        &said,
        &["is not well since", "it closes connections before it answers", "2 URLs wait for it", "` goes on."],
    );
}

#[test]
fn a_lost_url_is_said_to_be_lost() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let database = Connection::open(dir.join("webloom.sqlite")).expect("a crawl directory has a database");
    // As if the URL cache had refused it.
    let row = "(SELECT id FROM url WHERE url LIKE '%/gone')";
    database
        .execute_batch(&format!(
            "PRAGMA foreign_keys = OFF;
             CREATE TABLE kept AS SELECT * FROM url WHERE id = {row};
             DELETE FROM visit WHERE url = {row}; DELETE FROM url WHERE id = {row};"
        ))
        .expect("a row");
    let unswept = json!({"url": "/gone", "key": "/gone", "state": "lost", "reason": "not_swept", "outcome": "lost",
        "proposed_by": [{"via": "/", "hop": "link"}, {"via": "/b", "hop": "link"}]});
    assert_eq!(asked(&server, &dir, "/gone"), answer(unswept));
    assert_says(&text(&server, &dir, "/gone"), &["no sweep has looked for it since", "goes on, and sweeps"]);
    for state in ["lost", "no_longer_linked"] {
        let insert = "INSERT OR REPLACE INTO lost (id, sequence, fingerprint, url, found_by, found_at, swept, state)
             SELECT 1, 0, substr(fingerprint, 1, 8), NULL, 'sweep', 0, 1, ?1 FROM kept";
        database.execute(insert, [state]).expect("a row");
        let lost = json!({"url": "/gone", "key": "/gone", "state": "lost", "reason": state, "outcome": "lost", "sequence": 0,
            "proposed_by": [{"via": "/", "hop": "link"}, {"via": "/b", "hop": "link"}]});
        assert_eq!(asked(&server, &dir, "/gone"), answer(lost));
    }
    assert_says(
        &text(&server, &dir, "/gone"),
        &["sequence 0 lost it: the URL cache took it for", "no page links to it any more"],
    );
}

#[test]
fn what_a_sequence_has_not_found_again_keeps_its_answer() {
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/" if asked.before == 0 => Reply::links(["/old"]),
        "/robots.txt" => Reply::status(404),
        _ => Reply::html("text"),
    };
    let (server, folder) = (serve(answer), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    Webloom::go_on(&dir).args(REDISCOVER).run().expect(0);
    let old = asked(&server, &dir, "/old");
    assert_eq!(
        ["state", "outcome", "sequence"].map(|name| old[name].clone()),
        [json!("finished"), json!("stored"), json!(0)]
    );
    // The page by which it was found first is named, though it leads there no longer.
    assert_eq!(old["proposed_by"], json!([{"via": "/", "hop": "link"}]));
    assert_says(&text(&server, &dir, "/old"), &["The last sequence, 1, has not found it again"]);
}

#[test]
fn many_pages_that_lead_to_a_url_are_counted_and_some_are_listed() {
    const PAGES: usize = 5_100;
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links((0..PAGES).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        "/7" => Reply::redirect(301, "/hub"),
        _ => Reply::links(["/hub", "http://elsewhere.invalid/"]),
    };
    let (server, folder) = (serve(answer), Folder::new());
    let dir = folder.crawl();
    let run = Webloom::crawl(&dir, &server.url("/")).env("WEBLOOM_POLITENESS_PER_HOST", "8").run();
    assert_eq!(run.expect(0).json()["end"], "drained");
    let all = PAGES as u64;
    for (url, count) in [("/hub", all + 1), ("http://elsewhere.invalid/", all)] {
        // The first question makes the index, the second one uses it.
        let [first, second] = [(), ()].map(|()| asked(&server, &dir, url));
        assert_eq!(first, second);
        assert_eq!(
            (first["proposed_by"].as_array().map(Vec::len), &first["proposed_by_count"]),
            (Some(100), &count.into()),
            "{url}"
        );
    }
    assert!(dir.join("links.index").is_file());
    assert_says(
        &text(&server, &dir, "/hub"),
        &[&format!(", and {},{:03} more.", (all - 4) / 1_000, (all - 4) % 1_000)],
    );
    let seven = asked(&server, &dir, "/7");
    assert_eq!(seven["proposed_by"], json!([{"via": "/", "hop": "link"}]));
}

#[test]
fn a_question_that_makes_no_sense_is_an_error() {
    let (server, folder) = crawled();
    let dir = folder.crawl();
    for (url, words) in [
        ("docs.example.org/x", &["it has no scheme: is it https://docs.example.org/x, or the same with http?"][..]),
        ("/install", &["it is a path"]),
        ("mailto:me@h", &["scheme is not http or https"]),
        ("http://", &["is no URL", "https://example.org/page"]),
        ("http://me:s3cret@h:x/", &["is no URL"]),
        ("me:s3cret@h/", &["is no URL"]),
    ] {
        let refused = why(&dir, url, &["--json"]).expect(2);
        assert_says(&refused.stderr, words);
        assert!(refused.stdout.is_empty() && !refused.stderr.contains("s3cret"), "{refused:?}");
    }
    let empty = Folder::new();
    let missing = why(&empty.crawl(), &server.url("/"), &[]).expect(2);
    assert!(missing.stderr.contains("no crawl in"), "{}", missing.stderr);
    std::fs::create_dir(empty.crawl()).expect("a folder");
    why(&empty.crawl(), &server.url("/"), &[]).expect(2);
    std::fs::write(empty.crawl().join("webloom.sqlite"), "not ours").expect("a file");
    why(&empty.crawl(), &server.url("/"), &[]).expect(2);
}

#[test]
fn what_a_directory_says_of_a_url_is_shown_without_harm() {
    let (server, folder) = crawled();
    let dir = folder.crawl();
    let database = Connection::open(dir.join("webloom.sqlite")).expect("a crawl directory has a database");
    let poison = format!("=1{HOSTILE}\nend");
    for update in [
        "UPDATE url SET url = url || ?1, reason = ?1",
        "UPDATE visit SET reason = ?1, redirect = redirect || ?1, canonical = ?1, title = ?1",
        "UPDATE host SET origin = origin || ?1, cause = 'refused', failures = 2, not_before = 0",
        "UPDATE sequence SET end = ?1",
    ] {
        database.execute(update, [&poison]).unwrap_or_else(|error| panic!("{error}: {update}"));
    }
    for path in ["/", "/a", "/b", "/gone", "/r", "/no/1", "/print", "/never"] {
        assert_harmless(&why(&dir, &server.url(path), &["--json"]).expect(0));
        let said = why(&dir, &server.url(path), &[]).expect(0);
        assert_harmless(&said);
        assert!(said.stdout.lines().count() <= 8, "a sentence is a line: {}", said.stdout);
    }
}
