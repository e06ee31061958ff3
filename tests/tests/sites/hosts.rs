//! Very many hosts, each with a hundred queued URLs: what that takes of memory.
//!
//! `LONG=1` has 10^5 hosts instead of 2,000, and judges the memory that takes; it needs some ten minutes and 4 GB of disk.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use anyhow::{Result, ensure};
use serde_json::Value;

use webloom_tests::webloom::Webloom;

/// URLs that the start page of each host links to.
const QUEUED: usize = 100;
/// Memory that the long run may take, in bytes: what it took when this was written, 389 MB with 65 queued URLs a host, and
/// some room. The aim is 150 MB.
const MOST: u64 = 450_000_000;
/// Threads that answer.
const THREADS: usize = 16;

#[test]
fn many_hosts_with_long_queues_take_little_memory() -> Result<()> {
    let long = std::env::var_os("LONG").is_some();
    let hosts: usize = if long { 100_000 } else { 2_000 };
    let (port, folder) = (serve()?, tempfile::tempdir()?);
    let (dir, starts) = (folder.path().join("crawl"), folder.path().join("starts"));
    let list = (0..hosts).try_fold(String::new(), |mut list, number| {
        let [_, a, b, c] = u32::try_from(number + 0x0001_0000)?.to_be_bytes();
        writeln!(list, "http://127.{a}.{b}.{c}:{port}/")?;
        anyhow::Ok(list)
    })?;
    std::fs::write(&starts, list)?;
    let limited = |run: Webloom, pages: usize| run.args(["--sweep", "off", "--max-pages", &pages.to_string()]);
    let first = judged(limited(Webloom::crawl(&dir, &format!("@{}", starts.display())), hosts), long)?;
    ensure!(first["counts"]["queued"].as_u64() >= Some((hosts * QUEUED) as u64), "{first}");
    // Once more from the database: what a start reads is in memory together with what the crawl needs.
    judged(limited(Webloom::go_on(&dir), hosts + hosts / 20), long)?;
    Ok(())
}

/// The summary of a run that ends by its budget, within the memory.
fn judged(run: Webloom, long: bool) -> Result<Value> {
    // What is said of each host would be held by the test.
    let summary = run.args(["-q"]).patience(Duration::from_mins(30)).run().expect(0).json();
    let peak = summary["peak_memory_bytes"].as_u64().unwrap_or(u64::MAX);
    println!("{} MB, {} s, {}", peak / 1_000_000, summary["seconds"], summary["counts"]);
    ensure!(summary["end"] == "budget", "{summary}");
    ensure!(!long || peak <= MOST, "{peak} bytes: {summary}");
    Ok(summary)
}

/// Answers at every loopback address, a request a connection; the port.
fn serve() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let port = listener.local_addr()?.port();
    let (sender, receiver) = mpsc::channel::<TcpStream>();
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..THREADS {
        let receiver = Arc::clone(&receiver);
        thread::spawn(move || {
            loop {
                let next = receiver.lock().map_err(|_| mpsc::RecvError).and_then(|receiver| receiver.recv());
                let Ok(connection) = next else { break };
                // A client that goes away is no fault of the server's.
                drop(answer(connection));
            }
        });
    }
    thread::spawn(move || listener.incoming().flatten().try_for_each(|connection| sender.send(connection)));
    Ok(port)
}

/// A page that links to all that is queued.
fn links() -> String {
    let link = |page: usize| format!("<a href=/page/{page}>{page}</a>");
    (0..QUEUED).map(link).collect::<Vec<_>>().join("\n")
}

fn answer(connection: TcpStream) -> std::io::Result<()> {
    connection.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut out = connection.try_clone()?;
    let mut lines = BufReader::new(connection).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let (status, body) = match first.split(' ').nth(1) {
        Some("/") => ("200 OK", links()),
        Some("/robots.txt") => ("404 Not Found", String::new()),
        _ => ("200 OK", "<p>a page".to_owned()),
    };
    let length = body.len();
    let head = "content-type: text/html\r\nconnection: close";
    write!(out, "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}")
}
