//! Full-text search of the pages.

use std::{
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages_of},
};

use crate::{Folder, serve};

/// What there is to be read at each of two moments.
fn site() -> (Server, Arc<AtomicUsize>) {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let titled = |title: &str, text: &str| Reply::html(format!("<title>{title}</title><h1>{title}</h1><p>{text}</p>"));
    let server = serve(move |asked: &Asked| {
        let later = now.load(Ordering::SeqCst) > 0;
        match asked.target.as_str() {
            "/" => Reply::links([
                "/install",
                "/guide",
                "/class/HashMap.html",
                "/uses",
                "/sprache",
                "/language",
                "/away",
                "/down",
            ]),
            "/install" if later => titled("Set up", "How to begin on Debian"),
            "/install" => titled("Installation", "How to unpack the tarball"),
            "/guide" => titled("Guide", "First the installation, then a crawl of your <b>site</b>. Déjà vu."),
            "/class/HashMap.html" => titled("HashMap (Docs 17)", &"Much text about tables. ".repeat(400)),
            "/uses" => titled("Uses of class HashMap", "HashMap here, HashMap there"),
            "/sprache" => titled("程式語言", "這是一種程式語言的說明"),
            "/language" => titled("Languages", "<code>a.walk(top)</code><p>walk a dog</p>"),
            "/away" if later => Reply::status(410),
            "/away" => titled("Away", "ephemeral words"),
            "/down" if later => Reply::status(500),
            "/down" => titled("Down", "enduring words"),
            _ => Reply::status(404),
        }
    });
    (server, version)
}

fn search(dir: &Path, words: &[&str]) -> Value {
    search_with(dir, &[], words)
}

fn search_with(dir: &Path, flags: &[&str], words: &[&str]) -> Value {
    let output = Command::new(webloom_tests::webloom::program())
        .arg("search")
        .arg(dir)
        .arg("--json")
        .args(flags)
        .arg("--")
        .args(words)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one document")
}

/// The paths of what is found, the best first.
fn found(dir: &Path, words: &[&str]) -> Vec<String> {
    paths(&search(dir, words))
}

fn paths(found: &Value) -> Vec<String> {
    let hits = found["hits"].as_array().expect("a list");
    assert_eq!(found["total"], hits.len());
    let path = |hit: &Value| hit["url"].as_str().and_then(|url| url.splitn(4, '/').nth(3)).expect("a URL").to_owned();
    hits.iter().map(path).collect()
}

#[test]
fn pages_are_found_by_their_words_and_follow_the_site() {
    let (server, version) = site();
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), server.url("/"));
    let crawl = |flags: &[&str]| {
        Webloom::crawl(&dir, &start)
            .args(flags)
            .env("WEBLOOM_RETRY_BACKOFF", "10ms")
            .env("WEBLOOM_POLITENESS_BACKOFF", "10ms")
            .run()
            .expect(0)
    };
    crawl(&["--archive", "warc"]);
    let cases: &[(&[&str], &[&str])] = &[
        (&["installation"], &["install", "guide"]),
        (&["deja", "VU"], &["guide"]),
        (&["\"the installation\""], &["guide"]),
        (&["\"installation the\""], &[]),
        (&["instal*"], &["install", "guide"]),
        (&["title:guide"], &["guide"]),
        (&["url:hashmap"], &["class/HashMap.html"]),
        (&["HashMap"], &["class/HashMap.html", "uses"]),
        (&["程式"], &["sprache"]),
        (&["程式語言"], &["sprache"]),
        (&["言程"], &[]),
        (&["種"], &["sprache"]),
        (&["a.walk"], &["language"]),
        (&["ephemeral"], &["away"]),
        (&["site", "NOT", "AND"], &[]),
        (&["\"); DROP TABLE url; --"], &[]),
        (&["()*^:"], &[]),
    ];
    for (words, expected) in cases {
        assert_eq!(found(&dir, words), *expected, "{words:?}");
    }
    let hit = &search(&dir, &["crawl"])["hits"][0];
    assert_eq!(hit["snippet"], "First the installation, then a crawl of your site. Déjà vu.");
    assert_eq!((&hit["title"], &hit["sequence"]), (&"Guide".into(), &0.into()));

    version.store(1, Ordering::SeqCst);
    crawl(&["--again"]);
    let cases: &[(&[&str], &[&str])] = &[
        (&["tarball"], &[]),
        (&["Debian"], &["install"]),
        (&["ephemeral"], &[]),
        (&["enduring"], &["down"]),
        (&["installation"], &["guide"]),
    ];
    for (words, expected) in cases {
        assert_eq!(found(&dir, words), *expected, "{words:?}");
    }
    assert_clean(&dir);
}

#[test]
fn a_search_of_an_earlier_time_finds_what_was_there() {
    let ((server, version), folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    let before = jiff::Timestamp::now().to_string();
    Webloom::crawl(&dir, &start).args(["--archive", "warc"]).run().expect(0);
    let then = jiff::Timestamp::now().to_string();
    let at = |time: &str, words: &[&str]| paths(&search_with(&dir, &["--at", time], words));
    let words: [&[&str]; 7] = [
        &["installation"],
        &["ephemeral"],
        &["enduring"],
        &["HashMap"],
        &["title:installation"],
        &["程式"],
        &["unpack", "the"],
    ];
    let first = words.map(|words| search(&dir, words));
    version.store(1, Ordering::SeqCst);
    Webloom::crawl(&dir, &start).args(["--again"]).run().expect(0);
    assert_eq!(found(&dir, &["ephemeral"]), Vec::<String>::new());
    for (words, first) in words.into_iter().zip(first) {
        let now = search_with(&dir, &["--at", &then], words);
        assert_eq!(paths(&now), paths(&first), "{words:?}");
        let scores = |found: &Value| {
            found["hits"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|hit| hit["score"].as_f64())
                .collect::<Option<Vec<_>>>()
        };
        // One page less is there, and another text: what words weigh is about what it was.
        let pairs = scores(&now).into_iter().flatten().zip(scores(&first).into_iter().flatten());
        assert!(pairs.into_iter().all(|(now, first)| (0.3..3.0).contains(&(now / first))), "{words:?}");
    }
    assert_eq!((at(&then, &["debian"]), at(&before, &["installation"])), (vec![], vec![]));
    let later = jiff::Timestamp::now().to_string();
    assert_eq!((at(&later, &["debian"]), at(&later, &["ephemeral"])), (vec!["install".to_owned()], vec![]));
}

#[test]
fn a_crawl_that_is_complete_gets_the_index_that_its_run_could_not_write() {
    let (server, _) = site();
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).args(["--archive", "warc"]).run().expect(0);
    // As a run leaves it that is killed, or has no room, once all pages are there.
    let lost = "UPDATE crawl SET indexed_to = NULL; DELETE FROM indexed_page; DROP TABLE page_words";
    rusqlite::Connection::open(dir.join("webloom.sqlite"))
        .and_then(|database| database.execute_batch(lost))
        .expect("it can be changed");
    let _ = std::fs::remove_file(dir.join("archive/index.cdxj"));
    Webloom::go_on(&dir).run().expect(0);
    assert_eq!(found(&dir, &["installation"]), ["install", "guide"]);
    assert!(dir.join("archive/index.cdxj").exists());
    assert_clean(&dir);
}

#[test]
fn what_is_not_indexed_is_said() {
    let (server, _) = site();
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).run().expect(0);
    let search = || Webloom::new(["search"]).args([&dir]).args(["installation"]).run();
    let refused = search().expect(1);
    assert!(refused.stderr.contains("its pages are not indexed"), "{}", refused.stderr);
    // Texts are kept and indexed from then on.
    Webloom::crawl(&dir, &start).args(["--again"]).env("WEBLOOM_SEARCH_INDEX", "on").run().expect(0);
    assert!(search().expect(0).stdout.contains("/install\n"));
}

/// The host that was asked.
fn host(asked: &Asked) -> String {
    let line =
        asked.headers.iter().find(|line| line.to_ascii_lowercase().starts_with("host:")).expect("each request has one");
    line["host:".len()..].trim().to_owned()
}

#[test]
fn links_and_texts_say_which_pages_matter() {
    let words = |of: &str| (0..200).map(|at| format!("{of}{}", at * at % 97)).collect::<Vec<_>>().join(" ");
    let site = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html(format!(
            "<a href=/hub>h</a><a href=/one>1</a><a href=/two>2</a><a href=/old>o</a><p>{}",
            words("start")
        )),
        "/hub" => Reply::html(format!("<a href=/>s</a><p>{}", words("hub"))),
        "/one" => Reply::html(format!("<a href=/hub>h</a><p>{} one", words("same"))),
        "/two" => Reply::html(format!("<a href=/hub>h</a><link rel=canonical href=/one><p>{} two", words("same"))),
        "/old" => Reply::redirect(301, "/moved"),
        "/alone" => Reply::html("<a href=/alone>itself</a>"),
        "/robots.txt" => Reply::status(404),
        "/sitemap.xml" => Reply::Whole(
            200,
            vec!["content-type: application/xml".to_owned()],
            format!(
                "<urlset><url><loc>http://{0}/alone</loc></url><url><loc>http://{0}/hub</loc></url></urlset>",
                host(asked)
            )
            .into_bytes(),
        ),
        _ => Reply::html("moved"),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let sitemap = site.url("/sitemap.xml");
    Webloom::crawl(&dir, &site.url("/"))
        .args(["--archive", "warc"])
        .env("WEBLOOM_SOURCES_SITEMAPS", "on")
        .run()
        .expect(0);
    let pages = pages_of(&dir, 0);
    let page = |path: &str| &pages[&site.url(path)];
    assert_eq!((&page("/hub")["in_links"], &page("/one")["in_links"]), (&3.into(), &1.into()));
    let important = page("/hub")["importance"].as_f64().unwrap();
    assert!(important > 1.0 && important > page("/two")["importance"].as_f64().unwrap(), "{important}");
    assert_eq!((&page("/two")["similar_to"], &page("/one")["similar_to"]), (&site.url("/one").into(), &Value::Null));
    let orphans = Webloom::new(["links", "--orphans", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
    let orphans: Vec<_> = orphans.iter().map(|line| (line["to"].clone(), line["from"].clone())).collect();
    assert_eq!(orphans, [(site.url("/alone").into(), sitemap.into())]);
    let best =
        Webloom::new(["pages", "--sort=-importance", "--columns", "url", "--limit", "1"]).args([&dir]).run().expect(0);
    assert!(best.stdout.contains("/hub"), "{}", best.stdout);
}
