//! [`Site`]: what is crawled, what a complete crawl finds there, and what the server saw.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use tokio::runtime::Runtime;
use webloom_practice::{PracticeServer, PracticeSite, Shape};
use webloom_tests::{
    debian,
    nginx::Nginx,
    oracle::{Kind, Oracle},
    walk::{Habits, walk},
};

/// The longest wait for a crawl to come somewhere.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Debug)]
enum Server {
    Practice(Runtime, PracticeServer),
    Nginx(Nginx),
}

/// A site that is served.
#[derive(Debug)]
pub(crate) struct Site {
    server: Server,
    /// Where a crawl starts.
    pub(crate) start: String,
    /// Paths of all pages and files to be stored.
    pub(crate) stored: BTreeSet<String>,
}

impl Site {
    pub(crate) fn practice(shape: Shape) -> Result<Self> {
        let runtime = Runtime::new()?;
        let server = runtime.block_on(PracticeServer::start(PracticeSite::new(shape)))?;
        let stored = server.site().truth().stored.into_keys().collect();
        Ok(Self { start: server.url(), stored, server: Server::Practice(runtime, server) })
    }

    /// A documentation package behind nginx; `None` after saying `skipped: …`. Where the oracle is of another version,
    /// the truth is a walk over the files.
    pub(crate) fn documentation(package: &str) -> Result<Option<Self>> {
        let Some(site) = debian::site(package)? else { return Ok(None) };
        let listed = if site.is_as_listed() { Oracle::of(package)? } else { walk(&site, Habits::Server)? };
        let Some(oracle) = listed else { return Ok(None) };
        let Some(nginx) = Nginx::serve(&site.root)? else { return Ok(None) };
        let start = format!("{}{}", nginx.url(), site.start.trim_start_matches('/'));
        let paths = oracle.paths(Kind::Page).into_iter().chain(oracle.paths(Kind::Other));
        let stored = paths.map(str::to_owned).collect();
        Ok(Some(Self { start, stored, server: Server::Nginx(nginx) }))
    }

    /// The path of one of the site's URLs as the list of what is to be stored spells it.
    pub(crate) fn path(&self, url: &str) -> String {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        match self.server {
            Server::Practice(..) => format!("/{path}"),
            Server::Nginx(_) => format!("/{}", decoded(path)),
        }
    }

    /// The paths asked for so far, in the order of the server's log.
    pub(crate) fn asked(&self) -> Result<Vec<String>> {
        Ok(match &self.server {
            Server::Practice(_, server) => server.log().into_iter().map(|line| line.path).collect(),
            Server::Nginx(nginx) => {
                nginx.log()?.into_iter().map(|line| format!("/{}", decoded(&line.uri[1..]))).collect()
            }
        })
    }

    /// Waits until the log has so many lines.
    pub(crate) fn wait_for(&self, lines: usize) -> Result<()> {
        match &self.server {
            Server::Practice(runtime, server) => {
                let logged = async { tokio::time::timeout(PATIENCE, server.logged(lines)).await };
                runtime.block_on(logged).context("the crawl does not move")
            }
            Server::Nginx(nginx) => {
                let began = Instant::now();
                // Each look is a request that the server answers after those before it.
                while nginx.log()?.len() < lines {
                    ensure!(began.elapsed() < PATIENCE, "the crawl does not move");
                }
                Ok(())
            }
        }
    }
}

/// A path with its percent-encoded bytes decoded.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'%');
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
