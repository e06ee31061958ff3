//! What goes wrong with hosts, and when.

use super::Random;

pub(super) const SECOND: u64 = 1_000;
pub(super) const MINUTE: u64 = 60 * SECOND;
pub(super) const HOUR: u64 = 60 * MINUTE;

/// What a host does while it does not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    NoName,
    Refused,
    NoRoute,
    Tls,
    Closed,
    Hangs,
    Status(u16, Pause),
}

/// What a host says of when it may be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    Unsaid,
    Seconds(u64),
    /// A date in the past.
    Past,
    /// No number and no date.
    Nonsense,
}

/// A time in which a host does not serve, in milliseconds from the beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outage {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) trouble: Trouble,
}

impl Outage {
    pub(super) fn holds(&self, at: u64) -> bool {
        (self.from..self.to).contains(&at)
    }
}

impl Pause {
    /// The seconds that it asks for.
    pub(super) fn seconds(self) -> Option<u64> {
        if let Self::Seconds(seconds) = self { Some(seconds) } else { None }
    }

    /// The value of a `Retry-After` header.
    pub(super) fn header(self) -> Option<String> {
        match self {
            Self::Unsaid => None,
            Self::Seconds(seconds) => Some(seconds.to_string()),
            Self::Past => Some("Wed, 21 Oct 2015 07:28:00 GMT".into()),
            Self::Nonsense => Some("soon".into()),
        }
    }
}

/// The outages of a host from a moment on.
pub(super) fn outages(from: u64, random: &mut Random) -> Vec<Outage> {
    let mut outages = Vec::new();
    let mut at = from + random.below(40 * SECOND);
    for _ in 0..random.pick(&[0, 0, 1, 1, 2]) {
        let length = random.pick(&[15 * SECOND, 15 * SECOND, 2 * MINUTE, 10 * MINUTE, 3 * HOUR]);
        outages.push(Outage { from: at, to: at + length, trouble: trouble(random) });
        at += length + 5 * SECOND + random.below(2 * MINUTE);
    }
    outages
}

fn trouble(random: &mut Random) -> Trouble {
    random.pick(&[
        Trouble::NoName,
        Trouble::Refused,
        Trouble::NoRoute,
        Trouble::Tls,
        Trouble::Closed,
        Trouble::Hangs,
        Trouble::Status(503, Pause::Unsaid),
        Trouble::Status(503, Pause::Seconds(20)),
        Trouble::Status(503, Pause::Past),
        Trouble::Status(429, Pause::Unsaid),
        Trouble::Status(429, Pause::Seconds(90)),
        Trouble::Status(429, Pause::Seconds(4_000)),
        Trouble::Status(429, Pause::Nonsense),
        Trouble::Status(503, Pause::Seconds(u64::MAX / 1_000)),
        Trouble::Status(500, Pause::Unsaid),
        Trouble::Status(502, Pause::Unsaid),
    ])
}

/// A time in which all hosts ask to be left alone.
pub(super) fn storm(from: u64, random: &mut Random) -> Outage {
    let at = from + random.below(30 * SECOND);
    let status = random.pick(&[429, 503]);
    let pause = random.pick(&[Pause::Unsaid, Pause::Unsaid, Pause::Seconds(0), Pause::Seconds(30)]);
    let length = random.pick(&[5 * SECOND, 20 * SECOND, 3 * MINUTE]);
    Outage { from: at, to: at + length, trouble: Trouble::Status(status, pause) }
}
