//! Showing a crawl to people and programs: a site with search and archived pages, a JSON API, and tools for assistants (MCP).
//!
//! Owns: what is answered, and that archived pages can do no harm.
//!
//! Invariants: nothing is written to the crawl; an archived page has no access to the API, to other origins or to this machine; nothing is
//! asked of another host.
//!
//! Does not know: how a crawl runs, which may do so meanwhile.

mod answers;
mod archived;
mod mcp;
mod port;
mod views;

use std::path::Path;

pub(crate) use mcp::speak;

use crate::{monitor, session::CommandFailure};

/// Serves a crawl at an address until the process ends; `ready` gets the address that was bound.
///
/// # Errors
/// When there is no crawl, nothing can listen at the address, or others could reach it and there is no token.
pub(crate) fn serve(dir: &Path, address: &str, ready: impl FnOnce(&str)) -> Result<(), CommandFailure> {
    let answers = answers::CrawlAnswers::of(dir)?;
    let bound = monitor::bind(address)?;
    ready(&bound.address());
    let port = port::SitePort::new(answers, bound.access.clone());
    bound.answer(port);
    Ok(())
}
