//! What a crawl directory keeps, as rows and messages.
//!
//! Owns: the types that pass from the core to the one writer ([`Message`], [`Step`]) and from the crawl directory back.
//!
//! Invariants: a [`Step`] is written in one transaction, and messages are applied in the order in which they were sent. So what is committed
//! is always a prefix of the core's history.
//!
//! Does not know: how URLs are chosen or fetched. The adapter is [`sqlite`].

mod counters;
mod lost;
mod message;
mod resumed;
mod rows;
pub mod sqlite;

pub use counters::{Counters, UNJUDGED};
pub use lost::{AfterSweep, LostRow, LostState, RescueOrder, RescueRow, SweepRequest, Swept};
pub use message::{Confirmed, Message, Replay, ReplayedUrl, Reply, Room, Standing, Step};
pub use resumed::{HostState, PendingStart, Resumed};
pub use rows::{
    Abandonment, AreaRow, AreaSource, HostRow, RobotsRow, SequenceEnd, UrlChange, UrlRow, VisitOutcome, VisitRow,
};
