//! A web crawler that covers an area of the web completely, keeps it fresh, and tells what it may have missed.
//!
//! [`Crawl`] says where a crawl starts and how it goes. [`Crawl::run`] gives each page to a function and returns a [`Summary`];
//! [`Crawl::run_events`] gives redirects and failures too, and lets the function steer the crawl. A [`StopHandle`] ends a crawl in order, a
//! [`Fetcher`](fetcher::Fetcher) takes the place of HTTP. With a directory ([`Crawl::dir`]) a crawl can be killed at any moment, and is
//! resumed without losing a page.
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

#![cfg_attr(
    not(all(feature = "program", feature = "internals")),
    expect(dead_code, unreachable_pub, unused_imports, reason = "the program and the tests use it")
)]

mod candidate;
mod changes;
#[cfg(feature = "program")]
#[doc(hidden)]
pub mod cli;
mod clock;
mod config;
mod engine;
#[cfg(feature = "program")]
mod export;
mod extract;
mod fetch;
mod frontier;
mod health;
mod library;
mod markdown;
mod media_type;
#[cfg(feature = "program")]
mod monitor;
mod observe;
mod order;
mod politeness;
mod purpose;
mod queue;
#[cfg(feature = "program")]
mod report;
mod revisit;
#[cfg(feature = "program")]
mod rewrite;
mod robots;
mod schedule;
mod scope;
mod search;
mod sections;
#[cfg(feature = "program")]
mod serve;
mod session;
mod store;
mod syntax;
mod text;
mod time;
mod url;

pub use library::*;

/// What tests, benchmarks and examples of the project see beside that.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    macro_rules! show {
        ($($module:ident)*) => { $(pub mod $module { pub use crate::$module::*; })* };
    }
    show!(candidate changes clock config engine extract fetch frontier health markdown observe order politeness purpose queue revisit robots schedule scope search sections store text time url);
    #[cfg(feature = "program")]
    show!(report);
}

/// Has the examples of that page compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct LibraryPage;
