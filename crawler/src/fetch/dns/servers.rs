//! [`DnsResolver`]: asks DNS servers.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use hashlink::LruCache;
use hickory_resolver::{
    Resolver as Client, ResolverBuilder, TokioResolver,
    config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts},
    net::{NetError, runtime::TokioRuntimeProvider},
};
use thiserror::Error;

use super::{Cause, HostAddresses, Resolver, Resolving};

/// How long a server that does not answer is waited for, each of two times.
const PATIENCE: Duration = Duration::from_secs(2);

/// Names whose addresses are remembered, those asked for last.
const REMEMBERED: usize = 65_536;

/// Answers that the client remembers by itself: it is for names that have no address, since what it remembers costs it as much
/// time as a question.
const ANSWERS: u64 = 4_096;

/// How long it is remembered that a name has no address, at least and at most: a host is tried again after some time, and somebody may be
/// about to set it up.
const NEGATIVE: [Duration; 2] = [Duration::from_secs(10), Duration::from_mins(5)];

/// Questions to one server at once, over one connection.
const AT_ONCE: usize = 4_096;

/// A client of DNS servers, with a cache by time to live. Clones share it.
#[derive(Clone)]
pub struct DnsResolver {
    client: Arc<TokioResolver>,
    known: Arc<Mutex<LruCache<Box<str>, Known>>>,
}

/// The addresses of a name, and until when they are good.
#[derive(Clone)]
struct Known {
    addresses: Arc<[IpAddr]>,
    until: Instant,
}

/// What keeps names from being looked up in the DNS.
#[derive(Debug, Error)]
#[error("cannot look names up in the DNS: {0}")]
pub struct DnsSetupError(#[from] NetError);

/// A name without an address.
#[derive(Debug, Error)]
#[error("no such name")]
struct NoSuchName;

impl DnsResolver {
    /// Asks the servers that `/etc/resolv.conf` names, and `/etc/hosts` before them.
    ///
    /// # Errors
    /// [`DnsSetupError`] when these files cannot be read.
    pub fn of_system() -> Result<Self, DnsSetupError> {
        Self::built(Client::builder_tokio()?)
    }

    /// Asks this server alone.
    ///
    /// # Errors
    /// [`DnsSetupError`] when no client can be made.
    pub fn of_server(server: SocketAddr) -> Result<Self, DnsSetupError> {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
            connection.port = server.port();
            connection
        });
        let server = NameServerConfig::new(server.ip(), true, connections.into());
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![server]);
        Self::built(Client::builder_with_config(config, TokioRuntimeProvider::default()))
    }

    fn built(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Result<Self, DnsSetupError> {
        let options: &mut ResolverOpts = builder.options_mut();
        // One try more.
        (options.timeout, options.attempts) = (PATIENCE, 1);
        options.cache_size = ANSWERS;
        options.max_active_requests = AT_ONCE;
        (options.positive_min_ttl, options.positive_max_ttl) = (Some(HostAddresses::LEAST), Some(HostAddresses::MOST));
        (options.negative_min_ttl, options.negative_max_ttl) = (Some(NEGATIVE[0]), Some(NEGATIVE[1]));
        let known = Arc::new(Mutex::new(LruCache::new(REMEMBERED)));
        Ok(Self { client: Arc::new(builder.build()?), known })
    }

    fn with<T>(&self, work: impl FnOnce(&mut LruCache<Box<str>, Known>) -> T) -> T {
        // Whoever panicked with it had changed nothing by halves.
        work(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn look_up(self, name: Box<str>) -> Result<HostAddresses, Cause> {
        let found = self.client.lookup_ip(&*name).await.map_err(|error| match error {
            none if none.is_no_records_found() => Cause::new(NoSuchName),
            other => Cause::new(other),
        })?;
        let known = Known { addresses: found.iter().collect(), until: found.valid_until() };
        let addresses = known.addresses(Instant::now());
        self.with(|names| names.insert(name, known));
        Ok(addresses)
    }
}

impl Known {
    fn addresses(&self, now: Instant) -> HostAddresses {
        HostAddresses { list: self.addresses.to_vec(), good_for: self.until.saturating_duration_since(now) }
    }
}

impl Resolver for DnsResolver {
    fn resolve(&self, name: &str) -> Resolving {
        let now = Instant::now();
        let known = self.with(|names| names.get(name).filter(|known| now < known.until).cloned());
        match known {
            Some(known) => Box::pin(std::future::ready(Ok(known.addresses(now)))),
            None => Box::pin(self.clone().look_up(name.into())),
        }
    }
}
