//! [`PageState`]: what is remembered of a page's visits and changes.

use super::Class;
use crate::time::Moment;

/// What a visit saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// When.
    pub at: Moment,
    /// Whether the page was another than at the visit before.
    pub changed: bool,
}

/// What is kept with a page, in 24 bytes.
///
/// Visits, changes and times may be weighted, where a policy lets old evidence fade.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PageState {
    /// Visits after the first copy, at each of which it was seen whether the page had changed.
    pub visits: f32,
    /// Those of them that saw a change.
    pub changes: f32,
    /// Seconds between visits of which the later saw a change, in all.
    pub with_change: f32,
    /// Seconds between visits of which the later saw none, in all.
    pub without_change: f32,
    /// The last visit, or the first copy, in whole seconds since 1970-01-01T00:00:00Z.
    pub last_visit: u32,
    /// Its class.
    pub class: Class,
}

impl PageState {
    /// A page whose first copy was taken at this moment.
    pub fn new(at: Moment, class: Class) -> Self {
        Self { last_visit: whole_seconds(at), class, ..Self::default() }
    }

    /// When it was visited last, to the second.
    pub fn last_visit(&self) -> Moment {
        Moment::from_millis(u64::from(self.last_visit) * 1000)
    }

    /// Adds what a visit saw; what was known before keeps this share of its weight.
    #[expect(clippy::cast_possible_truncation, reason = "f32 is how it is kept")]
    pub fn add(&mut self, seen: Seen, weight_of_old: f64) {
        let weight = weight_of_old as f32;
        let interval = seen.at.since(self.last_visit()).as_secs_f32().max(1.0);
        for sum in [&mut self.visits, &mut self.changes, &mut self.with_change, &mut self.without_change] {
            *sum *= weight;
        }
        self.visits += 1.0;
        if seen.changed {
            self.changes += 1.0;
            self.with_change += interval;
        } else {
            self.without_change += interval;
        }
        self.last_visit = whole_seconds(seen.at);
    }

    /// What is kept beside the class, as bytes: five numbers of four bytes, the least significant first.
    pub fn to_bytes(&self) -> [u8; 20] {
        let sums = [self.visits, self.changes, self.with_change, self.without_change].map(f32::to_bits);
        let [visits, changes, with, without] = sums;
        let mut bytes = [0; 20];
        for (place, number) in bytes.chunks_exact_mut(4).zip([visits, changes, with, without, self.last_visit]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// What these bytes say of a page of this class.
    pub fn from_bytes(bytes: [u8; 20], class: Class) -> Self {
        let mut numbers = bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().expect("four bytes")));
        let mut number = || numbers.next().expect("there are five");
        Self {
            visits: f32::from_bits(number()),
            changes: f32::from_bits(number()),
            with_change: f32::from_bits(number()),
            without_change: f32::from_bits(number()),
            last_visit: number(),
            class,
        }
    }

    /// A copy was taken at this moment that tells nothing of the page's rate of change.
    pub fn renew(&mut self, at: Moment) {
        self.last_visit = whole_seconds(at);
    }
}

/// Until the year 2106.
fn whole_seconds(at: Moment) -> u32 {
    u32::try_from(at.millis() / 1000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_all_but_the_class() {
        let mut page = PageState::new(Moment::from_millis(1_700_000_000_000), Class(7));
        page.add(Seen { at: Moment::from_millis(1_700_000_100_000), changed: true }, 1.0);
        page.add(Seen { at: Moment::from_millis(1_700_000_300_000), changed: false }, 0.5);
        assert_eq!(PageState::from_bytes(page.to_bytes(), Class(7)), page);
    }

    #[test]
    fn a_page_takes_24_bytes() {
        assert_eq!(size_of::<PageState>(), 24);
    }

    #[test]
    fn visits_add_up() {
        let at = |seconds: u64| Moment::from_millis(seconds * 1000);
        let mut page = PageState::new(at(100), Class(7));
        page.add(Seen { at: at(160), changed: true }, 1.0);
        page.add(Seen { at: at(260), changed: false }, 0.5);
        let expected = PageState { visits: 1.5, changes: 0.5, with_change: 30.0, without_change: 100.0, ..page };
        assert_eq!((page, page.last_visit()), (expected, at(260)));
    }
}
