//! Pages that move, and are edited before the move is reported.

use super::{
    NOTHING,
    site::{Answer, Site, TEXT, own_text},
};

/// Moves the first pages of a site to addresses of their own, with the texts that they have.
fn move_pages(site: &Site, pages: usize) -> Vec<String> {
    let moved = |page: usize| {
        let (from, to) = (format!("/{page}"), format!("/moved/{page}"));
        site.set(&to, site.now(&from));
        site.set(&from, Answer::Redirect(to.clone()));
        format!("moved {from} -> {to}")
    };
    (1..=pages).map(moved).collect()
}

#[test]
fn an_edit_between_a_move_and_its_report_is_reported() {
    let site = Site::numbered(20);
    site.crawl(&TEXT);
    let moved = move_pages(&site, 6);
    assert_eq!(site.guarded(&[]), (Vec::new(), 1));
    site.page("/moved/3", &format!("{}\nand says more than before", own_text("/3")));
    site.page("/moved/5", "It says something else\nthan it said as page 5");
    let edited = ["/moved/3", "/moved/5"].map(|path| format!("changed_text {path}"));
    assert_eq!(site.again(&[]), [edited.to_vec(), moved].concat());
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn an_edit_that_comes_with_the_move_is_reported() {
    let site = Site::numbered(20);
    let long: Vec<_> = (0..100).map(|line| format!("Line {line} of a long page on matter {}", line * 7)).collect();
    site.page("/3", &long.join("\n"));
    site.crawl(&TEXT);
    site.page("/moved/3", &[&long[..], &["One more line".to_owned()]].concat().join("\n"));
    site.set("/3", Answer::Redirect("/moved/3".to_owned()));
    assert_eq!(site.again(&[]), ["changed_text /moved/3", "moved /3 -> /moved/3"]);
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn a_move_without_an_edit_is_one_change() {
    let site = Site::numbered(20);
    site.crawl(&TEXT);
    let moved = move_pages(&site, 3);
    assert_eq!(site.again(&[]), moved);
    assert_eq!(site.again(&[]), NOTHING);
}
