//! Rules of keys: which URLs are one page, on sites that write each of them in many ways.

use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_asked_once, assert_counts, crawl, serve, star};

/// Pages of the site that writes its links as it likes.
const PAGES: usize = 24;

/// What makes one page of each of them.
const RULES: &str = "unreserved\nhex-case\nempty-query\nsession\nsort-query\ntrailing-slash\nindex-page";
const STRIPPED: [&str; 2] = ["--strip-query", "tracking,from"];

/// A site that redirects every page to the same with a slash, puts parameters in any order, and adds those of trackers and sessions.
fn careless(asked: &Asked) -> Reply {
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    if path == "/robots.txt" {
        return Reply::status(404);
    }
    if !path.ends_with('/') && !path.ends_with("index.html") {
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        return Reply::redirect(301, format!("{path}/{query}"));
    }
    let links = (0..PAGES).flat_map(|page| {
        // No two pages write a link in the same way.
        let salt = asked.target.len() * 7 + page;
        let slash = ["", "/", "/index.html", ";jsessionid=0A1B"][salt % 4];
        let query =
            ["a=1&b=2", "b=2&a=1", "b=2&utm_source=x&a=1", "a=1&from=here&b=2&gclid=7", "sid=77&a=1&b=2"][salt % 5];
        [format!("/page-{page}{slash}?{query}"), format!("/%70age-{page}{slash}?{query}")]
    });
    Reply::links(links)
}

/// The number of the page that a target or a URL names.
fn page_of(target: &str) -> Option<usize> {
    let target = target.replace("%70", "p");
    let (_, rest) = target.split_once("/page-")?;
    rest.split(['/', '?', ';']).next()?.parse().ok()
}

fn careless_crawl(server: &Server, folder: &Folder) -> Webloom {
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(STRIPPED).env("WEBLOOM_KEY_RULES", RULES)
}

#[test]
fn a_careless_site_is_complete_and_each_page_of_it_is_fetched_once() {
    let server = serve(careless);
    let folder = Folder::new();
    let summary = careless_crawl(&server, &folder).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!(
        (&summary["pages"]["stored"], &summary["counts"]["finished"]),
        (&(PAGES + 1).into(), &(PAGES + 1).into())
    );
    let pages = pages(&folder.crawl());
    assert_eq!(pages.len(), PAGES + 1);
    for number in 0..PAGES {
        let asked: Vec<_> = server.targets().into_iter().filter(|target| page_of(target) == Some(number)).collect();
        // A redirect to the page itself is its second request.
        assert!(asked.len() == 1 || (asked.len() == 2 && asked[1].contains("/?")), "{asked:?}");
        let rows: Vec<_> = pages.iter().filter(|(url, _)| page_of(url) == Some(number)).map(|(_, page)| page).collect();
        assert_eq!((rows.len(), &rows[0]["outcome"]), (1, &"stored".into()));
        let key = if rows[0]["key"].is_null() { &rows[0]["url"] } else { &rows[0]["key"] };
        assert_eq!(*key, server.url(&format!("/page-{number}?a=1&b=2")));
    }
    let rewritten = &summary["urls"]["rewritten"];
    for rule in ["unreserved", "trailing-slash", "index-page", "sort-query", "strip-query", "session"] {
        assert!(rewritten[rule].as_u64().is_some_and(|count| count > 0), "{rule}: {rewritten}");
    }
    assert!(rewritten["unreserved"].as_u64() <= summary["urls"]["candidates"].as_u64());
    assert_eq!(status(&folder)["urls"]["rewritten"], *rewritten);
}

fn status(folder: &Folder) -> Value {
    Webloom::new(["status", "--json"]).args([folder.crawl()]).run().expect(0).json()
}

fn key_rules(folder: &Folder) -> String {
    let database = Connection::open(folder.crawl().join("webloom.sqlite")).expect("a crawl directory has a database");
    database.query_row("SELECT key_rules FROM crawl", [], |row| row.get(0)).expect("a crawl has rules")
}

#[test]
fn a_killed_crawl_goes_on_with_its_rules_and_no_others() {
    let server = serve(careless);
    let folder = Folder::new();
    let running = careless_crawl(&server, &folder).args(["--delay", "50ms"]).spawn();
    server.wait_for_more(8);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let rules = key_rules(&folder);
    assert!(["sort-query", "\"from\"", "utm_*"].iter().all(|rule| rules.contains(rule)), "{rules}");
    server.wait_for_silence(Duration::from_millis(200));
    let asked = server.log().len();
    let others: [&[&str]; 3] =
        [&["--strip-query", "other"], &["--strip-query", "other", "--again"], &["--strip-query", "from"]];
    for other in others {
        let refused = Webloom::go_on(&folder.crawl()).args(["-q"]).args(other).run().expect(2);
        let said = ["--strip-query", "are fixed", "sort-query", "from", "--dir"];
        assert!(said.iter().all(|word| refused.stderr.contains(word)), "{}", refused.stderr);
    }
    let by_variable = Webloom::go_on(&folder.crawl()).env("WEBLOOM_KEY_RULES", "www").args(["-q"]).run().expect(2);
    assert!(by_variable.stderr.contains("WEBLOOM_KEY_RULES: "), "{}", by_variable.stderr);
    assert_eq!((server.log().len(), key_rules(&folder)), (asked, rules.clone()));
    // What is the same in other words is no other rule.
    let same = ["--delay", "0", "--strip-query", "from", "--strip-query", "tracking"];
    let summary = Webloom::go_on(&folder.crawl()).args(same).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &(PAGES + 1).into()));
    assert_eq!((pages(&folder.crawl()).len(), key_rules(&folder)), (PAGES + 1, rules));
}

#[test]
fn spellings_of_one_url_are_one_page_by_default_and_what_is_fetched_is_the_first() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::links(["/%7Ebob?", "/~bob", "/~bob?", "/%c3%a9", "/%C3%A9", "/é", "/a", "/a/", "/?b&a", "/?a&b"]),
        "/robots.txt" => Reply::status(404),
        _ => Reply::html("a page"),
    });
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_asked_once(&server, &["/", "/%7Ebob?", "/%c3%a9", "/a", "/a/", "/?b&a", "/?a&b"]);
    assert_eq!(summary["urls"]["rewritten"], json!({"empty-query": 1, "hex-case": 1, "unreserved": 1}));
    let pages = pages(&folder.crawl());
    assert_eq!(pages[&server.url("/%7Ebob?")]["key"], server.url("/~bob"));
    assert!(pages[&server.url("/a")].get("key").is_none_or(Value::is_null));
    let linked = Webloom::new(["links", "--to", &server.url("/%7ebob"), "--format", "jsonl"]).args([folder.crawl()]);
    assert_eq!(linked.run().expect(0).json_lines().len(), 1);
}

#[test]
fn a_directory_without_rules_goes_on_without() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::links(["/%7Ea", "/~a", "/b"]),
        "/robots.txt" => Reply::status(404),
        _ => Reply::links(["/c?", "/c"]),
    });
    let folder = Folder::new();
    let first = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_KEY_RULES", "unknown").run().expect(2);
    assert!(first.stderr.contains("unreserved, hex-case"), "{}", first.stderr);
    let without = folder.0.path().join("without.toml");
    std::fs::write(&without, "key.rules = []\n").unwrap();
    let arguments = ["--max-pages", "1", "--config", without.to_str().unwrap()];
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(arguments).run().expect(0);
    assert_eq!(key_rules(&folder), "whatwg");
    // As versions without rules wrote it.
    let database = Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    database.execute_batch("UPDATE crawl SET settings = json_remove(settings, '$.key')").unwrap();
    drop(database);
    let refused = Webloom::go_on(&folder.crawl()).args(["--strip-query", "b"]).run().expect(2);
    assert!(refused.stderr.contains("this one has none"), "{}", refused.stderr);
    let summary = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]).run().expect(0).json();
    assert_eq!((&summary["pages"]["stored"], &summary["urls"]["rewritten"]), (&6.into(), &json!({})));
    assert_asked_once(&server, &["/", "/%7Ea", "/~a", "/b", "/c?", "/c"]);
    assert_clean(&folder.crawl());
    assert_eq!(key_rules(&folder), "whatwg");
    let again = Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(0).json();
    assert_eq!(again["pages"]["unchanged"], 6, "{again}");
}

#[test]
fn a_page_behind_a_redirect_to_its_other_spelling_has_its_links_from_there() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::links(["/a", "/a/"]),
        "/a" => Reply::redirect(301, "/a/"),
        "/a/" => Reply::links(["b", "../c/"]),
        "/c/" => Reply::redirect(302, "/c"),
        "/c" => Reply::redirect(302, "/c/"),
        "/a/b" => Reply::html("b"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let summary = {
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_KEY_RULES", "trailing-slash").run();
        run.expect(0).json()
    };
    assert_counts(&summary);
    assert_asked_once(&server, &["/", "/a", "/a/", "/a/b", "/c/", "/c"]);
    let pages = pages(&folder.crawl());
    let outcomes: Vec<_> =
        pages.values().map(|page| (page["url"].as_str().unwrap(), page["outcome"].as_str().unwrap())).collect();
    let expected = [("/", "stored"), ("/a", "stored"), ("/a/b", "stored"), ("/c/", "broken")]
        .map(|(path, outcome)| (server.url(path), outcome));
    assert_eq!(outcomes, expected.each_ref().map(|(url, outcome)| (&**url, *outcome)));
    assert_eq!(pages[&server.url("/c/")]["reason"], "redirect_to_itself");
    assert_clean(&folder.crawl());
}

#[test]
fn a_host_and_its_other_name_are_one_where_the_rule_says_so() {
    let server = serve(|asked| {
        let host = asked
            .headers
            .iter()
            .find_map(|line| line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("host")));
        let host = host.map(|(_, host)| host).unwrap_or_default();
        match asked.target.as_str() {
            "/robots.txt" => Reply::status(404),
            target if !host.starts_with("www.") => Reply::redirect(301, format!("http://www.{host}{target}")),
            "/" => Reply::links(["/1", "/2"]),
            _ => Reply::links(["/"]),
        }
    });
    let port = server.port();
    let folder = Folder::new();
    let names = ["site.test", "www.site.test"].map(|name| format!("{name}:{port}:127.0.0.1"));
    let private = ["--allow-private", "127.0.0.1", "--resolve", &*names[0], "--resolve", &*names[1]];
    let crawl = Webloom::crawl(&folder.crawl(), &format!("http://site.test:{port}/")).args(private);
    let summary = crawl.env("WEBLOOM_KEY_RULES", "www").run().expect(0).json();
    assert_counts(&summary);
    assert_eq!((&summary["pages"]["stored"], &summary["counts"]["finished"]), (&3.into(), &3.into()), "{summary}");
    assert_asked_once(&server, &["/", "/", "/1", "/2"]);
    assert_clean(&folder.crawl());
}

#[test]
fn the_twins_of_http_and_https_are_one_where_the_rule_says_so() {
    let server = serve(star(2));
    let folder = Folder::new();
    let explained = Webloom::new(["explain", "url"]).run_with(
        "{\"url\": \"https://h/a\", \"rules\": [\"scheme\"]}\n{\"url\": \"https://h:8443/a\", \"rules\": [\"scheme\"]}\n",
    );
    let keys: Vec<_> = explained.expect(0).json_lines().into_iter().map(|line| line["key"].clone()).collect();
    assert_eq!(keys, ["http://h/a", "https://h:8443/a"]);
    // A start without a scheme has a port of its own here, so that its two schemes are no twins.
    let start = server.url("/").replace("http://", "");
    let summary = Webloom::crawl(&folder.crawl(), &start).env("WEBLOOM_KEY_RULES", "scheme").run().expect(0).json();
    assert_eq!(summary["pages"]["stored"], 3, "{summary}");
    assert_clean(&folder.crawl());
}
