//! Addresses of the hosts of a testbed.

use std::net::Ipv4Addr;

#[cfg(test)]
#[path = "tests/addresses.rs"]
mod tests;

/// Length of the prefix that all hosts share, bits.
pub(crate) const PREFIX_BITS: u8 = 8;

/// Number of addresses in the hosts' network.
const ADDRESSES: u32 = 1 << (32 - PREFIX_BITS);

/// Distance between two addresses of one host, which are in different networks of 24 bits.
const STEP: u32 = 1 << 8;

/// Plan of the hosts' addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPlan {
    /// Hosts of one private network, numbered from 10.0.0.1, each with one address.
    Private,
    /// Hosts with public addresses, each in its own network of 16 bits, from 45.0.0.1: to a node that spreads its peers
    /// over networks, they look unrelated. A host can have 256 addresses, one after the other
    /// ([`Host::readdress`](crate::Host::readdress)).
    Public,
}

impl AddressPlan {
    fn first_byte(self) -> u8 {
        match self {
            Self::Private => 10,
            Self::Public => 45,
        }
    }

    /// Number of addresses of one host.
    fn block(self) -> u32 {
        match self {
            Self::Private => 1,
            Self::Public => 1 << 16,
        }
    }

    /// Returns the maximum number of hosts.
    pub(crate) fn max_hosts(self) -> u32 {
        (ADDRESSES - 2) / self.block()
    }

    /// Returns address number `choice`, from 0, of the host with this index; `None` if it has fewer addresses.
    pub(crate) fn choice(self, index: u32, choice: u32) -> Option<Ipv4Addr> {
        let within = choice.checked_mul(STEP)?;
        let first = u32::from(self.first(index));
        (within < self.block()).then(|| Ipv4Addr::from(first + within))
    }

    /// Returns the first address of the host with this index.
    pub(crate) fn first(self, index: u32) -> Ipv4Addr {
        let network = u32::from(Ipv4Addr::new(self.first_byte(), 0, 0, 0));
        Ipv4Addr::from(network + index * self.block() + 1)
    }

    /// Returns the index of the host to which an address belongs; `None` outside the network.
    pub(crate) fn index_of(self, address: Ipv4Addr) -> Option<u32> {
        let [first, ..] = address.octets();
        let number = u32::from(address) % ADDRESSES;
        let before = (first == self.first_byte())
            .then_some(number)?
            .checked_sub(1)?;
        Some(before / self.block())
    }
}
