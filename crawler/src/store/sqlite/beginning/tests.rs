//! One pass finds all, and each row is read once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use regex::Regex;

use super::*;
use crate::{
    order::{Order, Priority, Weight},
    scope::{Reach, ScopeRules},
    sections::UrlSections,
    store::{AuditStanding, Incoming, Message, NewCrawl, Replay, ReplayedUrl, Store, StoreWriter, WriterSettings},
    url::{Canonicalizer, FingerprintSeed},
};

/// A crawl of a host with so many queued URLs, and as many that are finished.
fn crawled(folder: &std::path::Path, urls: u32) -> CrawlDirectory {
    let mut directory = CrawlDirectory::open(folder).unwrap();
    let crawl = NewCrawl {
        at: Moment::EPOCH,
        fingerprint_seed: FingerprintSeed::new(7),
        key_rules: Canonicalizer::default(),
        hash_seed: 1,
        settings: "{}".to_owned(),
        areas: Vec::new(),
    };
    directory.create(&crawl).unwrap();
    directory
        .connection
        .execute_batch(&format!(
            "INSERT INTO host (id, origin) VALUES (0, 'http://h');
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2 * {urls})
             INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                 SELECT i, 0, 'http://h/' || i, randomblob(16), 'link', 1, 0, 0, iif(i % 2, 'queued', 'finished') FROM n;
             INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, links)
                 SELECT id, 0, 0, 'stored', 200, 1, 0, 0, x'' FROM url WHERE state = 'finished';
             UPDATE url SET visit = (id / 2) WHERE state = 'finished'"
        ))
        .unwrap();
    directory
}

#[test]
fn what_takes_long_can_be_interrupted_and_done_later() {
    let folder = tempfile::tempdir().unwrap();
    let is_stopped = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&is_stopped);
    let directory = crawled(folder.path(), 5_000);
    let directory = directory.interrupted_when(move || asked.load(Ordering::Relaxed)).unwrap();
    let ranking = Ranking::new(Order::Depth, Vec::new());
    let beginning = Beginning { ranking: Some(&ranking), settings: Some("{1}"), ..Beginning::default() };
    assert!(matches!(directory.begin(&beginning), Err(StoreError::Interrupted)));
    is_stopped.store(false, Ordering::Relaxed);
    let unranked = "SELECT count(*) FROM url WHERE rank <> 0";
    assert_eq!(directory.connection.query_row(unranked, [], |row| row.get(0)), Ok(0), "all or nothing");
    assert_eq!(directory.settings().unwrap().as_deref(), Some("{}"));
    let found = directory.begin(&beginning).unwrap().unwrap();
    assert_eq!(found.resumed.counts.queued, 5_000);
    assert_eq!(directory.settings().unwrap().as_deref(), Some("{1}"));
}

/// Instructions of the database for each row.
fn instructions_a_row(urls: u32) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let mut directory = crawled(folder.path(), urls);
    let count = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&count);
    let counted = move || {
        counting.fetch_add(1, Ordering::Relaxed);
        false
    };
    directory.connection.progress_handler(1, Some(counted)).unwrap();
    let ranking = Ranking::new(Order::Breadth, Vec::new());
    let rules = ScopeRules { reach: Reach::Host, include: Vec::new(), exclude: Vec::new(), max_url_length: 100 };
    let mut scope = CrawlScope::new(rules);
    scope.widen(&WebUrl::parse("http://h/").unwrap());
    let beginning = Beginning {
        starts: HashSet::from([Fingerprint::from_bytes([1; 16])]),
        settings: Some("{}"),
        scope: Some(&scope),
        ranking: Some(&ranking),
        latest_due: Some(Moment::EPOCH),
        tries_again: true,
        max_depth: Some(9),
        sections: UrlSections::default(),
        other_fields: false,
    };
    directory.is_untouched().unwrap();
    let found = directory.begin(&beginning).unwrap().unwrap();
    let Counts { admitted, queued, finished, .. } = found.resumed.counts;
    let host = &found.resumed.hosts[0];
    assert_eq!([admitted, queued, finished], [2, 1, 1].map(|times: u64| times * u64::from(urls)));
    assert_eq!([host.plain, host.fetched, host.stored], [u64::from(urls); 3]);
    count.load(Ordering::Relaxed) / (2 * u64::from(urls))
}

#[test]
fn each_row_is_read_once() {
    let [few, many] = [200, 2_000].map(instructions_a_row);
    // The columns that are looked at, and the visit of every second row. To read each row once more takes five at least.
    assert!(many <= 64 && many <= few, "{few} and {many}");
}

#[test]
fn what_is_queued_in_the_last_sequence_gets_the_ranks_of_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let directory = crawled(folder.path(), 1);
    directory
        .connection
        .execute_batch(
            "INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (1, 0, 0, '{}');
             UPDATE url SET visit = NULL;
             DELETE FROM visit;
             DELETE FROM url;
             INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state, due)
             VALUES (1, 0, 'http://h/a', x'', 'link', 2, 0, 1, 'queued', NULL),
                    (2, 0, 'http://h/b', x'', 'link', 3, 0, 1, 'queued', 5),
                    (3, 0, 'http://h/b', x'', 'link', 3, 0, 1, 'finished', NULL),
                    (4, 0, 'http://h/b', x'', 'link', 3, 0, 0, 'queued', NULL)",
        )
        .unwrap();
    let rules = vec![Priority { pattern: Regex::new("/b$").unwrap(), weight: Weight::MOST }];
    for order in [Order::Best, Order::BestOfLevel, Order::Depth, Order::Breadth] {
        let ranking = Ranking::new(order, rules.clone());
        directory.begin(&Beginning { ranking: Some(&ranking), ..Beginning::default() }).unwrap();
        let mut select = directory.connection.prepare("SELECT rank FROM url ORDER BY id").unwrap();
        let ranks: Result<Vec<i64>> = select.query_map([], |row| row.get(0)).unwrap().collect();
        assert_eq!(ranks, Ok(vec![order.rank(2, Weight::USUAL), order.rank(3, Weight::MOST), 0, 0]), "{order:?}");
    }
}

/// Fills no URL cache.
struct Filling;

impl Replay for Filling {
    fn lost(&mut self, _: Fingerprint, _: AuditStanding) {}

    fn row(&mut self, _: ReplayedUrl<'_>) {}

    fn done(self: Box<Self>) {}
}

/// The sums of a run are written before the URL cache is filled.
#[test]
fn filling_the_url_cache_can_be_interrupted_and_what_comes_after_it_cannot() {
    for (stops_while_it_fills, ends) in [(true, false), (false, true)] {
        let folder = tempfile::tempdir().unwrap();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&is_stopped);
        let directory = crawled(folder.path(), 5_000);
        let directory = directory.interrupted_when(move || asked.load(Ordering::Relaxed)).unwrap();
        let mut writer = directory.writer(WriterSettings::each_step(), Instant::now()).unwrap();
        let mut write = |message| writer.write(Incoming::Message(message), Instant::now()).is_ok();
        assert!(write(Message::Steps(vec![Box::default()], Box::new(()))));
        is_stopped.store(stops_while_it_fills, Ordering::Relaxed);
        assert_eq!(write(Message::Replay(Box::new(Filling))), ends);
        is_stopped.store(true, Ordering::Relaxed);
        assert_eq!(write(Message::Replay(Box::new(Filling))), ends, "once it runs, its end is asked of it");
    }
}
