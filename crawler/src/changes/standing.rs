//! [`Standing`]: what was last reported of a page, and what a new look adds.
//!
//! The rules: a page is compared with its last good copy. What was reported is not reported again before it has ended. What may pass (a
//! page that is not found, a text that shrank, many changes at once) is reported only after a second look that finds it again.

use std::time::Duration;

use super::look::{Difference, LookOutcome, Way};
use crate::time::Moment;

/// Changes of bytes alone, in as many looks in a row, after which a page is volatile.
const RESTLESS: u32 = 3;

/// Times in a row that a page went back to a text that it had lately; once more, and it is volatile.
const FLAPS: u32 = 2;

/// Looks in a row without a change, after which it is volatile no longer.
const CALM: u32 = 3;

/// What is reported of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It is there for the first time.
    New,
    /// Its bytes are others, its text is not, or is not known.
    Changed,
    /// Its main text is another.
    ChangedText,
    /// Its text is the one before the last change.
    Reverted,
    /// It is somewhere else.
    Moved,
    /// It is not there any more.
    Gone,
    /// It is there again.
    Back,
    /// No page links to it any more.
    Orphaned,
    /// It cannot be seen: refused, failed, or something else is in its place.
    Unreachable,
    /// It can be seen again.
    Reachable,
    /// It changes all the time; no change of it is reported from now on.
    Volatile,
    /// An edit that many pages share.
    SiteWide,
}

impl Change {
    /// Every one.
    pub const ALL: [Self; 12] = [
        Self::New,
        Self::Changed,
        Self::ChangedText,
        Self::Reverted,
        Self::Moved,
        Self::Gone,
        Self::Back,
        Self::Orphaned,
        Self::Unreachable,
        Self::Reachable,
        Self::Volatile,
        Self::SiteWide,
    ];

    /// Its word in the database and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::ChangedText => "changed_text",
            Self::Reverted => "reverted",
            Self::Moved => "moved",
            Self::Gone => "gone",
            Self::Back => "back",
            Self::Orphaned => "orphaned",
            Self::Unreachable => "unreachable",
            Self::Reachable => "reachable",
            Self::Volatile => "volatile",
            Self::SiteWide => "site_wide",
        }
    }

    /// Reads [`Change::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == word)
    }
}

/// What holds for a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occasion {
    /// When it was.
    pub at: Moment,
    /// The visit that it is.
    pub visit: i64,
    /// Whether too many pages changed at once for one look to be believed.
    pub mass: bool,
    /// Whether what differs may move by itself: there was no second look yet.
    pub unsure: bool,
    /// Time to the second look at a text that shrank.
    pub confirm: Duration,
    /// The same at a page that is not found.
    pub gone_after: Duration,
    /// The same at one of too many that changed at once.
    pub mass_after: Duration,
}

/// Whether a page is there, as far as was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// It is.
    #[default]
    There,
    /// It is gone.
    Gone,
    /// It is somewhere else.
    Moved,
    /// It cannot be seen.
    Unreachable,
}

impl Condition {
    /// Its word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Gone => "gone",
            Self::Moved => "moved",
            Self::Unreachable => "unreachable",
        }
    }

    /// Reads [`Condition::as_str`]; an unknown word counts as there.
    pub fn from_word(word: &str) -> Self {
        let all = [Self::Gone, Self::Moved, Self::Unreachable];
        all.into_iter().find(|one| one.as_str() == word).unwrap_or_default()
    }
}

impl Doubt {
    /// Its word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Shrunk => "shrunk",
            Self::Mass => "mass",
            Self::Cut => "cut",
            Self::Unsure => "unsure",
        }
    }

    /// Reads [`Doubt::as_str`].
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Missing, Self::Shrunk, Self::Mass, Self::Cut, Self::Unsure].into_iter().find(|one| one.as_str() == word)
    }
}

/// What waits for a second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It is not found.
    Missing,
    /// Its text shrank.
    Shrunk,
    /// It is among many that changed at once.
    Mass,
    /// Its last copy was cut short.
    Cut,
    /// What differs may move by itself.
    Unsure,
}

/// What was last said of a page. That of a page of which nothing is to be remembered is the default, but for its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// The visit that has its last good copy; `None` before the first.
    pub good: Option<i64>,
    /// The visit that had the copy before.
    pub earlier: Option<i64>,
    /// Whether it is there.
    pub condition: Condition,
    /// What waits for a second look, and since when.
    pub doubt: Option<(Doubt, Moment)>,
    /// Looks in a row in which its bytes changed alone.
    pub restless: u32,
    /// Times that it went back, since it was calm.
    pub flaps: u32,
    /// Looks in a row without a change, of one that is volatile.
    pub calm: u32,
    /// Whether it changes all the time, as was reported.
    pub volatile: bool,
    /// Whether no page links to it, as was reported.
    pub orphaned: bool,
}

/// One change that is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// What happened.
    pub change: Change,
    /// The visit that has the copy before.
    pub before: Option<i64>,
    /// The visit that has the copy now; `None` where there is none.
    pub after: Option<i64>,
}

impl Standing {
    /// Of a page with this copy, of which nothing was said.
    pub fn of(good: Option<i64>) -> Self {
        Self { good, ..Self::default() }
    }

    /// Whether there is anything to remember but the copy.
    pub fn is_plain(&self) -> bool {
        *self == Self::of(self.good)
    }

    /// Whether this look is one of those that are doubted where there are many at once.
    pub fn is_sudden(&self, look: &LookOutcome) -> bool {
        let is_doubted = self.doubt.is_some_and(|(doubt, _)| doubt != Doubt::Cut);
        let is_known = self.good.is_some() && !is_doubted && !self.volatile;
        is_known
            && match look {
                LookOutcome::There(difference) => {
                    self.condition == Condition::There
                        && matches!(difference, Difference::Unknown | Difference::Text(_))
                }
                LookOutcome::Redirected | LookOutcome::Missing { .. } => self.condition == Condition::There,
                LookOutcome::Unreachable | LookOutcome::Replaced | LookOutcome::Cut => false,
            }
    }

    /// Takes a look in; what is to be reported of it: two changes at most.
    pub fn look(&mut self, look: LookOutcome, occasion: &Occasion) -> Vec<Reported> {
        if look == LookOutcome::Cut {
            self.doubt = self.doubt.or(Some((Doubt::Cut, occasion.at)));
            return Vec::new();
        }
        if matches!(self.doubt, Some((Doubt::Cut, _))) {
            self.doubt = None;
        }
        let before = self.good;
        let Some(good) = before else { return Vec::from_iter(self.first_look(look, occasion.visit)) };
        let reported = |change: Option<Change>| change.map(|change| Reported { change, before, after: None });
        match look {
            LookOutcome::There(difference) => self.there(good, difference, occasion),
            LookOutcome::Redirected => reported(self.redirected(occasion)).into_iter().collect(),
            LookOutcome::Missing { for_good } => reported(self.missing(for_good, occasion)).into_iter().collect(),
            LookOutcome::Unreachable | LookOutcome::Replaced => reported(self.unreachable()).into_iter().collect(),
            LookOutcome::Cut => Vec::new(),
        }
    }

    /// Takes in whether any page links to it, as far as all pages that did were read; whether that is to be reported.
    pub fn linked(&mut self, linked: bool) -> Option<Reported> {
        let is_there = matches!(self.condition, Condition::There) && self.good.is_some();
        let was = std::mem::replace(&mut self.orphaned, !linked && is_there);
        let reported = Reported { change: Change::Orphaned, before: self.good, after: self.good };
        (self.orphaned && !was).then_some(reported)
    }

    /// Of a URL that never was a page nothing is reported but that it became one.
    fn first_look(&mut self, look: LookOutcome, visit: i64) -> Option<Reported> {
        let LookOutcome::There(_) = look else { return None };
        *self = Self::of(Some(visit));
        Some(Reported { change: Change::New, before: None, after: Some(visit) })
    }

    fn there(&mut self, good: i64, difference: Difference, occasion: &Occasion) -> Vec<Reported> {
        let visit = occasion.visit;
        let reported = |change, before| Reported { change, before: Some(before), after: Some(visit) };
        let mut all = Vec::new();
        match std::mem::take(&mut self.condition) {
            Condition::Gone | Condition::Moved => {
                *self = Self { orphaned: self.orphaned, ..Self::of(Some(visit)) };
                return vec![reported(Change::Back, good)];
            }
            Condition::Unreachable => all.push(reported(Change::Reachable, good)),
            Condition::There => {}
        }
        if matches!(self.doubt, Some((Doubt::Missing, _))) {
            self.doubt = None;
        }
        all.extend(match difference {
            Difference::None | Difference::Noise => {
                self.good = Some(visit);
                self.unchanged().map(|(change, since)| reported(change, since))
            }
            Difference::AllNoise => self.only_noise(visit).map(|change| reported(change, good)),
            Difference::SiteWide => {
                (self.doubt, self.good) = (None, Some(visit));
                None
            }
            Difference::Bytes => self.changed_bytes(occasion).map(|change| reported(change, good)),
            Difference::Unknown | Difference::Text(_) => {
                self.changed(difference, occasion).map(|change| reported(change, good))
            }
        });
        all
    }

    /// One that changed all the time and has come to rest is reported, with the copy that it had when that began.
    fn unchanged(&mut self) -> Option<(Change, i64)> {
        (self.doubt, self.restless) = (None, 0);
        if self.volatile || self.flaps > 0 {
            self.calm += 1;
        }
        if self.calm < CALM {
            return None;
        }
        let flapped = self.volatile && self.flaps > 0;
        (self.volatile, self.flaps, self.calm) = (false, 0, 0);
        self.earlier.filter(|_| flapped).map(|since| (Change::ChangedText, since))
    }

    /// One that has nothing but what moves by itself is reported once.
    fn only_noise(&mut self, visit: i64) -> Option<Change> {
        (self.doubt, self.good, self.calm) = (None, Some(visit), 0);
        let was = std::mem::replace(&mut self.volatile, true);
        (!was).then_some(Change::Volatile)
    }

    fn changed_bytes(&mut self, occasion: &Occasion) -> Option<Change> {
        let visit = occasion.visit;
        if occasion.unsure && self.doubt.is_none() && !self.volatile {
            self.doubts(Doubt::Unsure, occasion);
            return None;
        }
        (self.doubt, self.good, self.calm) = (None, Some(visit), 0);
        self.restless += 1;
        if self.volatile {
            return None;
        }
        self.volatile = self.restless >= RESTLESS;
        Some(if self.volatile { Change::Volatile } else { Change::Changed })
    }

    fn changed(&mut self, difference: Difference, occasion: &Occasion) -> Option<Change> {
        let visit = occasion.visit;
        self.calm = 0;
        if self.volatile && self.flaps > 0 {
            self.good = Some(visit);
            return None;
        }
        if self.waits(difference, occasion) {
            return None;
        }
        (self.doubt, self.restless) = (None, 0);
        self.earlier = self.good.replace(visit);
        match difference {
            Difference::Text(Way::Back) => {
                self.flaps += 1;
                if self.flaps <= FLAPS {
                    return Some(Change::Reverted);
                }
                (self.volatile, self.earlier) = (true, Some(visit));
                Some(Change::Volatile)
            }
            Difference::Text(_) => {
                self.flaps = 0;
                Some(Change::ChangedText)
            }
            _ => Some(Change::Changed),
        }
    }

    /// Whether a change waits for a second look.
    fn waits(&mut self, difference: Difference, occasion: &Occasion) -> bool {
        let shrunk = difference == Difference::Text(Way::Shrunk);
        match self.doubt {
            Some((Doubt::Mass, since)) if occasion.at < since + occasion.mass_after => true,
            Some((_, since)) => shrunk && occasion.at < since + occasion.confirm,
            None if shrunk => self.doubts(Doubt::Shrunk, occasion),
            None if occasion.mass => self.doubts(Doubt::Mass, occasion),
            None => occasion.unsure && self.doubts(Doubt::Unsure, occasion),
        }
    }

    fn doubts(&mut self, doubt: Doubt, occasion: &Occasion) -> bool {
        self.doubt = Some((doubt, occasion.at));
        true
    }

    fn redirected(&mut self, occasion: &Occasion) -> Option<Change> {
        if self.condition == Condition::Moved {
            return None;
        }
        if occasion.mass && self.doubt.is_none() {
            self.doubts(Doubt::Mass, occasion);
        }
        if matches!(self.doubt, Some((Doubt::Mass, since)) if since == occasion.at || occasion.at < since + occasion.mass_after)
        {
            return None;
        }
        (self.condition, self.doubt) = (Condition::Moved, None);
        Some(Change::Moved)
    }

    fn missing(&mut self, for_good: bool, occasion: &Occasion) -> Option<Change> {
        if matches!(self.condition, Condition::Gone | Condition::Moved) {
            return None;
        }
        let sure = match self.doubt {
            Some((Doubt::Missing, since)) if for_good => occasion.at >= since + occasion.mass_after,
            Some((Doubt::Missing, since)) => occasion.at >= since + occasion.gone_after,
            // The first look was at something else.
            Some(_) | None => for_good && !occasion.mass,
        };
        if sure {
            (self.condition, self.doubt) = (Condition::Gone, None);
            return Some(Change::Gone);
        }
        if !matches!(self.doubt, Some((Doubt::Missing, _))) {
            self.doubts(Doubt::Missing, occasion);
        }
        None
    }

    fn unreachable(&mut self) -> Option<Change> {
        if self.condition != Condition::There {
            return None;
        }
        self.condition = Condition::Unreachable;
        Some(Change::Unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    /// A page whose first copy is that of visit 1, looked at once a minute.
    struct Watched {
        standing: Standing,
        minute: u32,
        mass: bool,
        gone_after: Duration,
        mass_after: Duration,
    }

    impl Watched {
        fn new() -> Self {
            let standing = Standing::of(Some(1));
            Self { standing, minute: 0, mass: false, gone_after: MINUTE * 2, mass_after: Duration::ZERO }
        }

        fn look(&mut self, look: LookOutcome) -> Vec<&'static str> {
            self.minute += 1;
            let at = Moment::EPOCH + MINUTE * self.minute;
            let Self { mass, gone_after, mass_after, .. } = *self;
            let visit = i64::from(self.minute) + 1;
            let occasion = Occasion { at, visit, mass, unsure: false, confirm: MINUTE * 2, gone_after, mass_after };
            self.standing.look(look, &occasion).iter().map(|reported| reported.change.as_str()).collect()
        }

        fn there(&mut self, difference: Difference) -> Vec<&'static str> {
            self.look(LookOutcome::There(difference))
        }
    }

    const NOTHING: [&str; 0] = [];
    const MISSING: LookOutcome = LookOutcome::Missing { for_good: false };
    const ONWARDS: Difference = Difference::Text(Way::Onwards);

    #[test]
    fn a_page_that_is_there_again_at_the_second_look_was_never_gone() {
        let mut page = Watched::new();
        assert_eq!(page.look(MISSING), NOTHING);
        assert_eq!(page.there(Difference::None), NOTHING);
        assert!(page.standing.is_plain());
        // The time counts from the first look of those in a row.
        assert_eq!((page.look(MISSING), page.look(MISSING)), (vec![], vec![]));
        assert_eq!((page.look(MISSING), page.look(MISSING)), (vec!["gone"], vec![]));
        assert_eq!((page.there(Difference::None), page.there(ONWARDS)), (vec!["back"], vec!["changed_text"]));
        assert_eq!(page.look(LookOutcome::Missing { for_good: true }), ["gone"]);
    }

    #[test]
    fn a_copy_without_a_difference_is_what_the_next_is_compared_with() {
        let mut page = Watched::new();
        assert_eq!((page.there(Difference::None), page.standing.good), (vec![], Some(2)));
        assert!(page.standing.is_plain());
    }

    #[test]
    fn without_a_pause_the_second_look_is_the_next() {
        let mut page = Watched { gone_after: Duration::ZERO, ..Watched::new() };
        assert_eq!((page.look(MISSING), page.look(MISSING)), (vec![], vec!["gone"]));
    }

    #[test]
    fn a_text_that_shrank_is_reported_after_a_second_look() {
        let shrunk = Difference::Text(Way::Shrunk);
        let mut page = Watched::new();
        assert_eq!((page.there(shrunk), page.there(Difference::None)), (vec![], vec![]));
        assert_eq!((page.there(shrunk), page.there(shrunk)), (vec![], vec![]));
        assert_eq!((page.there(shrunk), page.standing.good), (vec!["changed_text"], Some(6)));
    }

    #[test]
    fn what_cannot_be_seen_is_reported_at_its_begin_and_its_end() {
        let mut page = Watched::new();
        assert_eq!(
            (page.look(LookOutcome::Unreachable), page.look(LookOutcome::Unreachable)),
            (vec!["unreachable"], vec![])
        );
        assert_eq!(page.there(Difference::None), ["reachable"]);
        assert_eq!(page.look(LookOutcome::Unreachable), ["unreachable"]);
        assert_eq!(page.there(ONWARDS), ["reachable", "changed_text"]);
        assert_eq!((page.look(MISSING), page.look(LookOutcome::Unreachable)), (vec![], vec!["unreachable"]));
    }

    #[test]
    fn a_page_that_goes_to_and_fro_is_reported_to_be_volatile_once() {
        let (back, mut page) = (Difference::Text(Way::Back), Watched::new());
        assert_eq!(
            (page.there(ONWARDS), page.there(back), page.there(back)),
            (vec!["changed_text"], vec!["reverted"], vec!["reverted"])
        );
        assert_eq!((page.there(back), page.there(back), page.there(ONWARDS)), (vec!["volatile"], vec![], vec![]));
        let calm = [0, 1, 2, 3].map(|_| page.there(Difference::None));
        assert_eq!(calm, [vec![], vec![], vec!["changed_text"], vec![]], "it has come to rest");
        assert_eq!(page.there(ONWARDS), ["changed_text"]);
    }

    #[test]
    fn bytes_that_change_all_the_time_are_reported_three_times() {
        let mut page = Watched::new();
        let reported = [0, 1, 2, 3].map(|_| page.there(Difference::Bytes));
        assert_eq!(reported, [vec!["changed"], vec!["changed"], vec!["volatile"], vec![]]);
        assert_eq!(page.there(ONWARDS), ["changed_text"], "its text is another matter");
    }

    #[test]
    fn many_at_once_wait_for_one_more_look() {
        for look in [LookOutcome::There(ONWARDS), LookOutcome::There(Difference::Unknown), LookOutcome::Redirected] {
            let mut page = Watched { mass: true, ..Watched::new() };
            assert!(page.standing.is_sudden(&look));
            assert_eq!(page.look(look), NOTHING);
            assert!(!page.standing.is_sudden(&look), "it has been doubted");
            assert_eq!(page.look(look).len(), 1, "{look:?}: one round at most");
            let mut page = Watched { mass: true, ..Watched::new() };
            assert_eq!((page.look(look), page.there(Difference::None)), (vec![], vec![]));
            assert!(page.standing.is_plain());
        }
        let mut page = Watched { mass: true, ..Watched::new() };
        let gone = LookOutcome::Missing { for_good: true };
        assert_eq!((page.look(gone), page.look(gone)), (vec![], vec!["gone"]));
        let mut page = Watched { mass: true, ..Watched::new() };
        assert_eq!((page.there(Difference::SiteWide), page.there(Difference::Bytes)), (vec![], vec!["changed"]));
    }

    #[test]
    fn a_second_look_that_comes_too_soon_settles_nothing() {
        for look in [LookOutcome::There(ONWARDS), LookOutcome::Redirected, LookOutcome::Missing { for_good: true }] {
            let mut page = Watched { mass: true, mass_after: MINUTE * 3, ..Watched::new() };
            let reported = [0, 1, 2, 3].map(|_| page.look(look).len());
            assert_eq!(reported, [0, 0, 0, 1], "{look:?}");
        }
    }

    #[test]
    fn what_never_was_a_page_is_new_once_it_is_one() {
        let mut page = Watched { standing: Standing::default(), ..Watched::new() };
        assert_eq!(
            (page.look(MISSING), page.look(LookOutcome::Redirected), page.look(LookOutcome::Unreachable)),
            (vec![], vec![], vec![])
        );
        assert_eq!((page.there(Difference::Unknown), page.there(Difference::None)), (vec!["new"], vec![]));
    }

    #[test]
    fn a_copy_that_was_cut_short_says_nothing() {
        let mut page = Watched { mass: true, ..Watched::new() };
        assert_eq!((page.look(LookOutcome::Cut), page.there(Difference::None)), (vec![], vec![]));
        assert!(page.standing.is_plain());
        page.look(LookOutcome::Cut);
        assert!(!page.standing.is_plain() && page.standing.is_sudden(&LookOutcome::Redirected));
        assert_eq!(
            (page.there(ONWARDS), page.look(LookOutcome::Cut), page.there(ONWARDS)),
            (vec![], vec![], vec!["changed_text"])
        );
        let mut page = Watched { standing: Standing::default(), ..Watched::new() };
        assert_eq!((page.look(LookOutcome::Cut), page.there(Difference::Unknown)), (vec![], vec!["new"]));
    }

    #[test]
    fn an_orphan_is_reported_once() {
        let mut page = Watched::new();
        assert_eq!(page.standing.linked(true), None);
        assert_eq!(page.standing.linked(false).map(|reported| reported.change), Some(Change::Orphaned));
        assert_eq!((page.standing.linked(false), page.standing.linked(true)), (None, None));
        assert!(page.standing.linked(false).is_some());
        assert_eq!(
            (page.look(LookOutcome::Missing { for_good: true }), page.standing.linked(false)),
            (vec!["gone"], None)
        );
    }

    #[test]
    fn what_is_reported_names_the_copies_before_and_after() {
        let mut standing = Standing::of(Some(1));
        let occasion = Occasion {
            at: Moment::EPOCH,
            visit: 5,
            mass: false,
            unsure: false,
            confirm: MINUTE,
            gone_after: MINUTE,
            mass_after: MINUTE,
        };
        let reported = standing.look(LookOutcome::There(ONWARDS), &occasion);
        assert_eq!(reported, [Reported { change: Change::ChangedText, before: Some(1), after: Some(5) }]);
        assert_eq!((standing.good, standing.earlier), (Some(5), Some(1)));
        let unsure = Occasion { visit: 6, unsure: true, ..occasion };
        let mut other = standing;
        assert!(other.look(LookOutcome::There(Difference::Bytes), &unsure).is_empty(), "it waits");
        let reported = other.look(LookOutcome::There(Difference::Bytes), &Occasion { visit: 7, ..unsure });
        assert_eq!(reported, [Reported { change: Change::Changed, before: Some(5), after: Some(7) }], "for one look");
        let reported = standing.look(LookOutcome::Redirected, &occasion);
        assert_eq!(reported, [Reported { change: Change::Moved, before: Some(5), after: None }]);
    }
}
