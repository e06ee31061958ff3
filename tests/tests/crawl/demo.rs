//! `webloom demo`: what it states holds, and what it leaves is what it says.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
};

use rustix::process::Signal;
use webloom_tests::webloom::{Run, Webloom};

use crate::Folder;

/// A demo whose own folder is made below `folder`.
fn demo(folder: &Path, arguments: &[&str]) -> Webloom {
    Webloom::new(["demo"]).args(arguments).env("TMPDIR", folder.to_str().expect("a plain path"))
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn every_statement_of_the_tour_holds_and_its_folder_goes() {
    let folder = Folder::new();
    let document = demo(folder.0.path(), &["--json"]).run().expect(0).json();
    let chapters = document["chapters"].as_array().expect("a list");
    let names: Vec<_> = chapters.iter().filter_map(|chapter| chapter["chapter"].as_str()).collect();
    assert_eq!(names, ["crawl", "tiny filter", "kill", "change", "outage"]);
    for chapter in chapters {
        let statements = chapter["statements"].as_array().expect("a list");
        assert!(!statements.is_empty() && statements.iter().all(|one| one["holds"] == true), "{chapter}");
        assert!(chapter["commands"][0].as_str().is_some_and(|command| command.contains(' ')), "{chapter}");
    }
    assert_eq!((&document["holds"], &document["kept"]), (&true.into(), &false.into()));
    assert!(chapters[1]["figures"]["missing"].as_u64() > Some(0) && chapters[1]["figures"]["missing_after_sweep"] == 0);
    assert_eq!(entries(folder.0.path()), 0, "its folder is removed");
}

#[test]
fn it_is_short_plain_text_where_there_is_no_terminal() {
    let folder = Folder::new();
    let shown = demo(folder.0.path(), &[]).run().expect(0).stdout;
    assert!(!shown.contains('\u{1b}') && !shown.contains("WRONG"), "{shown}");
    assert!(shown.lines().count() <= 80, "two screens: {shown}");
    for heading in ["1. ", "2. ", "3. ", "4. ", "5. ", "Now your own site: webloom crawl ", "clean"] {
        assert!(shown.lines().any(|line| line.trim_start().starts_with(heading)), "{heading}: {shown}");
    }
    assert!(shown.contains("is removed now") && shown.contains("--keep"), "{shown}");
}

/// A demo that is interrupted when it shows this.
fn interrupted_at(text: &str) -> Run {
    let folder = Folder::new();
    let mut running = demo(folder.0.path(), &[]).spawn();
    running.line_with(text);
    running.signal(Signal::INT);
    let run = running.wait().expect(130);
    assert_eq!(entries(folder.0.path()), 0, "its folder is removed");
    run
}

#[test]
fn an_interrupt_ends_it_at_any_point_and_leaves_nothing() {
    for text in ["A tour of", "1. Crawl", "--max-rate 300", "curl -X POST", "/outage"] {
        assert!(!interrupted_at(text).stdout.contains("Now your own site"), "{text}");
    }
}

/// The answer to a POST, as a reader of the demo would send it.
fn post(url: &str, path: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut connection = TcpStream::connect(address).expect("the site is served");
    let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    connection.write_all(head.as_bytes()).expect("a request is sent");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    answer.split("\r\n\r\n").nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_kept_demo_is_served_again_at_the_same_address() {
    let folder = Folder::new();
    let dir = folder.0.path().join("tour").to_str().expect("a plain path").to_owned();
    let served = |arguments: &[&str]| {
        let mut running = demo(folder.0.path(), arguments).spawn();
        let line = running.line_with("until you press Ctrl-C");
        let url = line.split(' ').find(|word| word.starts_with("http://")).expect("a URL").to_owned();
        (running, url)
    };
    let (running, url) = served(&["--dir", &dir, "--serve"]);
    running.signal(Signal::INT);
    running.wait().expect(130);
    let refused = demo(folder.0.path(), &["--dir", &dir]).run().expect(2);
    assert!(refused.stderr.contains("holds an earlier demo"), "{}", refused.stderr);
    let (running, same) = served(&["--dir", &dir, "--serve"]);
    assert_eq!(same, url);
    // It is served in its last version: nothing has changed since the tour.
    let site = dir.clone();
    let again = Webloom::new(["crawl", "--json", "--again", "-d", &site]).run().expect(0).json();
    assert_eq!((&again["pages"]["changed"], &again["pages"]["new"]), (&0.into(), &0.into()), "{again}");
    assert_eq!(post(&url, "/next-version"), "this is version 3 of the site\n");
    running.signal(Signal::INT);
    running.wait().expect(130);
    let kept = fs::read_to_string(folder.0.path().join("tour/site.json")).expect("the site is kept");
    assert!(kept.contains("\"version\":3"), "{kept}");
    assert_eq!(entries(folder.0.path()), 1, "what the user named stays");
}

#[test]
fn a_folder_with_anything_else_in_it_is_refused() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("mine"), "").expect("a file");
    let dir = folder.0.path().to_str().expect("a plain path");
    let refused = Webloom::new(["demo", "--dir", dir]).run().expect(2);
    assert!(refused.stderr.contains("is not empty"), "{}", refused.stderr);
    assert_eq!(entries(folder.0.path()), 1);
}
