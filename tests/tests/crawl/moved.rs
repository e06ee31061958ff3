//! A crawl directory that is moved while its crawl runs.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use webloom_tests::{
    server::Reply,
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, chain, serve, star};

#[test]
fn the_figures_are_those_of_the_crawl_wherever_its_directory_is_by_then() {
    let folder = Folder::new();
    let (dir, moved) = (folder.crawl(), folder.0.path().join("moved"));
    let other = serve(star(7));
    let (pages, is_moved) = (chain(4), AtomicBool::new(false));
    let (from, to) = (dir.clone(), moved.clone());
    let server = serve(move |asked| {
        if asked.target == "/2" && !is_moved.swap(true, Ordering::Relaxed) {
            fs::rename(&from, &to).expect("nothing is in the way");
            Webloom::crawl(&from, &other.url("/")).run().expect(0);
        }
        if asked.target == "/robots.txt" { Reply::status(404) } else { pages(asked) }
    });
    let summary = Webloom::crawl(&dir, &server.url("/")).run().expect(0).json();
    assert_eq!(summary["pages"]["stored"], 5, "{summary}");
    assert_clean(&moved);
    let others = Webloom::go_on(&dir).run().expect(0).json();
    assert_eq!(others["pages"]["stored"], 8, "{others}");
}
