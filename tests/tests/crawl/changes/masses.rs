//! Much at once: an edit that pages share is reported once, and many changes wait for a second look.

use webloom_tests::webloom::Webloom;

use super::{
    NOTHING,
    site::{OTHER, Site, TEXT, own_text},
};

/// Gives the pages up to a number a text of their own and a footer.
fn with_footer(site: &Site, pages: usize, footer: &str) {
    for page in 1..=pages {
        let path = format!("/{page}");
        site.page(&path, &format!("{}\n{footer}", own_text(&path)));
    }
}

#[test]
fn an_edit_of_all_pages_is_reported_once() {
    let site = Site::numbered(20);
    with_footer(&site, 20, "Copyright 2023");
    site.crawl(&TEXT);
    with_footer(&site, 20, "Copyright 2024");
    assert_eq!(site.guarded(&[]), (vec!["site_wide x20".to_owned()], 0));
    assert_eq!(site.again(&[]), NOTHING);
    // A page that also has an edit of its own has its own line.
    with_footer(&site, 20, "Copyright 2025");
    site.page("/3", "An edit of this page alone\nCopyright 2025");
    assert_eq!(site.again(&[]), ["changed_text /3", "site_wide x20"]);
    assert_eq!(site.again(&[]), NOTHING);
    site.page("/4", "The other page\nCopyright 2025");
    assert_eq!(site.again(&[]), ["changed_text /4"]);
}

#[test]
fn an_edit_of_few_pages_is_reported_of_each() {
    let site = Site::numbered(30);
    with_footer(&site, 4, "Copyright 2023");
    site.crawl(&TEXT);
    with_footer(&site, 4, "Copyright 2024");
    assert_eq!(site.again(&[]), ["changed_text /1", "changed_text /2", "changed_text /3", "changed_text /4"]);
}

/// Another text on each of the first six pages.
fn edit_six(site: &Site) -> Vec<String> {
    let edit = |page: usize| {
        site.page(&format!("/{page}"), &format!("The text number {page}\nis other than before {page}"));
        format!("changed_text /{page}")
    };
    (1..=6).map(edit).collect()
}

#[test]
fn many_changes_at_once_are_reported_after_a_second_look() {
    let site = Site::numbered(20);
    site.crawl(&TEXT);
    let edits = edit_six(&site);
    assert_eq!(site.guarded(&[]), (Vec::new(), 1));
    assert_eq!(site.guarded(&[]), (edits, 0));
    assert_eq!(site.guarded(&[]), (Vec::new(), 0));
}

#[test]
fn many_changes_that_are_taken_back_are_never_reported() {
    let site = Site::numbered(20);
    let before: Vec<_> = (1..=6).map(|page| site.now(&format!("/{page}"))).collect();
    site.crawl(&TEXT);
    edit_six(&site);
    assert_eq!(site.guarded(&[]), (Vec::new(), 1));
    for (page, answer) in (1..=6).zip(before) {
        site.set(&format!("/{page}"), answer);
    }
    assert_eq!(site.guarded(&[]), (Vec::new(), 0));
    site.page("/3", OTHER);
    assert_eq!(site.guarded(&[]), (vec!["changed_text /3".to_owned()], 0));
}

#[test]
fn what_vanishes_at_once_for_good_is_reported_after_a_second_look() {
    let site = Site::numbered(20);
    site.crawl(&TEXT);
    for page in 1..=6 {
        site.status(&format!("/{page}"), 410);
    }
    assert_eq!(site.guarded(&[]), (Vec::new(), 1));
    let gone: Vec<_> = (1..=6).map(|page| format!("gone /{page}")).collect();
    assert_eq!(site.guarded(&[]), (gone, 0));
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn the_guard_can_be_switched_off() {
    let site = Site::numbered(20);
    site.crawl(&TEXT);
    let edits = edit_six(&site);
    let run = Webloom::go_on(&site.dir()).args(["--again"]);
    let (run, reported) = site.run(run.env("WEBLOOM_CHANGE_MASS_SHARE", "1"));
    assert_eq!(reported, edits);
    assert!(!run.stderr.contains("at once"), "{}", run.stderr);
}

#[test]
fn a_text_that_shrank_is_reported_when_it_stays_so() {
    let site = Site::numbered(20);
    let whole = site.now("/3");
    site.crawl(&TEXT);
    site.page("/3", "Loading");
    assert_eq!((site.again(&[]), site.again(&[])), (vec![], vec![]), "ten minutes have not passed");
    site.set("/3", whole);
    assert_eq!(site.again(&["--confirm", "0s"]), NOTHING);
    site.page("/3", "Loading");
    assert_eq!((site.again(&[]), site.again(&[])), (vec![], vec!["changed_text /3".to_owned()]));
    assert_eq!(site.again(&[]), NOTHING);
}
