//! Text that many pages of a section share is no part of what a page says.

use super::{
    NOTHING,
    site::{SOON, Site, TEXT, own_text},
};

/// A menu far longer than what a page says.
fn menu() -> String {
    let lines: Vec<_> = (1..=40).map(|entry| format!("Entry {entry} of a menu that is on every page")).collect();
    lines.join("\n")
}

fn with_menu(site: &Site, path: &str, text: &str) {
    site.page(path, &format!("{}\n{text}", menu()));
}

fn site() -> Site {
    let site = Site::numbered(20);
    (1..=20).map(|page| format!("/{page}")).for_each(|path| with_menu(&site, &path, &own_text(&path)));
    site.crawl(&TEXT);
    site
}

#[test]
fn a_page_of_which_the_menu_is_left_has_shrunk() {
    let site = site();
    with_menu(&site, "/3", "Loading");
    assert_eq!(site.again(&["--confirm", "1h"]), NOTHING);
    assert_eq!(site.again(&["--confirm", "0s"]), ["changed_text /3"]);
}

#[test]
fn an_entry_that_a_page_has_no_more_is_no_change_of_its_text() {
    let site = site();
    let fewer: Vec<_> = menu().lines().skip(2).map(str::to_owned).collect();
    site.page("/3", &format!("{}\n{}", fewer.join("\n"), own_text("/3")));
    assert_eq!(site.again(&[]), ["changed /3"]);
}

#[test]
fn pages_that_share_a_menu_are_not_one_that_moved() {
    let site = site();
    site.status("/3", 410);
    with_menu(&site, "/4", &format!("{}\n{}", own_text("/4"), "See also the other pages"));
    site.page("/5", &format!("{}\n{}", menu(), own_text("/5")));
    with_menu(&site, "/new", "A page about other things\nthat nobody has written before");
    link(&site, "/new");
    assert_eq!(site.again(&SOON), ["changed /", "changed_text /4", "gone /3", "new /new"]);
    // One with the same text is.
    site.status("/7", 410);
    with_menu(&site, "/elsewhere/7", &own_text("/7"));
    link(&site, "/elsewhere/7");
    assert_eq!(site.again(&SOON), ["changed /", "moved /7 -> /elsewhere/7"]);
}

/// Has the start link to one more page.
fn link(site: &Site, path: &str) {
    let super::site::Answer::Page(start) = site.now("/") else { panic!("the start is a page") };
    site.set("/", super::site::Answer::Page(format!("{start}<a href=\"{path}\"></a>")));
}

#[test]
fn a_release_that_makes_texts_in_another_way_tells_nothing() {
    let site = site();
    let database = rusqlite::Connection::open(site.dir().join("webloom.sqlite")).expect("a database");
    let other = "UPDATE text SET rule = rule + 1, digest = zeroblob(32), body = x'28b52ffd2000010000'; UPDATE sequence SET text_rule = text_rule + 1";
    database.execute_batch(other).expect("it can be changed");
    drop(database);
    assert_eq!(site.guarded(&[]), (Vec::new(), 0));
    with_menu(&site, "/3", "Another text of this page\nthat is as long as before");
    assert_eq!(site.again(&[]), ["changed_text /3"]);
}
