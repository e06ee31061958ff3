//! Every kind of change, each reported once and in its class.

use webloom_tests::{
    server::Hit,
    webloom::{REDISCOVER, Webloom},
};

use super::{
    NOTHING,
    site::{Answer, OTHER, SOON, Site, TEXT, links, own_text},
};
use crate::robots::age_robots;

/// Pages of the scripted site that stay as they are.
const QUIET: usize = 60;

const CHANGING: [&str; 12] = [
    "/aba",
    "/back",
    "/bytes",
    "/closed",
    "/from",
    "/lost",
    "/old",
    "/orphan",
    "/restless",
    "/retired",
    "/text",
    "/twice",
];

fn scripted() -> Site {
    let quiet = (1..=QUIET).map(|page| format!("/quiet/{page}"));
    let site = Site::of(CHANGING.iter().map(|path| (*path).to_owned()).chain(quiet));
    site.set("/robots.txt", Answer::Page("User-agent: *\nDisallow: /secret\n".to_owned()));
    site
}

/// Its text stays the same.
fn other_bytes(site: &Site, path: &str, mark: u32) {
    let Answer::Page(page) = site.now(path) else { panic!("{path} is no page") };
    site.set(path, Answer::Page(format!("{page}<!-- {mark} -->")));
}

/// What happens to the scripted site first.
fn first_edits(site: &Site) {
    let Answer::Page(start) = site.now("/") else { panic!("the start is a page") };
    let start = start.replace("<a href=\"/orphan\"></a>\n", "").replace("<a href=\"/old\"></a>\n", "");
    site.set("/", Answer::Page(start + &links(["/fresh", "/home"])));
    site.page("/fresh", &own_text("/fresh"));
    site.page("/home", &own_text("/old"));
    site.page("/to", &own_text("/to"));
    site.set("/from", Answer::Redirect("/to".to_owned()));
    for (path, status) in [("/old", 404), ("/lost", 404), ("/retired", 410), ("/back", 410), ("/closed", 403)] {
        site.status(path, status);
    }
    site.page("/text", "Another text that says\nsomething else");
    site.page("/aba", "The second version\nof this page");
    site.page("/twice", "The first of two edits\nof this page");
    other_bytes(site, "/bytes", 1);
    other_bytes(site, "/restless", 1);
}

#[test]
fn each_change_is_reported_in_its_class_and_nothing_else() {
    let site = scripted();
    let [aba, back, closed] = ["/aba", "/back", "/closed"].map(|path| site.now(path));
    site.crawl(&[&TEXT[..], &SOON].concat());
    first_edits(&site);
    assert_eq!(
        site.again(&[]),
        [
            "changed /",
            "changed /bytes",
            "changed /restless",
            "changed_text /aba",
            "changed_text /text",
            "changed_text /twice",
            "gone /back",
            "gone /retired",
            "moved /from -> /to",
            "new /fresh",
            "orphaned /orphan",
            "unreachable /closed",
        ]
    );
    for (path, answer) in [("/aba", aba), ("/back", back), ("/closed", closed)] {
        site.set(path, answer);
    }
    site.page("/twice", "The second of two edits\nof this page");
    other_bytes(&site, "/restless", 2);
    site.set("/robots.txt", Answer::Page("User-agent: *\nDisallow: /nothing\n".to_owned()));
    age_robots(&site.folder);
    assert_eq!(
        site.again(&[]),
        [
            "back /back",
            "changed /restless",
            "changed_text /robots.txt",
            "changed_text /twice",
            "gone /lost",
            "moved /old -> /home",
            "reachable /closed",
            "reverted /aba",
        ]
    );
    other_bytes(&site, "/restless", 3);
    assert_eq!(site.again(&[]), ["volatile /restless"]);
    // What is reported of a page is not reported again, and what stays costs no body.
    other_bytes(&site, "/restless", 4);
    let began = site.server.log().len();
    let quiet = Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0");
    let (run, reported) = site.run(quiet);
    assert_eq!(reported, NOTHING);
    let Answer::Page(restless) = site.now("/restless") else { panic!("it is a page") };
    let requests = &run.json()["requests"];
    assert_eq!(requests["bytes_in"], restless.len());
    let conditional = |hit: &Hit| hit.headers.iter().any(|header| header.to_lowercase().starts_with("if-none-match"));
    let quiet: Vec<_> = site.server.log().drain(began..).filter(|hit| hit.target.starts_with("/quiet/")).collect();
    assert!(quiet.len() == QUIET && quiet.iter().all(conditional));
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn sequences_that_know_nothing_tell_changes_too() {
    let site = scripted();
    site.crawl(&[&TEXT[..], &SOON].concat());
    first_edits(&site);
    // Nobody links to /orphan and /old any more: they are not asked for, and what became of them is not known.
    let run = Webloom::go_on(&site.dir()).args(REDISCOVER);
    assert_eq!(
        site.run(run).1,
        [
            "changed /",
            "changed /bytes",
            "changed /restless",
            "changed_text /aba",
            "changed_text /text",
            "changed_text /twice",
            "gone /back",
            "gone /retired",
            "moved /from -> /to",
            "new /fresh",
            "new /home",
            "orphaned /old",
            "orphaned /orphan",
            "unreachable /closed",
        ]
    );
    assert_eq!(site.run(Webloom::go_on(&site.dir()).args(REDISCOVER)).1, ["gone /lost"]);
    assert_eq!(site.run(Webloom::go_on(&site.dir()).args(REDISCOVER)).1, NOTHING);
}

#[test]
fn without_texts_bytes_are_compared() {
    let site = scripted();
    let aba = site.now("/aba");
    site.crawl(&SOON);
    first_edits(&site);
    assert_eq!(
        site.again(&[]),
        [
            "changed /",
            "changed /aba",
            "changed /bytes",
            "changed /restless",
            "changed /text",
            "changed /twice",
            "gone /back",
            "gone /retired",
            "moved /from -> /to",
            "new /fresh",
            "new /home",
            "orphaned /orphan",
            "unreachable /closed",
        ]
    );
    site.set("/aba", aba);
    assert_eq!(site.again(&[]), ["gone /lost", "gone /old", "reverted /aba"]);
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn a_page_that_goes_to_and_fro_is_reported_at_its_beginning_and_its_end() {
    let site = Site::numbered(12);
    let versions = [site.now("/3"), Answer::Page("<p>Another text of this page, as long as before".to_owned())];
    site.crawl(&TEXT);
    let round = |version: usize| {
        site.set("/3", versions[version].clone());
        site.again(&[])
    };
    assert_eq!((round(1), round(0)), (vec!["changed_text /3".to_owned()], vec!["reverted /3".to_owned()]));
    assert_eq!((round(1), round(0)), (vec!["reverted /3".to_owned()], vec!["volatile /3".to_owned()]));
    for version in [1, 0, 1, 1, 1] {
        assert_eq!(round(version), NOTHING);
    }
    assert_eq!((round(1), round(1)), (vec!["changed_text /3".to_owned()], vec![]));
}

/// A site whose page `/3` is not found, while `/new` has its text: it is not known yet whether it moved.
fn likely_moved() -> Site {
    let site = Site::numbered(12);
    site.crawl(&TEXT);
    let Answer::Page(start) = site.now("/") else { panic!("the start is a page") };
    site.set("/", Answer::Page(start + &links(["/new"])));
    site.set("/new", site.now("/3"));
    site.status("/3", 404);
    assert_eq!(site.again(&[]), ["changed /"]);
    site
}

#[test]
fn a_page_that_others_may_have_moved_to_is_reported_once_with_the_copy_that_it_has_then() {
    let site = likely_moved();
    site.page("/new", OTHER);
    assert_eq!(site.again(&[]), NOTHING);
    assert_eq!(site.again(&SOON), ["changed_text /new", "moved /3 -> /new"]);
    assert_eq!(site.again(&[]), NOTHING);
    // It was another page after all.
    let site = likely_moved();
    site.page("/new", OTHER);
    site.page("/3", &own_text("/3"));
    assert_eq!(site.again(&[]), ["new /new"]);
    assert_eq!(site.again(&[]), NOTHING);
    // What else is reported of it says first that it is there.
    let site = likely_moved();
    site.status("/new", 410);
    assert_eq!(site.again(&[]), ["gone /new", "new /new"]);
    assert_eq!(site.again(&SOON), ["gone /3"]);
}

#[test]
fn texts_that_are_kept_from_a_later_sequence_on_are_fetched_once() {
    let site = Site::numbered(12);
    site.crawl(&[]);
    let fetched = |arguments: &[&str]| {
        let (run, reported) = site.run(Webloom::go_on(&site.dir()).args(["--again"]).args(arguments));
        assert_eq!(reported, NOTHING);
        run.json()["requests"]["by_status"]["200"].as_u64()
    };
    assert_eq!((fetched(&[]), fetched(&TEXT), fetched(&[])), (None, Some(13), None));
    // Other rules make other texts.
    let css = ["--ignore", "css:.date"];
    assert_eq!(
        (fetched(&css), fetched(&[]), fetched(&["--text", "off"]), fetched(&TEXT)),
        (Some(13), None, None, None)
    );
    site.page("/3", OTHER);
    assert_eq!(site.again(&[]), ["changed_text /3"]);
    // A page of which more is remembered than its copy is no exception.
    assert_eq!(fetched(&["--ignore", "css:.time"]), Some(13));
    site.page("/3", "One more text of this page\nand again as long as before");
    assert_eq!(site.again(&[]), ["changed_text /3"]);
}
