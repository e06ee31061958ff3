//! The `webloom` program against real servers on loopback, judged by the servers' logs.

mod addresses;
mod again;
mod again_killed;
mod archived;
mod big_pages;
mod budgets;
mod caches;
mod changes;
mod clocks;
mod compared;
mod compressed;
mod demo;
mod deployed;
mod depths;
mod descriptors;
mod differing;
mod dry_run;
mod escapes;
mod exported;
mod fields;
mod followed;
mod forbidden;
mod forgotten;
mod freshness;
mod hostile;
mod in_links;
mod interrupted;
mod jobs;
mod keep_alive;
mod keys;
mod kinds;
mod kit;
mod known_first;
mod library;
mod link_checks;
mod links;
mod log_ins;
mod loss;
mod lost_again;
mod lost_always;
mod lost_links;
mod machines;
mod many_hosts;
mod modified;
mod monitored;
mod moved;
mod once_more;
mod order;
mod outages;
mod own_faults;
mod plan;
mod politeness;
mod practice;
mod proxies;
mod read_only;
mod readers_memory;
mod reading;
mod redirects;
mod resume;
mod retries;
mod retry;
mod robots;
mod robots_memory;
mod said;
mod scarce;
mod searched;
mod secrets;
mod sections;
mod secure;
mod served;
mod shown;
mod simulate;
mod sitemaps;
mod starts;
mod usage;
mod watch;
mod why;
mod worded;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

/// A crawl directory that is not there yet; it goes away with the folder around it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn crawl(&self) -> PathBuf {
        self.0.path().join("crawl")
    }
}

/// A server at `127.0.0.1`.
fn serve(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Server {
    Server::start("127.0.0.1", answer).expect("a free port")
}

/// The same answers, each on a connection of its own: what hangs up then does so before a request that was sent once.
fn closing(answer: impl Fn(&Asked) -> Reply) -> impl Fn(&Asked) -> Reply {
    move |asked| answer(asked).header("connection: close")
}

/// A site whose `/` links to `/1` and so on up to `/N`, which link back.
fn star(number: usize) -> impl Fn(&Asked) -> Reply {
    move |asked| match asked.target.as_str() {
        "/" => Reply::links((1..=number).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        _ => Reply::links(["/"]),
    }
}

/// A site whose pages `/`, `/1`, `/2` and so on link each to the next, up to `/N`.
fn chain(number: usize) -> impl Fn(&Asked) -> Reply {
    move |asked| match asked.target.trim_start_matches('/').parse::<usize>() {
        Ok(page) if page < number => Reply::links([format!("/{}", page + 1)]),
        Ok(_) => Reply::html("the end"),
        Err(_) if asked.target == "/" => Reply::links(["/1"]),
        Err(_) => Reply::status(404),
    }
}

/// Crawls from `/` of a server into a new directory, to the end; the summary.
fn crawl(server: &Server, dir: &Path, arguments: &[&str]) -> Value {
    let run = Webloom::crawl(dir, &server.url("/")).args(arguments).run().expect(0);
    let summary = run.json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(dir);
    summary
}

/// The counts and the sums that every summary keeps.
fn assert_counts(summary: &Value) {
    let counts = &summary["counts"];
    let count = |name: &str| counts[name].as_u64().expect("a count");
    assert_eq!(
        count("admitted"),
        count("queued") + count("leased") + count("finished") + count("abandoned"),
        "{counts}"
    );
    let urls = &summary["urls"];
    let refused: u64 = urls["refused"].as_object().expect("reasons").values().filter_map(Value::as_u64).sum();
    let sum = |names: [&str; 2]| names.iter().filter_map(|name| urls[name].as_u64()).sum::<u64>();
    assert_eq!(urls["candidates"], sum(["admitted", "duplicate"]) + refused, "{urls}");
}

/// Fails unless the server was asked for each of these once, in any order, and for nothing else but robots.txt.
fn assert_asked_once(server: &Server, expected: &[&str]) {
    let mut asked = server.targets();
    asked.retain(|target| target != "/robots.txt");
    asked.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(asked, expected);
}
