//! [`OwnTrouble`]: this machine cannot make requests.
//!
//! A lack of file descriptors or memory is no host's fault and no URL's. Nothing is leased for a while, and what was
//! leased goes back. Then fewer requests at once are tried, for as long as it takes.

use std::time::Duration;

use crate::time::Moment;

/// The first pause; each further one is twice as long,
const FIRST: Duration = Duration::from_millis(250);
/// up to this.
const LONGEST: Duration = Duration::from_secs(15);

/// How long there are fewer requests at once.
const PENALTY: Duration = Duration::from_secs(30);

/// Until when nothing is asked for, and how much at once after that.
#[derive(Debug, Default)]
pub(super) struct OwnTrouble {
    until: Option<Moment>,
    pause: Option<Duration>,
    /// Requests at once, and until when.
    most: Option<(usize, Moment)>,
}

impl OwnTrouble {
    /// A request could not be made at this moment, with so many others in flight. Requests that fail together make one
    /// pause.
    pub(super) fn again(&mut self, now: Moment, in_flight: usize, why: &dyn std::fmt::Display) {
        if self.waits(now).is_some() {
            return;
        }
        self.most = Some(((in_flight / 2).max(1), now + PENALTY));
        let pause = self.pause.map_or(FIRST, |before| (before * 2).min(LONGEST));
        (self.until, self.pause) = (Some(now + pause), Some(pause));
        tracing::warn!(%why, pause = ?pause, "this machine can make no request; the crawl waits and tries again");
    }

    /// A request could be made.
    pub(super) fn is_over(&mut self) {
        self.pause = None;
    }

    /// How many requests may be in flight of the `usual` number.
    pub(super) fn most(&self, usual: usize, now: Moment) -> usize {
        self.most.filter(|(_, until)| *until > now).map_or(usual, |(most, _)| most.min(usual))
    }

    /// Until when nothing is to be leased, if that is in the future.
    pub(super) fn waits(&self, now: Moment) -> Option<Moment> {
        self.until.filter(|until| *until > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_a_request_is_made() {
        let (mut trouble, mut now) = (OwnTrouble::default(), Moment::from_millis(1));
        let mut pauses = Vec::new();
        for _ in 0..8 {
            trouble.again(now, 9, &"no file descriptor");
            trouble.again(now, 8, &"neither for another");
            let until = trouble.waits(now).unwrap();
            pauses.push(until.since(now).as_millis());
            assert_eq!(trouble.waits(until), None);
            now = until;
        }
        assert_eq!(pauses, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
        trouble.is_over();
        trouble.again(now, 9, &"again");
        assert_eq!(trouble.waits(now), Some(now + FIRST));
        assert_eq!((trouble.most(64, now), trouble.most(3, now), trouble.most(64, now + PENALTY)), (4, 3, 64));
    }
}
