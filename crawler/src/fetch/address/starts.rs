//! [`StartNames`]: host names that the user started at, and what each was at its first look-up.
//!
//! A name of the user's own network resolves to private addresses from the beginning. A name that becomes private later has been changed
//! by somebody else, to have the crawl ask in this network. So the first look-up decides: private addresses stay those of the name,
//! and a name that was public stays so.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use super::plain_host;

/// The names, by their hashes: there may be very many.
#[derive(Debug, Default)]
pub struct StartNames {
    hasher: RandomState,
    names: HashSet<u64>,
    /// The private addresses of those that were looked up; none for one that is public.
    found: Mutex<HashMap<u64, Option<Box<[IpAddr]>>>>,
}

impl StartNames {
    /// None of them was looked up yet.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let hasher = RandomState::new();
        let names = names.into_iter().map(|name| hasher.hash_one(plain_host(name))).collect();
        Self { hasher, names, found: Mutex::default() }
    }

    /// Whether this is one.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&self.hash(name))
    }

    /// The private addresses that a name has instead of a look-up, once it was looked up.
    pub fn pinned(&self, name: &str) -> Option<Vec<IpAddr>> {
        if self.names.is_empty() {
            return None;
        }
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(&self.hash(name))?.as_deref().map(<[IpAddr]>::to_vec)
    }

    /// A look-up of a name found these: whether they are its private addresses.
    pub fn found(&self, name: &str, addresses: &[IpAddr]) -> bool {
        if !self.has(name) || addresses.is_empty() {
            return false;
        }
        let is_private = addresses.iter().all(|address| is_of_own_network(*address));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let first = found.entry(self.hash(name)).or_insert_with(|| is_private.then(|| addresses.into()));
        first.as_deref().is_some_and(|first| first == addresses)
    }

    fn hash(&self, name: &str) -> u64 {
        self.hasher.hash_one(plain_host(name))
    }
}

/// Whether an address is one of the user's own machines: loopback, private, unique local, or shared address space. Not 0.0.0.0, by which
/// some resolvers block names, nor link-local addresses, where clouds keep secrets.
fn is_of_own_network(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_loopback() || address.is_private() || (first == 100 && second & 0xc0 == 64)
        }
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));
    const PUBLIC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(9, 9, 9, 9));

    #[test]
    fn the_first_look_up_decides() {
        let names = StartNames::new(["wiki", "www.example.org"]);
        assert!(names.pinned("wiki").is_none() && names.found("wiki.", &[OWN]) && !names.found("wiki", &[OTHER]));
        assert_eq!(names.pinned("wiki"), Some(vec![OWN]));
        assert!(!names.found("www.example.org", &[PUBLIC, OWN]) && !names.found("www.example.org", &[OWN]));
        assert_eq!(names.pinned("www.example.org"), None);
    }

    #[test]
    fn only_the_users_own_networks_count() {
        for (address, is_own) in [
            ("127.0.0.1", true),
            ("::ffff:192.168.1.1", true),
            ("100.64.0.1", true),
            ("fd00::1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("169.254.169.254", false),
            ("fe80::1", false),
            ("100.128.0.1", false),
            ("224.0.0.1", false),
        ] {
            assert_eq!(StartNames::new(["wiki"]).found("wiki", &[address.parse().unwrap()]), is_own, "{address}");
        }
    }

    #[test]
    fn no_other_name_is_private_and_no_answer_decides_nothing() {
        let names = StartNames::new(["wiki"]);
        assert!(!names.found("other", &[OWN]) && names.pinned("other").is_none());
        assert!(!names.found("wiki", &[]) && names.found("wiki", &[OWN]));
    }
}
