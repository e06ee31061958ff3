//! The port through which one URL is fetched, and what comes back.
//!
//! Owns: [`Fetcher`] (one request, no policy), [`FetchRequest`], [`FetchResponse`] (any HTTP status is a response,
//! whole or cut short for a named reason), [`FetchFailure`] (no response at all, with whose fault that may be), and the pure
//! parts every adapter needs: which addresses may be connected to ([`address`]), how a name becomes addresses
//! ([`resolve`]) and how a body is decoded within its limits ([`decode`]).
//!
//! Invariants: a fetcher follows no redirect, retries nothing and waits for nobody; a body is never longer than was
//! asked for; a cut is always named; no byte from the network makes it panic.
//!
//! Does not know: robots, politeness, what a page is, what an outcome does to a URL. The adapters are [`http`]
//! (requests) and [`dns`] (names); the rest imports no HTTP client and no runtime.

pub mod address;
pub mod cookies;
pub mod decode;
pub mod dns;
mod error;
pub mod http;
#[cfg(test)]
pub(crate) mod memory;
mod request;
pub mod resolve;
mod response;
mod steady;

pub use error::{Cause, FetchError, FetchFailure, Phase};
pub use request::{FetchRequest, Head, HeadRule, Identity, Keep, Method, OriginCredentials, ReadBody, RequestHeader};

pub use crate::queue::Validators;
pub use response::{AsSent, BodyRoom, FetchResponse, Headers, RawHead, Timings, Truncation};

use crate::url::WebUrl;
use resolve::HostAddresses;

/// Whatever can answer a [`FetchRequest`].
///
/// Dropping the future gives the request up. Implementations may be asked for many URLs at once.
pub trait Fetcher: Send + Sync {
    /// Sends one request and reads the answer, within the limits of the request and of the implementation.
    ///
    /// # Errors
    /// [`FetchFailure`] when there is no response; any HTTP status is a response.
    fn fetch(&self, request: FetchRequest) -> impl Future<Output = Result<FetchResponse, FetchFailure>> + Send;

    /// Which machines answer for the host of this URL. No request is sent to any of them. Without an answer the host is on none that
    /// another is on: whoever looks no names up need not say more.
    fn look_up(&self, url: &WebUrl) -> impl Future<Output = HostAddresses> + Send {
        let _ = url;
        std::future::ready(HostAddresses { list: Vec::new(), good_for: HostAddresses::MOST })
    }
}
