//! Pages that change between two looks: a lost URL is given up only where each page that linked to it says that it does not any
//! more, and is found where a page that is read later still links to it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom, assert_clean},
};

use crate::{Folder, assert_counts, loss::count, serve};

/// A filter made for 20 URLs, kept for all of them, and nothing but the sweep to find what it loses.
const TINY: &[&str] = &[
    "--expected-urls",
    "20",
    "--reset",
    "none",
    "--cache-layout",
    "classic",
    "--audit-rescue",
    "off",
    "--audit-sample",
    "0",
];

/// What a page may be when it is asked for again.
const OTHERS: [fn() -> Reply; 4] =
    [|| Reply::html("no links"), || Reply::status(404), || Reply::html(""), || Reply::redirect(302, "/login")];

/// Answers that tell nothing of what a page links to.
const NO_PROOFS: [fn() -> Reply; 7] = [
    || Reply::redirect(302, "/login"),
    || Reply::html(""),
    || Reply::html("<meta name=robots content=nofollow>no links"),
    || Reply::html("no links").header("x-robots-tag: nofollow"),
    || Reply::text("no links"),
    || Reply::status(404),
    || Reply::status(410),
];

fn crawl(server: &Server, dir: &Path, arguments: &[&str]) -> Run {
    judged(dir, Webloom::crawl(dir, &server.url("/")).args(TINY).args(arguments))
}

fn go_on(dir: &Path, arguments: &[&str]) -> Run {
    judged(dir, Webloom::go_on(dir).args(arguments))
}

fn judged(dir: &Path, run: Webloom) -> Run {
    let run = run.env("WEBLOOM_POLITENESS_PER_HOST", "8").run().expect(0);
    assert_counts(&run.json());
    assert_clean(dir);
    run
}

/// The summary for people.
fn words(dir: &Path) -> String {
    Webloom::new(["status"]).args([dir]).run().expect(0).stdout
}

fn asked(server: &Server, paths: impl IntoIterator<Item = String>) -> bool {
    paths.into_iter().all(|path| server.count(&path) > 0)
}

/// `/` links to 1,500 leaves and `/L`, `/L` to `/M`, `/M` to `/Z`, and that to 50 pages. The first leaf links to `/Z` too, but is
/// `then` when it is asked for again.
fn with_a_leaf(then: fn() -> Reply) -> impl Fn(&Asked) -> Reply {
    move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links((1..=1_500).map(|leaf| format!("/leaf/{leaf}")).chain(["/L".to_owned()])),
        "/L" => Reply::links(["/M"]),
        "/Z" => Reply::links((1..=50).map(|page| format!("/behind/{page}"))),
        "/leaf/1" if asked.before > 0 => then(),
        "/M" | "/leaf/1" => Reply::links(["/Z"]),
        _ => Reply::html("a leaf"),
    }
}

fn behind() -> impl Iterator<Item = String> {
    (1..=50).map(|page| format!("/behind/{page}"))
}

fn assert_found(server: &Server, dir: &Path, summary: &Value) {
    let sweep = &summary["cache"]["sweep"];
    assert!(asked(server, ["/Z".to_owned()].into_iter().chain(behind())), "{sweep}");
    assert!(count(&sweep["lost"]) > 100 && sweep["rescued"] == sweep["lost"], "{sweep}");
    assert!(words(dir).starts_with("Complete: "), "{}", words(dir));
}

#[test]
fn a_lost_url_that_was_given_up_is_looked_for_on_each_new_page() {
    for then in OTHERS {
        let (server, folder) = (serve(with_a_leaf(then)), Folder::new());
        let summary = crawl(&server, &folder.crawl(), &[]).json();
        assert_found(&server, &folder.crawl(), &summary);
    }
}

#[test]
fn a_narrower_scope_gives_nothing_up_that_other_pages_link_to() {
    let (server, folder) = (serve(with_a_leaf(|| Reply::links(["/Z"]))), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &["--sweep", "off"]);
    let summary = go_on(&dir, &["--sweep", "rescue", "--exclude", "/leaf/1$"]).json();
    assert_eq!(server.count("/leaf/1"), 1);
    assert_found(&server, &dir, &summary);
}

/// `/` links to 40 pages, and each of them to `/Z`. When they are asked for again, only those from `first` on still do.
#[test]
fn each_page_that_links_to_a_lost_url_is_asked_before_it_is_given_up() {
    for first in [5, 37, 41] {
        let server = serve(move |asked| match asked.target.strip_prefix("/page/").map(str::parse::<usize>) {
            Some(Ok(page)) if asked.before > 0 && page < first => Reply::html("no links"),
            Some(Ok(_)) => Reply::links(["/Z"]),
            _ if asked.target == "/" => {
                Reply::links(["/fill".to_owned()].into_iter().chain((1..=40).map(|page| format!("/page/{page}"))))
            }
            _ if asked.target == "/fill" => Reply::links((1..=500).map(|page| format!("/fill/{page}"))),
            _ if asked.target == "/robots.txt" => Reply::status(404),
            _ => Reply::html("a leaf"),
        });
        let folder = Folder::new();
        let dir = folder.crawl();
        let run = crawl(&server, &dir, &["--per-host", "1"]);
        let times: Vec<_> = (1..=40).map(|page| server.count(&format!("/page/{page}"))).collect();
        assert!(times.iter().all(|times| (1..=2).contains(times)), "each is asked for again once: {times:?}");
        assert_eq!(server.count("/Z"), usize::from(first < 41));
        assert!(first < 41 || times.iter().all(|times| *times == 2), "{times:?}");
        let rounds = run.stderr.lines().filter(|line| line.contains("the sweep found lost URLs")).count();
        assert!(rounds <= 9, "{rounds} rounds");
        assert_eq!(run.json()["cache"]["sweep"]["no_longer_linked"], usize::from(first == 41));
        assert!(words(&dir).starts_with("Complete: "), "{}", words(&dir));
    }
}

/// A site whose `/` links to 100 pages. From the second look on it is `then`, until it is `well` again.
fn changed(then: fn() -> Reply, well: Arc<AtomicBool>) -> Server {
    serve(move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" if asked.before > 0 && !well.load(Ordering::SeqCst) => then(),
        "/" => Reply::links((1..=100).map(|page| format!("/{page}"))),
        _ => Reply::html("a leaf"),
    })
}

#[test]
fn an_answer_that_is_no_page_proves_nothing_and_the_next_start_asks_again() {
    for then in NO_PROOFS {
        let well = Arc::new(AtomicBool::new(false));
        let (server, folder) = (changed(then, Arc::clone(&well)), Folder::new());
        let dir = folder.crawl();
        let sweep = crawl(&server, &dir, &[]).json()["cache"]["sweep"].take();
        let lost = count(&sweep["lost"]);
        assert!(lost > 10 && sweep["parent_unreachable"] == lost && sweep["no_longer_linked"] == 0, "{sweep}");
        let said = words(&dir);
        assert!(said.starts_with("Finished: ") && said.contains("lost URLs are missing"), "{said}");
        assert!(said.contains(" --sweep rescue\n"), "{said}");
        assert_eq!(server.count("/"), 2);
        // As long as it is no page, that is all that can be said.
        let still = go_on(&dir, &["--sweep", "rescue"]).json();
        assert_eq!((server.count("/"), &still["cache"]["sweep"]["parent_unreachable"]), (3, &lost.into()));
        well.store(true, Ordering::SeqCst);
        let mended = go_on(&dir, &["--sweep", "rescue"]).json();
        assert_eq!(mended["cache"]["sweep"]["rescued"], lost);
        assert!(asked(&server, (1..=100).map(|page| format!("/{page}"))));
        assert!(words(&dir).starts_with("Complete: "), "{}", words(&dir));
        assert!(go_on(&dir, &[]).stderr.contains("nothing is left to fetch"));
    }
}

/// A page that was a redirect tells by another redirect where it leads now, and by nothing else.
#[test]
fn a_redirect_proves_only_by_a_redirect() {
    let answers: [(fn() -> Reply, _); 2] =
        [(|| Reply::redirect(302, "/"), "no_longer_linked"), (|| Reply::html("no links"), "parent_unreachable")];
    for (then, fate) in answers {
        let server = serve(move |asked| match asked.target.as_str() {
            "/" => Reply::links((1..=20).map(|page| format!("/go/{page}")).chain(["/fill".to_owned()])),
            "/fill" => Reply::links((1..=200).map(|page| format!("/fill/{page}"))),
            target if target.starts_with("/go/") && asked.before > 0 => then(),
            target if target.starts_with("/go/") => Reply::redirect(302, target.replace("/go/", "/to/")),
            "/robots.txt" => Reply::status(404),
            _ => Reply::html("a leaf"),
        });
        let folder = Folder::new();
        let sweep = crawl(&server, &folder.crawl(), &[]).json()["cache"]["sweep"].take();
        let missing = count(&sweep["lost"]) - count(&sweep["rescued"]);
        assert!(missing > 0 && sweep[fate] == missing, "{sweep}");
    }
}
