//! `webloom plan`: what a crawl would take, from few requests, with nothing left behind.

use std::path::Path;

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom},
};

use crate::{Folder, crawl, kit::origin, serve, star};

/// A site of so many pages, which a sitemap of its index lists; the start page links to three of them, and to one more.
fn listed(pages: usize) -> impl Fn(&Asked) -> Reply {
    move |asked| {
        let (host, xml) = (origin(asked), |text: String| Reply::html(text).header("content-type: application/xml"));
        match asked.target.as_str() {
            "/robots.txt" => Reply::text(format!("User-agent: *\nCrawl-delay: 0.05\nSitemap: {host}/index.xml")),
            "/index.xml" => {
                xml(format!("<sitemapindex><sitemap><loc>{host}/sitemap-1.xml</loc></sitemap></sitemapindex>"))
            }
            "/sitemap-1.xml" => {
                let entry = |page| format!("<url><loc>{host}/{page}</loc></url>");
                xml(format!("<urlset>{}</urlset>", (1..=pages).map(entry).collect::<String>()))
            }
            "/" => Reply::html("<html lang=en><title>Start</title><a href=/1><a href=/2><a href=/3><a href=/more>"),
            _ => Reply::html("a page"),
        }
    }
}

fn plan(server: &Server, folder: &Path, arguments: &[&str]) -> Run {
    let plan = Webloom::new(["plan", "--no-progress", "--delay", "0", &server.url("/")]).args(arguments);
    plan.env("WEBLOOM_SOURCES_SITEMAPS", "on").env("TMPDIR", &folder.display().to_string()).run()
}

fn number(document: &Value, name: &str) -> f64 {
    document[name].as_f64().unwrap_or_else(|| panic!("no number {name}: {document}"))
}

#[test]
fn a_plan_asks_for_the_start_and_the_sitemaps_and_leaves_nothing_behind() {
    let (server, folder) = (serve(listed(40)), Folder::new());
    let run = plan(&server, folder.0.path(), &["--json"]).expect(0);
    let found = run.json();
    let mut asked = server.targets();
    asked.sort_unstable();
    assert_eq!(asked, ["/", "/index.xml", "/robots.txt", "/sitemap-1.xml"]);
    assert_eq!(
        (&found["sitemaps"]["read"], &found["sitemaps"]["more_urls"], &found["links"]),
        (&2.into(), &37.into(), &4.into())
    );
    assert_eq!(
        (&found["pages"], &found["at_least"], &found["start"]["title"]),
        (&42.into(), &false.into(), &"Start".into())
    );
    assert_eq!(found["robots"]["crawl_delay_seconds"], 0.05);
    assert_eq!(found["hosts"][server.url("").as_str()], 42);
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 0);
    let text = plan(&server, folder.0.path(), &[]).expect(0).stdout;
    for said in ["Start", "a pause of 50ms", "2 read, with 37 more URLs", "about 42\n", "disk"] {
        assert!(text.contains(said), "no {said:?}: {text}");
    }
}

#[test]
fn a_crawl_takes_what_was_planned() {
    let (server, folder) = (serve(listed(60)), Folder::new());
    let planned = plan(&server, folder.0.path(), &["--json"]).expect(0).json();
    let dir = folder.crawl();
    let crawl = Webloom::crawl(&dir, &server.url("/")).env("WEBLOOM_SOURCES_SITEMAPS", "on").run().expect(0).json();
    // The sitemaps are pages of a crawl too.
    let pages = |document: &Value| document.as_u64().expect("a count");
    assert_eq!(pages(&crawl["pages"]["stored"]), pages(&planned["pages"]) + 2);
    let ratio = number(&crawl, "seconds") / number(&planned, "seconds");
    assert!((0.5..3.0).contains(&ratio), "{ratio}: {planned}");
    let disk = std::fs::metadata(dir.join("webloom.sqlite")).unwrap().len() as f64 / number(&planned, "disk_bytes");
    assert!((0.3..3.0).contains(&disk), "{disk}: {planned}");
}

#[test]
fn without_a_sitemap_the_start_page_says_how_many_there_are_at_least() {
    let (server, folder) = (serve(star(12)), Folder::new());
    let found = plan(&server, folder.0.path(), &["--json"]).expect(0).json();
    assert_eq!(
        (&found["pages"], &found["at_least"], &found["sitemaps"]["read"]),
        (&13.into(), &true.into(), &0.into())
    );
    let found =
        plan(&server, folder.0.path(), &["--json", "--max-pages", "5", "--exclude", "/1[0-2]$"]).expect(0).json();
    assert_eq!((&found["pages"], &found["at_least"], &found["budget"]), (&5.into(), &false.into(), &5.into()));
    assert_eq!(found["links"], 9, "three are excluded");
    // What else the settings have checked and taken is not asked for, and not written.
    let more =
        ["--check-external", "--check-assets", "--field", "title=title", "--items", "items.jsonl", "--max-depth", "1"];
    plan(&server, folder.0.path(), &more).expect(0);
    crawl(&server, &folder.crawl(), &[]);
}

#[test]
fn a_start_that_gives_no_page_says_why() {
    let (server, folder) = (serve(|_: &Asked| Reply::status(404)), Folder::new());
    let run = plan(&server, folder.0.path(), &[]).expect(1);
    assert!(run.stderr.contains("answered 404") && run.stdout.is_empty(), "{}", run.stderr);
    let forbidden = serve(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /"),
        _ => Reply::html("never"),
    });
    let run = plan(&forbidden, folder.0.path(), &[]).expect(1);
    assert!(run.stderr.contains("robots.txt"), "{}", run.stderr);
    let refused = Webloom::new(["plan", "ftp://h/"]).run().expect(2);
    assert!(refused.stderr.contains("ftp"), "{}", refused.stderr);
    let silent = plan(&serve(|_: &Asked| Reply::hang_up()), folder.0.path(), &["--max-time", "1s"]).expect(1);
    assert!(silent.stderr.contains("could not be fetched") && silent.stdout.is_empty(), "{}", silent.stderr);
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 0);
}
