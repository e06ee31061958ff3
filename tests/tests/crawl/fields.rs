//! Fields: what is taken out of pages, kept with them, and written as items while the crawl runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages, pages_of},
};

use crate::{Folder, assert_counts, serve};

const RULES: [&str; 6] = ["--field", "price=.price", "--field", "image=img@src", "--field", "tags[]=.tag"];

/// A shop of so many products; one page has none of their fields.
fn shop(products: usize) -> Server {
    serve(move |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links((0..products).map(|n| format!("/p/{n}")).chain(["/about".to_owned(), "/x.txt".to_owned()])),
        "/about" => Reply::html("<h1>About</h1>"),
        "/x.txt" => Reply::text("<p class=price>no page</p>"),
        path => {
            let number = path.rsplit('/').next().unwrap_or_default();
            let etag = format!("etag: \"{number}\"");
            if asked.headers.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match")) {
                return Reply::status(304).header(etag);
            }
            let page = format!(
                "<p class=price>\n {number},99\u{a0}\u{20ac}</p><img src=../i/{number}.png><b class=tag>a</b><b class=tag>b</b>"
            );
            Reply::html(page).header(etag)
        }
    })
}

fn file(folder: &Folder) -> PathBuf {
    folder.crawl().with_file_name("items.jsonl")
}

fn items(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("there are items");
    assert!(text.is_empty() || text.ends_with('\n'), "each line is whole");
    text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

/// The URLs of items of a sequence, in order.
fn urls(items: &[Value], sequence: u32) -> Vec<String> {
    let of = items.iter().filter(|item| item["sequence"] == sequence);
    let mut urls: Vec<_> = of.map(|item| item["url"].as_str().unwrap_or_default().to_owned()).collect();
    urls.sort();
    urls
}

fn products(server: &Server, number: usize) -> Vec<String> {
    let mut urls: Vec<_> = (0..number).map(|n| server.url(&format!("/p/{n}"))).collect();
    urls.sort();
    urls
}

#[test]
fn fields_are_kept_with_pages_and_written_as_items_in_each_sequence() {
    let (server, folder) = (shop(5), Folder::new());
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).args(RULES).args(["--items"]).args([file(&folder)]);
    assert_counts(&crawl.run().expect(0).json());
    let expected = |n: usize| json!({ "price": format!("{n},99 \u{20ac}"), "image": server.url(&format!("/i/{n}.png")), "tags": ["a", "b"] });
    let found = items(&file(&folder));
    assert_eq!(urls(&found, 0), products(&server, 5));
    let second = found.iter().find(|item| item["url"] == server.url("/p/2")).unwrap();
    assert_eq!(second["fields"], expected(2));
    assert!(second["fetched_at"].as_str().unwrap().ends_with('Z'), "{second}");
    let kept = pages(&folder.crawl());
    assert_eq!(kept[&server.url("/p/2")]["fields"], expected(2));
    assert_eq!(kept[&server.url("/about")]["fields"], json!({ "price": null, "image": null, "tags": [] }));
    assert_eq!(kept[&server.url("/x.txt")]["fields"], Value::Null);
    // Pages that are not modified have the fields of their copies.
    Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(0);
    assert_eq!(urls(&items(&file(&folder)), 1), products(&server, 5));
    assert_eq!(pages_of(&folder.crawl(), 1)[&server.url("/p/2")]["fields"], expected(2));
    // With other rules, pages are read anew.
    Webloom::go_on(&folder.crawl()).args(["--again", "--field", "price=p.price"]).run().expect(0);
    assert_eq!(pages(&folder.crawl())[&server.url("/p/2")]["fields"], json!({ "price": "2,99 \u{20ac}" }));
    assert_clean(&folder.crawl());
}

#[test]
fn each_page_has_one_item_whatever_kills_the_crawl() {
    let (server, folder) = (shop(40), Folder::new());
    let arguments = |run: Webloom| run.args(RULES).args(["--items"]).args([file(&folder)]);
    for moment in ["inside_step:7", "after_step:9", "before_commit:2", "after_commit:3"] {
        let run = arguments(Webloom::crawl(&folder.crawl(), &server.url("/")));
        let run = run.env("WEBLOOM_STORE_COMMIT_VISITS", "5").env("WEBLOOM_FAILPOINT", moment).run();
        assert_eq!(run.code, None, "{moment}: {}", run.stderr);
    }
    arguments(Webloom::crawl(&folder.crawl(), &server.url("/"))).run().expect(0);
    assert_eq!(urls(&items(&file(&folder)), 0), products(&server, 40));
    assert_clean(&folder.crawl());
}

#[test]
fn items_that_are_wanted_late_are_all_there() {
    let (server, folder) = (shop(9), Folder::new());
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(RULES).args(["--max-pages", "4"]).run().expect(0);
    let late = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none", "--items"]).args([file(&folder)]);
    late.run().expect(0);
    assert_eq!(urls(&items(&file(&folder)), 0), products(&server, 9));
    // What is there already is not written over, and what is gone, or another file, is said.
    let other = Folder::new();
    let taken = Webloom::crawl(&other.crawl(), &server.url("/")).args(RULES).args(["--items"]).args([file(&folder)]);
    assert!(taken.run().expect(2).stderr.contains("this crawl has not written it"));
    let whole = fs::read(file(&folder)).unwrap();
    fs::write(file(&folder), whole.to_ascii_uppercase()).unwrap();
    let changed = Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(2);
    assert!(changed.stderr.contains("this crawl has not written what it has"), "{}", changed.stderr);
    assert_eq!(fs::read(file(&folder)).unwrap().len(), whole.len());
    fs::remove_file(file(&folder)).unwrap();
    let gone = Webloom::go_on(&folder.crawl()).run().expect(2);
    assert!(gone.stderr.contains("it is gone: give another file"), "{}", gone.stderr);
}

#[test]
fn items_that_a_run_left_out_come_with_the_next() {
    let (server, folder) = (shop(6), Folder::new());
    let run = |arguments: &[&str]| {
        Webloom::crawl(&folder.crawl(), &server.url("/")).args(RULES).args(arguments).run().expect(0);
    };
    let name = file(&folder).display().to_string();
    run(&["--items", &name, "--max-pages", "3"]);
    let before = items(&file(&folder)).len();
    run(&["--items", "none", "--max-pages", "5"]);
    assert_eq!(items(&file(&folder)).len(), before);
    run(&["--items", &name, "--max-pages", "none"]);
    assert_eq!(urls(&items(&file(&folder)), 0), products(&server, 6));
    // Also those of pages that were not modified.
    run(&["--items", "none", "--again"]);
    run(&["--items", &name, "--again"]);
    let all = items(&file(&folder));
    assert_eq!([1, 2].map(|sequence| urls(&all, sequence)), [1, 2].map(|_| products(&server, 6)));
}

#[test]
fn rules_that_came_when_a_sequence_was_complete_hold_in_the_next() {
    let (server, folder) = (shop(4), Folder::new());
    Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0);
    Webloom::go_on(&folder.crawl()).args(RULES).run().expect(0);
    for _ in 0..2 {
        Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(0);
        let price = &pages(&folder.crawl())[&server.url("/p/1")]["fields"]["price"];
        assert_eq!(*price, json!("1,99 \u{20ac}"));
    }
}

#[test]
fn items_on_stdout_are_all_that_is_there() {
    let (server, folder) = (shop(3), Folder::new());
    let run = Webloom::new(["crawl", &server.url("/"), "--no-progress", "--items", "-", "-d"]).args([folder.crawl()]);
    let run = run.args(RULES).run().expect(0);
    let lines = run.json_lines();
    assert_eq!(urls(&lines, 0), products(&server, 3));
    assert!(run.stderr.contains("Complete"), "{}", run.stderr);
    let both = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--items", "-"]).run().expect(2);
    assert!(both.stderr.contains("both write to stdout"), "{}", both.stderr);
}

#[test]
fn a_file_may_have_fields_as_a_table_with_structured_data() {
    let server = serve(|asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html(
            "<a href=/p/1>x</a><meta property=og:title content=Start><script type=application/ld+json>{\"a\": 1}</script><h1>S</h1>",
        ),
        _ => Reply::html("<h1>P</h1><i>1</i>"),
    });
    let folder = Folder::new();
    let config = folder.crawl().with_file_name("shop.toml");
    let text =
        "[extract]\nstructured = [\"json-ld\", \"opengraph\"]\n[extract.fields]\ntitle = \"h1\"\n\"all[]\" = \"i\"\n";
    fs::write(&config, text).unwrap();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--config"]).args([&config]).run().expect(0);
    let kept = pages(&folder.crawl());
    let start = json!({ "title": "S", "all": [], "json_ld": [{ "a": 1 }], "opengraph": { "og:title": "Start" } });
    assert_eq!(kept[&server.url("/")]["fields"], start);
    assert_eq!(kept[&server.url("/p/1")]["fields"]["all"], json!(["1"]));
    // A rule for some pages alone.
    let other = Folder::new();
    Webloom::crawl(&other.crawl(), &server.url("/")).args(["--field", "/p/ => title=h1"]).run().expect(0);
    let kept = pages(&other.crawl());
    assert_eq!(
        (&kept[&server.url("/")]["fields"], &kept[&server.url("/p/1")]["fields"]),
        (&Value::Null, &json!({ "title": "P" }))
    );
    for (slip, why) in [("price", "no name"), ("a=p[", "CSS selector"), ("a=p ~ b", "too long")] {
        let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(["--field", slip]).run().expect(2);
        assert!(run.stderr.contains(why), "{slip}: {}", run.stderr);
    }
}
