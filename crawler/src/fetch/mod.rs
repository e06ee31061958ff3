//! The port through which one URL is fetched, and what comes back.
//!
//! Owns: [`Fetcher`] (one request, no policy), [`FetchRequest`], [`FetchResponse`] (any HTTP status is a response,
//! whole or cut short for a named reason), [`FetchError`] (no response at all, with whose fault that may be), and the pure
//! parts every adapter needs: which addresses may be connected to ([`address`]), how a name becomes addresses
//! ([`resolve`]) and how a body is decoded within its limits ([`decode`]).
//!
//! Invariants: a fetcher follows no redirect, retries nothing and waits for nobody; a body is never longer than was
//! asked for; a cut is always named; no byte from the network makes it panic.
//!
//! Does not know: robots, politeness, what a page is, what an outcome does to a URL. The adapters are [`http`]
//! (requests) and [`dns`] (names); the rest imports no HTTP client and no runtime.

pub mod address;
pub mod decode;
pub mod dns;
mod error;
pub mod http;
#[cfg(test)]
pub(crate) mod memory;
pub mod resolve;
mod response;

pub use error::{Cause, FetchError, Phase};
pub use response::{BodyRoom, FetchResponse, Timings, Truncation};

use crate::url::WebUrl;

/// One GET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// What is fetched. User name and password in it are not sent: those of an origin are the fetcher's.
    pub url: WebUrl,
    /// Bytes of decoded body that are kept at most; the rest is not read ([`Truncation::Size`]).
    pub max_body: u64,
}

/// Whatever can answer a [`FetchRequest`].
///
/// Dropping the future gives the request up. Implementations may be asked for many URLs at once.
pub trait Fetcher: Send + Sync {
    /// Sends one request and reads the answer, within the limits of the request and of the implementation.
    ///
    /// # Errors
    /// [`FetchError`] when there is no response; any HTTP status is a response.
    fn fetch(&self, request: FetchRequest) -> impl Future<Output = Result<FetchResponse, FetchError>> + Send;
}
