//! A crawl that has a value in each column of each table.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use rusqlite::Connection;
use rustix::process::Signal;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{REDISCOVER, Webloom},
};

/// What no crawl of so small a site comes upon: lost URLs, a log-in in the place of a page, a look before its time, hosts that links
/// lead to.
const MORE: &str = "
    INSERT INTO lost (sequence, fingerprint, url, found_by, found_at, via, swept, state, admitted, recovered_in)
    SELECT admitted_in, fingerprint, url, 'audit', 1700000000000, 1, 0, 'rescued', id, NULL FROM url WHERE id = 3;
    INSERT INTO lost (sequence, fingerprint, url, found_by, found_at, via, swept, state, admitted, recovered_in)
    SELECT 1, fingerprint, url, 'sweep', 1700000000000, 1, 1, 'found', id, max(2, admitted_in) FROM url
    WHERE id = (SELECT max(id) FROM url WHERE url LIKE '%/late');
    INSERT INTO refetch (visit, up_to, read) SELECT max(visit), 1, 1 FROM url;
    UPDATE page_state SET wall = randomblob(32), moved_from = 4, moved_to = 5, doubt = 'mass', doubted_since = 1700000000000
    WHERE url = (SELECT max(url) FROM page_state);
    UPDATE page_state SET earlier = good WHERE good IS NOT NULL;
    INSERT INTO site_wide (line, sequence) VALUES (77, (SELECT max(n) FROM sequence));
    INSERT INTO change (sequence, at, url, change, before_text, after_text, count, edit, alike, in_links, links)
    SELECT max(n), began_at, 2, 'site_wide', 1, 2, 20, 77, 88, 9, '[{\"text\":\"a\",\"before\":\"b\",\"after\":\"c\"}]' FROM sequence;
    INSERT INTO change (sequence, at, address, change, before, after)
    SELECT max(n), began_at, 'http://127.0.0.1/robots.txt', 'changed', randomblob(32), randomblob(32) FROM sequence;
    UPDATE url SET state = 'queued', attempts = 1, due = 1700000000000, failed_at = 1700000000000, reason = 'timed_out', admitted_in = (SELECT max(n) FROM sequence)
    WHERE id = (SELECT max(id) FROM url WHERE url LIKE '%/silent/1');
    INSERT INTO link_check (url, redirects, wanted_in, checked_in, checked_at, outcome, status, reason, target)
    SELECT 'http://elsewhere.invalid/', 0, max(n), max(n), 1700000000000, 'failed', 429, '429', NULL FROM sequence;
    INSERT INTO link_check (url, redirects, wanted_in, checked_in, checked_at, outcome, status, reads, names)
    SELECT 'http://read.invalid/', 0, max(n), max(n), 1700000000000, 'checked', 200, 1, x'0105' FROM sequence;
    INSERT INTO link_check (url, redirects, wanted_in, checked_in, checked_at, outcome, status, reason, target)
    SELECT 'http://moved.invalid/', 1, max(n), max(n), 1700000000000, 'redirected', 301, NULL, 'http://new.invalid/' FROM sequence;
    INSERT INTO sheet_part (sheet, url, is_sheet) SELECT min(id), 'http://read.invalid/', 0 FROM link_check;
    INSERT INTO page_field (visit, fields) SELECT max(id), '{\"a\": 1}' FROM visit;
    INSERT INTO items_file (name, path, bytes, line, hash, visit) SELECT 'items.jsonl', '/items.jsonl', 20, 10, 5, max(id) FROM visit;
    INSERT INTO archive_file (id, name, bytes) VALUES (1, 'webloom-1.warc.gz', 900);
    UPDATE crawl SET archive = 1, archive_types = '[\"text/html\"]';
    INSERT INTO archive_record (visit, url, sequence, at, status, content_type, file, start, length, whole, payload, coding)
    SELECT id, url, sequence, fetched_at, status, content_type, 1, 300, 200, 300, zeroblob(20), 'gzip' FROM visit
    WHERE id = (SELECT same FROM visit WHERE same IS NOT NULL ORDER BY id LIMIT 1);
    INSERT INTO archive_record (visit, url, sequence, at, status, content_type, file, start, length, whole, body, payload, coding)
    SELECT id, url, sequence, fetched_at, status, content_type, 1, 600, 200, 300, same, zeroblob(20), 'gzip' FROM visit
    WHERE same IS NOT NULL ORDER BY id LIMIT 1;
    UPDATE indexed_page SET similarity = 5;
    UPDATE indexed_page SET similar = (SELECT min(url) FROM indexed_page) WHERE url = (SELECT max(url) FROM indexed_page);
    UPDATE page_state SET masks = '{\"masks\":[],\"waiting\":[]}' WHERE good IS NOT NULL;
    UPDATE page_state SET doubt = 'unsure', doubted_since = 1700000000000, unsure = good
    WHERE url = (SELECT min(url) FROM page_state WHERE good IS NOT NULL);
    INSERT INTO mask (section, address, mask) VALUES (7, 'http://127.0.0.1/', '{}');
    INSERT INTO second_look (url, visit, digest, rule, body, places, links)
    SELECT visit.url, visit.id, visit.digest, rule, body, x'0101', '[\"The guide\"]' FROM visit JOIN text ON text.id = visit.text ORDER BY visit.id LIMIT 1;
    UPDATE sequence SET noise = '{\"hidden\":1,\"looked\":1,\"withdrawn\":1}';
    UPDATE text SET places = x'0101';
    INSERT INTO removed_url (fingerprint) VALUES (randomblob(16));
    UPDATE url SET key = url WHERE id = 2;
    UPDATE host SET sitemaps_in = 0, sitemap_guessed = 1;
    UPDATE host SET robots_first_failed = robots_fetched_at, known_good = origin || '/' WHERE cause IS NOT NULL;
";

/// Two servers and the database that a crawl of them has left.
pub(crate) struct Filled {
    pub(crate) database: Vec<u8>,
    _servers: [Server; 2],
}

/// Crawls them in five sequences, in which pages change, go and come, and the second server falls silent.
pub(crate) fn crawl() -> Filled {
    let round = Arc::new(AtomicUsize::new(0));
    let (first, second) = (round.clone(), round.clone());
    let servers = [
        Server::start("127.0.0.1", move |asked| page(asked, first.load(Ordering::SeqCst))).expect("a free port"),
        Server::start("127.0.0.1", move |asked| silent(asked, second.load(Ordering::SeqCst))).expect("a free port"),
    ];
    let folder = tempfile::tempdir().expect("a folder can be made");
    let dir = folder.path().join("crawl");
    let starts = [servers[0].url("/"), servers[1].url("/silent/")];
    let begin = run(Webloom::crawl(&dir, &starts[0]).args([&starts[1]]));
    drop(begin.run().expect(0));
    for (number, arguments) in [(1, &REDISCOVER[..]), (2, &["--again"]), (3, &["--again"])] {
        round.store(number, Ordering::SeqCst);
        an_hour_passes(&dir);
        let audited = if number == 2 { "1" } else { "0" };
        let sequence = run(Webloom::go_on(&dir).args(arguments)).env("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", audited);
        drop(sequence.run().expect(0));
    }
    in_between(&dir);
    round.store(4, Ordering::SeqCst);
    an_hour_passes(&dir);
    drop(run(Webloom::go_on(&dir).args(["--again"])).run().expect(4));
    let database = dir.join("webloom.sqlite");
    let connection = Connection::open(&database).expect("it opens");
    connection.execute_batch(MORE).expect("rows of the other tables");
    drop(connection);
    Filled { database: fs::read(database).expect("the crawl left its database"), _servers: servers }
}

/// How each sequence is run, and one more after a value was altered.
pub(crate) fn run(run: Webloom) -> Webloom {
    run.env("WEBLOOM_POLITENESS_GIVE_UP", "200ms")
        .env("WEBLOOM_STORE_KEEP_SEQUENCES", "2")
        .env("WEBLOOM_STORE_KEEP", "4 sequences")
        .env("WEBLOOM_CHANGE_MASS_SHARE", "1")
        .env("WEBLOOM_SEARCH_INDEX", "on")
}

/// Has visits be made between two sequences.
fn in_between(dir: &Path) {
    an_hour_passes(dir);
    let watch = Webloom::new(["watch", "--no-progress", "--adaptive", "--every", "10h", "-d"]).args([dir]);
    let watch = watch.args(["--budget", "10000000/day"]).env("WEBLOOM_REVISIT_MIN_INTERVAL", "1s");
    let mut running = run(watch).within("exec 2>&1").spawn();
    running.line_with("visited the pages that were due");
    running.signal(Signal::TERM);
    drop(running.wait());
}

/// Has all visits have been made an hour earlier, in sequences that began now.
fn an_hour_passes(dir: &Path) {
    let earlier = "UPDATE visit SET fetched_at = fetched_at - 3600000; UPDATE change SET at = at - 3600000;
                   UPDATE sequence SET began_at = unixepoch() * 1000";
    let connection = Connection::open(dir.join("webloom.sqlite")).expect("it opens");
    connection.execute_batch(earlier).expect("it can be changed");
}

fn page(asked: &Asked, round: usize) -> Reply {
    match asked.target.as_str() {
        "/robots.txt" if round < 2 => Reply::text("User-agent: *\nDisallow: /secret\nCrawl-delay: 0.001"),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /secret\nCrawl-delay: 0.002"),
        "/" => Reply::links(links(round)),
        "/gone" if round > 1 => Reply::status(404),
        "/old" if round > 1 => Reply::redirect(301, "/new"),
        "/broken" => Reply::status(404),
        "/hop" => Reply::redirect(302, "/p/1"),
        "/failing" => Reply::hang_up(),
        "/shell" => Reply::html(
            "<html lang=en><meta name=description content=Empty><meta name=robots content=noindex><h1>Shell</h1>\
             <link rel=canonical href=/p/1><script src=/app.js></script>",
        ),
        "/cut" => {
            Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\n<p>cut".to_vec())
        }
        path => article(asked, path, round),
    }
}

fn links(round: usize) -> Vec<String> {
    let pages = (1..=6).map(|page| format!("/p/{page}"));
    let odd =
        ["/gone", "/old", "/broken", "/hop", "/failing", "/cut", "/shell", "/secret", "http://elsewhere.invalid/"];
    let late = (round > 1).then(|| "/late".to_owned());
    pages.chain(odd.map(str::to_owned)).chain(late).collect()
}

/// It says that nothing was modified, and is another each time.
fn liar(asked: &Asked) -> Reply {
    let known = asked.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"));
    if known {
        return Reply::status(304).header("ETag: \"1\"");
    }
    Reply::html(format!("<p>This is look {} at a page that lies.</p>", asked.before)).header("ETag: \"1\"")
}

fn article(asked: &Asked, path: &str, round: usize) -> Reply {
    let edit = if ["/p/1", "/p/2"].contains(&path) { round.min(3) } else { 0 };
    let noise = if path == "/p/3" { round.min(3) } else { 0 };
    let body = format!(
        "<title>Page {path}</title><!-- {noise} --><p>This is what {path} says.</p><p>{} of it, made by its author.</p>\
         <a href=/>home</a>",
        ["The first edition", "A second version", "Some third wording", "Yet another attempt"][edit],
    );
    let dated = ["Last-Modified: Wed, 01 Jan 2025 00:00:00 GMT", "Cache-Control: max-age=60"];
    let tag = format!("\"{edit}{noise}\"");
    let is_known =
        asked.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match") && header.contains(&tag));
    let tagged = if is_known { Reply::status(304) } else { Reply::html(body) }.header(format!("ETag: {tag}"));
    dated.into_iter().fold(tagged, Reply::header)
}

fn silent(asked: &Asked, round: usize) -> Reply {
    match asked.target.as_str() {
        _ if round > 3 => Reply::hang_up(),
        "/robots.txt" => Reply::status(404),
        "/silent/" => Reply::links(["/silent/1", "/silent/2", "/silent/liar"]),
        "/silent/liar" => liar(asked),
        path => article(asked, path, 0),
    }
}
