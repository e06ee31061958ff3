//! [`PageNoise`]: what is remembered of a page that moves by itself.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{
    explained::{AppearedLine, Explained, LINK, VANISHED},
    line_pattern::short,
    mask::{Mask, MaskKind},
    region::{PlacedLine, placed},
};
use crate::text::Text;

/// Looks in a row in which a line was there, after which it stays: it is reported, though it appeared where things move.
const STAYS: u32 = 3;

/// The same where other lines of its kind move.
const STAYS_AMONG_OTHERS: u32 = 9;

/// Looks in a row in which nothing moved at a place, after which it is a place like any other.
const STILL: u32 = 5;

/// Lines of a page of which it is not known yet whether they stay.
const MOST_WAITING: usize = 100;

/// What is remembered of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageNoise {
    /// The places that move, and are none of its section's.
    pub masks: Vec<Mask>,
    waiting: Vec<WaitingLine>,
}

/// A line that appeared where things move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct WaitingLine {
    key: u32,
    /// Of what it says alone, and the path of its elements.
    line: u32,
    path: u64,
    /// Of its pattern, if its values move; [`VANISHED`] if it is not there any more, and waits to be known to stay away.
    kind: u32,
    looks: u32,
    /// The visit before it was there.
    before: i64,
    /// The visit that its page was compared with when it was found to stay. As long as that is so, it is not reported yet.
    #[serde(default)]
    stayed: Option<i64>,
}

impl WaitingLine {
    /// Whether it is known by now not to stay.
    fn comes_and_goes(&self, masks: &[Mask]) -> bool {
        masks.iter().any(|mask| mask.rotates_at(self.path) && mask.knows(self.line))
    }
}

impl PageNoise {
    /// Whether there is nothing to be remembered.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty() && self.waiting.is_empty()
    }

    /// Whether it is not known of a line yet whether it stays.
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether it is known that bytes move that are not shown.
    pub fn has_moving_bytes(&self) -> bool {
        self.masks.iter().any(|mask| mask.kind() == MaskKind::Bytes)
    }

    /// Takes in a look at which the page had this text, and what was hidden then; the visit before a line appeared that has turned out to
    /// stay. `before` is the visit that it was compared with, `masks` are those of the page
    /// and of its section.
    pub fn look(&mut self, text: &Text, explained: &Explained<'_>, before: i64, masks: &[Mask]) -> Option<i64> {
        self.count(&explained.moved.iter().map(|(mask, _)| *mask).collect::<Vec<_>>());
        // What came a moment ago was no part of the page.
        let was_there = |line: &&PlacedLine<'_>| {
            let is_line =
                |waiting: &WaitingLine| (waiting.line, waiting.path) == (short(line.text), line.path.number());
            !self.waiting.iter().any(|waiting| waiting.kind != VANISHED && is_line(waiting))
        };
        let vanished: Vec<PlacedLine<'_>> = explained.vanished.iter().filter(was_there).copied().collect();
        let gone: HashSet<u32> = vanished.iter().map(|line| short(line.text)).collect();
        for (mask, went) in &explained.moved {
            if let Some(mask) = self.masks.get_mut(*mask).filter(|mask| mask.kind() == MaskKind::Rotates) {
                mask.learn(went.iter().copied().filter(|line| !gone.contains(line)));
            }
        }
        if self.waiting.is_empty() && explained.appeared.is_empty() && vanished.is_empty() {
            return None;
        }
        let lines = placed(text);
        let keys: HashSet<u32> = lines.iter().map(PlacedLine::key).collect();
        // After a redesign the page has no such elements.
        let is_elsewhere = |waiting: &WaitingLine| {
            lines.iter().all(|line| line.path.number() != waiting.path)
                && lines.iter().any(|line| short(line.text) == waiting.line)
        };
        let is_there = |line: &WaitingLine| match line.kind {
            LINK => explained.appeared.iter().all(|other| other.kind != LINK || short(other.line.text) != line.line),
            VANISHED => !keys.contains(&line.key) && !line.comes_and_goes(masks),
            _ => (keys.contains(&line.key) || is_elsewhere(line)) && !line.comes_and_goes(masks),
        };
        self.waiting.retain(is_there);
        // Where another line of its kind has another value again, its own may be the same by chance.
        let moves = |line: &WaitingLine| {
            let is_like = |other: &AppearedLine<'_>| other.kind == line.kind && other.line.path.number() == line.path;
            line.kind != 0 && explained.appeared.iter().any(is_like)
        };
        let stayed = self.wait(before, moves);
        let vanished = vanished.into_iter().map(|line| AppearedLine { line, kind: VANISHED });
        // There is room for what is news before there is for numbers.
        let (values, others): (Vec<_>, Vec<_>) = explained
            .appeared
            .iter()
            .copied()
            .chain(vanished)
            .partition(|line| ![0, LINK, VANISHED].contains(&line.kind));
        for AppearedLine { line, kind } in others.iter().chain(&values) {
            let (key, path) = (line.key(), line.path.number());
            let waiting =
                WaitingLine { key, line: short(line.text), path, kind: *kind, looks: 1, before, stayed: None };
            if self.waiting.len() < MOST_WAITING && self.waiting.iter().all(|other| other.key != waiting.key) {
                self.waiting.push(waiting);
            }
        }
        stayed
    }

    /// Takes in a look at which the page had the text that it had at the visit `before`, and perhaps the same bytes; the same.
    pub fn same_text(&mut self, before: i64, masks: &[Mask], same_bytes: bool) -> Option<i64> {
        self.count(&[]);
        for mask in self.masks.iter_mut().filter(|mask| mask.kind() == MaskKind::Bytes) {
            mask.still = if same_bytes { mask.still + 1 } else { 0 };
        }
        self.waiting.retain(|line| !line.comes_and_goes(masks));
        self.wait(before, |_| false)
    }

    /// Nothing moved at the other masks. What has not moved for long is forgotten.
    fn count(&mut self, moved: &[usize]) {
        for (number, mask) in self.masks.iter_mut().enumerate().filter(|(_, mask)| mask.kind() != MaskKind::Bytes) {
            mask.still = if moved.contains(&number) { 0 } else { mask.still + 1 };
        }
    }

    /// Forgets what has not moved for long.
    pub fn forget_still(&mut self) {
        self.masks.retain(|mask| mask.still < STILL);
    }

    /// The lines that wait were there once more. What was found to stay is reported later where its page has to wait then.
    fn wait(&mut self, good: i64, moves: impl Fn(&WaitingLine) -> bool) -> Option<i64> {
        self.waiting.retain(|line| line.stayed.is_none_or(|stayed| stayed == good));
        let mut stayed = None;
        for line in &mut self.waiting {
            line.looks += 1;
            if line.stayed.is_some() || line.looks >= if moves(line) { STAYS_AMONG_OTHERS } else { STAYS } {
                line.stayed = Some(good);
                stayed = Some(stayed.map_or(line.before, |before: i64| before.min(line.before)));
            }
        }
        stayed
    }
}

#[cfg(test)]
mod tests {
    use super::{super::region::tests::text, *};
    use crate::text::ElementPath;

    /// A page that is looked at again and again; the visits are numbered from 1.
    struct Watched {
        noise: PageNoise,
        text: Text,
        visit: i64,
        reported: Vec<(i64, i64)>,
    }

    impl Watched {
        fn new(looks: [&str; 2]) -> Self {
            let masks = Mask::between(&text(looks[0]), &text(looks[1]), 0);
            let noise = PageNoise { masks, ..PageNoise::default() };
            Self { noise, text: text(looks[0]), visit: 1, reported: Vec::new() }
        }

        fn looks(&mut self, texts: &[&str]) {
            for now in texts {
                self.look(now);
            }
        }

        fn look(&mut self, now: &str) {
            let now = text(now);
            let masks = self.noise.masks.clone();
            let explained = Explained::of(&self.text, &now, &masks);
            assert!(explained.edits.is_empty(), "{:?}", explained.edits);
            let stayed = if now == self.text {
                self.noise.same_text(self.visit, &masks, true)
            } else {
                self.noise.look(&now, &explained, self.visit, &masks)
            };
            self.noise.forget_still();
            self.text = now;
            self.visit += 1;
            self.reported.extend(stayed.map(|since| (self.visit, since)));
        }
    }

    #[test]
    fn what_appears_where_things_move_and_stays_is_reported_once() {
        let mut page = Watched::new(["a|-x|b", "a|-y|b"]);
        page.looks(&["a|-y|b", "a|-z|b", "a|-x|b", "a|-news|b", "a|-news|b", "a|-news|b", "a|-news|b"]);
        assert_eq!(page.reported, [(7, 4)], "at the third look, against the one before the first");
    }

    #[test]
    fn what_waits_to_be_known_to_stay_is_reported_after_a_redesign() {
        let mut page = Watched::new(["a|Price 7|-x|b", "a|Price 7|-y|b"]);
        page.look("a|Price 7|-news|b");
        let redesigned = text("a|Price 7|-news|b").at(vec![ElementPath::default(); 4]);
        let mut look = |before| page.noise.look(&redesigned, &Explained::default(), before, &[]);
        assert_eq!([look(2), look(2), look(2), look(3)], [None, Some(1), Some(1), None], "until it is reported");
    }

    #[test]
    fn a_number_that_has_come_to_rest_is_reported() {
        let mut page = Watched::new(["a|Price 7|b", "a|Price 8|b"]);
        page.looks(&["a|Price 8|b", "a|Price 8|b", "a|Price 8|b", "a|Price 8|b"]);
        assert_eq!(page.reported, [(4, 1)]);
    }

    #[test]
    fn numbers_of_a_list_that_moves_do_not_come_to_rest() {
        let mut page = Watched::new(["*Task 1|*Task 2|b", "*Task 3|*Task 4|b"]);
        page.looks(&["*Task 3|*Task 4|b", "*Task 3|*Task 5|b", "*Task 6|*Task 3|b", "*Task 3|*Task 7|b"]);
        assert!(page.reported.is_empty());
        page.looks(&["*Task 8|*Task 9|b"; 3]);
        assert_eq!(page.reported, [(8, 5)]);
        let mut page = Watched::new(["*Price 1|*Price 17|b", "*Price 2|*Price 18|b"]);
        let moving: Vec<_> = (3..14).map(|number| format!("*Price {number}|*Price 99|b")).collect();
        page.looks(&moving.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(page.reported.len(), 1, "a value that stays beside one that moves is reported, if late");
    }

    #[test]
    fn what_goes_where_others_move_is_reported_once_it_stays_away() {
        let mut page = Watched::new(["*red|*blue|*green|*tan|b", "*red|*blue|*green|*pink|b"]);
        page.looks(&["*red|*blue|*green|*red|b", "*red|*green|*pink|b"]);
        assert!(page.reported.is_empty());
        page.looks(&["*red|*green|*tan|b"; 5]);
        assert_eq!(page.reported, [(5, 2)], "at the third look, against the one before the first");
        let mut page = Watched::new(["a|old|b", "a|b"]);
        page.looks(&["a|b"; 6]);
        assert_eq!(page.reported, [(4, 1)], "it went between two looks");
        let mut page = Watched::new(["a|-x|-y|b", "a|-z|-u|b"]);
        page.looks(&["a|-v|-w|b", "a|-x|-v|b", "a|-u|-y|b", "a|-w|-z|b", "a|-z|-x|b", "a|-y|-v|b"]);
        assert!(page.reported.is_empty(), "others came");
        let mut page = Watched::new(["*x|*y|*k|b", "*z|*y|*k|b"]);
        for now in ["*z|*k|b", "*x|*y|*k|b"].iter().cycle().take(20) {
            page.look(now);
        }
        assert!(page.reported.is_empty() && !page.noise.waits(), "it comes again");
    }

    #[test]
    fn numbers_that_move_take_no_room_from_news() {
        let numbers =
            |from: u32| (from..from + 120).map(|number| format!("-Price {number}|")).collect::<Vec<_>>().concat();
        let [first, second] = [1000, 2000].map(|from| numbers(from) + "#h|x|c");
        let mut page = Watched::new([&first, "#h|y|c"].map(|text| if text.starts_with('#') { &second } else { text }));
        page.noise.masks.extend(Mask::between(&text("#h|x|c"), &text("#h|y|c"), 0));
        let later: Vec<_> = (3..7).map(|look| numbers(look * 1000) + "#h|news|c").collect();
        page.looks(&later.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(page.reported.first(), Some(&(4, 1)));
    }

    #[test]
    fn two_versions_in_turn_are_never_reported() {
        let mut page = Watched::new(["a|-x|b", "a|-y|b"]);
        for now in ["a|-y|b", "a|-x|b"].iter().cycle().take(40) {
            page.look(now);
        }
        assert_eq!((page.reported.len(), page.noise.masks.len()), (0, 1));
        assert!(page.noise.waiting.is_empty(), "both are known");
    }

    #[test]
    fn a_place_where_nothing_moves_is_forgotten() {
        let mut page = Watched::new(["a|-x|b", "a|-y|b"]);
        (0..5).for_each(|_| page.look("a|-x|b"));
        assert!(page.noise.is_empty());
    }

    #[test]
    fn a_new_member_of_a_pool_is_no_news() {
        let mut page = Watched::new(["a|-x|b", "a|-y|b"]);
        page.looks(&["a|-new|b", "a|-x|b", "a|-new|b", "a|-new|b", "a|-new|b", "a|-new|b"]);
        assert!(page.reported.is_empty(), "it went once");
    }
}
