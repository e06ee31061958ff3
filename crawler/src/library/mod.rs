//! The library: a crawl as a value, for programs that crawl.
//!
//! Owns: [`Crawl`] and what it hands out: an interface that stays the same while the inside changes.
//!
//! Does not know: flags, variables of the environment, terminals.

mod crawl;
mod error;
mod event;
mod handling;
mod page;
mod progress;
mod reading;
mod run;
mod runner;
mod stop;
mod stream;
mod summary;
mod visit;

pub use crawl::{Crawl, Scope};
pub use error::CrawlError;
pub use event::{Event, Failure, Flow, Unchanged};
pub use page::Page;
pub use progress::ProgressHandle;
pub use reading::{Changes, Links, Pages};
pub use runner::Http;
pub use stop::StopHandle;
pub use stream::EventStream;
pub use summary::{End, Losses, SilentHost, Summary, Urls};
pub use visit::Visit;

pub use futures_util::{Stream, StreamExt};

pub use crate::{
    candidate::Hop,
    changes::Change,
    engine::Progress,
    extract::Element,
    store::{ChangeLine, LinkEnd, LinkFound, LinkLabel, LinkLine, PageChange, PageCounts, PageLine, PageOutcome},
    url::{UrlError, WebUrl},
};

/// What it takes to fetch URLs in another way: [`Fetcher`](fetcher::Fetcher), and what passes through it.
pub mod fetcher {
    pub use crate::{
        fetch::{
            AsSent, BodyRoom, Cause, FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, Head, HeadRule,
            Headers, Keep, Method, OriginCredentials, Phase, RawHead, ReadBody, RequestHeader, Timings, Truncation,
            Validators, decode::DecodeError, resolve::HostAddresses,
        },
        purpose::Purpose,
        url::{Credentials, Origin},
    };
}
