//! Groups of IP addresses that are counted as one.

use std::net::{IpAddr, Ipv4Addr};

/// Smallest network that an access provider assigns to one customer: one IPv4 address, or one IPv6 network
/// of 64 bits. A customer with one address of the group controls all of them, so limits by address count
/// groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressGroup {
    /// A single IPv4 address.
    V4(Ipv4Addr),
    /// The first 64 bits of an IPv6 address.
    V6([u16; 4]),
}

impl From<IpAddr> for AddressGroup {
    fn from(ip: IpAddr) -> Self {
        // An IPv4-mapped IPv6 address belongs to the same host as the IPv4 address.
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self::V4(ip),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(ip: &str) -> AddressGroup {
        ip.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn an_ipv4_address_is_a_group_of_its_own() {
        assert_eq!(group("192.0.2.1"), group("::ffff:192.0.2.1"));
        assert_ne!(group("192.0.2.1"), group("192.0.2.2"));
    }

    #[test]
    fn ipv6_addresses_with_the_same_first_64_bits_are_one_group() {
        assert_eq!(group("2001:db8:1:2::1"), group("2001:db8:1:2:ffff::9"));
        assert_ne!(group("2001:db8:1:2::1"), group("2001:db8:1:3::1"));
    }
}
