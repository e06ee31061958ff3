//! [`Allowance`]: one thing that `--allow-private` names.

use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;
use thiserror::Error;

use super::plain_host;
use crate::url::WebUrl;

/// `CIDR`, `ADDR`, `NAME`, `NAME:PORT` or `ADDR:PORT`: what may be fetched though it is not on the public internet.
///
/// ```
/// use webloom::internals::fetch::address::Allowance;
/// assert_eq!("10.1.2.3/8".parse::<Allowance>()?, "10.0.0.0/8".parse()?);
/// assert!("http://intranet/".parse::<Allowance>().is_err());
/// # Ok::<(), webloom::internals::fetch::address::AllowanceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowance {
    /// These addresses, wherever they come from: a URL that spells them, a name that resolves to them.
    Net(IpNet),
    /// URLs with this host, whatever addresses it has.
    Host {
        /// Host in the form URLs have it, IPv6 in brackets.
        host: Box<str>,
        /// Port of the URLs; any without.
        port: Option<u16>,
    },
}

/// A text that is no [`Allowance`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not CIDR or NAME[:PORT] (as in 10.0.0.0/8 or intranet.example:8080)")]
pub struct AllowanceError(Box<str>);

impl Allowance {
    /// Whether this address is allowed as such.
    pub fn has_address(&self, address: IpAddr) -> bool {
        matches!(self, Self::Net(net) if net.contains(&address) || net.contains(&address.to_canonical()))
    }

    /// Whether this URL's host is allowed, whatever its addresses.
    pub fn has_host(&self, url: &WebUrl) -> bool {
        match self {
            Self::Net(_) => false,
            Self::Host { host, port } => {
                **host == *plain_host(url.host()) && port.is_none_or(|port| port == url.port())
            }
        }
    }
}

impl FromStr for Allowance {
    type Err = AllowanceError;

    fn from_str(text: &str) -> Result<Self, AllowanceError> {
        let read = if text.contains('/') { net(text) } else { address(text).or_else(|| host(text)) };
        read.ok_or_else(|| AllowanceError(text.into()))
    }
}

fn net(text: &str) -> Option<Allowance> {
    text.parse::<IpNet>().ok().map(|net| Allowance::Net(net.trunc()))
}

fn address(text: &str) -> Option<Allowance> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse::<IpAddr>().ok().map(|address| Allowance::Net(address.into()))
}

fn host(text: &str) -> Option<Allowance> {
    match text.rsplit_once(':') {
        Some((name, port)) => named(name, Some(port.parse().ok().filter(|port| *port > 0)?)),
        None => named(text, None),
    }
}

fn named(host: &str, port: Option<u16>) -> Option<Allowance> {
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if !bracketed && host.contains([':', '@', '/', '\\', '?', '#', ' ']) {
        return None;
    }
    let url = WebUrl::parse(&format!("http://{host}/")).ok()?;
    Some(Allowance::Host { host: plain_host(url.host()).into(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(allowance: &str, url: &str) -> bool {
        allowance.parse::<Allowance>().unwrap().has_host(&WebUrl::parse(url).unwrap())
    }

    fn holds(allowance: &str, address: &str) -> bool {
        allowance.parse::<Allowance>().unwrap().has_address(address.parse().unwrap())
    }

    #[test]
    fn a_name_is_any_port_unless_it_says_one() {
        assert!(allows("intranet.example", "http://Intranet.Example:8080/x"));
        assert!(allows("Intranet.example.", "https://intranet.example./"));
        assert!(allows("intranet.example:80", "http://intranet.example/"));
        assert!(!allows("intranet.example:80", "https://intranet.example/"));
        assert!(!allows("intranet.example", "http://www.intranet.example/"));
        assert!(allows("bücher.example", "http://xn--bcher-kva.example/"));
    }

    #[test]
    fn an_address_is_any_port_unless_it_says_one() {
        assert!(holds("127.0.0.1", "127.0.0.1") && holds("127.0.0.1", "::ffff:127.0.0.1"));
        assert!(!holds("127.0.0.1", "127.0.0.2"));
        assert!(holds("fd00::/8", "fd12::1") && holds("[::1]", "::1") && holds("::1", "::1"));
        assert!(allows("127.0.0.1:81", "http://127.0.0.1:81/") && !allows("127.0.0.1:81", "http://127.0.0.1/"));
        assert!(allows("[::1]:81", "http://[0::1]:81/") && !holds("[::1]:81", "::1"));
        assert!(holds("10.0.0.0/8", "10.200.3.4") && !holds("10.0.0.0/8", "11.0.0.1"));
    }

    #[test]
    fn refuses_what_is_neither() {
        for text in ["", "10.0.0.0/33", "a/b", "http://h", "h:", "h:0", "h:99999", "h:80:80", "a b", "u@h", "h?q", "/8"]
        {
            assert!(text.parse::<Allowance>().is_err(), "{text}");
        }
    }
}
