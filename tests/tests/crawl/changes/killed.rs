//! Kills at the end of a sequence, where changes are reported.

use webloom_tests::webloom::{Webloom, assert_clean};

use super::{
    NOTHING,
    site::{OTHER, SOON, Site, TEXT},
};

#[test]
fn each_change_is_reported_once_however_the_sequence_ends() {
    for moment in ["before_end", "inside_end", "after_end"] {
        let site = Site::numbered(30);
        site.crawl(&[&TEXT[..], &SOON].concat());
        site.status("/5", 404);
        assert_eq!(site.again(&[]), NOTHING);
        site.page("/3", OTHER);
        site.status("/4", 410);
        let edits = ["changed_text /3", "gone /4", "gone /5"];
        let killed = Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_FAILPOINT", &format!("{moment}:1"));
        assert_eq!(killed.run().code, None);
        assert_clean(&site.dir());
        Webloom::go_on(&site.dir()).run().expect(0);
        assert_eq!(site.reported(&[]), edits, "{moment}");
        assert_eq!(site.again(&[]), NOTHING, "{moment}");
        assert_eq!(site.reported(&[]), edits, "{moment}");
    }
}
