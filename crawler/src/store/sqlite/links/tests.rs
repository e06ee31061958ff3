//! An index says the same as a look at all pages.

use std::{os::unix::fs::PermissionsExt, path::Path};

use super::*;
use crate::{
    candidate::Hop,
    extract::{Element, Label},
    store::{LabelPacker, Proposer, Proposers},
    url::{Canonicalizer, FingerprintSeed},
};

const PAGES: u64 = 60;

fn url(page: u64) -> String {
    format!("http://h/{page}")
}

fn link(text: &str) -> u64 {
    let url = WebUrl::parse(text).unwrap();
    Canonicalizer::default().fingerprint(&url, FingerprintSeed::new(7)).short()
}

/// A crawl that has ended: page n links to its multiples and, out of the scope, to its remainder by 7. Those that 9 divides are broken.
fn crawled(folder: &Path) -> Connection {
    let mut connection = Connection::open(folder.join("webloom.sqlite")).unwrap();
    super::super::schema::migrate(&mut connection, 0).unwrap();
    let rules = Canonicalizer::default();
    connection
        .execute(
            "INSERT INTO crawl (id, created_at, fingerprint_seed, settings, key_rules) VALUES (1, 0, 7, '{}', ?)",
            [rules.name()],
        )
        .unwrap();
    connection
        .execute_batch(
            "INSERT INTO sequence (n, began_at, hash_seed, counters, end) VALUES (0, 0, 0, '{}', 'drained');
             INSERT INTO host (id, origin) VALUES (0, 'http://h')",
        )
        .unwrap();
    for page in 1..=PAGES {
        let key = rules.key(&WebUrl::parse(&url(page)).unwrap());
        let fingerprint = FingerprintSeed::new(7).fingerprint(&key).to_bytes();
        let insert = "INSERT INTO url (id, host, url, fingerprint, hop, depth, rank, admitted_in, state)
                      VALUES (?, 0, ?, ?, 'link', 0, 0, 0, 'finished')";
        connection.execute(insert, params![page, url(page), fingerprint]).unwrap();
        visit(&connection, page);
    }
    connection
}

fn visit(connection: &Connection, page: u64) {
    let mut packer = LabelPacker::default();
    let mut links = Vec::new();
    for to in (page..=PAGES).step_by(usize::try_from(page).unwrap()) {
        links.extend(link(&url(to)).to_be_bytes());
        packer.keep(Label { element: Element::Anchor, rel: "", text: "in", language: "" });
    }
    packer.refuse(
        &format!("http://other/{}", page % 7),
        "scope",
        Label { element: Element::Area, rel: "", text: "out", language: "" },
    );
    let (outcome, status) = if page.is_multiple_of(9) { ("broken", 404) } else { ("stored", 200) };
    let insert =
        "INSERT INTO visit (url, sequence, fetched_at, outcome, status, html, bytes, wire_bytes, links, labels)
                  VALUES (?, 0, 0, ?, ?, 1, 0, 0, ?, ?)";
    connection.execute(insert, params![page, outcome, status, links, packer.finish()]).unwrap();
    connection.execute("UPDATE url SET visit = last_insert_rowid() WHERE id = ?", [page]).unwrap();
}

/// The lines of a question; `indexed` as the reader has it.
fn lines(connection: &Connection, query: &LinkQuery, indexed: u64) -> (Vec<LinkLine>, LinksRead) {
    let current = Current::of(connection, 0).unwrap();
    let mut reader = Reader { connection, current, read: LinksRead::default(), indexed };
    let mut lines = Vec::new();
    let mut each = |line| {
        lines.push(line);
        true
    };
    match query {
        LinkQuery::To(url) => reader.to(url, &mut each).unwrap(),
        _ => drop(reader.of_all_targets(Which::Broken, &mut each).unwrap()),
    }
    let read = reader.read;
    (lines, read)
}

fn to(text: &str) -> LinkQuery {
    LinkQuery::To(WebUrl::parse(text).unwrap())
}

#[test]
fn an_index_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let connection = crawled(folder.path());
    let asked: Vec<_> = (1..=PAGES).map(url).chain((0..8).map(|other| format!("http://other/{other}"))).collect();
    let answers = |indexed| -> Vec<_> {
        let mut answers: Vec<_> = asked.iter().map(|text| lines(&connection, &to(text), indexed)).collect();
        answers.push((lines(&connection, &LinkQuery::Broken, indexed).0, LinksRead::default()));
        answers
    };
    let scanned = answers(u64::MAX);
    assert!(!folder.path().join("links.index").exists());
    assert_eq!(answers(PAGES), scanned);
    assert_eq!(std::fs::metadata(folder.path().join("links.index")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!((scanned[11].0.len(), scanned[11].1.pages), (6, 54), "1, 2, 3, 4, 6 and 12 link to 12");
    assert_eq!(scanned[60].0.len(), 8, "{:?}", scanned[60]);
    assert!(!scanned[67].1.is_known && scanned[60].1.is_known);
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{names:?}");
}

#[test]
fn an_index_of_another_state_or_of_nonsense_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let connection = crawled(folder.path());
    let whole = lines(&connection, &to(&url(12)), 1).0;
    connection.execute("UPDATE visit SET links = x'', labels = NULL WHERE url = 3", []).unwrap();
    visit(&connection, 6);
    assert_eq!(lines(&connection, &to(&url(12)), 1).0.len(), whole.len() - 1, "another visit was made");
    for nonsense in [&b""[..], b"SQLite format 3\0 and then nothing", &[0; 5_000]] {
        std::fs::write(folder.path().join("links.index"), nonsense).unwrap();
        assert_eq!(lines(&connection, &to(&url(12)), u64::MAX).0.len(), whole.len() - 1);
        assert_eq!(lines(&connection, &to(&url(12)), 1).0.len(), whole.len() - 1);
        assert!(Index::of(&connection).is_some());
    }
    let index = Connection::open(folder.path().join("links.index")).unwrap();
    for packed in [&[0x80_u8][..], &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1], &[255, 255, 255, 255, 1]] {
        index.execute("UPDATE link SET pages = ?", [packed]).unwrap();
        assert_eq!(lines(&connection, &to(&url(12)), 1).0.len(), whole.len() - 1, "{packed:?}");
        assert!(!lines(&connection, &LinkQuery::Broken, 1).0.is_empty());
    }
    connection.execute("UPDATE sequence SET end = NULL", []).unwrap();
    std::fs::remove_file(folder.path().join("links.index")).unwrap();
    assert_eq!(lines(&connection, &to(&url(12)), 1).0.len(), whole.len() - 1);
    assert!(!folder.path().join("links.index").exists(), "a crawl that runs has none");
}

#[test]
fn what_a_killed_process_left_goes_with_the_next_index() {
    let folder = tempfile::tempdir().unwrap();
    let connection = crawled(folder.path());
    let [old, young] = ["links.old.tmp", "links.young.tmp"].map(|name| folder.path().join(name));
    for (path, hours) in [(&old, 2), (&young, 0)] {
        let file = std::fs::File::create(path).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_hours(hours)).unwrap();
    }
    assert_eq!(lines(&connection, &to(&url(12)), 1).0.len(), 6);
    assert!(!old.exists() && young.exists() && Index::of(&connection).is_some());
}

#[test]
fn where_no_index_can_be_made_the_pages_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let connection = crawled(folder.path());
    std::fs::create_dir(folder.path().join("links.index")).unwrap();
    assert_eq!(lines(&connection, &to(&url(12)), 1).0.len(), 6);
    let memory = Connection::open_in_memory().unwrap();
    assert!(Index::of(&memory).is_none() && Builder::new(&memory).is_none());
}

/// What leads to a URL, so many of them listed.
fn leads(connection: &Connection, text: &str, first: Option<(Option<u64>, Hop)>, most: usize) -> Proposers {
    let (url, rules) = (WebUrl::parse(text).unwrap(), Canonicalizer::default());
    let sought = SoughtUrl { url: &url, key: &rules.key(&url), link: link(text), rules: &rules, first };
    proposers(connection, Current::of(connection, 0).unwrap(), &sought, most).unwrap()
}

#[test]
fn what_leads_to_a_url_is_the_same_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let connection = crawled(folder.path());
    let redirect = "UPDATE visit SET outcome = 'redirected', redirect = ?, links = ?, labels = NULL WHERE url = ?";
    connection.execute(redirect, params![url(12), link(&url(12)).to_be_bytes(), 5]).unwrap();
    connection.execute(redirect, params!["http://other/3", [0_u8; 0], 50]).unwrap();
    let asked: Vec<_> = (1..=PAGES).map(url).chain((0..8).map(|other| format!("http://other/{other}"))).collect();
    let firsts = [None, Some((None, Hop::Start)), Some((Some(4), Hop::Link)), Some((Some(5), Hop::Redirect))];
    let answers = || -> Vec<_> {
        let of = |text: &String| firsts.map(|first| [3, 100].map(|most| leads(&connection, text, first, most)));
        asked.iter().map(of).collect()
    };
    let scanned = answers();
    lines(&connection, &to(&url(12)), 1);
    assert!(Index::of(&connection).is_some());
    assert_eq!(answers(), scanned);
    let by = |page: u64, hop| Proposer { via: Some(url(page)), hop };
    let start = Proposer { via: None, hop: Hop::Start };
    let lists = [
        (vec![by(1, Hop::Link), by(2, Hop::Link), by(3, Hop::Link)], 7),
        (vec![start, by(1, Hop::Link), by(2, Hop::Link)], 8),
        (vec![by(4, Hop::Link), by(1, Hop::Link), by(2, Hop::Link)], 7),
        (vec![by(5, Hop::Redirect), by(1, Hop::Link), by(2, Hop::Link)], 7),
    ];
    for ([few, all], (list, count)) in scanned[11].iter().zip(lists) {
        assert_eq!((&few.list, few.count, few.is_taken, &few.refused), (&list, count, true, &None));
        assert_eq!((all.list.len() as u64, all.count), (count, count));
    }
    // 4 and 5 have lost their links to it, and are named as those by which it was found first.
    let other = &scanned[60 + 3];
    let [none, ..] = &other[0];
    assert!(!none.is_taken && none.refused.as_deref() == Some("scope"), "{none:?}");
    assert_eq!((other[2][1].count, &other[2][1].list[0]), (none.count + 1, &by(4, Hop::Link)));
    assert!(other[0][1].list.contains(&by(50, Hop::Redirect)) && other[0][1].list.contains(&by(3, Hop::Link)));
}
