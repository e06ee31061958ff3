//! [`moving_dates`]: dates that are others at each look, though two looks a moment apart show the same.

use std::collections::HashSet;

use super::{explained::Explained, line_pattern::LinePattern, mask::Mask};
use crate::text::Text;

/// The places of dates that are others at each of three looks, where these masks hide nothing of them: they change day by day.
pub fn moving_dates([first, second, third]: [&Text; 3], masks: &[Mask], sequence: u32) -> Vec<Mask> {
    let later = dates(&Explained::of(second, third, masks), false);
    if later.is_empty() {
        return Vec::new();
    }
    // What was hidden then, among texts that come and go, changed too.
    let earlier = dates(&Explained::of(first, second, masks), true);
    let places = Mask::between(first, second, sequence);
    let mut found = Mask::between(second, third, sequence);
    found.retain_mut(|mask| {
        let here: HashSet<u32> = places.iter().filter(|place| place.is_like(mask)).flat_map(Mask::kinds).collect();
        mask.keep_kinds(|kind| [&later, &earlier, &here].iter().all(|kinds| kinds.contains(&kind)))
    });
    found
}

/// The kinds of lines of which a date alone is another.
fn dates(explained: &Explained<'_>, hidden: bool) -> HashSet<u32> {
    let edits = explained.edits.iter().chain(explained.masked.iter().filter(|_| hidden));
    let pairs = edits.filter(|edit| edit.removed.len() == edit.added.len());
    let pairs = pairs.flat_map(|edit| edit.removed.iter().zip(&edit.added));
    let date = |(one, other): (&&str, &&str)| LinePattern::of(one, other).filter(|pattern| pattern.is_date(one));
    pairs.filter_map(date).map(|pattern| pattern.kind()).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::region::tests::text, *};

    #[test]
    fn a_date_that_is_another_each_day_is_noise_from_the_second_day_on() {
        let day =
            |day: u32, published: &str| text(&format!("a|Published {published} May 2024|Today: {day} June 2024|b"));
        let days = [day(1, "3"), day(2, "3"), day(3, "9"), day(4, "9")];
        let masks = moving_dates([&days[0], &days[1], &days[2]], &[], 2);
        let left = |before: usize, after: usize| {
            let edits = Explained::of(&days[before], &days[after], &masks).edits;
            edits.iter().flat_map(|edit| edit.added.clone()).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!((masks.len(), left(1, 2)), (1, vec!["Published 9 May 2024".to_owned()]));
        assert!(left(2, 3).is_empty());
        assert!(moving_dates([&days[1], &days[1], &days[2]], &[], 2).is_empty());
        let prices = ["a|Price 1|b", "a|Price 2|b", "a|Price 3|b"].map(text);
        assert!(moving_dates(prices.each_ref(), &[], 2).is_empty());
    }

    #[test]
    fn a_date_that_was_hidden_among_texts_that_come_and_go_has_changed_too() {
        let masks = Mask::between(&text("#h|*a|*b|-one|z"), &text("#h|*b|*a|-two|z"), 0);
        let day = |list: &str, day: u32| text(&format!("-top|#h|{list}|-Made on {day} June 2024|end"));
        let days = [day("*a|*b", 1), day("*b|*a", 2), day("*b|*a", 3)];
        assert!(Explained::of(&days[0], &days[1], &masks).edits.is_empty());
        assert_eq!(moving_dates(days.each_ref(), &masks, 2).len(), 1);
    }
}
