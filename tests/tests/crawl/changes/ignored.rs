//! Rules for what is no part of a text.

use webloom_tests::webloom::Webloom;

use super::{
    NOTHING,
    site::{Answer, OTHER, Site, TEXT, own_text},
};

/// Another date on each page; its text is the same otherwise.
fn dated(site: &Site, date: &str) {
    for page in 1..=20 {
        let path = format!("/{page}");
        let text = own_text(&path).replace('\n', "<p>");
        let page = format!("<p>{text}<p class=date>Updated on day {date}{page}");
        site.set(&path, Answer::Page(page));
    }
}

fn dated_site() -> Site {
    let site = Site::numbered(20);
    dated(&site, "1");
    site
}

#[test]
fn what_rotates_under_a_rule_is_never_reported() {
    for rule in ["re:on day [0-9]+$", "css:.date"] {
        let site = dated_site();
        site.crawl(&[&TEXT[..], &["--ignore", rule]].concat());
        for round in 2..6 {
            dated(&site, &round.to_string());
            assert_eq!(site.guarded(&[]), (Vec::new(), 0), "{rule} in round {round}");
        }
        site.page("/3", "Another text of this page, as long as before\nUpdated on day 7");
        assert_eq!(site.again(&[]), ["changed_text /3"], "{rule}");
        assert_eq!(site.again(&[]), NOTHING, "{rule}");
    }
}

#[test]
fn a_rule_that_is_changed_tells_nothing_by_itself() {
    for rules in [&["re:^Updated.*"][..], &["css:.date"], &["before:begins"], &["after:Updated", "css:.date"]] {
        let site = dated_site();
        site.crawl(&TEXT);
        let arguments: Vec<_> = rules.iter().flat_map(|rule| ["--ignore", rule]).collect();
        assert_eq!(site.guarded(&arguments), (Vec::new(), 0), "{rules:?}");
        site.page("/3", "The page now begins\nin another way than it did and ends");
        assert_eq!(site.again(&[]), ["changed_text /3"], "{rules:?}");
        // And without it again.
        let none = Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_CHANGE_IGNORE", "");
        assert_eq!(site.run(none).1, NOTHING, "{rules:?}");
    }
}

#[test]
fn what_changes_while_a_rule_is_changed_is_reported() {
    for (rule, change) in [("re:^Updated.*", "changed_text /3"), ("css:.date", "changed /3")] {
        let site = dated_site();
        site.crawl(&TEXT);
        site.page("/3", OTHER);
        assert_eq!(site.again(&["--ignore", rule]), [change]);
        assert_eq!(site.again(&[]), NOTHING);
        site.page("/3", "One more text that it has");
        assert_eq!(site.again(&[]), ["changed_text /3"]);
    }
}
