//! A kit of odd servers, each a few lines: what Webloom makes of every one is foretold here and said in `docs/servers.md`.

mod behaviour;
mod bodies;
mod heads;
mod links;
mod lists;
mod pages;
mod redirects;
mod refusals;
mod robots;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use behaviour::Behaviour;
use webloom_tests::server::{Asked, Reply};

/// Behaviours of a group that are tried at once: most of them wait.
const AT_ONCE: usize = 4;

const GROUPS: [&[Behaviour]; 8] = [
    redirects::REDIRECTS,
    refusals::REFUSALS,
    heads::HEADS,
    bodies::BODIES,
    pages::PAGES,
    links::LINKS,
    robots::ROBOTS,
    lists::LISTS,
];

/// Crawls each behaviour of a group, and fails with all that is not as foretold.
fn assert_foretold(group: &[Behaviour]) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut faults = Vec::new();
        while let Some(behaviour) = group.get(next.fetch_add(1, Ordering::Relaxed)) {
            faults.extend(behaviour.faults());
        }
        faults
    };
    let faults: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no behaviour panics")).collect()
    });
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// A response to the byte, and then the end of the connection: nobody sends another request on it, which would not be seen.
fn raw(head: &str, body: impl AsRef<[u8]>) -> Reply {
    Reply::Raw([format!("{head}\r\nconnection: close\r\n\r\n").as_bytes(), body.as_ref()].concat())
}

/// A page with one more header line.
fn page_with(header: &str, body: impl Into<Vec<u8>>) -> Reply {
    Reply::Whole(200, vec![header.to_owned()], body.into())
}

/// The scheme, name and port by which a request came.
pub(crate) fn origin(asked: &Asked) -> String {
    let host = asked.headers.iter().find_map(|line| line.strip_prefix("host: "));
    format!("http://{}", host.expect("a host"))
}

#[test]
fn redirects_end_as_foretold() {
    assert_foretold(redirects::REDIRECTS);
}

#[test]
fn refusals_end_as_foretold() {
    assert_foretold(refusals::REFUSALS);
}

#[test]
fn heads_end_as_foretold() {
    assert_foretold(heads::HEADS);
}

#[test]
fn bodies_end_as_foretold() {
    assert_foretold(bodies::BODIES);
}

#[test]
fn pages_end_as_foretold() {
    assert_foretold(pages::PAGES);
}

#[test]
fn links_end_as_foretold() {
    assert_foretold(links::LINKS);
}

#[test]
fn robots_end_as_foretold() {
    assert_foretold(robots::ROBOTS);
}

#[test]
fn lists_end_as_foretold() {
    assert_foretold(lists::LISTS);
}

/// The rows of the document: name, what the server does, the outcome, and what comes of it.
#[test]
fn the_document_has_a_row_for_each_behaviour_with_its_outcome() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/servers.md");
    let document = fs::read_to_string(path).expect("a document");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let rows: BTreeMap<_, _> = rows.map(|row| row.split_once("` | ").expect("a name and the rest")).collect();
    let all: Vec<_> = GROUPS.concat();
    let names: BTreeSet<_> = all.iter().map(|behaviour| behaviour.name).collect();
    assert_eq!(rows.keys().copied().collect::<BTreeSet<_>>(), names);
    assert_eq!(names.len(), all.len(), "each has a name of its own");
    assert!(names.len() >= 60, "{}", names.len());
    for behaviour in &all {
        let outcome = rows[behaviour.name].split(" | ").nth(1).expect("a cell");
        assert_eq!(outcome, behaviour.outcome(), "{}", behaviour.name);
    }
}
