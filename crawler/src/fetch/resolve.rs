//! How a host name becomes addresses: the [`Resolver`] port, who is asked, and the user's overrides.
//!
//! Does not know which addresses may be connected to: the results of resolvers and overrides are both checked against
//! the [`AddressPolicy`](super::address::AddressPolicy).

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use super::Cause;
use super::address::plain_host;
use crate::url::WebUrl;

/// The answer to a look-up, to be awaited.
pub type Resolving = Pin<Box<dyn Future<Output = Result<HostAddresses, Cause>> + Send>>;

/// The addresses of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddresses {
    /// All of them, best first; none where nobody could say.
    pub list: Vec<IpAddr>,
    /// How long they may be taken to stay the same.
    pub good_for: Duration,
}

impl HostAddresses {
    /// The shortest time for which addresses are taken to stay the same: what balances load says seconds, and means that the next
    /// address does as well.
    pub const LEAST: Duration = Duration::from_mins(1);
    /// The longest.
    pub const MOST: Duration = Duration::from_hours(24);

    /// Addresses of which it is not known how long they are good.
    pub fn of(list: Vec<IpAddr>) -> Self {
        Self { list, good_for: Self::LEAST }
    }
}

/// Who is asked for the addresses of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameService {
    /// The operating system, as other programs do.
    System,
    /// The DNS servers that the operating system names.
    Dns,
    /// This DNS server.
    Server(SocketAddr),
}

/// A text that is no [`NameService`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("give system, dns, or ADDRESS:PORT (as in 127.0.0.1:53)")]
pub struct NameServiceError;

impl FromStr for NameService {
    type Err = NameServiceError;

    fn from_str(text: &str) -> Result<Self, NameServiceError> {
        match text {
            "system" => Ok(Self::System),
            "dns" => Ok(Self::Dns),
            server => {
                let server: SocketAddr = server.parse().map_err(|_| NameServiceError)?;
                if server.port() == 0 { Err(NameServiceError) } else { Ok(Self::Server(server)) }
            }
        }
    }
}

/// Whatever can look a host name up.
pub trait Resolver: Send + Sync {
    /// All addresses of a name, best first. IP literals are never asked for.
    ///
    /// # Errors
    /// [`Cause`] when there is no answer or none that names an address.
    fn resolve(&self, name: &str) -> Resolving;
}

/// `NAME:PORT:ADDR`: the address of a name at one port, instead of a look-up (as `curl --resolve`). Several of one name
/// and port add up.
///
/// ```
/// use webloom::internals::fetch::resolve::ResolveOverride;
/// let own: ResolveOverride = "www.example.org:443:[2001:db8::1]".parse()?;
/// assert_eq!(own.address, "2001:db8::1".parse::<std::net::IpAddr>().unwrap());
/// # Ok::<(), webloom::internals::fetch::resolve::OverrideError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveOverride {
    /// Host name in the form URLs have it.
    pub name: Box<str>,
    /// Port of the URLs it is for.
    pub port: u16,
    /// Where to connect; still subject to the address policy.
    pub address: IpAddr,
}

/// A text that is no [`ResolveOverride`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not NAME:PORT:ADDR (as in www.example.org:443:192.0.2.1)")]
pub struct OverrideError(Box<str>);

impl ResolveOverride {
    /// Whether it answers for this host at this port.
    pub fn answers(&self, host: &str, port: u16) -> bool {
        self.port == port && *self.name == *plain_host(host)
    }
}

impl FromStr for ResolveOverride {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Self, OverrideError> {
        read(text).ok_or_else(|| OverrideError(text.into()))
    }
}

fn read(text: &str) -> Option<ResolveOverride> {
    let (name, rest) = text.split_once(':')?;
    let (port, address) = rest.split_once(':')?;
    let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
    let url = WebUrl::parse(&format!("http://{name}/")).ok()?;
    if url.ip_literal().is_some() || url.path() != "/" {
        return None;
    }
    Some(ResolveOverride {
        name: plain_host(url.host()).into(),
        port: port.parse().ok().filter(|port| *port > 0)?,
        address: bare.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_name_port_and_address() {
        let own: ResolveOverride = "WWW.Example.org.:80:127.0.0.1".parse().unwrap();
        assert_eq!((&*own.name, own.port, own.address), ("www.example.org", 80, [127, 0, 0, 1].into()));
        assert!(own.answers("www.example.org.", 80) && !own.answers("www.example.org", 81));
        assert!("h:1:::1".parse::<ResolveOverride>().unwrap().address.is_ipv6());
    }

    #[test]
    fn reads_who_is_asked() {
        let read = |text: &str| text.parse::<NameService>().ok();
        assert_eq!(["system", "dns"].map(read), [Some(NameService::System), Some(NameService::Dns)]);
        assert_eq!(read("[::1]:53"), Some(NameService::Server("[::1]:53".parse().unwrap())));
        for text in ["", "System", "127.0.0.1", "127.0.0.1:0", "localhost:53", "127.0.0.1:53 "] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "h",
            "h:80",
            "h:80:",
            "h:0:127.0.0.1",
            "h:x:127.0.0.1",
            "h:80:name",
            "1.2.3.4:80:1.2.3.4",
            "a/b:1:::1",
            ":1:::1",
        ] {
            assert!(text.parse::<ResolveOverride>().is_err(), "{text}");
        }
    }
}
