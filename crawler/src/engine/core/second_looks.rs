//! [`NoiseLooks`]: pages that are fetched once more at the end of a sequence, to see what of them moves by itself.
//!
//! Owns: when the store is asked for such pages, and how many of them have no answer yet.
//!
//! Invariants: the store is asked once a run, again where pages were visited since, and in the first sequence once more when the first looks
//! have their answers. Nothing waits for a page whose host does not answer.
//!
//! Does not know: which pages these are, and what the second look at one shows.

use std::collections::HashSet;

use crate::candidate::Ticket;

/// The second looks of a run.
#[derive(Debug)]
pub(super) struct NoiseLooks {
    state: State,
    /// Whether the answers to the next ones decide about more.
    leads_on: bool,
    out: HashSet<Ticket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There are none.
    Never,
    /// The store is still to be asked.
    Due,
    /// It is asked.
    Asked,
    /// It has answered.
    Known,
}

/// What a crawl does next of which nothing else is left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterLooks {
    /// It asks the store for pages.
    Ask,
    /// It waits for answers.
    Wait,
    /// It ends.
    End,
}

impl NoiseLooks {
    /// Those of a run in which there are any, or none. In the first sequence a few show where more are needed.
    pub(super) fn new(wanted: bool, is_first: bool) -> Self {
        Self { state: if wanted { State::Due } else { State::Never }, leads_on: is_first, out: HashSet::new() }
    }

    /// Nothing else is left.
    pub(super) fn at_end(&mut self) -> AfterLooks {
        match self.state {
            State::Due | State::Known if !self.out.is_empty() => AfterLooks::Wait,
            State::Due => {
                self.state = State::Asked;
                AfterLooks::Ask
            }
            State::Asked => AfterLooks::Wait,
            State::Known | State::Never => AfterLooks::End,
        }
    }

    /// Whether any have begun and have no answer.
    pub(super) fn are_under_way(&self) -> bool {
        !self.out.is_empty()
    }

    /// The store has named these.
    pub(super) fn named(&mut self, pages: impl Iterator<Item = Ticket>) {
        self.out.extend(pages);
        let asks_again = std::mem::take(&mut self.leads_on) && !self.out.is_empty();
        self.state = if asks_again { State::Due } else { State::Known };
    }

    /// None of them will have an answer.
    pub(super) fn are_given_up(&mut self) {
        self.out.clear();
        self.state = State::Known;
    }

    /// One has its answer, or will have none.
    pub(super) fn is_out_no_more(&mut self, page: Ticket) {
        self.out.remove(&page);
    }

    /// A page was visited: it may want a second look.
    pub(super) fn page_read(&mut self) {
        if self.state == State::Known {
            self.state = State::Due;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_once_each_page_has_its_answer() {
        let mut looks = NoiseLooks::new(true, false);
        assert_eq!((looks.at_end(), looks.at_end()), (AfterLooks::Ask, AfterLooks::Wait));
        looks.named([1, 2].map(Ticket).into_iter());
        looks.is_out_no_more(Ticket(1));
        assert_eq!((looks.at_end(), looks.are_under_way()), (AfterLooks::Wait, true));
        looks.is_out_no_more(Ticket(2));
        assert_eq!((looks.at_end(), looks.are_under_way()), (AfterLooks::End, false));
        looks.page_read();
        assert_eq!(looks.at_end(), AfterLooks::Ask);
        assert_eq!(NoiseLooks::new(false, true).at_end(), AfterLooks::End);
    }

    #[test]
    fn the_first_sequence_asks_once_more_when_it_has_looked() {
        let mut looks = NoiseLooks::new(true, true);
        for page in [1, 2].map(Ticket) {
            assert_eq!(looks.at_end(), AfterLooks::Ask);
            looks.named(std::iter::once(page));
            assert_eq!(looks.at_end(), AfterLooks::Wait);
            looks.is_out_no_more(page);
        }
        assert_eq!(looks.at_end(), AfterLooks::End);
        let mut looks = NoiseLooks::new(true, true);
        assert_eq!(looks.at_end(), AfterLooks::Ask);
        looks.named(std::iter::empty());
        assert_eq!(looks.at_end(), AfterLooks::End);
    }
}
