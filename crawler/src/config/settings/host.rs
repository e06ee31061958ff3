//! Hosts, ports and addresses in lists.

use std::net::IpAddr;

use ipnet::IpNet;

use crate::url::Origin;

/// `HOST` or `HOST:PORT` as [`Origin::authority`] writes it.
pub(super) fn authority(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control() || "/\\?#@*,".contains(c)) {
        return Err("no host and port".into());
    }
    let scheme = if text.ends_with(":443") { "https" } else { "http" };
    let origin = Origin::parse(&format!("{scheme}://{text}")).map_err(|error| error.to_string())?;
    Ok(origin.authority().to_owned())
}

/// `CIDR`, `ADDRESS` or `NAME`, each with `:PORT` or without; the text itself.
pub(super) fn private(text: &str) -> Result<String, String> {
    let network = text.parse::<IpNet>().is_ok() || text.parse::<IpAddr>().is_ok();
    let network_and_port = || {
        let (network, port) = text.rsplit_once(':')?;
        let network = network.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(network);
        network.parse::<IpNet>().ok().and(port.parse::<u16>().ok())
    };
    if !network && network_and_port().is_none() {
        authority(text)?;
    }
    Ok(text.to_owned())
}

/// `NAME:PORT:ADDRESS`; the text itself.
pub(super) fn resolution(text: &str) -> Result<String, String> {
    let mut parts = text.splitn(3, ':');
    let (name, port, address) =
        parts.next().zip(parts.next()).zip(parts.next()).map(|((a, b), c)| (a, b, c)).ok_or("two colons are needed")?;
    authority(name)?;
    port.parse::<std::num::NonZeroU16>().map_err(|error| format!("port: {error}"))?;
    let address = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(address);
    address.parse::<IpAddr>().map_err(|error| format!("address: {error}"))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_written_as_origins_write_them() {
        for (text, expected) in [
            ("Example.org", "example.org"),
            ("example.org:80", "example.org"),
            ("example.org:443", "example.org"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:81", "[::1]:81"),
        ] {
            assert_eq!(authority(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "http://example.org", "example.org/", "*.example.org", "a b", "a:b", "u@h", "a:99999"] {
            authority(text).unwrap_err();
        }
    }

    #[test]
    fn private_addresses_and_resolutions() {
        for text in ["10.0.0.0/8", "10.0.0.0/8:8080", "fd00::/8", "[fd00::/8]:80", "::1", "localhost:8080", "db.local"]
        {
            assert_eq!(private(text).as_deref(), Ok(text));
        }
        for text in ["", "10.0.0.0/33", "10.0.0.0/8:x", "http://x", "a b", "/8"] {
            private(text).unwrap_err();
        }
        for text in ["example.org:443:127.0.0.1", "example.org:80:::1", "example.org:80:[::1]"] {
            assert_eq!(resolution(text).as_deref(), Ok(text));
        }
        for text in ["", "example.org:443", "example.org:0:127.0.0.1", "example.org:80:host", ":80:127.0.0.1"] {
            resolution(text).unwrap_err();
        }
    }
}
