//! A page whose text is one of few in turn.

use super::{
    NOTHING,
    site::{Answer, Site, TEXT},
};

#[test]
fn a_page_whose_text_rotates_is_volatile_after_the_third_known_text() {
    let site = Site::numbered(12);
    let texts = [1, 2, 3].map(|number| Answer::Page(format!("<p>Quote number {number}, as long as the others are")));
    site.set("/3", texts[0].clone());
    site.crawl(&TEXT);
    let round = |number: usize| {
        site.set("/3", texts[number % 3].clone());
        site.again(&[])
    };
    let reported: Vec<_> = (1..=5).flat_map(round).collect();
    let expected = ["changed_text /3", "changed_text /3", "reverted /3", "reverted /3", "volatile /3"];
    assert_eq!(reported, expected);
    for number in 6..=9 {
        assert_eq!(round(number), NOTHING);
    }
}
