//! What a host's robots.txt permits (RFC 9309), and its two common extensions: `Crawl-delay` and `Sitemap` lines.
//!
//! Owns: [`Robots`] (the rules of one file for one [`ProductToken`]), [`RuleDecision`] (allowed or not, and the line
//! that decided), [`Availability`] (what the status of the robots.txt fetch means) and `explain`.
//!
//! Invariants: nothing here fails or panics on any bytes. Reading is linear in the file, of which [`MAX_BYTES`] count;
//! judging one path costs at most the length of the rules plus, for each different rule, one pass over the path. No
//! pattern makes it backtrack.
//!
//! Does not know: how the file was fetched or for how long it holds, redirects, retries, how a delay is kept, and which
//! hosts the user exempted.
//!
//! Where writers of robots.txt stray from the grammar, this reader follows Google's parser: `Disallow /x` without a
//! colon, the common typos of keys, and `Allow: /a/index.html` standing for `/a/` too.

mod availability;
mod explain;
#[cfg(test)]
mod hostile;
mod lines;
mod path;
mod product_token;
mod reader;
mod rules;
mod table;

pub use availability::{Availability, availability};
pub use explain::{Explanation, Question, explain};
pub use lines::MAX_BYTES;
pub use product_token::{ProductToken, TokenError};
pub use reader::MAX_CRAWL_DELAY;
pub use rules::{Robots, RuleDecision};
