//! Sitemaps and feeds: pages that only they list are found, each file is asked for once a sequence, and `sitemap` says what does not
//! fit together.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::Write as _,
    path::Path,
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use rustix::process::Signal;
use serde_json::Value;
use webloom_tests::{
    server::{Asked, Hit, Reply, Server},
    webloom::{REDISCOVER, Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts, closing, serve};

/// Other tests look at what a crawl asks for because of links alone.
const ON: (&str, &str) = ("WEBLOOM_SOURCES_SITEMAPS", "on");

fn xml(body: impl Into<Vec<u8>>) -> Reply {
    Reply::Whole(200, vec!["content-type: application/xml".to_owned()], body.into())
}

fn urlset(urls: impl IntoIterator<Item = String>) -> String {
    let entries = urls.into_iter().fold(String::new(), |mut entries, url| {
        let _ = write!(entries, "<url><loc>{url}</loc><lastmod>2026-01-02</lastmod></url>");
        entries
    });
    format!("<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

fn index(urls: impl IntoIterator<Item = String>) -> String {
    let entries =
        urls.into_iter().fold(String::new(), |entries, url| entries + "<sitemap><loc>" + &url + "</loc></sitemap>");
    format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</sitemapindex>")
}

fn host(asked: &Asked) -> String {
    let host = asked.headers.iter().find_map(|header| header.to_lowercase().strip_prefix("host: ").map(str::to_owned));
    format!("http://{}", host.expect("a host"))
}

/// Crawls from `/` to the end, with sitemaps; the summary.
fn crawl(server: &Server, dir: &Path, arguments: &[&str]) -> Value {
    let run = Webloom::crawl(dir, &server.url("/")).args(arguments).env(ON.0, ON.1).run().expect(0);
    let summary = run.json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(dir);
    assert_eq!(summary["requests"]["sent"].as_u64(), Some(server.log().len() as u64), "{summary}");
    summary
}

/// The findings of `sitemap`, by path.
fn findings(server: &Server, dir: &Path) -> BTreeMap<String, Value> {
    let run = Webloom::new(["sitemap", "--format", "jsonl"]).args([dir]).run().expect(0);
    let path = |line: &Value| line["url"].as_str().expect("a URL").replace(&server.url(""), "");
    run.json_lines().into_iter().map(|line| (path(&line), line)).collect()
}

fn by_finding(lines: &BTreeMap<String, Value>, finding: &str) -> BTreeSet<String> {
    lines.iter().filter(|(_, line)| line["finding"] == finding).map(|(path, _)| path.clone()).collect()
}

fn set(paths: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    paths.into_iter().collect()
}

const LINKED: usize = 60;

/// A site of 60 linked pages whose index names two sitemaps: pages that nothing links to, pages that are gone, forbidden, or moved.
fn site(asked: &Asked) -> Reply {
    let at = |path: String| format!("{}{path}", host(asked));
    let number = |prefix: &str| asked.target.strip_prefix(prefix).and_then(|rest| rest.parse::<usize>().ok());
    let reply = match asked.target.as_str() {
        "/" => Reply::links((0..LINKED).map(|page| format!("/p{page}"))),
        "/robots.txt" => {
            return Reply::text(format!("User-agent: *\nDisallow: /no\nSitemap: {}\n", at("/index.xml".to_owned())));
        }
        "/index.xml" => xml(index(["/one.xml", "/two.xml.gz"].map(|path| at(path.to_owned())))),
        "/one.xml" => xml(urlset(
            (0..40).map(|page| at(format!("/p{page}"))).chain((0..30).map(|page| at(format!("/only{page}")))),
        )),
        "/two.xml.gz" => {
            let paths = (0..8).map(|page| format!("/gone{page}"));
            let paths =
                paths.chain((0..5).map(|page| format!("/no{page}"))).chain((0..7).map(|page| format!("/moved{page}")));
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(urlset(paths.map(at)).as_bytes()).expect("memory");
            xml(packed.finish().expect("memory"))
        }
        _ if number("/p").is_some() || number("/only").is_some() => Reply::links(["/"]),
        _ if number("/moved").is_some() => {
            return Reply::redirect(301, format!("/p{}", number("/moved").expect("it is one")));
        }
        _ => return Reply::status(404),
    };
    let is_known = asked.headers.iter().any(|header| header.to_lowercase() == "if-none-match: \"1\"");
    if is_known { Reply::status(304) } else { reply.header("ETag: \"1\"") }
}

#[test]
fn what_only_a_sitemap_lists_is_found_and_what_does_not_fit_is_said() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    let summary = crawl(&server, &dir, &[]);
    let found = pages(&dir);
    let hop = |path: &str| found[&server.url(path)]["hop"].clone();
    assert_eq!([hop("/index.xml"), hop("/one.xml"), hop("/only3")], ["sitemap"; 3].map(Value::from));
    assert_eq!(
        (found[&server.url("/only3")]["via"].as_str(), summary["pages"]["html"].as_u64()),
        (Some(&*server.url("/one.xml")), Some(91))
    );
    assert_eq!(server.targets().iter().filter(|target| target.starts_with("/no")).count(), 0, "robots.txt forbids it");
    let lines = findings(&server, &dir);
    let paths = |prefix: &str, from, to| set((from..to).map(|number| format!("{prefix}{number}")));
    assert_eq!(by_finding(&lines, "broken"), paths("/gone", 0, 8));
    assert_eq!(by_finding(&lines, "forbidden"), paths("/no", 0, 5));
    assert_eq!(by_finding(&lines, "redirected"), paths("/moved", 0, 7));
    assert_eq!(by_finding(&lines, "not_linked"), paths("/only", 0, 30));
    let mut unlisted = paths("/p", 40, LINKED);
    unlisted.insert("/".to_owned());
    assert_eq!(by_finding(&lines, "not_in_sitemap"), unlisted);
    let line = &lines["/p7"];
    assert_eq!((&line["finding"], &line["in_sitemap"], &line["linked"]), (&Value::Null, &true.into(), &true.into()));
    assert_eq!((line["lastmod"].as_str(), line["status"].as_u64()), (Some("2026-01-02T00:00:00Z"), Some(200)));
    assert_eq!(lines.len(), 40 + 30 + 8 + 5 + 7 + 20 + 1);
    let broken = Webloom::new(["links", "--broken", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
    assert_eq!((broken.len(), &broken[0]["element"]), (8, &"sitemap".into()));
}

#[test]
fn what_names_another_page_as_canonical_belongs_in_no_sitemap() {
    let server = serve(|asked| match asked.target.as_str() {
        "/sitemap.xml" => xml(urlset(["/", "/print", "/%7Ea"].map(|path| format!("{}{path}", host(asked))))),
        "/" => Reply::html(
            "<a href=/print>print</a><a href=/%7Ea>a</a><a href=/other>other</a><link rel=canonical href=/>",
        ),
        "/print" | "/other" => Reply::html("<link rel=canonical href=/>"),
        "/%7Ea" => Reply::html("<link rel=canonical href=/~a>"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let lines = findings(&server, &folder.crawl());
    let found: Vec<_> = lines.iter().map(|(path, line)| (path.as_str(), line["finding"].as_str())).collect();
    assert_eq!(found, [("/", None), ("/%7Ea", None), ("/other", None), ("/print", Some("not_canonical"))]);
}

#[test]
fn a_further_sequence_asks_for_each_sitemap_once_and_only_if_it_is_new() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    for again in [&["--again"][..], &REDISCOVER] {
        let line = server.log().len();
        let run = Webloom::go_on(&dir).args(again).env(ON.0, ON.1).run().expect(0);
        assert_clean(&dir);
        let log: Vec<Hit> = server.log().into_iter().skip(line).collect();
        let mut targets: Vec<&str> = log.iter().map(|hit| &*hit.target).collect();
        let asked = targets.len();
        targets.sort_unstable();
        targets.dedup();
        assert_eq!(targets.len(), asked, "nothing is asked for twice");
        let is_conditional =
            |hit: &&Hit| hit.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"));
        let sitemaps = log.iter().filter(|hit| hit.target.contains(".xml"));
        // What begins as if nothing were known asks for all of it.
        let conditional = if again.len() == 1 { 3 } else { 0 };
        assert_eq!((sitemaps.clone().count(), sitemaps.filter(is_conditional).count()), (3, conditional), "{again:?}");
        let summary = run.json();
        assert_eq!(
            (summary["pages"]["stored"].as_u64(), summary["pages"]["new"].as_u64()),
            (Some(94), Some(0)),
            "{summary}"
        );
        assert_eq!(findings(&server, &dir).len(), 111);
    }
}

type Answer = fn(&Asked) -> Reply;

/// A site without links beyond its start, whose usual place has a sitemap or something else.
fn usual(sitemap: impl Fn(&Asked) -> Reply) -> impl Fn(&Asked) -> Reply {
    move |asked| match asked.target.as_str() {
        "/" | "/a" | "/b" => Reply::html("text"),
        "/sitemap.xml" => sitemap(asked),
        _ => Reply::status(404),
    }
}

#[test]
fn the_usual_place_is_asked_once_and_is_no_page_if_it_has_no_sitemap() {
    let listed = |asked: &Asked| xml(urlset(["/a", "/b"].map(|path| format!("{}{path}", host(asked)))));
    let server = serve(usual(listed));
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_eq!((server.count("/sitemap.xml"), summary["pages"]["stored"].as_u64()), (1, Some(4)), "{summary}");
    for again in [&["--again"][..], &REDISCOVER] {
        let before = server.count("/sitemap.xml");
        Webloom::go_on(&folder.crawl()).args(again).env(ON.0, ON.1).run().expect(0);
        assert_eq!(server.count("/sitemap.xml"), before + 1);
        assert_clean(&folder.crawl());
    }
    let nothing: [Answer; 4] = [
        |_| Reply::status(404),
        |_| Reply::html("<a href=/a>not found</a>"),
        |_| Reply::redirect(302, "/"),
        |_| xml("<svg/>"),
    ];
    for answer in nothing {
        let (server, folder) = (serve(usual(answer)), Folder::new());
        let summary = crawl(&server, &folder.crawl(), &[]);
        assert_eq!((server.count("/sitemap.xml"), server.count("/a")), (1, 0));
        assert_eq!(
            (summary["counts"]["admitted"].as_u64(), summary["pages"]["broken"].as_u64()),
            (Some(1), Some(0)),
            "{summary}"
        );
        assert_eq!(pages(&folder.crawl()).len(), 1);
        let run = Webloom::new(["sitemap"]).args([folder.crawl()]).run().expect(0);
        assert!(run.stderr.contains("has read no sitemap"), "{}", run.stderr);
    }
    let moved = |asked: &Asked| match asked.target.as_str() {
        "/sitemap.xml" => Reply::redirect(301, "/sitemap_index.xml"),
        "/sitemap_index.xml" => xml(urlset([format!("{}/a", host(asked))])),
        _ => usual(|_| Reply::status(404))(asked),
    };
    let (server, folder) = (serve(moved), Folder::new());
    crawl(&server, &folder.crawl(), &[]);
    assert_eq!((server.count("/a"), server.count("/sitemap_index.xml")), (1, 1));
}

#[test]
fn a_sitemap_may_be_given_be_a_text_or_be_left_alone() {
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/list.txt" => Reply::text(format!("{0}/a\n{0}/b\n", host(asked))),
        _ => usual(|_| Reply::status(404))(asked),
    };
    let (server, folder) = (serve(answer), Folder::new());
    crawl(&server, &folder.crawl(), &["--sitemap", &server.url("/list.txt")]);
    assert_eq!((server.count("/a"), server.count("/b"), server.count("/sitemap.xml")), (1, 1, 0));
    // It may be given to a crawl that is complete.
    let (server, folder) = (serve(answer), Folder::new());
    crawl(&server, &folder.crawl(), &[]);
    Webloom::go_on(&folder.crawl()).args(["--sitemap", &server.url("/list.txt")]).env(ON.0, ON.1).run().expect(0);
    assert_eq!((server.count("/a"), server.count("/b")), (1, 1));
    assert_clean(&folder.crawl());
    let elsewhere =
        Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(["--sitemap", "http://elsewhere.invalid/x.xml"]);
    assert!(elsewhere.env(ON.0, ON.1).run().expect(0).stderr.contains("--sitemap"));
    let wrong =
        Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(["--sitemap", "ftp://x/"]).run().expect(2);
    assert!(wrong.stderr.contains("--sitemap"), "{}", wrong.stderr);
    let (server, folder) = (serve(site), Folder::new());
    let off = Webloom::crawl(&folder.crawl(), &server.url("/")).env(ON.0, "off").run().expect(0).json();
    assert_eq!((off["pages"]["stored"].as_u64(), server.count("/index.xml")), (Some(61), 0));
}

#[test]
fn a_prefix_and_patterns_do_not_hide_a_sitemap_and_hold_for_what_it_lists() {
    let answer = |asked: &Asked| {
        let at = |path: &str| format!("{}{path}", host(asked));
        match asked.target.as_str() {
            "/sitemap.xml" => xml(index([at("/maps/1.xml")])),
            "/maps/1.xml" => xml(urlset(["/docs/a", "/docs/b.pdf", "/blog/c"].map(at))),
            "/docs/" | "/docs/a" | "/docs/b.pdf" | "/blog/c" => Reply::html("text"),
            _ => Reply::status(404),
        }
    };
    let (server, folder) = (serve(answer), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/docs/")).args([
        "--scope",
        "prefix",
        "--include",
        "/docs/[a-z]*$",
    ]);
    run.env(ON.0, ON.1).run().expect(0);
    assert_clean(&folder.crawl());
    assert_eq!(["/docs/a", "/docs/b.pdf", "/blog/c"].map(|path| server.count(path)), [1, 0, 0]);
}

#[test]
fn nested_and_circular_indexes_come_to_an_end() {
    let answer = |asked: &Asked| {
        let at = |path: String| format!("{}{path}", host(asked));
        match asked.target.strip_prefix("/level").and_then(|rest| rest.parse::<usize>().ok()) {
            Some(level) => {
                xml(index([format!("/level{}", level + 1), "/level0".to_owned(), format!("/end{level}.xml")].map(at)))
            }
            None if asked.target == "/" => Reply::html("text"),
            None if asked.target == "/robots.txt" => Reply::text("Sitemap: /level0"),
            None if asked.target.contains(".xml") => xml(urlset([at(asked.target.replace(".xml", ""))])),
            None => Reply::html("text"),
        }
    };
    let (server, folder) = (serve(answer), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env(ON.0, ON.1).run().expect(0);
    assert!(run.stderr.contains("nested too deep"), "{}", run.stderr);
    assert_clean(&folder.crawl());
    assert_eq!((server.count("/end4"), server.count("/level6"), server.count("/level0")), (1, 0, 1));
}

#[test]
fn the_entries_of_a_feed_are_found() {
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html("<a href=/feed>news</a>"),
        "/feed" => {
            let item = |path: &str| format!("<item><link>{}{path}</link></item>", host(asked));
            let body = format!("<rss version=\"2.0\"><channel>{}{}</channel></rss>", item("/a"), item("/b"));
            Reply::Whole(200, vec!["content-type: application/rss+xml".to_owned()], body.into())
        }
        "/a" | "/b" => Reply::html("text"),
        _ => Reply::status(404),
    };
    let (server, folder) = (serve(answer), Folder::new());
    crawl(&server, &folder.crawl(), &[]);
    assert_eq!(pages(&folder.crawl())[&server.url("/a")]["hop"], "feed");
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_SOURCES_FEEDS", "off").run().expect(0);
    assert_eq!((server.count("/a"), server.count("/feed")), (1, 2));
}

/// The answer of a guess waits for the turn of its URL: meanwhile a page may need the room for links that it had.
#[test]
fn a_sitemap_that_waits_for_its_turn_keeps_no_page_waiting() {
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links((0..900).map(|page| format!("/{page}"))),
        "/sitemap.xml" => xml(urlset((0..800).map(|page| format!("{}/only{page}", host(asked))))),
        "/robots.txt" => Reply::status(404),
        _ => Reply::html("text"),
    };
    let (server, folder) = (serve(answer), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--concurrency", "1"]);
    let run = run.env(ON.0, ON.1).env("WEBLOOM_EXTRACT_MAX_LINKS", "1000").run().expect(0);
    assert_eq!(run.json()["pages"]["html"].as_u64(), Some(1_701), "{}", run.stdout);
    assert_eq!(server.count("/sitemap.xml"), 1);
}

#[test]
fn what_is_beyond_the_limits_of_a_sitemap_is_said() {
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/sitemap.xml" => xml(urlset((0..50_001).map(|page| format!("{}/{page}", host(asked))))),
        _ => usual(|_| Reply::status(404))(asked),
    };
    let (server, folder) = (serve(answer), Folder::new());
    let run =
        Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "3"]).env(ON.0, ON.1).run().expect(0);
    let summary = run.json();
    let counted = (&summary["pages"]["truncated"], &summary["urls"]["refused"]["max_links"]);
    assert_eq!(counted, (&1.into(), &1.into()), "{summary}");
    assert_eq!(pages(&folder.crawl())[&server.url("/sitemap.xml")]["truncated"], "links");
}

/// A large sitemap is admitted in parts: kills in between lose nothing, and ask for little twice.
#[test]
fn kills_lose_nothing_of_a_sitemap() {
    const PAGES: usize = 9_000;
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/sitemap.xml" => xml(urlset((0..PAGES).map(|page| format!("{}/{page}", host(asked))))),
        "/robots.txt" => Reply::status(404),
        _ => Reply::html("text"),
    };
    let (server, folder) = (serve(closing(answer)), Folder::new());
    let dir = folder.crawl();
    for kill in 1..=4_u32 {
        let run = Webloom::crawl(&dir, &server.url("/")).env(ON.0, ON.1).spawn();
        server.wait_for("/sitemap.xml", 1);
        std::thread::park_timeout(Duration::from_millis(u64::from(150 * kill)));
        run.signal(Signal::KILL);
        run.wait();
    }
    let summary = Webloom::go_on(&dir).env(ON.0, ON.1).run().expect(0).json();
    assert_eq!(
        (summary["end"].as_str(), summary["pages"]["html"].as_u64()),
        (Some("drained"), Some(PAGES as u64 + 1)),
        "{summary}"
    );
    assert_clean(&dir);
    assert!(server.count("/sitemap.xml") <= 5);
}

/// A host that fails over its sitemap alone has its pages all the same, also where it had one before.
#[test]
fn a_sitemap_that_fails_keeps_no_page_waiting() {
    for trouble in [|| Reply::status(500), || Reply::status(503), || Reply::status(429), Reply::hang_up] {
        let answer = closing(move |asked: &Asked| match asked.target.as_str() {
            "/sitemap.xml" => trouble(),
            "/robots.txt" => Reply::status(404),
            "/" => Reply::links(["/1", "/2"]),
            _ => Reply::html("text"),
        });
        let (server, folder) = (serve(answer), Folder::new());
        for again in [&[][..], &["--again"]] {
            let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(again).env(ON.0, ON.1).run().expect(0);
            let summary = run.json();
            assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &3.into()), "{summary}");
            assert_counts(&summary);
            assert_clean(&folder.crawl());
        }
        let times = server.count("/sitemap.xml");
        assert!((8..=20).contains(&times), "{times} times in two sequences");
    }
}
