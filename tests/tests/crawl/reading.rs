//! What the commands print that read, and what they answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, pages},
};

use crate::{Folder, crawl, serve};

const COLUMNS: &str = "url,key,status,outcome,reason,change,content_type,bytes,digest,title,description,\
                       canonical,needs_js,language,h1,robots,words,depth,hop,via,sequence,fetched_at,redirect,truncated,fields,found_by,\
                       in_links,importance,similar_to";

fn small() -> Server {
    serve(|asked| match asked.target.as_str() {
        "/" => Reply::html("<title>A \"title\",\nin two</title><a href=/text><a href=/gone><a href=/moved#x>"),
        "/text" => Reply::text("text"),
        "/gone" => Reply::status(410),
        "/moved" => Reply::redirect(301, "/"),
        _ => Reply::status(404),
    })
}

/// Every path of keys in a document; what is a map with open keys is not entered.
fn keys(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    let Some(object) = value.as_object() else { return };
    for (key, value) in object {
        let path = format!("{prefix}{key}");
        let open = ["urls.refused", "urls.abandoned", "requests.by_status", "requests.errors"].contains(&&*path);
        if !open {
            keys(value, &format!("{path}."), found);
        }
        found.insert(path);
    }
}

#[test]
fn the_summary_has_every_field_and_status_gives_the_same() {
    let server = small();
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    let promised = json!({"end":0,"sequence":0,"seconds":0,"cpu_seconds":0,"peak_memory_bytes":0,
        "pages":{"stored":0,"html":0,"new":0,"changed":0,"unchanged":0,"gone":0,"broken":0,"failed":0,"truncated":0,
            "needs_js":0,"recovered":0},
        "urls":{"candidates":0,"admitted":0,"duplicate":0,"refused":{},"abandoned":{}},
        "counts":{"admitted":0,"queued":0,"leased":0,"finished":0,"abandoned":0},
        "requests":{"sent":0,"bytes_in":0,"by_status":{},"errors":{}},
        "cache":{"strategy":0,"layout":0,"generation":0,"items":0,"capacity":0,"bits":0,"fill":0,"expected_rate":0,
            "expected_lost":0,"budget_lost":0,"resets":{"rebuild":0},"audit":{"share":0,"checked":0,"false_positives":0,"rate":0,"low":0,"high":0,"rescued":0},
            "sweep":{"links":0,"lost":0,"rescued":0,"missed_with_them":0}}});
    let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
    keys(&promised, "", &mut expected);
    keys(&summary, "", &mut found);
    assert_eq!(expected.difference(&found).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(summary["requests"]["by_status"], json!({"200": 2, "301": 1, "404": 1, "410": 1}));
    assert_eq!(summary["requests"]["sent"], server.log().len());
    assert_eq!((&summary["pages"]["stored"], &summary["pages"]["html"]), (&2.into(), &1.into()));
    let status = Webloom::new(["status", "--json"]).args([folder.crawl()]).run().expect(0);
    assert_eq!(status.json(), summary);
    let lines = Webloom::new(["status"]).args([folder.crawl()]).run().expect(0);
    assert!(lines.stdout.starts_with("Complete: "), "{}", lines.stdout);
}

#[test]
fn pages_have_the_same_columns_in_every_form() {
    let server = small();
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let listed = |arguments: &[&str]| Webloom::new(["pages"]).args([folder.crawl()]).args(arguments).run().expect(0);
    let pages = pages(&folder.crawl());
    let columns: BTreeSet<_> = COLUMNS.split(',').collect();
    assert!(
        pages
            .values()
            .all(|page| page.as_object().unwrap().keys().map(String::as_str).collect::<BTreeSet<_>>() == columns)
    );
    let root = &pages[&server.url("/")];
    assert!(root["digest"].as_str().unwrap().starts_with("sha256:") && root["digest"].as_str().unwrap().len() == 71);
    assert_eq!((&root["change"], &root["hop"], &root["via"]), (&"new".into(), &"start".into(), &Value::Null));
    assert_eq!(pages[&server.url("/gone")]["status"], 410);
    let csv = listed(&["--format", "csv"]).stdout;
    assert_eq!(csv.lines().next(), Some(COLUMNS));
    assert!(csv.contains("\"\"title\"\","), "{csv}");
    let table = listed(&[]).stdout;
    assert_eq!(table.lines().next().map(|line| line.replace('\t', ",")).as_deref(), Some(COLUMNS));
    assert_eq!(table.lines().count(), 5);
    for (filter, expected) in [
        (["--status", "200"], vec!["/", "/text"]),
        (["--outcome", "broken"], vec!["/gone"]),
        (["--type", "text/html"], vec!["/"]),
        (["--max-depth", "0"], vec!["/"]),
        (["--match", "/m.*d$"], vec!["/moved"]),
        (["--sequence", "0"], vec!["/", "/text", "/gone", "/moved"]),
        (["--outcome", "lost"], vec![]),
        (["--status", "503"], vec![]),
    ] {
        let run = listed(&["--format", "jsonl", filter[0], filter[1]]);
        assert_eq!(run.stderr, if expected.is_empty() { "no URL matches\n" } else { "" });
        let lines = run.json_lines();
        let urls: Vec<_> = lines.iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect();
        assert_eq!(urls, expected.iter().map(|path| server.url(path)).collect::<Vec<_>>(), "{filter:?}");
    }
}

#[test]
fn a_filter_that_nothing_can_pass_is_a_slip() {
    let server = small();
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    for (filter, words) in [
        (["--outcome", "borken"], ["borken", "'broken'"]),
        (["--status", "1000"], ["1000", "from 100 to 999"]),
        (["--status", "99"], ["99", "from 100 to 999"]),
        (["--sequence", "9"], ["9", "only sequence 0"]),
        (["--type", "image/png"], ["image/png", "text/html, text/plain"]),
        (["--type", ""], ["\"\"", "text/html, text/plain"]),
        (["--match", "("], ["--match", "regex"]),
        (["--max-depth", "deep"], ["deep", "--max-depth"]),
    ] {
        let run = Webloom::new(["pages"]).args([folder.crawl()]).args(filter).run().expect(2);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{filter:?}: {}", run.stderr);
        assert!(run.stderr.lines().count() <= 8 && run.stdout.is_empty(), "{run:?}");
    }
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--again"]).run().expect(0);
    let run = Webloom::new(["pages", "--sequence", "2"]).args([folder.crawl()]).run().expect(2);
    assert!(run.stderr.contains("the sequences 0 to 1") && run.stderr.lines().count() == 1, "{}", run.stderr);
}

#[test]
fn explain_url() {
    let input = "{\"url\":\"HTTP://H.example:80/a/../b?c#d\"}\nnonsense\n{\"url\":\"x\",\"base\":\"http://h/y/\"}\n{\"url\":\"ftp://h/\"}\n";
    let lines = Webloom::new(["explain", "url"]).run_with(input).expect(0).json_lines();
    assert_eq!(lines.len(), 4);
    assert_eq!((&lines[0]["url"], &lines[0]["key"]), (&"http://h.example/b?c".into(), &"http://h.example/b?c".into()));
    assert_eq!(lines[0]["host"], "h.example");
    assert!(lines[1]["error"].is_string());
    assert_eq!(lines[2]["url"], "http://h/y/x");
    assert!(lines[3]["url"].is_null() && lines[3]["reason"].is_string());
    for name in ["url", "key", "surt", "host", "domain", "rules", "reason"] {
        assert!(lines[0].as_object().unwrap().contains_key(name), "{name}");
    }
}

#[test]
fn explain_robots() {
    let input = [
        json!({"robots": "User-agent: a\nDisallow: /x\nCrawl-delay: 2\nSitemap: http://h/s.xml", "user_agent": "a", "url": "/x/y"}),
        json!({"robots_b64": "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLw==", "user_agent": "b", "url": "http://h/"}),
        json!({"robots": "", "user_agent": "b", "url": "/", "status": 503}),
        json!({"user_agent": "b", "url": "/"}),
    ];
    let input = input.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n");
    let lines = Webloom::new(["explain", "robots"]).run_with(&input).expect(0).json_lines();
    assert_eq!(
        lines[0],
        json!({"allowed": false, "rule": "Disallow: /x", "crawl_delay": 2.0, "sitemaps": ["http://h/s.xml"]})
    );
    assert_eq!((&lines[1]["allowed"], &lines[2]["allowed"]), (&false.into(), &false.into()));
    assert!(lines[3]["error"].is_string() && lines.len() == 4);
}

#[test]
fn explain_links() {
    let html = "<base href=/b/><title>T</title><a href=x#y>1</a><a href=x>2</a><a rel=nofollow href=z>3</a>\
                <link rel=stylesheet href=s.css><img src=i.png><iframe src=f></iframe>";
    let input = format!("{}\n{{}}\n", json!({"html": html, "base": "http://h/a"}));
    let lines = Webloom::new(["explain", "links"]).run_with(&input).expect(0).json_lines();
    let page = &lines[0];
    assert_eq!(page["links"], json!(["http://h/b/x", "http://h/b/z"]));
    assert_eq!((&page["nofollow"], &page["frames"]), (&json!(["http://h/b/z"]), &json!(["http://h/b/f"])));
    assert_eq!(
        (&page["title"], &page["base"], &page["charset"]),
        (&"T".into(), &"http://h/b/".into(), &json!("UTF-8"))
    );
    let names = [
        "links",
        "requisites",
        "frames",
        "alternates",
        "nofollow",
        "base",
        "charset",
        "meta_robots",
        "title",
        "h1",
        "language",
        "words",
    ];
    assert!(names.iter().all(|name| page.as_object().unwrap().contains_key(*name)), "{page}");
    assert!(lines[1]["error"].is_string());
}

#[test]
fn config_prints_what_it_means() {
    let default = Webloom::new(["config", "default"]).run().expect(0).stdout;
    assert_eq!(
        default,
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../config/default.toml")).unwrap()
    );
    let shown =
        Webloom::new(["config", "show", "--delay", "3s"]).env("WEBLOOM_RETRY_ATTEMPTS", "7").run().expect(0).stdout;
    assert!(shown.contains("politeness.delay = \"3s\"  # flag --delay\n"), "{shown}");
    assert!(shown.contains("retry.attempts = 7  # variable WEBLOOM_RETRY_ATTEMPTS\n"), "{shown}");
}
