//! [`Servers`]: faults that depend on what is asked, and when. A server may allow few requests, or few at once, and a page may
//! take it down.

use std::collections::{HashMap, VecDeque};

use super::{
    Random,
    faults::{MINUTE, Pause, SECOND, Trouble},
};

/// What a server does not bear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Strain {
    pub(super) limit: Limit,
    /// What it answers beyond the limit.
    pub(super) refusal: Trouble,
    /// Its robots.txt is a file, which is always served.
    pub(super) serves_robots: bool,
}

/// How much is asked of a server before it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// So many requests that begin within so many milliseconds; what was refused counts, or does not.
    Rate { most: usize, within: u64, counts_refused: bool },
    /// So many at once.
    AtOnce(usize),
}

/// What a page does to its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Crash {
    /// What the server does while it is down.
    pub(super) trouble: Trouble,
    /// For how many milliseconds.
    pub(super) lasts: u64,
    /// Requests of the page that take it down; later ones do not.
    pub(super) times: u32,
}

/// All servers by their origin.
#[derive(Debug, Default)]
pub(super) struct Servers(HashMap<String, Server>);

#[derive(Debug, Default)]
struct Server {
    /// When the last requests began that count.
    began: VecDeque<u64>,
    /// When those end that are under way.
    ends: Vec<u64>,
    down: Option<(u64, Trouble)>,
}

impl Servers {
    /// A request comes; what is wrong with its server, if anything.
    pub(super) fn asked(&mut self, origin: &str, strain: Option<Strain>, at: u64) -> Option<Trouble> {
        let server = self.0.entry(origin.to_owned()).or_default();
        server.ends.retain(|end| *end > at);
        if let Some((_, trouble)) = server.down.filter(|(until, _)| at < *until) {
            return Some(trouble);
        }
        let Strain { limit, refusal, .. } = strain?;
        server.is_beyond(limit, at).then_some(refusal)
    }

    /// A request that is served ends at a moment.
    pub(super) fn serves(&mut self, origin: &str, until: u64) {
        self.0.entry(origin.to_owned()).or_default().ends.push(until);
    }

    /// A page takes its server down.
    pub(super) fn crash(&mut self, origin: &str, crash: Crash, at: u64) {
        self.0.entry(origin.to_owned()).or_default().down = Some((at + crash.lasts, crash.trouble));
    }
}

impl Server {
    fn is_beyond(&mut self, limit: Limit, at: u64) -> bool {
        match limit {
            Limit::Rate { most, within, counts_refused } => {
                self.began.retain(|began| began + within > at);
                let beyond = self.began.len() >= most;
                if !beyond || counts_refused {
                    self.began.push_back(at);
                }
                beyond
            }
            Limit::AtOnce(most) => self.ends.len() >= most,
        }
    }
}

/// What a server of a seed does not bear.
pub(super) fn strain(random: &mut Random) -> Strain {
    let counts_refused = random.percent(50);
    let rate = |most, within| Limit::Rate { most, within, counts_refused };
    let limit = match random.below(10) {
        0..6 => rate(1, random.pick(&[50, 150, 500, 1_200, 2_000, 3_000, 5_000])),
        6 => rate(10, 10 * SECOND),
        7 => rate(30, MINUTE),
        _ => Limit::AtOnce(random.pick(&[1, 2])),
    };
    let within = if let Limit::Rate { within, .. } = limit { within } else { SECOND };
    let pause = random.pick(&[
        Pause::Unsaid,
        Pause::Unsaid,
        Pause::Seconds(within.div_ceil(SECOND)),
        Pause::Seconds(0),
        Pause::Past,
        Pause::Nonsense,
    ]);
    let refusal = Trouble::Status(random.pick(&[429, 503]), pause);
    Strain { limit, refusal, serves_robots: random.percent(50) }
}

/// What a page of a seed does to its server.
pub(super) fn crash(random: &mut Random) -> Crash {
    Crash {
        trouble: random.pick(&[Trouble::Closed, Trouble::Refused, Trouble::Hangs]),
        lasts: random.pick(&[30, 300, 2 * SECOND, 10 * SECOND, MINUTE]),
        times: random.pick(&[1, 2, u32::MAX, u32::MAX]),
    }
}
