//! [`KnownGood`]: URLs of a host that had an answer, by which it is found out whether it answers again.

use crate::url::WebUrl;

/// One that was found to be good, and the last that had an answer, because one may fail by itself since. As text, which takes
/// less, and in place: there may be very many hosts.
#[derive(Debug, Default)]
pub(super) struct KnownGood {
    first: Option<Box<str>>,
    last: Option<Box<str>>,
}

impl KnownGood {
    pub(super) fn new(first: Option<Box<str>>, last: Option<Box<str>>) -> Self {
        let last = last.filter(|last| first.as_ref() != Some(last));
        Self { first, last }.in_order()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// It had an answer.
    pub(super) fn answered(&mut self, url: &WebUrl) {
        if self.first.is_none() {
            self.first = Some(url.as_str().into());
        } else if !is(self.first.as_deref(), url) && !is(self.last.as_deref(), url) {
            self.last = Some(url.as_str().into());
        }
    }

    /// It was asked for to find out whether the host answers, and it did: the next time it goes first, because the other may
    /// be at fault by itself.
    pub(super) fn prefer(&mut self, url: &WebUrl) {
        if is(self.last.as_deref(), url) {
            std::mem::swap(&mut self.first, &mut self.last);
        }
    }

    /// It may not be asked for any more.
    pub(super) fn forget(&mut self, url: &WebUrl) {
        self.first.take_if(|good| **good == *url.as_str());
        self.last.take_if(|good| **good == *url.as_str());
        *self = std::mem::take(self).in_order();
    }

    /// Each of them has its turn.
    pub(super) fn turn(&self, turn: u32) -> Option<WebUrl> {
        let good = self.last.as_ref().filter(|_| turn % 2 == 1).or(self.first.as_ref())?;
        WebUrl::parse(good).ok()
    }

    pub(super) fn last(&self) -> Option<&str> {
        self.last.as_deref().or(self.first.as_deref())
    }

    fn in_order(mut self) -> Self {
        if self.first.is_none() {
            self.first = self.last.take();
        }
        self
    }
}

fn is(good: Option<&str>, url: &WebUrl) -> bool {
    good == Some(url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> WebUrl {
        WebUrl::parse(&format!("http://h/{path}")).expect("a URL")
    }

    fn turns(good: &KnownGood) -> Vec<String> {
        (0..3).filter_map(|turn| good.turn(turn)).map(|url| url.as_str().to_owned()).collect()
    }

    #[test]
    fn holds_a_good_one_and_the_last_and_each_has_its_turn() {
        let mut good = KnownGood::default();
        assert!(good.is_empty() && turns(&good).is_empty() && good.last().is_none());
        good.answered(&url("a"));
        assert_eq!((turns(&good), good.last()), (vec!["http://h/a".to_owned(); 3], Some("http://h/a")));
        for path in ["b", "c", "a"] {
            good.answered(&url(path));
        }
        assert_eq!(
            (turns(&good), good.last()),
            (["a", "c", "a"].map(|path| format!("http://h/{path}")).into(), Some("http://h/c"))
        );
        good.prefer(&url("c"));
        assert_eq!(turns(&good)[0], "http://h/c");
        good.forget(&url("c"));
        assert_eq!(turns(&good), ["http://h/a"; 3]);
        good.forget(&url("a"));
        assert!(good.is_empty());
    }

    #[test]
    fn one_that_was_stored_twice_is_held_once() {
        let stored = |path: &str| Some(Box::from(url(path).as_str()));
        let good = KnownGood::new(stored("a"), stored("a"));
        assert!(good.last.is_none() && good.first.is_some());
        let good = KnownGood::new(None, stored("b"));
        assert_eq!((good.is_empty(), good.last()), (false, Some("http://h/b")));
    }
}
