//! Sequences that begin with what is known: what has not changed is not sent, and what nobody links to is watched all the same.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Hit, Reply, Server},
    webloom::{REDISCOVER, Webloom, assert_clean, pages, pages_of},
};

use crate::{
    Folder,
    again::{Versions, changes, states},
    assert_counts, crawl,
    loss::{all, count, database, proposed, web},
    robots::age_robots,
    serve,
};

/// The links of a page in a version of the site; `None` where it is not there.
pub(crate) type Pages = fn(usize, &str) -> Option<Vec<&'static str>>;

/// A site that tells by an `ETag` whether a page has changed.
pub(crate) struct Site {
    pub(crate) server: Server,
    version: Arc<AtomicUsize>,
}

impl Site {
    pub(crate) fn serve(pages: Pages) -> Self {
        let version = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&version);
        let server = serve(move |asked| answer(pages, now.load(Ordering::SeqCst), asked));
        Self { server, version }
    }

    /// What is asked for from now on is answered by this version; returns how long the log is.
    fn set(&self, version: usize) -> usize {
        self.version.store(version, Ordering::SeqCst);
        self.server.log().len()
    }

    /// What was asked for since a line of the log, each with whether it was to be sent only if it is new, sorted.
    fn asked_since(&self, line: usize) -> Vec<(String, bool)> {
        let conditional =
            |hit: &Hit| hit.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"));
        let pages = self.server.log().into_iter().skip(line).filter(|hit| hit.target != "/robots.txt");
        let mut asked: Vec<_> = pages.map(|hit| (hit.target.clone(), conditional(&hit))).collect();
        asked.sort_unstable();
        asked
    }
}

fn answer(pages: Pages, version: usize, asked: &Asked) -> Reply {
    let forbids = |path: &str| Reply::text(format!("User-agent: *\nDisallow: {path}\n"));
    match (asked.target.as_str(), version) {
        ("/robots.txt", 9) => forbids("/same"),
        ("/robots.txt", _) => Reply::status(404),
        (path, _) => match pages(version, path) {
            Some(links) => tagged(asked, Reply::links(&links), &links),
            None => Reply::status(404),
        },
    }
}

/// The reply with an `ETag` of its content, or none where the one that asks has it.
fn tagged(asked: &Asked, reply: Reply, content: impl Hash) -> Reply {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let tag = format!("\"{:x}\"", hasher.finish());
    let has_it = asked.headers.iter().any(|header| header.to_lowercase() == format!("if-none-match: {tag}"));
    if has_it { Reply::status(304) } else { reply.header(format!("ETag: {tag}")) }
}

/// The next sequence, to its end.
fn next(dir: &Path, arguments: &[&str]) -> Value {
    let summary = Webloom::go_on(dir).args(["--again"]).args(arguments).run().expect(0).json();
    assert_eq!(summary["end"], "drained", "{summary}");
    assert_counts(&summary);
    assert_clean(dir);
    assert_eq!(Webloom::new(["status", "--json"]).args([dir]).run().expect(0).json(), summary);
    summary
}

pub(crate) fn living(version: usize, path: &str) -> Option<Vec<&'static str>> {
    match (path, version) {
        ("/", 0) => Some(vec!["/same", "/edit", "/gone", "/orphan"]),
        ("/", _) => Some(vec!["/same", "/edit", "/new"]),
        ("/edit" | "/gone", 0) | ("/orphan", 0 | 1) | ("/same" | "/new", _) => Some(vec!["/"]),
        ("/edit", _) => Some(vec!["/", "/same"]),
        ("/orphan", _) => Some(vec!["/", "/below"]),
        ("/below", _) => Some(vec![]),
        _ => None,
    }
}

#[test]
fn what_has_not_changed_is_not_sent() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    let first = crawl(&site.server, &dir, &[]);
    let shown = pages(&dir);
    let began = site.set(0);
    let second = next(&dir, &[]);
    let all = ["/", "/edit", "/gone", "/orphan", "/same"];
    assert_eq!(site.asked_since(began), all.map(|path| (path.to_owned(), true)));
    assert_eq!((changes(&second), &second["requests"]["by_status"]["304"]), ([0, 0, 5, 0], &5.into()));
    assert_eq!((&second["requests"]["bytes_in"], &second["requests"]["sent"]), (&0.into(), &5.into()));
    assert_eq!((&second["pages"]["stored"], &second["pages"]["html"]), (&5.into(), &5.into()));
    assert_eq!(
        second["cache"]["sweep"]["links"], first["cache"]["sweep"]["links"],
        "the links of the copies are swept"
    );
    for (url, page) in pages(&dir) {
        assert_eq!((&page["digest"], &page["title"], &page["bytes"]), {
            let then = &shown[&url];
            (&then["digest"], &then["title"], &then["bytes"])
        });
        assert_eq!(
            (&page["status"], &page["change"], &page["sequence"]),
            (&304.into(), &"unchanged".into(), &1.into())
        );
    }
    assert_eq!(pages_of(&dir, 0), shown);
    let query = "SELECT (SELECT count(*) FROM past), (SELECT sum(length(links)) FROM visit WHERE sequence = 1)";
    let kept: (u64, u64) = database(&dir).query_row(query, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(kept, (0, 0), "nothing is written twice");
}

#[test]
fn a_page_that_is_asked_again_after_a_failure_is_still_not_sent() {
    let failures = Arc::new(AtomicUsize::new(0));
    let left = Arc::clone(&failures);
    let server = serve(move |asked| match asked.target.as_str() {
        "/edit" if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() => {
            Reply::status(500)
        }
        _ => answer(living, 0, asked),
    });
    let (site, folder) = (Site { server, version: Arc::default() }, Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let edit = |began| site.asked_since(began).into_iter().filter(|(path, _)| path == "/edit").map(|(_, known)| known);
    failures.store(2, Ordering::SeqCst);
    let began = site.set(0);
    assert_eq!(changes(&next(&dir, &[])), [0, 0, 5, 0]);
    assert_eq!(edit(began).collect::<Vec<_>>(), [true, true, true]);
    // By links it is fetched whole, as each page is.
    failures.store(1, Ordering::SeqCst);
    let began = site.set(0);
    Webloom::go_on(&dir).args(REDISCOVER).run().expect(0);
    assert_eq!(edit(began).collect::<Vec<_>>(), [false, false]);
}

#[test]
fn every_known_url_is_asked_once_more_and_what_is_new_is_found() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let first = pages(&dir);
    let began = site.set(1);
    let second = next(&dir, &[]);
    assert_eq!((changes(&second), &second["sequence"]), ([1, 2, 2, 1], &1.into()));
    let of = |new: &str| site.asked_since(began).into_iter().filter(|(path, known)| (path == new) != *known).count();
    assert_eq!((of("/new"), site.asked_since(began).len()), (6, 6), "{:?}", site.asked_since(began));
    let latest = [
        "/ stored changed 1",
        "/edit stored changed 1",
        "/gone gone - 1",
        "/new stored new 1",
        "/orphan stored unchanged 1",
        "/same stored unchanged 1",
    ];
    assert_eq!(states(&site.server, pages(&dir)), latest);
    assert_eq!(pages_of(&dir, 0), first);
    // What a page says that nobody links to is followed.
    site.set(2);
    let third = next(&dir, &[]);
    assert_eq!((changes(&third), &third["pages"]["stored"]), ([1, 1, 4, 1], &6.into()));
    assert_eq!(states(&site.server, pages_of(&dir, 1)), latest);
    assert_eq!(pages_of(&dir, 0), first);
}

#[test]
fn what_the_rules_of_a_host_forbid_now_is_not_asked_for() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let first = pages(&dir);
    let began = site.set(9);
    age_robots(&folder);
    next(&dir, &[]);
    assert!(!site.asked_since(began).iter().any(|(path, _)| path == "/same"));
    assert_eq!(pages(&dir)[&site.server.url("/same")]["outcome"], "abandoned");
    assert_eq!(pages_of(&dir, 0), first);
    let began = site.set(1);
    age_robots(&folder);
    next(&dir, &[]);
    assert!(site.asked_since(began).contains(&("/same".to_owned(), true)), "its copy is still known");
    assert_eq!(pages_of(&dir, 1)[&site.server.url("/same")]["outcome"], "abandoned");
}

#[test]
fn pages_are_read_anew_where_other_links_of_them_would_be_kept() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &["--exclude", "/orphan$"]);
    let full = |began: usize| site.asked_since(began).iter().filter(|(_, conditional)| !conditional).count();
    let began = site.set(0);
    let second = next(&dir, &["--exclude", "/nothing$"]);
    assert_eq!((full(began), changes(&second)), (5, [1, 0, 4, 0]));
    let began = site.set(0);
    assert_eq!((changes(&next(&dir, &[])), full(began)), ([0, 0, 5, 0], 0));
    // So it is where a start is added.
    let began = site.set(0);
    let other = Site::serve(living);
    next(&dir, &["--add", &other.server.url("/")]);
    assert_eq!(full(began), 5);
}

#[test]
fn a_budget_leaves_the_rest_to_the_next_run_or_sequence() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let began = site.set(0);
    let short = Webloom::go_on(&dir).args(["--again", "--max-pages", "2"]).run().expect(0).json();
    assert_eq!((&short["end"], &short["counts"]["queued"]), (&"budget".into(), &3.into()));
    assert_clean(&dir);
    let whole = Webloom::go_on(&dir).args(["--max-pages", "unlimited"]).run().expect(0).json();
    assert_eq!((&whole["sequence"], changes(&whole), site.asked_since(began).len()), (&1.into(), [0, 0, 5, 0], 5));
    let began = site.set(0);
    Webloom::go_on(&dir).args(["--again", "--max-pages", "2"]).run().expect(0);
    let last = next(&dir, &["--max-pages", "unlimited"]);
    assert_eq!((&last["sequence"], changes(&last), site.asked_since(began).len()), (&3.into(), [0, 0, 5, 0], 7));
}

/// The site of the tests of losses, which tells by an `ETag` whether a page has changed.
fn tagged_web(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        target if target == "/robots.txt" || target.starts_with("/go/") => web(asked),
        target => tagged(asked, web(asked), proposed(target)),
    }
}

#[test]
fn what_a_small_cache_loses_is_found_though_no_page_has_changed() {
    let (server, folder) = (serve(tagged_web), Folder::new());
    let dir = folder.crawl();
    let small = ["--expected-urls", "60", "--reset", "none", "--cache-layout", "classic", "--audit-rescue", "off"];
    let first = Webloom::crawl(&dir, &server.url("/")).args(small).args(["--sweep", "off"]).run().expect(0).json();
    let missing = all().len() - count(&first["counts"]["finished"]);
    assert!(missing > 20, "{missing} lost");
    let second = next(&dir, &["--sweep", "rescue"]);
    assert_eq!(count(&second["counts"]["finished"]), all().len());
    assert!(count(&second["cache"]["sweep"]["lost"]) > 0 && second["requests"]["by_status"]["304"].is_number());
    // Whether it is known or not, each way finds all that the other has.
    let third = Webloom::go_on(&dir).args(REDISCOVER).run().expect(0).json();
    assert_eq!(count(&third["counts"]["finished"]), all().len());
    assert_clean(&dir);
    let fourth = next(&dir, &[]);
    assert_eq!((count(&fourth["counts"]["finished"]), count(&fourth["pages"]["changed"])), (all().len(), 0));
}

/// All answers "not modified" are checked.
const CHECK_ALL: (&str, &str) = ("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", "1");

fn checked(dir: &Path) -> Value {
    let summary = Webloom::go_on(dir).args(["--again"]).env(CHECK_ALL.0, CHECK_ALL.1).run().expect(0).json();
    assert_clean(dir);
    summary
}

/// Answers "not modified", those checked, and those of them that were wrong.
fn audited(summary: &Value) -> [usize; 3] {
    ["not_modified", "audited", "wrong"].map(|figure| count(&summary["revisit"][figure]))
}

#[test]
fn an_honest_server_keeps_its_word_when_it_is_checked() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let began = site.set(0);
    let second = checked(&dir);
    assert_eq!((audited(&second), changes(&second)), ([5, 5, 0], [0, 0, 5, 0]));
    assert_eq!((site.asked_since(began).len(), second["requests"]["sent"].as_u64()), (10, Some(10)));
    let began = site.set(0);
    assert_eq!(audited(&next(&dir, &[])), [5, 0, 0]);
    assert!(site.asked_since(began).iter().all(|(_, conditional)| *conditional), "it is believed");
}

#[test]
fn a_server_that_is_wrong_about_its_pages_is_believed_no_more() {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let server = serve(move |asked| {
        let conditional = asked.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"));
        match living(now.load(Ordering::SeqCst), &asked.target) {
            Some(_) if conditional => Reply::status(304),
            Some(links) => Reply::links(&links).header("ETag: \"always\""),
            None => Reply::status(404),
        }
    });
    let (site, folder) = (Site { server, version }, Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    site.set(1);
    let unchecked = next(&dir, &[]);
    assert_eq!(changes(&unchecked), [0, 0, 4, 1], "nobody asked");
    let third = checked(&dir);
    assert_eq!((audited(&third), changes(&third)), ([4, 4, 2], [1, 2, 2, 1]));
    assert!(third["revisit"]["low"].as_f64() < Some(0.5) && third["revisit"]["high"].as_f64() > Some(0.5));
    let began = site.set(2);
    assert_eq!(changes(&next(&dir, &[])), [1, 1, 4, 1]);
    assert!(site.asked_since(began).iter().all(|(_, conditional)| !conditional), "it is believed no more");
}

#[test]
fn what_found_nothing_new_is_forgotten_after_some_sequences() {
    let (site, folder) = (Site::serve(living), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let visits = || -> usize { database(&dir).query_row("SELECT count(*) FROM visit", [], |row| row.get(0)).unwrap() };
    let round = || {
        Webloom::go_on(&dir).args(["--again"]).env("WEBLOOM_STORE_KEEP_SEQUENCES", "2").run().expect(0);
        assert_clean(&dir);
        visits()
    };
    let counts = [0, 1, 2, 3, 4, 5].map(|_| round());
    assert_eq!(counts, [10, 15, 15, 15, 15, 15], "five of the first sequence, and five each of the last two");
    site.set(1);
    // What changed stays: two pages, one that is new, and one that is gone.
    let counts = [0, 1, 2, 3, 4, 5].map(|_| round());
    assert_eq!(counts[3..], [counts[2]; 3], "{counts:?}");
    let old = Webloom::new(["pages", "--sequence", "3", "--format", "jsonl"]).args([&dir]).run().expect(0);
    assert!(old.stdout.is_empty() && old.stderr.contains("is kept only in part"), "{}", old.stderr);
    assert_eq!(pages_of(&dir, 0).len(), 5);
    assert_eq!(states(&site.server, pages(&dir)).len(), 6);
}

#[test]
fn history_is_forgotten_and_what_is_known_stays() {
    let site = Versions::serve(|version, path, _| match path {
        "/" => Reply::links([5, 1, 2, 3, 4].iter().skip(version.min(1)).map(|page| format!("/{page}"))),
        "/1" if version > 2 => Reply::status(404),
        "/5" if version > 0 => Reply::status(404),
        path => Reply::html(format!("<p>{path} in version {version}</p>")),
    });
    for way in ["known-first", "rediscover"] {
        let folder = Folder::new();
        let dir = folder.crawl();
        site.set(0);
        let asked_before = site.server.targets().iter().filter(|target| *target == "/5").count();
        let first = Webloom::crawl(&dir, &site.server.url("/")).args(["--text", "on"]);
        first.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0").run().expect(0);
        let mut sizes = Vec::new();
        for version in 1..9 {
            site.set(version);
            let again = Webloom::go_on(&dir).args(["--again", "--revisit", way, "--gone-after", "0"]);
            let again = again.env("WEBLOOM_STORE_KEEP", "2 sequences").env("WEBLOOM_STORE_KEEP_SEQUENCES", "2");
            again.env("WEBLOOM_CHANGE_MASS_SHARE", "1").run().expect(0);
            assert_clean(&dir);
            let count =
                "SELECT (SELECT count(*) FROM visit), (SELECT count(*) FROM change), (SELECT count(*) FROM text)";
            let row = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?]);
            sizes.push(database(&dir).query_row(count, [], row).unwrap());
        }
        let [.., before, last]: [[u64; 3]; 8] = sizes.clone().try_into().unwrap();
        assert_eq!((before, last[0] <= 20), (last, true), "{way}: {sizes:?}");
        let changes = Webloom::new(["changes", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
        assert!(changes.iter().all(|change| change["sequence"].as_u64() >= Some(7)), "{changes:?}");
        assert_eq!(changes.len(), 6, "{way}: {changes:?}");
        assert_eq!(states(&site.server, pages(&dir)).len(), if way == "known-first" { 5 } else { 6 }, "{way}");
        // To one that is gone a page still links. The other is not asked for any more, where all that is known is.
        let asked = site.server.targets().iter().filter(|target| *target == "/5").count();
        assert_eq!(asked - asked_before, if way == "known-first" { 5 } else { 1 }, "{way}");
        let old = Webloom::new(["pages", "--sequence", "3", "--format", "jsonl"]).args([&dir]).run().expect(0);
        assert!(old.stderr.contains("is kept only in part"), "{}", old.stderr);
    }
}
