//! Real sites: the package, the server and the oracle agree with each other, and crawls agree with the oracle.

mod hosts;
mod links;
mod losses;
mod mass;
mod queued;
mod versions;
mod whole;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
};

use anyhow::{Context, Result};
use webloom_tests::{
    debian,
    nginx::Nginx,
    oracle::{Entry, Kind, Oracle},
};

#[test]
fn nginx_answers_what_the_oracle_lists() -> Result<()> {
    let Some(site) = debian::site("debian-policy")? else { return Ok(()) };
    let Some(oracle) = Oracle::of("debian-policy")? else { return Ok(()) };
    let Some(nginx) = Nginx::serve(&site.root)? else { return Ok(()) };
    assert!(oracle.paths(Kind::Page).contains(site.start.as_str()));
    let mut client = Client::connect(&nginx.url())?;
    let mut expected = Vec::new();
    for entry in &oracle.entries {
        let (status, bytes) = client.get(&entry.path)?;
        if site.is_as_listed() {
            assert_eq!((status, bytes), listed(entry), "{}", entry.path);
        }
        assert_eq!((status, bytes), on_disk(&site.root, &entry.path), "{}", entry.path);
        expected.push(("GET".to_owned(), status, bytes, entry.path.clone()));
    }
    let log: Vec<_> = nginx.log()?.into_iter().map(|line| (line.method, line.status, line.bytes, line.uri)).collect();
    assert_eq!(log, expected);
    assert!(expected.len() > 40, "{} addresses", expected.len());
    Ok(())
}

#[test]
fn two_servers_stand_side_by_side_and_stop() -> Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.html"), "one page")?;
    let Some(first) = Nginx::serve(folder.path())? else { return Ok(()) };
    let Some(second) = Nginx::serve(folder.path())? else { return Ok(()) };
    let url = first.url();
    assert_ne!(url, second.url());
    drop(first);
    assert!(Client::connect(&url).is_err(), "nobody listens there any more");
    let mut client = Client::connect(&second.url())?;
    assert_eq!(client.get("/a.html")?, (200, 8));
    let (status, bytes) = client.get("/b.html")?;
    let lines: Vec<_> = second.log()?.into_iter().map(|line| (line.uri, line.status, line.bytes)).collect();
    assert_eq!(lines, [("/a.html".to_owned(), 200, 8), ("/b.html".to_owned(), status, bytes)]);
    Ok(())
}

fn listed(entry: &Entry) -> (u16, u64) {
    if entry.kind == Kind::Broken { (404, 0) } else { (200, entry.bytes) }
}

fn on_disk(root: &Path, path: &str) -> (u16, u64) {
    fs::metadata(root.join(path.trim_start_matches('/'))).map_or((404, 0), |file| (200, file.len()))
}

/// A client for one kept connection that knows nothing of ours.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(url: &str) -> Result<Self> {
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Ok(Self(BufReader::new(TcpStream::connect(address)?)))
    }

    /// Status, and bytes of the body.
    fn get(&mut self, path: &str) -> Result<(u16, u64)> {
        // One write: a request in pieces waits for the acknowledgement of the first.
        self.0.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").as_bytes())?;
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("a status line")?.parse()?;
        let mut length = 0;
        while line.trim_end() != "" {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            line.clear();
            self.0.read_line(&mut line)?;
        }
        std::io::copy(&mut self.0.by_ref().take(length), &mut std::io::sink())?;
        Ok((status, length))
    }
}
