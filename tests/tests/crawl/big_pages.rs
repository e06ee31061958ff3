//! Pages made to fill memory or disk: what is kept of them is bounded.

use std::{fs, path::Path, sync::Arc};

use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts};

const MB: u64 = 1_000_000;

/// Where every URL is counted.
const NONE_LOST: [&str; 2] = ["--max-lost-urls", "0.000001"];

/// A server whose start page is this; there is nothing else.
fn with_page(address: u8, page: &Arc<String>) -> Server {
    let page = Arc::clone(page);
    let answer = move |asked: &webloom_tests::server::Asked| match asked.target.as_str() {
        "/" => Reply::html(&*page),
        _ => Reply::status(404),
    };
    Server::start(&format!("127.0.0.{address}"), answer).expect("a free port")
}

/// Links to `/0`, `/1` and so on.
fn links(number: u32) -> String {
    (0..number).map(|link| format!("<a href={link}>")).collect::<Vec<_>>().concat()
}

/// Crawls the start pages of these alone; the summary.
fn crawl_starts(servers: &[Server], dir: &Path) -> Value {
    let starts = servers[1..].iter().map(|server| server.url("/"));
    let run = Webloom::crawl(dir, &servers[0].url("/")).args(starts).args(NONE_LOST);
    let summary = run.args(["--max-pages", &servers.len().to_string()]).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(dir);
    assert_eq!(summary["pages"]["stored"], servers.len());
    summary
}

fn peak(summary: &Value) -> u64 {
    summary["peak_memory_bytes"].as_u64().expect("this system tells it")
}

#[test]
fn a_long_base_and_a_million_links() {
    let base = format!("<base href=/{}/>", "b".repeat(2000));
    let page = Arc::new(base + &links(1_200_000));
    let folder = Folder::new();
    let summary = crawl_starts(&[with_page(1, &page)], &folder.crawl());
    assert!(peak(&summary) < 150 * MB, "{}", peak(&summary));
    let size = fs::metadata(folder.crawl().join("webloom.sqlite")).unwrap().len();
    assert!(size < 100 * MB, "{size}");
    assert_eq!(summary["pages"]["truncated"], 1);
    assert!(summary["urls"]["refused"]["max_links"].as_u64() > Some(1_000_000), "{summary}");
}

/// From 115 to 160 MB, as the pages are read at the same moment or not.
#[test]
fn short_links_by_the_million_on_several_hosts_at_once() {
    let page = Arc::new(links(900_000));
    let servers: Vec<_> = (1..=8).map(|address| with_page(address, &page)).collect();
    let folder = Folder::new();
    let summary = crawl_starts(&servers, &folder.crawl());
    assert!(peak(&summary) < 200 * MB, "{}", peak(&summary));
    assert_eq!(summary["urls"]["refused"]["max_links"], 8 * 800_000);
    assert_eq!(summary["counts"]["admitted"], 8 * 100_001);
    for page in pages(&folder.crawl()).values().filter(|page| page["outcome"] == "stored") {
        assert_eq!(page["truncated"], "links");
    }
}

#[test]
fn a_hundred_thousand_links_are_all_kept() {
    let page = Arc::new(links(100_000));
    let folder = Folder::new();
    let summary = crawl_starts(&[with_page(1, &page)], &folder.crawl());
    assert!(peak(&summary) < 100 * MB, "{}", peak(&summary));
    assert_eq!((&summary["counts"]["admitted"], &summary["pages"]["truncated"]), (&100_001.into(), &0.into()));
}

/// Long links of several starts: while one of these still hangs, the links of the others wait to be judged. From 190 to 250 MB.
#[test]
fn long_links_of_starts_that_wait_for_each_other() {
    let long = |link: u32| format!("<a href={link}{}>", "x".repeat(140));
    let page = Arc::new((0..100_000).map(long).collect::<Vec<_>>().concat());
    let servers: Vec<_> = (1..=20).map(|address| with_page(address, &page)).collect();
    let hangs = Server::start("127.0.0.29", |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::Script(Box::new(|stream| std::io::copy(stream, &mut std::io::sink()).map(drop))),
    });
    let folder = Folder::new();
    let starts = servers[1..].iter().map(|server| server.url("/")).chain([hangs.unwrap().url("/")]);
    let run = Webloom::crawl(&folder.crawl(), &servers[0].url("/")).args(starts).args(["--max-pages", "20"]);
    let run = run.env("WEBLOOM_FETCH_FIRST_BYTE_TIMEOUT", "15s").env("WEBLOOM_RETRY_ATTEMPTS", "1");
    let summary = run.run().expect(0).json();
    assert_counts(&summary);
    assert_eq!(summary["pages"]["stored"], 20);
    assert!(peak(&summary) < 320 * MB, "{}", peak(&summary));
}

/// A body of 400 KB whose length is not known beforehand.
fn chunked(head: &str) -> Reply {
    let piece = format!("{:x}\r\n{}\r\n", 4000, "x".repeat(4000)).repeat(100);
    Reply::Raw(format!("HTTP/1.1 {head}\r\ntransfer-encoding: chunked\r\n\r\n{piece}0\r\n\r\n").into())
}

#[test]
fn a_big_page_that_redirects_to_itself_does_not_wait_for_itself() {
    let server = Server::start("127.0.0.1", |asked| match (asked.target.as_str(), asked.before) {
        ("/", _) => Reply::links((0..80).map(|page| format!("/{page}"))),
        ("/robots.txt", _) => Reply::status(404),
        (target, 0) => chunked(&format!("302 Found\r\nlocation: {target}")),
        _ => chunked("200 OK\r\ncontent-type: text/html"),
    });
    let (server, folder) = (server.unwrap(), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--per-host", "64"]).run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 81);
}

/// Slow bodies hold what they have, and no more: others come to their end meanwhile.
#[test]
fn bodies_that_hold_memory_keep_nobody_else_from_it() {
    let drips = Server::start("127.0.0.2", |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links((0..20).map(|page| format!("/{page}"))),
        _ => Reply::Script(Box::new(|stream| {
            use std::io::Write;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n";
            write!(stream, "{head}{:x}\r\n{}\r\n", 300_000, "x".repeat(300_000))?;
            loop {
                write!(stream, "{:x}\r\n{}\r\n", 1_000, "x".repeat(1_000))?;
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        })),
    });
    let quick = Server::start("127.0.0.3", |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links((0..20).map(|page| format!("/{page}"))),
        _ => chunked("200 OK\r\ncontent-type: text/html"),
    });
    let drips = drips.unwrap();
    let quick = quick.unwrap();
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &drips.url("/")).args([quick.url("/")]).args(["--per-host", "20"]);
    let run = run.env("WEBLOOM_FETCH_TOTAL_TIMEOUT", "15s").env("WEBLOOM_RETRY_ATTEMPTS", "1").run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 42);
    let ended = quick.log().into_iter().filter_map(|hit| hit.ended).max().expect("it was asked");
    let first = quick.log()[0].began;
    assert!(ended - first < std::time::Duration::from_secs(10), "{:?}", ended - first);
}

/// A page's links are admitted part by part: a kill between two parts loses nothing, and nothing is there twice.
#[test]
fn a_kill_between_the_parts_of_a_page_loses_nothing() {
    const LINKS: usize = 9_000;
    let answer = |asked: &webloom_tests::server::Asked| match asked.target.as_str() {
        "/" => Reply::links((0..LINKS).map(|page| format!("/x/{page}"))),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /x/\n"),
        _ => Reply::status(404),
    };
    for cache in [&NONE_LOST[..], &["--cache", "exact", "--reset", "rotate", "--max-cache-memory", "64KiB"]] {
        for step in ["inside_step:4", "after_step:5", "before_step:7", "after_step:8"] {
            let (server, folder) = (Server::start("127.0.0.1", answer).unwrap(), Folder::new());
            let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(cache);
            let killed = run.env("WEBLOOM_FAILPOINT", step).env("WEBLOOM_STORE_COMMIT_VISITS", "1").run();
            assert_eq!(killed.code, None, "{step}: {killed:?}");
            assert_clean(&folder.crawl());
            let summary = Webloom::go_on(&folder.crawl()).run().expect(0).json();
            assert_counts(&summary);
            assert_clean(&folder.crawl());
            assert_eq!(
                (&summary["end"], &summary["counts"]["admitted"]),
                (&"drained".into(), &(LINKS + 1).into()),
                "{step}"
            );
            assert_eq!(summary["urls"]["abandoned"]["robots"], LINKS);
        }
    }
}

/// Where the loss budget stops the crawl in the middle of a page, the page is given back, and goes on with more.
#[test]
fn a_budget_may_end_in_the_middle_of_a_page() {
    let page = Arc::new(links(20_000));
    for (reset, code) in [("stop", 3), ("restart", 0), ("rotate", 0), ("grow", 0)] {
        let (server, folder) = (with_page(1, &page), Folder::new());
        let tight = ["--reset", reset, "--expected-urls", "3000", "--max-lost-urls", "0.5", "--max-pages", "1"];
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(tight).run().expect(code);
        assert_counts(&run.json());
        assert_clean(&folder.crawl());
        let more = ["--reset", "rebuild", "--max-lost-urls", "0.5", "--ignore-robots", "127.0.0.1"];
        let rest = Webloom::go_on(&folder.crawl()).args(more).args(["--max-pages", "2"]).run().expect(0).json();
        assert_counts(&rest);
        assert_clean(&folder.crawl());
        if reset == "stop" {
            assert_eq!(rest["counts"]["admitted"], 20_001, "{reset}");
        }
    }
}

#[test]
fn the_limit_is_a_setting() {
    let page = Arc::new(links(30) + &links(40));
    let server = with_page(1, &page);
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_EXTRACT_MAX_LINKS", "25");
    let summary = run.run().expect(0).json();
    // Links beyond the limit are counted as often as they stand there.
    let refused = &summary["urls"]["refused"]["max_links"];
    assert_eq!((refused, &summary["counts"]["admitted"]), (&20.into(), &26.into()));
    assert_eq!(pages(&folder.crawl())[&server.url("/")]["truncated"], "links");
}

#[test]
fn header_values_are_kept_up_to_a_length() {
    const PAGES: usize = 60;
    let server = Server::start("127.0.0.1", |asked| match asked.target.as_str() {
        "/" => Reply::links((0..PAGES).flat_map(|page| [format!("/type{page}"), format!("/to{page}")])),
        target if target.starts_with("/type") => {
            Reply::Whole(200, vec![format!("content-type: text/{}", "x".repeat(300_000))], b"page".to_vec())
        }
        target if target.starts_with("/to") => Reply::redirect(302, format!("/{}", "y".repeat(300_000))),
        "/robots.txt" => Reply::redirect(302, format!("http://{}.test/", "z".repeat(300_000))),
        _ => Reply::status(404),
    });
    let (server, folder) = (server.unwrap(), Folder::new());
    let summary = Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!(summary["urls"]["refused"]["too_long"], PAGES);
    let size = fs::metadata(folder.crawl().join("webloom.sqlite")).unwrap().len();
    assert!(size < 2 * MB, "{size} bytes of database");
    let pages = pages(&folder.crawl());
    let kept = |path: &str, column: &str| pages[&server.url(path)][column].as_str().map(str::len);
    assert_eq!((kept("/type1", "content_type"), kept("/to1", "redirect")), (Some(256), Some(2048)));
}

#[test]
fn a_body_that_drips_is_given_up() {
    let server = Server::start("127.0.0.1", |asked| match asked.target.as_str() {
        "/" => Reply::links(["/drip", "/quick"]),
        "/drip" => Reply::Script(Box::new(|stream| {
            use std::io::Write;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100000\r\n\r\n")?;
            loop {
                stream.write_all(b"<a href=/seen>")?;
                std::thread::sleep(std::time::Duration::from_millis(500));
            }
        })),
        _ => Reply::html("page"),
    });
    let (server, folder) = (server.unwrap(), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_RETRY_ATTEMPTS", "1").run().expect(0);
    assert!((18..60).contains(&run.took.as_secs()), "{:?}", run.took);
    let pages = pages(&folder.crawl());
    let page = &pages[&server.url("/drip")];
    assert_eq!((&page["outcome"], &page["truncated"]), (&"stored".into(), &"slow".into()));
    assert_eq!(pages[&server.url("/seen")]["outcome"], "stored");
}
