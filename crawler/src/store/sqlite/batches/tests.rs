//! A slow reader keeps no log from being reused.

use std::{path::Path, time::Duration};

use super::*;
use crate::{
    store::{
        LinkQuery, PageColumn, PageFilter, PageOrder, ReadSide, Since,
        sqlite::{CrawlDirectory, Records},
    },
    url::{Canonicalizer, FingerprintSeed, WebUrl},
};

/// More than a batch.
const MANY: usize = BATCH * 2 + 10;

/// A crawl of pages that link to the next one; every other one is broken. Each has a change, one that waits, and a lost URL.
fn crawled(folder: &Path) -> Connection {
    let connection = CrawlDirectory::open(folder).unwrap().into_connection();
    connection
        .execute_batch(&format!(
            "INSERT INTO crawl (id, created_at, fingerprint_seed, settings, key_rules) VALUES (1, 0, 7, '{{}}', 'whatwg');
             INSERT INTO sequence (n, began_at, hash_seed, counters) VALUES (0, 0, 0, '{{}}');
             INSERT INTO host (id, origin) VALUES (0, 'http://h');
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY})
             INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                 SELECT i, 0, 'http://h/' || i, randomblob(16), 'link', 0, 0, 0, 'finished' FROM n;
             INSERT INTO visit (id, url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, links)
                 SELECT id, id, 0, 0, iif(id % 2, 'stored', 'broken'), iif(id % 2, 200, 404), 1, 0, 0,
                        coalesce((SELECT substr(fingerprint, 1, 8) FROM url AS next WHERE next.id = url.id + 1), x'')
                 FROM url;
             UPDATE url SET visit = id;
             INSERT INTO change (sequence, at, url, change) SELECT 0, 0, id, 'changed' FROM url;
             INSERT INTO page_state (url, condition, doubt, doubted_since, restless, flaps, calm, volatile, orphaned)
                 SELECT id, 'there', 'missing', 0, 0, 0, 0, 0, 0 FROM url;
             INSERT INTO lost (sequence, fingerprint, found_by, found_at, state) SELECT 0, fingerprint, 'sweep', 0, 'open' FROM url"
        ))
        .unwrap();
    let second = WebUrl::parse("http://h/2").unwrap();
    let fingerprint = Canonicalizer::default().fingerprint(&second, FingerprintSeed::new(7)).to_bytes();
    connection.execute("UPDATE url SET fingerprint = ? WHERE id = 2", [fingerprint]).unwrap();
    connection.execute("UPDATE visit SET links = substr(?, 1, 8) WHERE id = 1", [fingerprint]).unwrap();
    connection
}

/// Whether the log could be copied and emptied at each line; the number of lines.
fn listed(writer: &Connection, list: impl FnOnce(&mut dyn FnMut())) -> (usize, bool) {
    writer.busy_timeout(Duration::ZERO).unwrap();
    let (mut lines, mut is_free) = (0, true);
    list(&mut || {
        lines += 1;
        writer.execute("UPDATE sequence SET seconds = seconds + 1", []).unwrap();
        let busy: bool = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        is_free &= !busy;
    });
    (lines, is_free)
}

#[test]
fn a_reader_that_waits_keeps_no_log_from_being_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let writer = crawled(folder.path());
    let records = Records::open(folder.path()).unwrap();
    let pages = |filter: PageFilter| {
        listed(&writer, |line| {
            let each = |_| {
                line();
                true
            };
            records.pages(&filter, each).unwrap();
        })
    };
    let order = Some(PageOrder { by: PageColumn::Url, reversed: true });
    assert_eq!(pages(PageFilter::default()), (MANY, true));
    assert_eq!(pages(PageFilter { sequence: Some(0), ..PageFilter::default() }), (MANY, true));
    assert_eq!(pages(PageFilter { order, ..PageFilter::default() }), (MANY, true));
    assert_eq!(pages(PageFilter { lost: true, ..PageFilter::default() }), (MANY, true));
    let changes = listed(&writer, |line| {
        let each = |_| {
            line();
            true
        };
        records.changes(Since::Ever, true, each).unwrap();
    });
    assert_eq!(changes, (MANY, true));
    let pending = listed(&writer, |line| {
        let each = |_| {
            line();
            true
        };
        records.pending_changes(Duration::ZERO, Duration::ZERO, each).unwrap();
    });
    assert_eq!(pending, (MANY, true));
    let second = LinkQuery::To(WebUrl::parse("http://h/2").unwrap());
    for (query, expected) in [(LinkQuery::Broken, MANY / 2), (second, 1)] {
        let links = listed(&writer, |line| {
            let each = |_| {
                line();
                true
            };
            records.links(&query, each).unwrap();
        });
        assert_eq!(links, (expected, true), "{query:?}");
    }
}

#[test]
fn lines_come_in_order_and_once_whatever_is_written_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let writer = crawled(folder.path());
    let records = Records::open(folder.path()).unwrap();
    let mut urls = Vec::new();
    records
        .pages(&PageFilter::default(), |line| {
            // What was shown gets another state, and is not shown again.
            writer.execute("UPDATE url SET state = 'queued' WHERE url = ?", [line.url.as_deref()]).unwrap();
            urls.push(line.url.unwrap());
            true
        })
        .unwrap();
    assert_eq!(urls, (1..=MANY).map(|page| format!("http://h/{page}")).collect::<Vec<_>>());
}
