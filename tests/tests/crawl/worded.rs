//! What is said names what is so.

use std::sync::atomic::{AtomicBool, Ordering};

use webloom_tests::{
    server::Reply,
    webloom::{Webloom, pages},
};

use crate::{Folder, crawl, serve, star};

#[test]
fn a_later_sequence_without_a_page_names_its_starts_alone() {
    let is_gone = std::sync::Arc::new(AtomicBool::new(false));
    let (pages, gone) = (star(5), is_gone.clone());
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        _ if gone.load(Ordering::Relaxed) => Reply::status(410),
        _ => pages(asked),
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    is_gone.store(true, Ordering::Relaxed);
    let run = Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(1);
    let named =
        format!("no start URL could be fetched: {} (answered 410); the server has no such page", server.url("/"));
    assert!(run.stderr.contains(&named), "{}", run.stderr);
}

#[test]
fn not_modified_is_no_redirect() {
    let server = serve(|asked| if asked.target == "/1" { Reply::status(304) } else { star(1)(asked) });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let page = &pages(&folder.crawl())[&server.url("/1")];
    assert_eq!((&page["outcome"], &page["reason"]), (&"broken".into(), &"not_modified_unasked".into()));
}

#[test]
fn a_quiet_crawl_that_is_complete_says_nothing() {
    let (server, folder) = (serve(star(1)), Folder::new());
    crawl(&server, &folder.crawl(), &[]);
    let run = Webloom::new(["crawl", "-q", "-d"]).args([folder.crawl()]).run().expect(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
}

#[test]
fn a_directory_may_be_called_like_a_uri() {
    let (server, folder) = (serve(star(1)), Folder::new());
    let crawl = Webloom::new(["crawl", "--json", &server.url("/"), "-d", "file:foo?mode=memory"]);
    let place = folder.crawl();
    std::fs::create_dir(&place).expect("it is new");
    let crawl = crawl.within(&format!("cd {}", place.display())).run().expect(0).json();
    assert_eq!(crawl["pages"]["stored"], 2);
    assert!(place.join("file:foo?mode=memory/webloom.sqlite").exists());
}
