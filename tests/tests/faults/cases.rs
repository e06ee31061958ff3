//! One case or more for each invariant.

use std::{collections::BTreeSet, fs::File, os::unix::fs::FileExt, path::Path};

use rusqlite::Connection;
use webloom::internals::store::sqlite::invariants;

use super::crawled::{checked, sql};

const WHOLE: &str = "the database file is whole";
/// Named where an archive lies beside the database: `crawl` has its case.
const ARCHIVED: &str = "the archive has the records that rows name";

/// An invariant, and statements that break it.
const CASES: &[(&str, &str)] = &[
    ("a URL is queued, finished or abandoned", "UPDATE url SET state = 'leased' WHERE id = 5"),
    ("a finished URL has a visit of its own", "UPDATE url SET visit = NULL WHERE id = 2"),
    ("a finished URL has a visit of its own", "DELETE FROM visit WHERE id = (SELECT visit FROM url WHERE id = 2)"),
    (
        "a finished URL has a visit of its own",
        "UPDATE url SET visit = (SELECT visit FROM url WHERE id = 3) WHERE id = 2",
    ),
    (
        "a queued or abandoned URL has no visit in the sequence it was admitted in, unless that was revisited",
        "UPDATE url SET state = 'queued' WHERE id = 2",
    ),
    ("a drained sequence has left nothing queued", "UPDATE url SET state = 'queued' WHERE id = 2"),
    ("a drained sequence has left nothing queued", "INSERT INTO past (url, sequence, state) VALUES (2, 0, 'queued')"),
    (
        "a visit belongs to a finished URL, which has at most one in a sequence that was not revisited",
        "CREATE TEMP TABLE again AS SELECT * FROM visit WHERE id = 2;
         UPDATE again SET id = (SELECT max(id) + 1 FROM visit);
         INSERT INTO visit SELECT * FROM again",
    ),
    (
        "a visit belongs to a finished URL, which has at most one in a sequence that was not revisited",
        "INSERT INTO past (url, sequence, state, reason) VALUES (2, 0, 'abandoned', 'x')",
    ),
    (
        "what is remembered of a page names copies of it",
        "INSERT INTO page_state (url, good, condition, restless, flaps, calm, volatile, orphaned)
         VALUES (2, (SELECT visit FROM url WHERE id = 3), 'there', 0, 0, 0, 0, 0)",
    ),
    (
        "as many pages of each class are due as are counted",
        "INSERT INTO revisit (url, class, visited_at, state) VALUES (2, 7, 0, zeroblob(20))",
    ),
    ("as many pages of each class are due as are counted", "INSERT INTO revisit_class (class, pages) VALUES (7, 1)"),
    (
        "a visit says what changed since the copy before it",
        "UPDATE visit SET change = 'new' WHERE change = 'unchanged'",
    ),
    ("a visit says what changed since the copy before it", "UPDATE visit SET change = NULL WHERE id = 1"),
    (
        "a visit says what changed since the copy before it",
        "UPDATE visit SET digest = zeroblob(32) WHERE url = 2 AND sequence = 0",
    ),
    (
        "a visit says what changed since the copy before it",
        "UPDATE visit SET change = 'gone' WHERE outcome = 'redirected'",
    ),
    (
        "a visit says what changed since the copy before it",
        "UPDATE visit SET links = zeroblob(8) WHERE same IS NOT NULL",
    ),
    ("a visit says what changed since the copy before it", "UPDATE visit SET same = id WHERE same IS NOT NULL"),
    ("the copy of a URL is an earlier visit to it that stored the page with its links", "UPDATE url SET copy = visit"),
    (
        "the copy of a URL is an earlier visit to it that stored the page with its links",
        "UPDATE url SET copy = (SELECT copy FROM url WHERE id = 3) WHERE id = 2",
    ),
    ("an earlier state of a URL belongs to a sequence before its latest one", "UPDATE past SET sequence = 1"),
    (
        "an earlier state of a URL belongs to a sequence before its latest one",
        "DELETE FROM url WHERE id = (SELECT min(url) FROM past)",
    ),
    (
        "a URL that was admitted again has a later number than its first, and an earlier state",
        "DELETE FROM visit WHERE url = 2 AND sequence = 0",
    ),
    ("a URL that was admitted again has a later number than its first, and an earlier state", "DELETE FROM past"),
    (
        "a URL that was admitted again has a later number than its first, and an earlier state",
        "UPDATE url SET readmission = NULL WHERE id = 2",
    ),
    (
        "a URL that was admitted again has a later number than its first, and an earlier state",
        "UPDATE url SET readmission = 1 WHERE id = 2",
    ),
    ("an abandoned URL has a reason", "UPDATE url SET reason = NULL WHERE state = 'abandoned'"),
    (
        "only a queued URL that has failed before waits for a retry",
        "UPDATE url SET state = 'queued', visit = NULL, due = 1, attempts = 0 WHERE id = 2",
    ),
    ("only a queued URL that has failed before waits for a retry", "UPDATE url SET due = 1 WHERE id = 2"),
    (
        "what is beyond a limit is not due, and nothing else is never due",
        "UPDATE url SET state = 'queued', visit = NULL, due = 1, reason = 'section' WHERE id = 2",
    ),
    (
        "what is beyond a limit is not due, and nothing else is never due",
        "UPDATE url SET state = 'queued', visit = NULL, due = 1 << 53, reason = 'refused', failed_at = 1 WHERE id = 2",
    ),
    (
        "only a queued URL that has failed before waits for a retry",
        "UPDATE url SET state = 'queued', visit = NULL, attempts = 1 WHERE id = 2",
    ),
    ("a URL's host exists", "UPDATE url SET host = 99 WHERE id = 2"),
    ("hosts are numbered from 0 without a gap, each once", "INSERT INTO host (id, origin) VALUES (7, 'http://h')"),
    (
        "hosts are numbered from 0 without a gap, each once",
        "INSERT INTO host (id, origin) SELECT max(id) + 1, origin FROM host WHERE id = 0",
    ),
    ("a URL was admitted in a sequence that exists", "UPDATE url SET admitted_in = 9 WHERE id = 2"),
    ("a visit was made in a sequence that exists", "UPDATE visit SET sequence = 9 WHERE id = 2"),
    ("a start URL has depth 0 and was found on no page", "UPDATE url SET depth = 1, rank = 1 WHERE hop = 'start'"),
    ("a start URL has depth 0 and was found on no page", "UPDATE url SET via = 2 WHERE hop = 'start'"),
    (
        "a link is at most one level deeper than its page, and the target of a redirect at most as deep as the redirect",
        "UPDATE url SET depth = depth + 1, rank = rank + 1 WHERE id = (SELECT max(id) FROM url WHERE hop = 'link')",
    ),
    (
        "what is no start, and no sitemap that no URL led to, was found on a page",
        "UPDATE url SET via = NULL WHERE hop = 'redirect'",
    ),
    (
        "a URL's place in the order follows from its depth, its weight and what is known of it",
        "UPDATE url SET rank = rank + 9 WHERE id = 2",
    ),
    ("a visit's outcome agrees with its status, digest and target", "UPDATE visit SET outcome = 'broken' WHERE id = 1"),
    ("a visit's outcome agrees with its status, digest and target", "UPDATE visit SET outcome = 'lost' WHERE id = 1"),
    (
        "a visit's outcome agrees with its status, digest and target",
        "UPDATE visit SET digest = NULL WHERE outcome = 'stored'",
    ),
    (
        "a visit's outcome agrees with its status, digest and target",
        "UPDATE visit SET redirect = NULL WHERE outcome = 'redirected'",
    ),
    ("kept links are whole", "UPDATE visit SET links = substr(links, 1, length(links) - 3) WHERE length(links) > 8"),
    (
        "a visit that stored a page and has its links itself has their hash, and no other has",
        "UPDATE visit SET links_hash = NULL WHERE id = 1",
    ),
    (
        "a visit that stored a page and has its links itself has their hash, and no other has",
        "UPDATE visit SET links_hash = 7 WHERE same IS NOT NULL OR outcome = 'redirected'",
    ),
    ("a host that was visited has been asked for robots.txt", "UPDATE host SET robots_fetched_at = NULL"),
    (
        "candidates = admitted + duplicate + refused, and pages stored are counted",
        "UPDATE sequence SET counters = json_set(counters, '$.candidates', counters ->> '$.candidates' + 1)",
    ),
    (
        "candidates = admitted + duplicate + refused, and pages stored are counted",
        "UPDATE sequence SET counters = json_set(counters, '$.stored', 0)",
    ),
    (
        "candidates = admitted + duplicate + refused, and pages stored are counted",
        "UPDATE sequence SET counters = json_set(counters, '$.duplicate', 0) WHERE n = 0",
    ),
    (
        "candidates = admitted + duplicate + refused, and pages stored are counted",
        "UPDATE sequence SET counters = substr(counters, 1, 20)",
    ),
    ("a URL is an http(s) URL", "UPDATE url SET url = 'ftp://elsewhere/' WHERE id = 2"),
    ("a URL's host is the host it names", "UPDATE host SET origin = 'http://other.invalid'"),
    ("a fingerprint is the hash of its key", "UPDATE url SET fingerprint = zeroblob(16) WHERE id = 2"),
    ("a fingerprint is the hash of its key", "UPDATE crawl SET fingerprint_seed = fingerprint_seed + 1"),
    (
        "a key is admitted once",
        "DROP INDEX url_fingerprint;
         INSERT INTO url (id, host, url, fingerprint, hop, via, depth, rank, admitted_in, state)
         SELECT (SELECT max(id) + 1 FROM url), host, url, fingerprint, hop, via, depth, rank, admitted_in, 'queued'
         FROM url WHERE id = 2",
    ),
    ("with an exact cache, every kept link has a row", "UPDATE visit SET links = x'0102030405060708' WHERE id = 1"),
    (
        "with an exact cache, every kept link has a row",
        "DELETE FROM url WHERE id = (SELECT max(id) FROM url WHERE hop = 'link')",
    ),
    (
        "with an exact cache, every kept link has a row",
        "CREATE TEMP TABLE last AS SELECT max(id) AS id FROM url WHERE hop = 'link';
         UPDATE url SET admitted_in = 0, readmission = NULL WHERE id = (SELECT id FROM last)",
    ),
    (
        "after a sweep, every kept link has a row or is recorded as lost",
        "UPDATE visit SET links = x'0102030405060708' WHERE id = 1",
    ),
    (
        "a lost URL was admitted, or it has a state that says why not",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state) VALUES (0, zeroblob(8), 'sweep', 0, 'rescued')",
    ),
    (
        "a lost URL was admitted, or it has a state that says why not",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, admitted)
         SELECT 0, fingerprint, 'audit', 0, 'lost', id FROM url WHERE id = 2",
    ),
    (
        "a lost URL was admitted, or it has a state that says why not",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state) VALUES (0, zeroblob(8), 'sweep', 0, 'gone')",
    ),
    (
        "a lost URL that was admitted is the one in its row",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, admitted)
         SELECT 0, fingerprint, 'audit', 0, 'rescued', 3 FROM url WHERE id = 2",
    ),
    (
        "a lost URL was found by audit or sweep, in a sequence that exists, at a URL that exists",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state) VALUES (0, zeroblob(8), 'me', 0, 'lost')",
    ),
    (
        "a lost URL was found by audit or sweep, in a sequence that exists, at a URL that exists",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, via)
         VALUES (0, zeroblob(8), 'sweep', 0, 'lost', 99999)",
    ),
    (
        "a lost URL was found by audit or sweep, in a sequence that exists, at a URL that exists",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state) VALUES (7, zeroblob(8), 'sweep', 0, 'lost')",
    ),
    (
        "a lost URL was admitted in the sequence that lost it, or in a later one that recovered it",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, admitted, recovered_in)
         SELECT 1, fingerprint, 'audit', 0, 'found', id, 1 FROM url WHERE id = 2",
    ),
    (
        "a lost URL was admitted in the sequence that lost it, or in a later one that recovered it",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, recovered_in)
         VALUES (0, zeroblob(8), 'sweep', 0, 'lost', 1)",
    ),
    (
        "a lost URL was admitted in the sequence that lost it, or in a later one that recovered it",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, admitted)
         SELECT 0, fingerprint, 'audit', 0, 'rescued', id FROM url WHERE id = 2;
         DELETE FROM visit WHERE url = 2 AND sequence = 0",
    ),
    (
        "a URL that a sequence lost and did not admit has no state in it",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state)
         SELECT 0, fingerprint, 'audit', 0, 'lost' FROM url WHERE id = 2",
    ),
    (
        "a URL that a sequence lost and did not admit has no state in it",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state)
         SELECT 0, fingerprint, 'audit', 0, 'lost' FROM url WHERE id = (SELECT min(url) FROM past)",
    ),
    (
        "a URL that a sequence lost and did not admit has no state in it",
        "INSERT INTO lost (sequence, fingerprint, found_by, found_at, state, admitted, recovered_in)
         SELECT 0, fingerprint, 'audit', 0, 'found', id, 1 FROM url WHERE id = 2",
    ),
    (
        "the kept links of a page can be read, and their number is right",
        "UPDATE visit SET labels = substr(labels, 1, length(labels) - 1) WHERE id = 1",
    ),
    (
        "the kept links of a page can be read, and their number is right",
        "UPDATE visit SET labels = (SELECT labels FROM visit WHERE id = 1)
         WHERE id = (SELECT max(id) FROM visit WHERE labels IS NOT NULL)",
    ),
    (
        "the copy of a URL is an earlier visit to it that stored the page with its links",
        "UPDATE url SET copy = NULL WHERE copy IS NOT NULL",
    ),
    (
        "the copy of a URL is an earlier visit to it that stored the page with its links",
        "UPDATE visit SET before = id WHERE id = 2",
    ),
    (
        "what is said of a sequence's end, audit and sweep is said whole",
        "UPDATE sequence SET ended_at = NULL WHERE n = 0",
    ),
    (
        "what is said of a sequence's end, audit and sweep is said whole",
        "UPDATE sequence SET hash_seed = hash_seed + 1 WHERE n = 1",
    ),
    ("what is said of a host is said whole", "UPDATE host SET cause = 'refused'"),
    (
        "what is said of a change is said whole",
        "INSERT INTO change (sequence, at, url, change, count) VALUES (1, 0, 2, 'changed', 7)",
    ),
    (
        "the crawl knows up to which visit it has done what it did",
        "INSERT INTO change (sequence, at, url, change) VALUES (1, 0, 2, 'changed'); UPDATE crawl SET looked_at = NULL",
    ),
    ("the crawl knows up to which visit it has done what it did", "UPDATE crawl SET pruned_to = 1"),
    ("the crawl knows how far its history was forgotten", "UPDATE sequence SET pruned = 1 WHERE revisit IS NULL"),
    ("every value is one that its column may have", "UPDATE visit SET truncated = 'rolled up' WHERE id = 2"),
    ("every value is one that its column may have", "UPDATE visit SET status = -200 WHERE id = 2"),
    ("every value is one that its column may have", "UPDATE sequence SET cache = '{' WHERE n = 1"),
    ("every value is one that its column may have", "UPDATE host SET known_good = 'nowhere'"),
    ("every value is one that its column may have", "UPDATE host SET cause = 'ill'"),
    (
        "every value is one that its column may have",
        "INSERT INTO text (url, rule, digest, body) VALUES (2, 1, zeroblob(32), x'00')",
    ),
    ("a row that another names is there", "UPDATE url SET via = (SELECT max(id) + 1 FROM url) WHERE id = 2"),
    (
        "a row that another names is there",
        "INSERT INTO change (sequence, at, url, change) SELECT 1, 0, max(id) + 1, 'new' FROM url",
    ),
    (
        "what is said of a checked URL is said whole",
        "INSERT INTO link_check (url, redirects, wanted_in, outcome) VALUES ('http://h/', 0, 1, 'broken')",
    ),
    (
        "what is said of a checked URL is said whole",
        "INSERT INTO link_check (url, redirects, wanted_in, checked_in, checked_at, outcome, status)
         VALUES ('http://h/', 0, 1, 1, 0, 'redirected', 301)",
    ),
    (
        "the kept names of a checked page can be read",
        "INSERT INTO link_check (url, redirects, wanted_in, checked_in, checked_at, outcome, status, reads, names)
         VALUES ('http://h/', 0, 1, 1, 0, 'checked', 200, 1, x'02')",
    ),
    (
        "an archived answer is that of its visit",
        "INSERT INTO archive_file (id, name, bytes) VALUES (1, 'a', 10);
         INSERT INTO archive_record (visit, url, sequence, at, status, file, start, length, whole, payload)
         SELECT id, url, sequence, fetched_at + 1, status, 1, 0, 5, 5, zeroblob(20) FROM visit WHERE id = 1",
    ),
    (
        "the records of an archive file follow one another, and those without a body name one that has it",
        "INSERT INTO archive_file (id, name, bytes) VALUES (1, 'a', 10);
         INSERT INTO archive_record (visit, url, sequence, at, status, file, start, length, whole, payload)
         VALUES (1, 1, 0, 0, 200, 1, 5, 5, 6, zeroblob(20))",
    ),
    (
        "the records of an archive file follow one another, and those without a body name one that has it",
        "INSERT INTO archive_file (id, name, bytes) VALUES (1, 'a', 10);
         INSERT INTO archive_record (visit, url, sequence, at, status, file, start, length, whole, payload, body)
         VALUES (1, 1, 0, 0, 200, 1, 0, 5, 5, zeroblob(20), 1)",
    ),
    (
        "the search index has the pages that its rows name",
        "INSERT INTO indexed_page (url, words, links, importance) VALUES (2, 1, 0, 1.0)",
    ),
    (
        "a page is nearly the same as one before it whose text is long enough",
        "INSERT INTO indexed_page (url, words, links, importance, similar) VALUES (2, 1, 0, 1.0, 2)",
    ),
    (
        "a second look is said whole, and a change that waits for one names its visit",
        "INSERT INTO second_look (url, visit, rule) VALUES (2, 2, 5)",
    ),
    ("a URL that was removed is not there", "INSERT INTO removed_url SELECT fingerprint FROM url WHERE id = 2"),
    ("every value has the type of its column", "UPDATE visit SET title = CAST(x'ff00' AS TEXT) WHERE id = 2"),
    ("every value has the type of its column", "UPDATE url SET url = CAST(x'ff00' AS TEXT) WHERE id = 2"),
    ("every value has the type of its column", "UPDATE url SET state = CAST(x'ff00' AS TEXT) WHERE id = 2"),
];

#[test]
fn a_crawl_nobody_touched_is_clean() {
    assert_eq!(checked(|_| {}), (Some(0), Vec::new()));
}

#[test]
fn every_planted_fault_is_named() {
    for (invariant, statements) in CASES {
        let (code, named) = checked(|database| sql(database, statements));
        assert_eq!(code, Some(1), "{statements}");
        assert!(named.iter().any(|name| name == invariant), "{statements}: {named:?}");
    }
}

#[test]
fn a_damaged_page_is_named() {
    for table in ["url", "visit", "url_queue"] {
        let (code, named) = checked(|database| damage(database, table));
        assert_eq!((code, named.first().map(String::as_str)), (Some(1), Some(WHOLE)), "{table}: {named:?}");
    }
}

#[test]
fn every_invariant_has_its_case() {
    let cases: BTreeSet<_> = CASES.iter().map(|(invariant, _)| *invariant).chain([WHOLE, ARCHIVED]).collect();
    assert_eq!(cases, invariants().collect());
}

/// Overwrites the head of the first page of a table or index.
fn damage(database: &Path, table: &str) {
    let connection = Connection::open(database).expect("it opens");
    let page: u64 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?", [table], |row| row.get(0))
        .expect("it is there");
    drop(connection);
    let file = File::options().write(true).open(database).expect("it is writable");
    file.write_all_at(&[0x5a; 64], (page - 1) * 4096).expect("the page can be overwritten");
}
