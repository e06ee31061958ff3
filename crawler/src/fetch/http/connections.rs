//! [`Connections`]: which requests may leave a connection open.
//!
//! The client keeps idle connections for each origin, without a bound over all origins. A crawl of thousands of hosts would run out of file
//! descriptors. So there are two clients: one keeps connections, for as many origins as there is room for, and the other closes each
//! connection after its answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashlink::LinkedHashMap;
use reqwest::Client;
use tokio::time::Instant;

use super::client::{self, Parts};
use super::settings::SetupError;
use crate::url::Origin;

/// How long an origin counts after its last request: as long as the client keeps its connections, and a little more.
const COUNTED: Duration = client::IDLE.saturating_add(Duration::from_secs(2));

/// How long no connection is kept once there were too few descriptors.
const PENALTY: Duration = Duration::from_secs(30);

/// The two clients. Clones share them.
#[derive(Clone)]
pub(super) struct Connections {
    closing: Client,
    keeping: Arc<Mutex<Keeping>>,
}

struct Keeping {
    client: Client,
    kept: Kept,
    /// Until when none is kept, because this machine had no descriptor left.
    none_until: Option<Instant>,
    /// Makes another client: with the one before, its idle connections go.
    remake: Box<dyn Fn() -> Option<Client> + Send>,
}

/// The origins that may have idle connections, the one asked longest ago first.
struct Kept {
    origins: LinkedHashMap<Origin, Asked>,
    most: usize,
}

/// How an origin's connections are used.
struct Asked {
    last: Instant,
    /// Requests under way.
    requests: u32,
    /// Whether the latest began while others were under way.
    shared: bool,
    /// Whether the server ever left a connection open.
    stays_open: bool,
}

/// A request to an origin, until it is dropped.
pub(super) struct Use {
    client: Client,
    /// Where it is counted, if the origin's connections are kept.
    counted: Option<(Arc<Mutex<Keeping>>, Origin)>,
}

impl Connections {
    /// Clients of these parts, one of which keeps connections to so many origins.
    pub(super) fn new(parts: Parts, kept_origins: usize) -> Result<Self, SetupError> {
        let (keeping, closing) = (parts.keeping()?, parts.closing()?);
        let kept = Kept { origins: LinkedHashMap::new(), most: kept_origins };
        let remake = Box::new(move || parts.keeping().ok());
        let keeping = Keeping { client: keeping, kept, none_until: None, remake };
        Ok(Self { closing, keeping: Arc::new(Mutex::new(keeping)) })
    }

    /// A request to this origin begins.
    pub(super) fn begin(&self, origin: &Origin) -> Use {
        let (mut keeping, now) = (locked(&self.keeping), Instant::now());
        let none = keeping.none_until.is_some_and(|until| now < until);
        if none || !keeping.kept.begin(origin, now) {
            return self.begin_apart();
        }
        Use { client: keeping.client.clone(), counted: Some((Arc::clone(&self.keeping), origin.clone())) }
    }

    /// A request begins that has a connection of its own.
    pub(super) fn begin_apart(&self) -> Use {
        Use { client: self.closing.clone(), counted: None }
    }

    /// The client that uses no connection again and leaves none.
    pub(super) fn closing(&self) -> &Client {
        &self.closing
    }

    /// There are too few descriptors: the idle connections are closed, and for a while none is kept.
    pub(super) fn keep_none(&self) {
        let mut keeping = locked(&self.keeping);
        let now = Instant::now();
        if keeping.none_until.is_none_or(|until| until < now) {
            keeping.kept.origins.clear();
            keeping.client = (keeping.remake)().unwrap_or_else(|| self.closing.clone());
        }
        keeping.none_until = Some(now + PENALTY);
    }
}

impl Use {
    /// The client to be used.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it may have been given the connection of another request that was under way at the same time.
    pub(super) fn is_shared(&self) -> bool {
        let Some((keeping, origin)) = &self.counted else { return false };
        locked(keeping).kept.origins.get(origin).is_some_and(|asked| asked.shared && asked.stays_open)
    }

    /// The server leaves the connection open.
    pub(super) fn stays_open(&self) {
        if let Some((keeping, origin)) = &self.counted
            && let Some(asked) = locked(keeping).kept.origins.get_mut(origin)
        {
            asked.stays_open = true;
        }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        if let Some((keeping, origin)) = &self.counted {
            locked(keeping).kept.end(origin);
        }
    }
}

fn locked(keeping: &Mutex<Keeping>) -> MutexGuard<'_, Keeping> {
    keeping.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// Whether the origin is among those whose connections are kept, from `now` on if it was not.
    fn begin(&mut self, origin: &Origin, now: Instant) -> bool {
        let idle = |asked: &Asked| asked.last + COUNTED <= now;
        while self.origins.front().is_some_and(|(_, asked)| idle(asked)) {
            self.origins.pop_front();
        }
        if let Some(asked) = self.origins.to_back(origin) {
            asked.shared = asked.requests > 0;
            (asked.last, asked.requests) = (now, asked.requests + 1);
        } else if self.origins.len() < self.most {
            self.origins.insert(origin.clone(), Asked { last: now, requests: 1, shared: false, stays_open: false });
        } else {
            return false;
        }
        true
    }

    fn end(&mut self, origin: &Origin) {
        if let Some(asked) = self.origins.get_mut(origin) {
            asked.requests = asked.requests.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_origins_are_kept_as_there_is_room_for() {
        let origin = |number: u32| Origin::parse(&format!("http://h{number}")).unwrap();
        let mut kept = Kept { origins: LinkedHashMap::new(), most: 2 };
        let now = Instant::now();
        assert!(kept.begin(&origin(1), now) && kept.begin(&origin(2), now));
        assert!(!kept.begin(&origin(3), now) && kept.begin(&origin(1), now));
        let later = now + COUNTED / 2;
        assert!(kept.begin(&origin(1), later));
        let much_later = now + COUNTED;
        assert!(kept.begin(&origin(3), much_later), "the second was not asked for long");
        assert!(!kept.begin(&origin(4), much_later), "the first was");
    }
}
