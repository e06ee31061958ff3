//! What a page is compared with: its last copy, whatever the settings or its server did since.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, again::changes, crawl, serve};

const PAGES: usize = 400;

/// A site of [`PAGES`] pages: the first links to all others, each of which links to one below `/other/`, which is not there. Its `ETag`
/// is always the same.
fn site(is_edited: &Arc<AtomicBool>) -> Server {
    let is_edited = Arc::clone(is_edited);
    serve(move |asked| answer(asked, is_edited.load(Ordering::SeqCst)))
}

fn answer(asked: &Asked, is_edited: bool) -> Reply {
    let page = match asked.target.as_str() {
        "/" => (1..PAGES)
            .fold("<p>All pages</p>".to_owned(), |page, other| page + &format!("<a href='/p/{other}'>{other}</a> ")),
        path => match path.strip_prefix("/p/").and_then(|number| number.parse::<usize>().ok()) {
            Some(5) if is_edited => "<p>An edit</p>".to_owned(),
            Some(number) => {
                format!("<p>Page {number} says something.</p><nav>menu</nav><a href='/other/{number}'>other</a>")
            }
            None => return Reply::status(404),
        },
    };
    let is_conditional = asked.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"));
    if is_conditional { Reply::status(304) } else { Reply::html(page).header("ETag: \"always\"") }
}

fn next(dir: &Path, arguments: &[&str]) -> Value {
    let run = Webloom::go_on(dir).args(["--again", "--delay", "0"]).args(arguments);
    let summary = run.env("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", "0").run().expect(0).json();
    assert_clean(dir);
    summary
}

/// New, changed, unchanged and gone pages, and those that were sent.
fn compared(summary: &Value) -> ([u64; 4], u64) {
    (changes(summary), summary["requests"]["by_status"]["200"].as_u64().unwrap_or_default())
}

const UNCHANGED: [u64; 4] = [0, 0, PAGES as u64, 0];

/// Two sequences with other settings; what the second found.
fn crawled(first: &[&str], second: &[&str]) -> ([u64; 4], u64) {
    let (server, folder) = (site(&Arc::default()), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, first);
    let found = compared(&next(&dir, second));
    assert_eq!(compared(&next(&dir, &[])), (UNCHANGED, 0), "the copies hold again");
    found
}

#[test]
fn no_page_is_new_after_something_is_excluded() {
    assert_eq!(crawled(&[], &["--exclude", "/other/1"]), (UNCHANGED, PAGES as u64));
}

#[test]
fn no_page_is_new_in_a_wider_scope() {
    assert_eq!(crawled(&["--exclude", "/other/"], &["--exclude", "/nothing"]), (UNCHANGED, PAGES as u64));
}

#[test]
fn no_page_is_new_after_another_rule_for_texts() {
    assert_eq!(crawled(&["--text", "on"], &["--ignore", "css:nav"]), (UNCHANGED, PAGES as u64));
}

#[test]
fn no_page_is_new_after_its_server_was_wrong_about_one() {
    let is_edited = Arc::default();
    let (server, folder) = (site(&is_edited), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    is_edited.store(true, Ordering::SeqCst);
    let audited = Webloom::go_on(&dir).args(["--again"]).env("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", "1").run();
    let others = PAGES as u64 - 1;
    assert_eq!(changes(&audited.expect(0).json()), [0, 1, others, 0]);
    for _ in 0..2 {
        assert_eq!(compared(&next(&dir, &[])), (UNCHANGED, PAGES as u64), "nothing it says is believed");
    }
}
