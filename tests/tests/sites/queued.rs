//! A host with far more URLs queued than heads are held in memory.
//!
//! `LONG=1` queues 10^6 instead of 10^5, and judges the memory that takes; that is for a release build.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use anyhow::{Result, ensure};

use webloom_tests::webloom::{Webloom, assert_clean};

const FEW: usize = 10_000;
const LINKS_A_PAGE: usize = 1_000;
/// How much more memory the long queue may take: the URL cache of so many URLs, and what does not grow any further, the
/// sample of the audit (4 MB) and the sweep (17 MB).
const MORE: u64 = 40_000_000;

#[test]
fn a_long_queue_drains_in_little_memory() -> Result<()> {
    let long = std::env::var_os("LONG").is_some();
    let many = if long { 1_000_000 } else { 100_000 };
    let (few, much) = (peak_of(FEW)?, peak_of(many)?);
    println!("peak memory {} kB with {FEW} URLs queued, {} kB with {many}", few / 1000, much / 1000);
    ensure!(much <= few + MORE, "{much} bytes with {many} URLs, {few} with {FEW}");
    Ok(())
}

/// Crawls that many targets to the end; peak memory in bytes.
fn peak_of(targets: usize) -> Result<u64> {
    let site = Lists::serve(targets)?;
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("crawl");
    // Every URL is counted: none may be lost.
    let flags = ["--delay", "0", "--per-host", "16", "--max-lost-urls", "0.000001"];
    let run = Webloom::crawl(&dir, &site.url).args(flags).patience(Duration::from_hours(1)).run();
    let summary = run.expect(0).json();
    let pages = 1 + targets / LINKS_A_PAGE + targets;
    ensure!(summary["end"] == "drained" && summary["counts"]["finished"] == pages, "{pages} pages: {summary}");
    let asked = site.asked.lock().expect("no connection panics");
    ensure!(asked.twice.is_empty(), "asked for twice: {:?}", &asked.twice[..asked.twice.len().min(10)]);
    ensure!(asked.once.len() == pages + 1, "{} addresses asked for, {pages} pages", asked.once.len());
    ensure!(summary["requests"]["sent"] == pages + 1, "{summary}");
    assert_clean(&dir);
    println!("{targets} targets: {} s, {} CPU s", summary["seconds"], summary["cpu_seconds"]);
    Ok(summary["peak_memory_bytes"].as_u64().unwrap_or(u64::MAX))
}

/// A start page that links to lists, which link to targets.
struct Lists {
    url: String,
    asked: Arc<Mutex<Asked>>,
}

/// The server's log, as far as it is judged.
#[derive(Default)]
struct Asked {
    once: HashSet<String>,
    twice: Vec<String>,
}

impl Lists {
    fn serve(targets: usize) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}/", listener.local_addr()?);
        let asked = Arc::new(Mutex::new(Asked::default()));
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                thread::spawn(move || answer(connection, targets, &log));
            }
        });
        Ok(Self { url, asked })
    }
}

/// Answers the requests of a connection until it is closed.
fn answer(connection: TcpStream, targets: usize, log: &Mutex<Asked>) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let mut out = connection.try_clone()?;
    let mut lines = BufReader::new(connection);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        while line.trim_end() != "" {
            line.clear();
            lines.read_line(&mut line)?;
        }
        line.clear();
        let (status, body) = page(&path, targets);
        log.lock().expect("no connection panics").note(path);
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\r\n{body}");
        out.write_all(head.as_bytes())?;
    }
    Ok(())
}

fn page(path: &str, targets: usize) -> (&'static str, String) {
    let links = |kind: &str, numbers: std::ops::Range<usize>| -> String {
        let link = |number| format!("<a href=/{kind}/{number}>{number}</a>");
        numbers.map(link).collect::<Vec<_>>().join("\n")
    };
    let body = match path.trim_start_matches('/').split_once('/') {
        None if path == "/" => links("list", 0..targets / LINKS_A_PAGE),
        Some(("list", number)) => {
            let first = number.parse().unwrap_or(0) * LINKS_A_PAGE;
            links("page", first..first + LINKS_A_PAGE)
        }
        Some(("page", number)) => format!("<p>{number}"),
        _ => return ("404 Not Found", String::new()),
    };
    ("200 OK", body)
}

impl Asked {
    fn note(&mut self, path: String) {
        if let Some(path) = self.once.replace(path) {
            self.twice.push(path);
        }
    }
}
