//! What leads to pages beside `a` and `area`: each kind alone, and what never does.

use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_asked_once, crawl, serve};

/// One page for each kind, to which nothing else links; what only scripts know of is behind `/no/`.
const START: &str = "<title>start</title><link rel='x Alternate' hreflang=de href=/de><link rel=next href='/next&amp;'>
    <link rel=alternate type='application/rss+xml' href=/feed><link rel='alternate stylesheet' href=/no/style>
    <meta http-equiv=Refresh content='9; URL=\"/refreshed\"'><meta http-equiv=refresh content='60;url=/'>
    <a href=/a>a</a><iframe src=/inline></iframe><iframe src=/no/srcdoc srcdoc=x></iframe><iframe src=about:blank></iframe>
    <form action=/form><input name=q></form><form method=post action=/no/post></form>
    <p data-href=/no/data data-url='/no/url' onclick=\"location.href='/no/click'\">p</p><button onclick='open(\"/no/b\")'>b</button>
    <svg><link rel=next href=/no/svg /></svg><link rel=canonical href=/no/canonical>";

fn site(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/" => Reply::html(START).header("Link: </header>; rel=\"x next\", </no/preload>; rel=preload").header(
            "link: <header/feed>; title=\"a, b\"; rel=alternate; type=application/atom+xml, </no/x>; anchor=\"/\"; rel=next",
        ),
        "/a" => Reply::html("<frameset><frame src=/framed><frame src='javascript:x'></frameset>"),
        "/framed" => Reply::html("<link rel=prev href=/prev>"),
        "/prev" => Reply::text("a file").header("link: <of/a/file>; rel=next"),
        _ => Reply::html("the end"),
    }
}

/// What is reached without forms.
const PAGES: [&str; 12] = [
    "/",
    "/a",
    "/de",
    "/feed",
    "/framed",
    "/header",
    "/header/feed",
    "/inline",
    "/next&",
    "/of/a/file",
    "/prev",
    "/refreshed",
];

fn links(server: &Server, folder: &Folder, from: &str) -> Vec<Value> {
    let from = server.url(from);
    let lines = Webloom::new(["links", "--format", "jsonl", "--from", &from]).args([&folder.crawl()]).run().expect(0);
    let root = server.url("");
    let text = |line: &Value, name: &str| line[name].as_str().map(|text| text.replace(&root, ""));
    lines.json_lines().iter().map(|line| json!([text(line, "to"), text(line, "element"), text(line, "rel")])).collect()
}

#[test]
fn each_kind_of_link_leads_to_its_page_and_is_named() {
    let (server, folder) = (serve(site), Folder::new());
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_eq!(summary["pages"]["stored"], PAGES.len());
    assert_asked_once(&server, &PAGES);
    assert_eq!(
        links(&server, &folder, "/"),
        [
            json!(["/de", "link", "x Alternate"]),
            json!(["/next&", "link", "next"]),
            json!(["/feed", "link", "alternate"]),
            json!(["/refreshed", "meta", null]),
            json!(["/a", "a", null]),
            json!(["/inline", "iframe", null]),
            json!(["/header", "header", "x next"]),
            json!(["/header/feed", "header", "alternate"]),
        ]
    );
    assert_eq!(links(&server, &folder, "/a"), [json!(["/framed", "frame", null])]);
    assert_eq!(links(&server, &folder, "/prev"), [json!(["/of/a/file", "header", "next"])]);
}

#[test]
fn forms_lead_to_pages_if_the_settings_say_so() {
    let (server, folder) = (serve(site), Folder::new());
    let on = ("WEBLOOM_SOURCES_FORMS", "on");
    Webloom::crawl(&folder.crawl(), &server.url("/")).env(on.0, on.1).run().expect(0);
    assert_asked_once(&server, &[&PAGES[..], &["/form"]].concat());
    assert!(links(&server, &folder, "/").contains(&json!(["/form", "form", null])));
    assert_clean(&folder.crawl());
}

#[test]
fn what_a_page_says_of_itself_is_recorded_and_its_canonical_page_followed_if_the_settings_say_so() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::html(
            "<html lang=' de-CH '><meta name=robots content='noindex'><h1></h1><h1>A <a href=/itself>head\ning</a></h1>
             <meta name=description content=' Of a\npage '><link rel=canonical href=/one#x><link rel=canonical href=/no>
             <link rel=alternate hreflang=de href=/de><a href=/itself>a</a>",
        ),
        "/itself" => {
            Reply::html("<link rel=canonical href='/itself'><p>three more<b>words</b>").header("x-robots-tag: none")
        }
        "/de" => Reply::text("a file").header("link: </file>; rel=canonical").header("x-robots-tag: nofollow"),
        _ => Reply::html("the end"),
    });
    for (setting, paths) in [("record", &["/", "/de", "/itself"][..]), ("follow", &["/", "/de", "/itself", "/one"])] {
        let folder = Folder::new();
        Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_SOURCES_CANONICAL", setting).run().expect(0);
        let found = pages(&folder.crawl());
        let urls: Vec<_> = paths.iter().map(|path| server.url(path)).collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), urls.iter().collect::<Vec<_>>());
        let said = |path: &str| {
            ["description", "canonical"].map(|column| found[&server.url(path)][column].as_str().map(str::to_owned))
        };
        assert_eq!(said("/"), [Some("Of a page".to_owned()), Some(server.url("/one"))]);
        assert_eq!([said("/itself"), said("/de")], [[None, None], [None, Some(server.url("/file"))]]);
        let said =
            |path: &str| ["language", "h1", "robots", "words"].map(|column| found[&server.url(path)][column].clone());
        assert_eq!(json!(said("/")), json!(["de-CH", "A head ing", "noindex", 4]));
        assert_eq!(json!(said("/itself")), json!([null, null, "noindex,nofollow", 3]));
        assert_eq!(json!(said("/de")), json!([null, null, "nofollow", null]));
        let links = Webloom::new(["links", "--format", "jsonl", "--to", &server.url("/de")]).args([&folder.crawl()]);
        assert_eq!(links.run().expect(0).json_lines()[0]["hreflang"], "de");
        assert_clean(&folder.crawl());
    }
}

#[test]
fn bodies_of_other_types_are_not_read() {
    let typed = |kind: &str| Reply::Whole(200, vec![format!("content-type: {kind}")], vec![b'x'; 3_000_000]);
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links(["/film", "/picture", "/paper"]),
        "/film" => typed("video/mp4"),
        "/picture" => typed("image/png"),
        "/paper" => typed("application/pdf"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &["--type", "application/pdf", "--type", "image/*"]);
    let found = pages(&folder.crawl());
    let read = |path: &str| {
        let page = &found[&server.url(path)];
        (page["outcome"].clone(), page["bytes"].as_u64(), page["truncated"].as_str().map(str::to_owned))
    };
    let stored = || Value::from("stored");
    assert_eq!(read("/film"), (stored(), Some(0), Some("rule".to_owned())));
    assert_eq!(
        [read("/picture"), read("/paper")],
        [(stored(), Some(3_000_000), None), (stored(), Some(3_000_000), None)]
    );
    assert!(summary["requests"]["bytes_in"].as_u64() < Some(6_100_000), "{summary}");
    assert_clean(&folder.crawl());
    Webloom::new(["crawl", &server.url("/"), "--type", "pdf"]).run().expect(2);
}

#[test]
fn pages_that_show_nothing_without_scripts_are_named_and_summed_up() {
    let shell = "<div id=app></div><script src=/app.js></script><noscript>Please enable JavaScript.</noscript>";
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::html("<script></script><a href=/1>1</a><a href=/2>2</a><a href=/file>file</a>"),
        "/1" | "/2" => Reply::html(shell),
        "/file" => Reply::text("<script></script>"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let run =
        Webloom::new(["crawl", &server.url("/"), "--delay", "0", "--dir"]).args([&folder.crawl()]).run().expect(0);
    assert!(run.stdout.contains("2 of 3 HTML pages look like empty shells"), "{}", run.stdout);
    let found = pages(&folder.crawl());
    let shown = |path: &str| found[&server.url(path)]["needs_js"].clone();
    assert_eq!(["/", "/1", "/2", "/file"].map(shown), [Value::Null, true.into(), true.into(), Value::Null]);
    assert_clean(&folder.crawl());
}

#[test]
fn a_page_that_asks_not_to_follow_has_none_of_them_followed() {
    for by_header in [false, true] {
        let server = serve(move |asked| match (asked.target.as_str(), by_header) {
            ("/", false) => site(asked).header("x-robots-tag: nofollow"),
            ("/", true) => {
                Reply::html(format!("<meta name=robots content=nofollow>{START}")).header("link: </header>; rel=next")
            }
            _ => site(asked),
        });
        let folder = Folder::new();
        let summary = crawl(&server, &folder.crawl(), &[]);
        assert_asked_once(&server, &["/"]);
        assert!(summary["urls"]["refused"]["nofollow"].as_u64() > Some(6), "{summary}");
    }
}

#[test]
fn single_ones_with_nofollow_are_left_out_if_that_is_to_be_obeyed() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::html("<link rel='next nofollow' href=/1><link rel=prev href=/2>")
            .header("link: </3>; rel=\"nofollow next\", </4>; rel=next"),
        _ => Reply::html("the end"),
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--nofollow", "obey"]);
    assert_asked_once(&server, &["/", "/2", "/4"]);
}
