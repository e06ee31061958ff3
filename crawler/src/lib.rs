//! A web crawler that covers an area of the web completely, keeps it fresh, and tells what it may have missed.
//!
//! [`Crawl`] is the beginning of everything: it says where a crawl starts and how it goes, and [`Crawl::run`] gives each page to
//! a function and comes back with a [`Summary`]; [`Crawl::run_events`] gives redirects and failures too, and lets the function steer
//! the crawl. A [`StopHandle`] ends a crawl in order, a [`Fetcher`](fetcher::Fetcher) takes the place of HTTP. With a directory
//! ([`Crawl::dir`]) a crawl can be killed at any moment, and is resumed without losing a page.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), webloom::CrawlError> {
//! use webloom::fetcher::{FetchFailure, FetchRequest, FetchResponse, Fetcher};
//!
//! /// A web of one page.
//! struct OnePage;
//!
//! impl Fetcher for OnePage {
//!     async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
//!         let status = if request.url.path() == "/" { 200 } else { 404 };
//!         let headers = vec![("content-type".into(), b"text/html".as_slice().into())];
//!         let body = b"<title>Hello</title><a href=/gone>".to_vec();
//!         Ok(FetchResponse { headers, body, ..FetchResponse::new(request.url, status) })
//!     }
//! }
//!
//! let mut titles = Vec::new();
//! let crawl = webloom::Crawl::new("http://example.test/").fetcher(OnePage).delay(std::time::Duration::ZERO);
//! let summary = crawl.run(|page| titles.extend(page.title().map(str::to_owned))).await?;
//! assert_eq!((titles, summary.pages.stored, summary.pages.broken), (vec!["Hello".to_owned()], 1, 1));
//! assert!(summary.is_complete());
//! # Ok(())
//! # }
//! ```
//!
//! [`Pages`], [`Links`] and [`Changes`] read a crawl directory, as the program `webloom` does, also while a crawl runs. The database in
//! it is a file of `SQLite`, whose tables are documented.

// What users need is named here once more. All else belongs to the program, its tests and its benchmarks.
#[doc(hidden)]
pub mod candidate;
#[doc(hidden)]
pub mod changes;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod clock;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod extract;
#[doc(hidden)]
pub mod fetch;
#[doc(hidden)]
pub mod frontier;
#[doc(hidden)]
pub mod health;
mod library;
#[doc(hidden)]
pub mod observe;
#[doc(hidden)]
pub mod order;
#[doc(hidden)]
pub mod politeness;
#[doc(hidden)]
pub mod purpose;
#[doc(hidden)]
pub mod queue;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod revisit;
#[doc(hidden)]
pub mod robots;
#[doc(hidden)]
pub mod schedule;
#[doc(hidden)]
pub mod scope;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod store;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod time;
#[doc(hidden)]
pub mod url;

pub use library::*;

/// Has the examples of that page compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct LibraryPage;
