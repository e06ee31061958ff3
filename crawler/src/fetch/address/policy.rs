//! [`AddressPolicy`]: the public internet, the user's own starts, and what else the user allows.

use std::{borrow::Borrow, collections::HashSet, net::IpAddr};

use super::{Allowance, plain_host, special_use};
use crate::url::WebUrl;

/// Decides which addresses a URL may be fetched from.
///
/// ```
/// use webloom::internals::fetch::address::{AddressPolicy, Trust};
/// use webloom::internals::url::WebUrl;
/// let start = WebUrl::parse("http://127.0.0.1:8000/")?;
/// let policy = AddressPolicy::new([&start], vec![]);
/// assert_eq!(policy.judge(&WebUrl::parse("http://127.0.0.1:9000/")?), Ok(Trust::Host));
/// assert_eq!(policy.judge(&WebUrl::parse("http://10.0.0.1/")?), Err([10, 0, 0, 1].into()));
/// assert_eq!(policy.judge(&WebUrl::parse("http://example.org/")?), Ok(Trust::Address));
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    starts: HashSet<Start>,
    allowed: Vec<Allowance>,
}

/// What of a URL is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Its host: every address of it will do.
    Host,
    /// Nothing yet: each address must be [admitted](AddressPolicy::admits).
    Address,
}

/// A host that is allowed since the user started there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Start {
    /// This address where a URL spells it; no name that resolves to it.
    Literal(IpAddr),
    /// `localhost` by that name.
    Localhost,
}

impl AddressPolicy {
    /// The policy of a crawl with these start URLs (those with an IP literal or `localhost` widen it) and allowances.
    pub fn new(starts: impl IntoIterator<Item: Borrow<WebUrl>>, allowed: Vec<Allowance>) -> Self {
        Self { starts: starts.into_iter().filter_map(|url| Start::of(url.borrow())).collect(), allowed }
    }

    /// What of this URL is trusted.
    ///
    /// # Errors
    /// The address of an IP literal that may not be fetched from: literals reach no resolver, so this is their only
    /// check.
    pub fn judge(&self, url: &WebUrl) -> Result<Trust, IpAddr> {
        let start = Start::of(url).is_some_and(|start| self.starts.contains(&start));
        if start || self.allowed.iter().any(|allowance| allowance.has_host(url)) {
            return Ok(Trust::Host);
        }
        match url.ip_literal() {
            Some(address) if !self.admits(address) => Err(address),
            _ => Ok(Trust::Address),
        }
    }

    /// Whether an address that a name resolved to may be connected to.
    pub fn admits(&self, address: IpAddr) -> bool {
        special_use(address).is_none() || self.allowed.iter().any(|allowance| allowance.has_address(address))
    }

    /// Leaves the addresses that may be connected to.
    ///
    /// # Errors
    /// The first address, where none is left of some.
    pub fn screen(&self, trust: Trust, mut addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, IpAddr> {
        let first = addresses.first().copied();
        if trust == Trust::Address {
            addresses.retain(|address| self.admits(*address));
        }
        match first {
            Some(refused) if addresses.is_empty() => Err(refused),
            _ => Ok(addresses),
        }
    }
}

impl Start {
    fn of(url: &WebUrl) -> Option<Self> {
        let localhost = || (plain_host(url.host()) == "localhost").then_some(Self::Localhost);
        url.ip_literal().map(|address| Self::Literal(address.to_canonical())).or_else(localhost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(starts: &[&str], allowed: &[&str]) -> AddressPolicy {
        let starts: Vec<_> = starts.iter().map(|start| WebUrl::parse(start).unwrap()).collect();
        AddressPolicy::new(&starts, allowed.iter().map(|text| text.parse().unwrap()).collect())
    }

    fn judge(policy: &AddressPolicy, url: &str) -> Option<Trust> {
        policy.judge(&WebUrl::parse(url).unwrap()).ok()
    }

    #[test]
    fn trusts_nobody_by_default() {
        let policy = AddressPolicy::default();
        for url in [
            "http://127.1/",
            "http://[::1]/",
            "http://0x0a000001/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/",
        ] {
            assert_eq!(judge(&policy, url), None, "{url}");
        }
        assert_eq!(judge(&policy, "http://localhost/"), Some(Trust::Address));
        assert_eq!(judge(&policy, "http://9.9.9.9/"), Some(Trust::Address));
    }

    #[test]
    fn a_start_is_trusted_as_it_was_spelt() {
        let literal = policy(&["http://127.0.0.1:8000/"], &[]);
        assert_eq!(judge(&literal, "https://127.0.0.1/"), Some(Trust::Host));
        assert_eq!(judge(&literal, "http://127.0.0.2/"), None);
        assert_eq!(judge(&literal, "http://localhost:8000/"), Some(Trust::Address));
        assert!(!literal.admits([127, 0, 0, 1].into()), "a name that resolves to it is another matter");
        let named = policy(&["http://localhost/", "http://name.example/"], &[]);
        assert_eq!(judge(&named, "http://localhost.:81/"), Some(Trust::Host));
        assert_eq!(judge(&named, "http://127.0.0.1/"), None);
        assert_eq!(judge(&named, "http://name.example/"), Some(Trust::Address));
    }

    #[test]
    fn leaves_the_addresses_that_are_allowed() {
        let policy = policy(&[], &["10.0.0.0/8"]);
        let own = [10, 1, 1, 1].into();
        let public = [9, 9, 9, 9].into();
        let local = [127, 0, 0, 1].into();
        assert_eq!(policy.screen(Trust::Address, vec![local, public, own]), Ok(vec![public, own]));
        assert_eq!(policy.screen(Trust::Address, vec![local]), Err(local));
        assert_eq!(policy.screen(Trust::Host, vec![local]), Ok(vec![local]));
        assert_eq!(policy.screen(Trust::Address, vec![]), Ok(vec![]));
    }
}
