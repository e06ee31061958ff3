//! Faults of the program itself, and work that could keep it from everything else.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use tokio::sync::watch;
use webloom::internals::{
    clock::Clock,
    config::Layers,
    engine::{self, Gauge, Launch, MachineReading, Preparers, Progress, RunEnd, StopSignal, WriterThread},
    fetch::{FetchFailure, FetchRequest, FetchResponse, Fetcher},
    store::{AreaRow, AreaSource, NewCrawl, sqlite::CrawlDirectory},
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, chain, robots::age_robots, serve};

/// Answers with links to `/1` to `/5`, and panics over `/3`.
struct Panicking;

impl Fetcher for Panicking {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        assert!(request.url.path() != "/3", "of all pages this one");
        let robots = request.url.path() == "/robots.txt";
        let links = "<a href=/1><a href=/2><a href=/3><a href=/4><a href=/5>";
        let body = if robots { "" } else { links };
        Ok(FetchResponse {
            headers: vec![("content-type".into(), b"text/html".as_slice().into())],
            wire_bytes: body.len() as u64,
            body: body.into(),
            ..FetchResponse::new(request.url, if robots { 404 } else { 200 })
        })
    }
}

#[test]
fn a_panic_in_a_visit_is_the_end_of_that_visit_alone() -> Result<()> {
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let end = runtime.block_on(async {
        let resolved = Layers::new().file_text("f", "[politeness]\ndelay = 0").resolve()?;
        let (clock, url) = (Clock::start(), WebUrl::parse("http://h/")?);
        let mut directory = CrawlDirectory::open(&folder.crawl())?;
        let crawl = NewCrawl {
            at: clock.now(),
            fingerprint_seed: FingerprintSeed::new(1),
            key_rules: Canonicalizer::default(),
            hash_seed: 2,
            settings: resolved.effective.to_json(),
            areas: vec![AreaRow { url: url.as_str().to_owned(), source: AreaSource::Start }],
        };
        directory.create(&crawl)?;
        let resumed = directory.resume(None)?.expect("it was just made");
        let (_signals, receiver) = watch::channel(None);
        let launch = Launch {
            directory,
            resumed,
            starts: vec![url.as_str().into()],
            settings: Arc::new(resolved.settings),
            texts: false,
            fetcher: Panicking,
            writer: WriterThread,
            clock,
            stop: StopSignal::new(receiver, Duration::from_secs(1)),
            progress: watch::channel(Progress::default()).0,
            events: None,
            preparers: Preparers::default(),
            filter: None,
            gauge: Gauge::new(MachineReading::default),
            between: None,
            is_over: false,
        };
        anyhow::Ok(engine::run(launch).await?.end)
    })?;
    assert_eq!(end, RunEnd::Drained);
    assert_clean(&folder.crawl());
    let pages = pages(&folder.crawl());
    assert_eq!(pages.values().filter(|page| page["outcome"] == "stored").count(), 5);
    let page = &pages["http://h/3"];
    assert_eq!((&page["outcome"], &page["reason"]), (&"failed".into(), &"internal".into()));
    Ok(())
}

/// A site of five pages of 60,000 links each, all of them forbidden from the second robots.txt on.
fn closed_later() -> Server {
    serve(|asked| match (asked.target.as_str(), asked.before) {
        ("/robots.txt", 0) => Reply::status(404),
        ("/robots.txt", _) => Reply::text("User-agent: *\nDisallow: /x\n"),
        ("/", _) => Reply::links(["/1", "/2", "/3", "/4", "/5"]),
        (list, _) => Reply::links((0..60_000).map(|link| format!("/x{list}/{link}"))),
    })
}

/// Events, signals among them, are taken between two turns: a host that could be asked at any moment tells how long they are.
#[test]
fn what_needs_no_request_holds_up_no_other_host() {
    let (server, folder) = (closed_later(), Folder::new());
    let other = Server::start("127.0.0.2", chain(60)).unwrap();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "6"]);
    let run = run.args(["--max-lost-urls", "0.000001"]).run().expect(0);
    assert_eq!(run.json()["counts"]["queued"], 300_000);
    age_robots(&folder);
    let run = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none", "--add", &other.url("/")]);
    let run = run.args(["--delay", "20ms"]).env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "1000000").run().expect(0);
    assert_eq!(run.json()["urls"]["abandoned"]["robots"], 300_000);
    let log = other.log();
    let longest = log.windows(2).map(|hits| hits[1].began - hits[0].began).max().expect("it was asked");
    assert!(longest < run.took / 3, "a pause of {longest:?} in {:?}", run.took);
    assert_clean(&folder.crawl());
}
