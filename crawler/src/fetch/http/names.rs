//! [`CheckedNames`]: the client's resolver hook, where the address policy stands.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use super::exchange;
use super::settings::FetchSettings;
use crate::fetch::resolve::Resolver;

/// Resolves a name by the user's overrides or a resolver, and passes on what the policy admits: what it returns is what
/// is connected to.
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

    fn overridden(&self, name: &str, port: u16) -> Vec<IpAddr> {
        let own = self.settings.resolve.iter().filter(|own| own.answers(name, port));
        own.map(|own| own.address).collect()
    }
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let Some((trust, port)) = exchange::current() else {
            return Box::pin(std::future::ready(Err(NoAddress::Asked.into())));
        };
        let own = self.overridden(name.as_str(), port);
        let looked_up = own.is_empty().then(|| self.resolver.resolve(name.as_str()));
        let settings = Arc::clone(&self.settings);
        Box::pin(async move {
            let found = match looked_up {
                Some(looked_up) => looked_up.await?,
                None => own,
            };
            let passed = settings.addresses.screen(trust, found).map_err(Refused)?;
            if passed.is_empty() {
                return Err(NoAddress::Found.into());
            }
            // Port 0 stands for the URL's.
            Ok(Box::new(passed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}
