//! Many changes between the sequences of a crawl that is watched, where those pages are visited that are likely to have changed.

use rusqlite::Connection;
use rustix::process::Signal;
use webloom_tests::webloom::{Webloom, assert_clean};

use super::site::{Answer, Site, TEXT};

/// Pages that change all the time: more of the site than may change at once.
const RESTLESS: std::ops::RangeInclusive<usize> = 1..=10;

/// Pages that never changed.
const CALM: std::ops::RangeInclusive<usize> = 21..=30;

/// Visits enough to have each page visited in one go.
const PLENTY: &str = "10000000/day";

/// Has other pages say what they have not said before.
fn edit(site: &Site, pages: std::ops::RangeInclusive<usize>, mark: &str) -> Vec<String> {
    let mut reported = Vec::new();
    for page in pages {
        site.page(&format!("/{page}"), &format!("What {page} says\nhas become {mark} of page {page}"));
        reported.push(format!("changed_text /{page}"));
    }
    reported.sort_unstable();
    reported
}

/// Has everything so far have happened an hour earlier.
fn an_hour_passes(site: &Site) {
    let earlier = "UPDATE visit SET fetched_at = fetched_at - 3600000; UPDATE change SET at = at - 3600000;
                   UPDATE sequence SET began_at = unixepoch() * 1000";
    let database = Connection::open(site.dir().join("webloom.sqlite")).expect("a database");
    database.execute_batch(earlier).expect("it can be changed");
}

/// A site of twelve pages that were seen one after the other, an hour ago.
fn small() -> Site {
    let site = Site::numbered(12);
    site.crawl(&TEXT);
    an_hour_passes(&site);
    let database = Connection::open(site.dir().join("webloom.sqlite")).expect("a database");
    database.execute("UPDATE visit SET fetched_at = fetched_at + 10 * id", []).expect("it can be changed");
    site
}

/// A site of forty pages in which some change every hour.
fn restless() -> Site {
    let site = Site::numbered(40);
    site.crawl(&TEXT);
    for hour in ["the first text", "the second text"] {
        an_hour_passes(&site);
        let edits = edit(&site, RESTLESS, hour);
        let run = Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_CHANGE_MASS_SHARE", "1");
        assert_eq!(site.run(run).1, edits);
    }
    an_hour_passes(&site);
    site
}

/// The number of the last visit of a page, and whether what it found was reported.
fn last_visit(site: &Site, page: &str) -> (i64, bool) {
    let database = Connection::open(site.dir().join("webloom.sqlite")).expect("a database");
    let last = "SELECT visit, coalesce(looked_at, 0) >= visit FROM url, crawl WHERE url = ?";
    database.query_row(last, [site.server.url(page)], |row| Ok((row.get(0)?, row.get(1)?))).expect("a page")
}

/// What runs between sequences tell, up to that in which a page is visited; and whether one of them warned.
fn visited(site: &Site, budget: &str, page: &str) -> (Vec<String>, bool) {
    let (known, before) = (site.reported(&[]), last_visit(site, page).0);
    let run = Webloom::new(["watch", "--no-progress", "--adaptive", "--policy", "fixed", "--every", "10h", "-d"]);
    let run = run.args([site.dir()]).args(["--confirm", "10h", "--budget", budget]);
    // It was another before, and is kept.
    let run = run.env("WEBLOOM_CHANGE_MASS_SHARE", "0.2");
    let mut running = run.env("WEBLOOM_REVISIT_MIN_INTERVAL", "1m").within("exec 2>&1").spawn();
    while !matches!(last_visit(site, page), (visit, true) if visit > before) {
        running.line_with("visited the pages that were due");
    }
    running.signal(Signal::TERM);
    let output = running.wait().expect(143).stdout;
    assert_clean(&site.dir());
    let mut reported = site.reported(&[]);
    for line in known {
        reported.swap_remove(reported.iter().position(|one| *one == line).expect("it stays"));
    }
    reported.sort_unstable();
    (reported, output.contains("at once"))
}

#[test]
fn pages_that_change_all_the_time_are_reported_at_once() {
    let site = restless();
    let edits = edit(&site, RESTLESS, "the third text");
    assert_eq!(visited(&site, PLENTY, "/40"), (edits, false));
}

#[test]
fn a_redesign_between_sequences_is_reported_page_by_page() {
    let site = restless();
    let edits = edit(&site, CALM, "another text");
    assert_eq!(visited(&site, PLENTY, "/40"), (edits, false));
}

#[test]
fn pages_that_vanish_wait_for_a_second_look_however_often_they_changed() {
    let site = restless();
    RESTLESS.for_each(|page| site.status(&format!("/{page}"), 410));
    assert_eq!(visited(&site, PLENTY, "/40"), (vec![], true));
}

#[test]
fn a_log_in_that_comes_in_small_numbers_is_known() {
    let site = small();
    for page in 1..=12 {
        site.set(&format!("/{page}"), Answer::Page("<p>Log in to read this, please".to_owned()));
    }
    // One page a second; of five pages that show the same it is known.
    let (reported, _) = visited(&site, "86400/day", "/9");
    let (changed, others): (Vec<_>, Vec<_>) = reported.iter().partition(|line| line.starts_with("changed_text"));
    assert!(changed.len() <= 4 && others.len() >= 5, "{reported:?}");
    assert!(others.iter().all(|line| line.starts_with("unreachable")), "{reported:?}");
}
