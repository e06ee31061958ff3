//! Which addresses may be connected to.
//!
//! Owns: [`special_use`] (what the address registries say about an address), [`Allowance`] (what else the user lets
//! the crawl reach), [`StartNames`] (where the names of starts were at their first look-up) and [`AddressPolicy`] (the decision for a URL
//! and for the addresses of its host).
//!
//! Invariants: an address that is not on the public internet is refused unless the user named it; a name that resolves
//! to such an address is no better than the address; what cannot be classified is refused.
//!
//! Does not know how names are resolved or connections made; the code that connects asks, for each address, at the
//! moment of connecting.

mod allowance;
mod policy;
mod special;
mod starts;

pub use allowance::{Allowance, AllowanceError};
pub use policy::{AddressPolicy, Trust};
pub use special::special_use;
pub use starts::StartNames;

/// A host as it is compared: without the dot that may end a full name.
pub(super) fn plain_host(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}
