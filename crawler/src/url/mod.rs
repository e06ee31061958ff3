//! What is fetched and what identifies it.
//!
//! Owns: [`WebUrl`] (an absolute http or https URL without a fragment: what goes on the wire), [`Key`] (the canonical form: equal keys are one
//! page), [`Credentials`] (kept apart from the URL they came in), [`Fingerprint`] (the 128-bit hash of a key under the crawl directory's secret seed) and [`Origin`] (scheme, host and port: the unit of
//! politeness and of robots.txt).
//!
//! Invariants: a `WebUrl` is always the WHATWG serialisation; a `Key` is built by a [`Canonicalizer`]
//! alone, and building it twice changes nothing. [`KeyRule`] names the rules by which it does so.
//!
//! Does not know: scope, robots, whether a URL was seen, or any network.

mod canonicalizer;
mod credentials;
mod domain;
mod fingerprint;
mod key;
mod key_parts;
mod key_rule;
mod name_pattern;
mod origin;
mod rewriting;
mod rule_lists;
mod rules_text;
mod spelling;
mod surt;
mod web_url;

pub use canonicalizer::Canonicalizer;
pub use credentials::Credentials;
pub use fingerprint::{Fingerprint, FingerprintSeed};
pub use key::Key;
pub use key_rule::{KeyRule, KeyRuleSet};
pub use name_pattern::{NamePattern, UnusablePattern};
pub use origin::Origin;
pub use rewriting::{KeyRewrite, UnusableRewrite};
pub use rule_lists::RuleLists;
pub use rules_text::UnknownRules;
pub use web_url::{UrlError, WebUrl};
