//! [`CheckedNames`]: the client's resolver hook, where the address policy is applied.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use tokio::time::{Instant, timeout};

use super::exchange::{self, Aim};
use super::settings::FetchSettings;
use crate::fetch::Cause;
use crate::fetch::address::Trust;
use crate::fetch::resolve::{self, HostAddresses, Resolver};

/// Resolves a name by what the request is pinned to, by the user's overrides or by a resolver, and passes on what the
/// policy admits, and the private addresses of a start: what it returns is what is connected to.
#[derive(Clone)]
pub(super) struct CheckedNames {
    settings: Arc<FetchSettings>,
    resolver: Arc<dyn Resolver>,
}

/// All addresses of a name were refused; this is the first.
#[derive(Debug, Error)]
#[error("address {0} is refused")]
pub(super) struct Refused(pub(super) IpAddr);

#[derive(Debug, Error)]
enum NoAddress {
    #[error("the name has no address")]
    Found,
    #[error("no request is known to need this name")]
    Asked,
}

impl CheckedNames {
    pub(super) fn new(settings: Arc<FetchSettings>, resolver: Arc<dyn Resolver>) -> Self {
        Self { settings, resolver }
    }

    /// The addresses, where nobody needs to be asked for them, and whether any of them will do.
    fn known(&self, name: &str, aim: &Aim) -> Option<(Vec<IpAddr>, Trust)> {
        if let Some(pinned) = &aim.pinned {
            return Some((pinned.to_vec(), aim.trust));
        }
        let own = self.settings.resolve.iter().filter(|own| own.answers(name, aim.port));
        let own: Vec<_> = own.map(|own| own.address).collect();
        let starts = &self.settings.start_names;
        if own.is_empty() {
            return starts.pinned(name).map(|pinned| (pinned, Trust::Host));
        }
        Some((own, if starts.has(name) { Trust::Host } else { aim.trust }))
    }

    /// What the resolver says.
    async fn look_up(&self, name: &str, trust: Trust) -> Result<(Vec<IpAddr>, Trust), Cause> {
        let found = timed(self.resolver.resolve(name)).await?;
        Ok(self.trusted(name, found.list, trust))
    }

    fn trusted(&self, name: &str, found: Vec<IpAddr>, trust: Trust) -> (Vec<IpAddr>, Trust) {
        let is_own = self.settings.start_names.found(name, &found);
        (found, if is_own { Trust::Host } else { trust })
    }

    /// The addresses at which a host may be asked. Where there are none, a request finds out why.
    pub(super) async fn addresses(&self, name: &str, aim: &Aim) -> HostAddresses {
        let nobody = || HostAddresses { list: Vec::new(), good_for: Duration::ZERO };
        let ((found, trust), good_for) = match self.known(name, aim) {
            Some(known) => (known, HostAddresses::MOST),
            None => match timeout(self.settings.connect_timeout, self.resolver.resolve(name)).await {
                Ok(Ok(found)) => (self.trusted(name, found.list, aim.trust), found.good_for),
                Ok(Err(_)) | Err(_) => return nobody(),
            },
        };
        match self.settings.addresses.screen(trust, found) {
            Ok(list) if !list.is_empty() => {
                HostAddresses { list, good_for: good_for.clamp(HostAddresses::LEAST, HostAddresses::MOST) }
            }
            _ => nobody(),
        }
    }
}

/// Awaits a look-up, and notes how long it takes.
async fn timed(looking_up: resolve::Resolving) -> Result<HostAddresses, Cause> {
    let began = Instant::now();
    let found = looking_up.await;
    exchange::note_look_up(began.elapsed());
    found
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let Some(aim) = exchange::aim() else {
            return Box::pin(std::future::ready(Err(NoAddress::Asked.into())));
        };
        let names = self.clone();
        Box::pin(async move {
            if aim.proxied {
                let found = timed(names.resolver.resolve(name.as_str())).await?.list;
                return Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs);
            }
            let (found, trust) = match names.known(name.as_str(), &aim) {
                Some(known) => known,
                None => names.look_up(name.as_str(), aim.trust).await?,
            };
            let passed = names.settings.addresses.screen(trust, found).map_err(Refused)?;
            if passed.is_empty() {
                return Err(NoAddress::Found.into());
            }
            // Port 0 means the URL's.
            Ok(Box::new(passed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
