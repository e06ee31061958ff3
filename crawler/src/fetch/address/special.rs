//! [`special_use`]: the blocks that are not the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses: those that share the first `length` bits with `start`.
struct Block<T> {
    start: T,
    length: u32,
    name: &'static str,
}

const fn v4(a: u8, b: u8, c: u8, length: u32, name: &'static str) -> Block<Ipv4Addr> {
    Block { start: Ipv4Addr::new(a, b, c, 0), length, name }
}

const fn v6(a: u16, b: u16, c: u16, length: u32, name: &'static str) -> Block<Ipv6Addr> {
    Block { start: Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length, name }
}

/// IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast (RFC 5771) and class E (RFC 1112).
const V4: [Block<Ipv4Addr>; 16] = [
    v4(0, 0, 0, 8, "unspecified"),
    v4(10, 0, 0, 8, "private"),
    v4(100, 64, 0, 10, "shared"),
    v4(127, 0, 0, 8, "loopback"),
    v4(169, 254, 0, 16, "link-local"),
    v4(172, 16, 0, 12, "private"),
    v4(192, 0, 0, 24, "reserved"),
    v4(192, 0, 2, 24, "documentation"),
    v4(192, 88, 99, 24, "6to4 relay"),
    v4(192, 168, 0, 16, "private"),
    v4(198, 18, 0, 15, "benchmark"),
    v4(198, 51, 100, 24, "documentation"),
    v4(203, 0, 113, 24, "documentation"),
    v4(224, 0, 0, 4, "multicast"),
    Block { start: Ipv4Addr::BROADCAST, length: 32, name: "broadcast" },
    v4(240, 0, 0, 4, "reserved"),
];

/// IANA IPv6 Special-Purpose Address Registry, in the order of the first match; the last line is the only block that is
/// routed (RFC 4291 2.4: `2000::/3` is global unicast), so that everything outside it is refused without being named.
const V6: [Block<Ipv6Addr>; 9] = [
    Block { start: Ipv6Addr::LOCALHOST, length: 128, name: "loopback" },
    Block { start: Ipv6Addr::UNSPECIFIED, length: 128, name: "unspecified" },
    v6(0xfc00, 0, 0, 7, "private"),
    v6(0xfe80, 0, 0, 10, "link-local"),
    v6(0xfec0, 0, 0, 10, "site-local"),
    v6(0xff00, 0, 0, 8, "multicast"),
    v6(0x2001, 0, 0, 23, "protocol assignments"),
    v6(0x2001, 0xdb8, 0, 32, "documentation"),
    v6(0x3fff, 0, 0, 20, "documentation"),
];

const GLOBAL_UNICAST: Block<Ipv6Addr> = v6(0x2000, 0, 0, 3, "global");
/// RFC 6052: what a NAT64 translates to the IPv4 address in the last four bytes.
const NAT64: Block<Ipv6Addr> = v6(0x64, 0xff9b, 0, 96, "NAT64");
/// RFC 3056: what a 6to4 router tunnels to the IPv4 address in bytes 2 to 5.
const SIX_TO_FOUR: Block<Ipv6Addr> = v6(0x2002, 0, 0, 16, "6to4");

/// The use an address is set aside for; `None` for one on the public internet. IPv6 forms that lead to an IPv4 address
/// (mapped, NAT64, 6to4) are what that address is.
///
/// ```
/// use webloom::internals::fetch::address::special_use;
/// assert_eq!(special_use("169.254.169.254".parse().unwrap()), Some("link-local"));
/// assert_eq!(special_use("::ffff:10.0.0.1".parse().unwrap()), Some("private"));
/// assert_eq!(special_use("9.9.9.9".parse().unwrap()), None);
/// ```
pub fn special_use(address: IpAddr) -> Option<&'static str> {
    match address.to_canonical() {
        IpAddr::V4(address) => special_v4(address),
        IpAddr::V6(address) => special_v6(address),
    }
}

fn special_v4(address: Ipv4Addr) -> Option<&'static str> {
    V4.iter().find(|block| block.has(address)).map(|block| block.name)
}

fn special_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = embedded(address) {
        return special_v4(inner);
    }
    let named = V6.iter().find(|block| block.has(address)).map(|block| block.name);
    named.or_else(|| (!GLOBAL_UNICAST.has(address)).then_some("reserved"))
}

/// The IPv4 address that packets to this one end at.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bytes = address.octets();
    let at = |start: usize| Ipv4Addr::new(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]);
    if NAT64.has(address) {
        return Some(at(12));
    }
    SIX_TO_FOUR.has(address).then(|| at(2))
}

impl Block<Ipv4Addr> {
    fn has(&self, address: Ipv4Addr) -> bool {
        (self.start.to_bits() ^ address.to_bits()).leading_zeros() >= self.length
    }
}

impl Block<Ipv6Addr> {
    fn has(&self, address: Ipv6Addr) -> bool {
        (self.start.to_bits() ^ address.to_bits()).leading_zeros() >= self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(&str, &str); 57] = [
        ("0.0.0.0", "unspecified"),
        ("0.255.1.2", "unspecified"),
        ("10.0.0.0", "private"),
        ("10.255.255.255", "private"),
        ("11.0.0.0", ""),
        ("9.255.255.255", ""),
        ("100.63.255.255", ""),
        ("100.64.0.0", "shared"),
        ("100.127.255.255", "shared"),
        ("100.128.0.0", ""),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("128.0.0.1", ""),
        ("169.253.255.255", ""),
        ("169.254.169.254", "link-local"),
        ("172.15.255.255", ""),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("172.32.0.0", ""),
        ("192.0.0.8", "reserved"),
        ("192.0.2.1", "documentation"),
        ("192.0.3.1", ""),
        ("192.88.99.1", "6to4 relay"),
        ("192.167.255.255", ""),
        ("192.168.0.1", "private"),
        ("198.17.255.255", ""),
        ("198.19.255.255", "benchmark"),
        ("198.20.0.0", ""),
        ("198.51.100.7", "documentation"),
        ("203.0.113.9", "documentation"),
        ("223.255.255.255", ""),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::7f00:1", "reserved"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::ffff:8.8.8.8", ""),
        ("::ffff:0:127.0.0.1", "reserved"),
        ("64:ff9b::10.0.0.1", "private"),
        ("64:ff9b::8.8.8.8", ""),
        ("64:ff9b:1::8.8.8.8", "reserved"),
        ("100::1", "reserved"),
        ("2001::1", "protocol assignments"),
        ("2001:200::1", ""),
        ("2001:db8::1", "documentation"),
        ("2002:7f00:1::", "loopback"),
        ("2002:808:808::", ""),
        ("2606:4700::1", ""),
        ("3fff::1", "documentation"),
        ("5f00::1", "reserved"),
        ("fd00:ec2::254", "private"),
        ("fe80::1", "link-local"),
        ("ff02::1", "multicast"),
    ];

    #[test]
    fn knows_the_blocks_and_their_borders() {
        for (text, name) in CASES {
            assert_eq!(special_use(text.parse().unwrap()).unwrap_or(""), name, "{text}");
        }
    }
}
