//! Sections: URLs that match a pattern have a depth, pages and a pause of their own.

use std::{path::Path, time::Duration};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_counts, serve};

/// A calendar without end beside a manual that is a chain of pages, and a forum that is another.
fn site(asked: &Asked) -> Reply {
    let target = asked.target.as_str();
    let next = |folder: &str| target.strip_prefix(folder).and_then(|number| number.parse::<u64>().ok()).map(|n| n + 1);
    if target == "/" {
        return Reply::links(["/calendar/1", "/manual/1", "/forum/1"]);
    }
    if let Some(next) = next("/calendar/") {
        return Reply::links([&*format!("/calendar/{next}"), &format!("/calendar/{}", 2 * next)]);
    }
    for (folder, last) in [("/manual/", 9), ("/forum/", 6)] {
        match next(folder) {
            Some(next) if next <= last => return Reply::links([&*format!("{folder}{next}")]),
            Some(_) => return Reply::html("the last one"),
            None => {}
        }
    }
    Reply::status(404)
}

fn run(server: &Server, dir: &Path, sections: &str, arguments: &[&str]) -> Value {
    let file = dir.with_file_name("settings.toml");
    std::fs::write(&file, sections).expect("the folder of the crawl can be written");
    let crawl = if dir.exists() { Webloom::go_on(dir) } else { Webloom::crawl(dir, &server.url("/")) };
    let file = file.to_str().expect("a path of the tests");
    let summary = crawl.args(["--config", file]).args(arguments).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(dir);
    summary
}

/// How many pages of a folder are stored.
fn stored(dir: &Path, folder: &str) -> usize {
    with_outcome(dir, "stored").iter().filter(|url| url.contains(folder)).count()
}

fn stored_of_each(dir: &Path) -> [usize; 3] {
    ["/calendar/", "/manual/", "/forum/"].map(|folder| stored(dir, folder))
}

const SECTIONS: &str = "
[budget]
max_depth = 4
[[section]]
match = '/calendar/'
max_pages = 7
max_depth = 'unlimited'
[[section]]
match = '/manual/'
max_depth = 'unlimited'
[[section]]
match = '/forum/'
max_depth = 2
";

#[test]
fn each_has_its_limits_and_raised_ones_let_the_crawl_go_on() {
    for order in ["breadth", "depth", "best"] {
        let (server, folder) = (serve(site), Folder::new());
        let dir = folder.crawl();
        let summary = run(&server, &dir, SECTIONS, &["--order", order]);
        assert_eq!((&summary["end"], stored_of_each(&dir)), (&"budget".into(), [7, 9, 2]), "{order}");
        let reasons = pages(&dir).into_iter().filter(|(_, page)| page["outcome"] == "queued");
        assert!(reasons.into_iter().all(|(_, page)| page["reason"] == "section"), "{order}");
        // Nothing is asked for again, and nothing is left to do.
        let asked = server.log().len();
        run(&server, &dir, SECTIONS, &["--order", order]);
        assert_eq!((server.log().len(), stored_of_each(&dir)), (asked, [7, 9, 2]), "{order}");
        let raised = SECTIONS.replace("max_pages = 7", "max_pages = 11").replace("max_depth = 2", "max_depth = 4");
        run(&server, &dir, &raised, &["--order", order]);
        assert_eq!(stored_of_each(&dir), [11, 9, 4], "{order}");
        assert_eq!(server.log().len(), 1 + 1 + 11 + 9 + 4, "robots.txt, the start, and each page once");
        // A further sequence has the same limits, whether it begins with what is known or not.
        for revisit in ["known-first", "rediscover"] {
            let summary = run(&server, &dir, &raised, &["--order", order, "--again", "--revisit", revisit]);
            assert_eq!(summary["pages"]["stored"], 1 + 11 + 9 + 4, "{order} {revisit}");
        }
    }
}

#[test]
fn what_gives_no_pages_ends_as_well() {
    let (server, folder) = (
        serve(|asked: &Asked| match asked.target.as_str() {
            "/" => Reply::links(
                (0..100).map(|number| format!("/broken/{number}")).collect::<Vec<_>>().iter().map(|url| &**url),
            ),
            _ => Reply::status(404),
        }),
        Folder::new(),
    );
    let sections = "[[section]]\nmatch = '/broken/'\nmax_pages = 5";
    let summary = run(&server, &folder.crawl(), sections, &[]);
    assert_eq!(
        (&summary["end"], &summary["pages"]["broken"], &summary["counts"]["queued"]),
        (&"budget".into(), &20.into(), &80.into())
    );
}

#[test]
fn the_pause_after_its_requests_is_its_own() {
    let (server, folder) = (serve(site), Folder::new());
    let sections = "[[section]]\nmatch = '/forum/'\ndelay = '300ms'\n[[section]]\nmatch = '/calendar/'\nmax_pages = 3";
    run(&server, &folder.crawl(), sections, &["--delay", "20ms"]);
    let log = server.log();
    let pauses = log.windows(2).map(|pair| {
        let pause = pair[1].began.duration_since(pair[0].ended.expect("every answer was written"));
        (pair[0].target.contains("/forum/"), pause)
    });
    let (after_forum, others): (Vec<_>, Vec<_>) = pauses.partition(|(is_forum, _)| *is_forum);
    assert!(after_forum.len() >= 5 && after_forum.iter().all(|(_, pause)| *pause >= Duration::from_millis(300)));
    let mut others: Vec<_> = others.into_iter().map(|(_, pause)| pause).collect();
    others.sort_unstable();
    assert!(others[others.len() / 2] < Duration::from_millis(300), "{others:?}");
}

#[test]
fn why_names_the_limit() {
    let (server, folder) = (serve(site), Folder::new());
    let dir = folder.crawl();
    run(&server, &dir, SECTIONS, &[]);
    for (path, reason, said) in [
        (
            "/forum/3",
            "max_depth",
            "3 links away from a start, and 2 are followed to what matches /forum/ ([[section]], max_depth)",
        ),
        ("/calendar/8", "section", "sequence 0 had 7 pages of what matches /calendar/ ([[section]], max_pages)"),
    ] {
        let why = |arguments: &[&str]| {
            Webloom::new(["why"]).args([&dir]).args([server.url(path)]).args(arguments).run().expect(0)
        };
        let text = why(&[]).stdout;
        assert!(text.contains(said) && text.contains("with other limits of the [[section]]"), "{text}");
        let document = why(&["--json"]).json();
        assert_eq!(
            (&document["state"], &document["reason"], &document["due"]),
            (&"queued".into(), &reason.into(), &Value::Null),
            "{document}"
        );
    }
}
