//! A server that closes idle connections just when the crawler uses them again.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use webloom_tests::webloom::{Webloom, assert_clean};

use crate::{Folder, assert_counts};

const PAGES: usize = 400;

/// Answers the first request of each connection, and closes it as the second arrives, unread and unlogged.
fn serve_once(stream: TcpStream, log: &Mutex<Vec<String>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    log.lock().expect("no connection panics").push(target.clone());
    let body = match target.as_str() {
        "/" => (0..PAGES).map(|page| format!("<a href=/{page}>")).collect::<Vec<_>>().concat(),
        _ => "page".to_owned(),
    };
    let status = if target == "/robots.txt" { "404 Not Found" } else { "200 OK" };
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n", body.len());
    reader.get_mut().write_all(format!("{head}{body}").as_bytes())?;
    reader.get_mut().peek(&mut [0])?;
    Ok(())
}

/// A site at such a server, crawled with so many slots: nothing fails. What was sent, and what the server saw.
fn crawled(slots: &str) -> (u64, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let start = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let log = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&log);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let log = Arc::clone(&written);
            thread::spawn(move || serve_once(stream, &log));
        }
    });
    let folder = Folder::new();
    // One attempt is all there is: a failure that counted would lose the page.
    let run = Webloom::crawl(&folder.crawl(), &start).env("WEBLOOM_RETRY_ATTEMPTS", "1").args(["--per-host", slots]);
    let summary = run.env("WEBLOOM_RETRY_BACKOFF", "5s").run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!((&summary["pages"]["stored"], &summary["pages"]["failed"]), (&(PAGES + 1).into(), &0.into()));
    assert_eq!(summary["requests"]["errors"], serde_json::json!({}));
    let seen = log.lock().expect("no connection panics").len();
    (summary["requests"]["sent"].as_u64().expect("a count"), seen)
}

#[test]
fn a_connection_that_was_closed_meanwhile_costs_nothing() {
    assert_eq!(crawled("1"), (PAGES as u64 + 2, PAGES + 2));
}

/// A kept connection may become free while another is being made.
#[test]
fn nor_does_it_with_several_slots() {
    assert_eq!(crawled("16").0, PAGES as u64 + 2);
}
