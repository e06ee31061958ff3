//! [`Trouble`]: what the failures of a host tell of it and of its URLs.

use std::time::Duration;

use super::WorkItem;
use crate::{candidate::Ticket, time::Moment, url::WebUrl};

/// URLs that begin silences, so many of a host that each has its own count.
const MOST_SUSPECTS: usize = 8;

/// What is remembered of a host that has failed in this run. Most never do, and there may be very many hosts.
#[derive(Debug)]
pub(super) struct Trouble {
    silence: Option<Silence>,
    /// URLs that began a silence after they had failed before, with how many. Those that did so last are the last.
    suspects: Vec<(Ticket, u32)>,
    /// Silences in a row that began with a URL that had failed before.
    begun_again: u32,
    /// URLs that had failed before, and began a silence by being refused, since one of them had an answer.
    pub(super) refused: u32,
    /// What is added to its delay: it has just answered with server errors, and was well after a pause.
    pub(super) caution: Duration,
}

/// Failures of a host since its last answer.
#[derive(Debug)]
struct Silence {
    /// The URL that failed first.
    url: WebUrl,
    /// Whether that had failed before.
    again: bool,
    /// Whether others failed too.
    several: bool,
    /// Whether one of all these had not failed before: nothing but the host explains it then.
    surprising: bool,
    last: Moment,
}

impl Trouble {
    /// That of a host that has not failed.
    pub(super) const NONE: Self =
        Self { silence: None, suspects: Vec::new(), begun_again: 0, refused: 0, caution: Duration::ZERO };

    /// The host answered a request for `item`, granted at `granted`. Where that ends a silence which nothing but the host
    /// explains, no failure up to the moment that is returned is held against a URL.
    pub(super) fn answered(&mut self, item: &WorkItem, granted: Moment) -> Option<Moment> {
        if item.failed.is_some() {
            self.refused = 0;
        }
        // What was asked before the last failure says nothing of what came after it.
        let over = self.silence.take_if(|silence| silence.last <= granted)?;
        (over.several && over.surprising).then_some(over.last)
    }

    /// A fetch of `item` failed; `is_refused` says that the server is overloaded.
    pub(super) fn failed(&mut self, item: &WorkItem, is_refused: bool, now: Moment) {
        let again = item.failed.is_some();
        if self.silence.is_none() && item.purpose.is_of_a_page() {
            self.begun_again = if again { self.begun_again.saturating_add(1) } else { 0 };
            if again && is_refused {
                self.refused = self.refused.saturating_add(1);
            } else if again {
                self.suspect(item.id);
            }
        }
        let begun = || Silence { url: item.url.clone(), again, several: false, surprising: false, last: now };
        let silence = self.silence.get_or_insert_with(begun);
        silence.several |= silence.url != item.url;
        silence.surprising |= !again;
        silence.last = now;
    }

    fn suspect(&mut self, url: Ticket) {
        let times = self.times(url).saturating_add(1);
        self.suspects.retain(|(suspect, _)| *suspect != url);
        if self.suspects.len() == MOST_SUSPECTS {
            self.suspects.remove(0);
        }
        self.suspects.push((url, times));
    }

    fn times(&self, url: Ticket) -> u32 {
        self.suspects.iter().find(|(suspect, _)| *suspect == url).map_or(0, |(_, times)| *times)
    }

    /// Silences that began with this URL after it had failed before, or in a row with several such URLs.
    pub(super) fn begun_by(&self, url: Ticket) -> u32 {
        self.times(url).max(self.begun_again)
    }

    /// Whether it has not answered since a failure.
    pub(super) fn is_silent(&self) -> bool {
        self.silence.is_some()
    }

    /// Whether that was the failure of another URL.
    pub(super) fn is_silent_by_another(&self, url: &WebUrl) -> bool {
        self.silence.as_ref().is_some_and(|silence| silence.url != *url)
    }

    /// Whether that was the failure of a URL that had failed before.
    pub(super) fn is_silent_once_more(&self) -> bool {
        self.silence.as_ref().is_some_and(|silence| silence.again)
    }
}
