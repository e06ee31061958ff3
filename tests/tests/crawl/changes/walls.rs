//! An error page in the place of pages, or their absence for a while, is no change of them.

use webloom_tests::webloom::Webloom;

use super::{
    NOTHING,
    site::{Answer, OTHER, SOON, Site, TEXT, links},
};

/// Each of these reported of the first pages.
fn of_each(change: &str, pages: usize) -> Vec<String> {
    let mut all: Vec<_> = (1..=pages).map(|page| format!("{change} /{page}")).collect();
    all.sort_unstable();
    all
}

/// What the first pages of a site answer.
fn answers(site: &Site, pages: usize) -> Vec<(String, Answer)> {
    (1..=pages).map(|page| format!("/{page}")).map(|path| (path.clone(), site.now(&path))).collect()
}

fn restore(site: &Site, answers: &[(String, Answer)]) {
    for (path, answer) in answers {
        site.set(path, answer.clone());
    }
}

#[test]
fn half_a_site_that_is_not_found_for_a_round_is_not_reported() {
    let site = Site::numbered(40);
    let half = answers(&site, 20);
    site.crawl(&[&TEXT[..], &SOON].concat());
    for (path, _) in &half {
        site.status(path, 404);
    }
    assert_eq!(site.guarded(&[]), (Vec::new(), 1));
    restore(&site, &half);
    assert_eq!(site.guarded(&[]), (Vec::new(), 0));
    // None of them is lost.
    site.page("/3", OTHER);
    site.status("/4", 410);
    assert_eq!(site.again(&[]), ["changed_text /3", "gone /4"]);
}

#[test]
fn a_site_that_flickers_is_not_reported() {
    let site = Site::numbered(40);
    let all = answers(&site, 40);
    site.crawl(&[&TEXT[..], &SOON].concat());
    for round in 0..5 {
        restore(&site, &all);
        for (path, _) in all.iter().skip(round % 2).step_by(2) {
            site.status(path, 404);
        }
        assert_eq!(site.again(&[]), NOTHING, "round {round}");
    }
    restore(&site, &all);
    site.page("/3", OTHER);
    assert_eq!(site.again(&[]), ["changed_text /3"]);
}

#[test]
fn a_page_in_the_place_of_many_makes_them_unreachable() {
    let site = Site::numbered(30);
    let behind = answers(&site, 8);
    site.crawl(&TEXT);
    for (path, _) in &behind {
        site.page(path, "Please log in\nwith your name and password");
    }
    assert_eq!(site.guarded(&[]), (of_each("unreachable", 8), 0));
    assert_eq!(site.again(&[]), NOTHING);
    // It is known again on one page alone.
    site.page("/9", "Please log in\nwith your name and password");
    assert_eq!(site.again(&[]), ["unreachable /9"]);
    restore(&site, &behind);
    assert_eq!(site.guarded(&[]), (of_each("reachable", 8), 0));
    site.page("/9", "Another text of this page");
    assert_eq!(site.again(&[]), ["changed_text /9", "reachable /9"]);
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn pages_that_are_redirected_to_one_log_in_are_unreachable() {
    let site = Site::numbered(30);
    let behind = answers(&site, 8);
    site.crawl(&TEXT);
    site.page("/login", "Please log in\nwith your name and password");
    for (path, _) in &behind {
        site.set(path, Answer::Redirect("/login".to_owned()));
    }
    assert_eq!(site.again(&[]), [vec!["new /login".to_owned()], of_each("unreachable", 8)].concat());
    assert_eq!(site.again(&[]), NOTHING);
    restore(&site, &behind);
    assert_eq!(site.again(&[]), [vec!["orphaned /login".to_owned()], of_each("reachable", 8)].concat());
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn pages_that_cannot_be_seen_keep_their_links() {
    for redirected in [false, true] {
        let site = Site::numbered(30);
        // What the first page alone links to.
        let below = ["/below/1", "/below/2", "/below/3"];
        for path in below {
            site.page(path, &format!("What is said at {path}\nand nowhere else"));
        }
        site.set("/1", Answer::Page(links(below)));
        let behind = answers(&site, 8);
        site.crawl(&TEXT);
        site.page("/login", "Please log in\nwith your name and password");
        for (path, _) in &behind {
            let wall = if redirected { Answer::Redirect("/login".to_owned()) } else { site.now("/login") };
            site.set(path, wall);
        }
        let new = redirected.then(|| "new /login".to_owned());
        assert_eq!(site.again(&[]), [Vec::from_iter(new), of_each("unreachable", 8)].concat());
        assert_eq!(site.again(&[]), NOTHING);
        restore(&site, &behind);
        let orphan = redirected.then(|| "orphaned /login".to_owned());
        assert_eq!(site.again(&[]), [Vec::from_iter(orphan), of_each("reachable", 8)].concat());
        site.page("/1", OTHER);
        let orphans = below.map(|path| format!("orphaned {path}"));
        assert_eq!(site.again(&[]), [vec!["changed_text /1".to_owned()], orphans.to_vec()].concat());
    }
}

#[test]
fn pages_that_fail_are_unreachable_until_they_are_there_again() {
    let site = Site::numbered(30);
    let all = answers(&site, 3);
    site.crawl(&TEXT);
    for (path, status) in [("/1", 403), ("/2", 401), ("/3", 451)] {
        site.status(path, status);
    }
    assert_eq!(site.again(&[]), of_each("unreachable", 3));
    assert_eq!(site.again(&[]), NOTHING);
    restore(&site, &all);
    assert_eq!(site.again(&[]), of_each("reachable", 3));
}

#[test]
fn a_server_that_is_wrong_about_its_pages_is_found_out() {
    let site = Site::numbered(12);
    site.crawl(&TEXT);
    site.lie();
    site.page("/3", OTHER);
    assert_eq!(site.again(&[]), NOTHING);
    let checked = Webloom::go_on(&site.dir()).args(["--again"]);
    assert_eq!(site.run(checked.env("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", "1")).1, ["changed_text /3"]);
    assert_eq!(site.again(&[]), NOTHING);
}
