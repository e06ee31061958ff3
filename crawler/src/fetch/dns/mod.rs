//! Host names, looked up by the operating system.
//!
//! Owns: [`SystemResolver`]. It knows no time to live and keeps no cache; each look-up holds a thread of the runtime's
//! blocking pool, so the number of look-ups at once is the number of connections being made.
//!
//! Does not know: URLs, ports, which addresses are allowed.

use super::Cause;
use super::resolve::{Resolver, Resolving};

/// `getaddrinfo`, with what `/etc/hosts` and `/etc/resolv.conf` say.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str) -> Resolving {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await.map_err(Cause::new)?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn knows_the_names_of_this_machine() {
        let found = SystemResolver.resolve("localhost").await.unwrap();
        assert!(!found.is_empty() && found.iter().all(std::net::IpAddr::is_loopback), "{found:?}");
    }

    #[tokio::test]
    async fn says_so_when_there_is_no_answer() {
        assert!(SystemResolver.resolve("no name has spaces").await.is_err());
    }
}
