//! Very many hosts, each with a hundred queued URLs: what that takes of memory.
//!
//! `LONG=1` has 10^5 hosts instead of 2,000. To crawl so many would take an hour; so their rows are written into the database,
//! and the program goes on from there. It needs some five minutes and 3 GB of disk.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use anyhow::{Result, ensure};
use rusqlite::{Connection, params};
use serde_json::Value;

use webloom::internals::url::{Canonicalizer, FingerprintSeed, WebUrl};
use webloom_tests::webloom::Webloom;

/// Queued URLs of each host.
const QUEUED: usize = 100;
/// Memory that a crawl of the many hosts may take beside its URL cache, at its start and when it goes on with long queues, in bytes.
const MOST: u64 = 140_000_000;
/// Memory that one more host may take, with its start and its robots.txt, in bytes.
const MOST_A_HOST: u64 = 1_600;
/// Threads that answer.
const THREADS: usize = 16;

#[test]
fn many_hosts_with_long_queues_take_little_memory() -> Result<()> {
    let (port, folder) = (serve()?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl");
    if std::env::var_os("LONG").is_some() {
        let hosts = 100_000;
        begin(&dir, &starts(hosts, port)?, hosts / 50)?.within(MOST)?;
        std::fs::remove_dir_all(&dir)?;
        let starts = starts(hosts, port)?;
        begin(&dir, &starts[..1], 1)?;
        queue(&dir, &starts)?;
        // Once all hosts had their turn, each has had rows read.
        return go_on(&dir, hosts + hosts / 20)?.within(MOST);
    }
    let hosts = 2_000;
    let first = begin(&dir, &starts(hosts, port)?, hosts)?;
    ensure!(first.0["counts"]["queued"].as_u64() >= Some((hosts * QUEUED) as u64), "{}", first.0);
    go_on(&dir, hosts + hosts / 20)?;
    Ok(())
}

#[test]
fn one_more_host_takes_little_memory() -> Result<()> {
    let (port, folder) = (serve()?, tempfile::tempdir()?);
    let peaks = [2_000, 22_000].map(|hosts| {
        let dir = folder.path().join(hosts.to_string());
        starts(hosts, port).and_then(|starts| begin(&dir, &starts, 10)).map(|summary| summary.peak())
    });
    let [few, many] = peaks;
    let more = many? - few?;
    ensure!(more <= 20_000 * MOST_A_HOST, "{} bytes a host", more / 20_000);
    Ok(())
}

/// The start page of each host.
fn starts(hosts: usize, port: u16) -> Result<Vec<String>> {
    let start = |number| {
        let [_, a, b, c] = u32::try_from(number + 0x0001_0000)?.to_be_bytes();
        Ok(format!("http://127.{a}.{b}.{c}:{port}/"))
    };
    (0..hosts).map(start).collect()
}

/// Begins to crawl these starts, up to so many pages.
fn begin(dir: &Path, starts: &[String], pages: usize) -> Result<Summary> {
    let list = dir.with_extension("starts");
    std::fs::write(&list, starts.join("\n"))?;
    // What is queued is counted: no URL is to be lost by chance.
    Summary::of(Webloom::crawl(dir, &format!("@{}", list.display())).args(["--max-lost-urls", "0.00001"]), pages)
}

/// Goes on from the database: what a start reads is in memory together with what the crawl needs.
fn go_on(dir: &Path, pages: usize) -> Result<Summary> {
    Summary::of(Webloom::go_on(dir), pages)
}

/// Writes what a crawl would have written that fetched these starts, and found [`QUEUED`] links on each.
fn queue(dir: &Path, starts: &[String]) -> Result<()> {
    let mut connection = Connection::open(dir.join("webloom.sqlite"))?;
    // Rows are deleted and written in an order of their own.
    connection.pragma_update(None, "foreign_keys", false)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch("DELETE FROM url; DELETE FROM visit; DELETE FROM host; DELETE FROM area")?;
    // Rows are put into an index by its order, not by theirs.
    let indexes = "SELECT sql FROM sqlite_schema WHERE name IN ('url_queue', 'url_retry')";
    let indexes = transaction.prepare(indexes)?.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    transaction.execute_batch("DROP INDEX url_queue; DROP INDEX url_retry")?;
    let (seed, at): (i64, i64) =
        transaction.query_row("SELECT fingerprint_seed, began_at FROM crawl, sequence", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    for (host, start) in starts.iter().enumerate() {
        let url = WebUrl::parse(start)?;
        let fingerprint = Canonicalizer::default().fingerprint(&url, FingerprintSeed::new(seed.cast_unsigned()));
        transaction.prepare_cached("INSERT INTO area VALUES (?, 'start')")?.execute([start])?;
        let origin = url.origin();
        let insert = "INSERT INTO host (id, origin, robots_status, robots_fetched_at) VALUES (?, ?, 404, ?)";
        transaction.prepare_cached(insert)?.execute(params![host, origin.as_str(), at])?;
        let insert =
            "INSERT INTO visit (id, url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, links)
                      VALUES (?1, ?1, 0, ?2, 'stored', 200, 1, 9, 9, x'')";
        transaction.prepare_cached(insert)?.execute(params![host + 1, at])?;
        let insert = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, visit)
                      VALUES (?1 + 1, ?1, ?2, ?3, 'start', 0, 0, 0, 'finished', ?1 + 1)";
        transaction.prepare_cached(insert)?.execute(params![host, start, fingerprint.to_bytes()])?;
    }
    // Whatever the fingerprints of URLs are that nobody links to again.
    let queued = "WITH RECURSIVE page (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM page WHERE n + 1 < ?1)
        INSERT INTO url (id, host, url, fingerprint, hop, via, depth, rank, admitted_in, state)
        SELECT ?2 + host.id * ?1 + n + 1, host.id, origin || '/page/' || n, randomblob(16), 'link', host.id + 1, 1, 1, 0, 'queued'
        FROM host, page";
    transaction.execute(queued, params![QUEUED, starts.len()])?;
    indexes.iter().try_for_each(|index| transaction.execute_batch(index))?;
    let counters = "UPDATE sequence SET counters = json_set(counters, '$.stored', ?)";
    transaction.execute(counters, [starts.len()])?;
    transaction.commit()?;
    Ok(())
}

/// The summary of a run that ended by its budget.
struct Summary(Value);

impl Summary {
    fn of(run: Webloom, pages: usize) -> Result<Self> {
        // What is said of each host would be held by the test.
        let run = run.args(["-q", "--sweep", "off", "--max-pages", &pages.to_string()]);
        let summary = run.patience(Duration::from_mins(10)).run().expect(0).json();
        ensure!(summary["end"] == "budget", "{summary}");
        let summary = Self(summary);
        println!("{} MB, {} s, {}", summary.peak() / 1_000_000, summary.0["seconds"], summary.0["counts"]);
        Ok(summary)
    }

    fn peak(&self) -> u64 {
        self.0["peak_memory_bytes"].as_u64().unwrap_or(u64::MAX)
    }

    /// Whether it took no more memory, beside its URL cache.
    fn within(&self, most: u64) -> Result<()> {
        let cache = self.0["cache"]["bits"].as_u64().unwrap_or_default() / 8;
        ensure!(self.peak() <= most + cache, "{} bytes, {cache} of them the cache: {}", self.peak(), self.0);
        Ok(())
    }
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
