//! Host names, looked up by the operating system or in the DNS.
//!
//! Owns: [`SystemResolver`], which knows no time to live and keeps no cache (each look-up holds a thread of the runtime's blocking pool);
//! [`DnsResolver`], which knows it and keeps a cache, and holds a socket a look-up.
//!
//! Does not know: URLs, ports, which addresses are allowed.

mod servers;

use super::Cause;
use super::resolve::{HostAddresses, Resolver, Resolving};

pub use self::servers::{DnsResolver, DnsSetupError};

/// `getaddrinfo`, with what `/etc/hosts` and `/etc/resolv.conf` say.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str) -> Resolving {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await.map_err(Cause::new)?;
            Ok(HostAddresses::of(found.map(|address| address.ip()).collect()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn knows_the_names_of_this_machine() {
        let found = SystemResolver.resolve("localhost").await.unwrap().list;
        assert!(!found.is_empty() && found.iter().all(std::net::IpAddr::is_loopback), "{found:?}");
    }

    #[tokio::test]
    async fn says_so_when_there_is_no_answer() {
        assert!(SystemResolver.resolve("no name has spaces").await.is_err());
    }
}
