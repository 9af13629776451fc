//! Opening the node's ports at the router in front of it: UPnP (IGD), or NAT-PMP.
//!
//! A task beside the event loop asks the router for mappings, renews them, and releases them when the node stops. The
//! event loop announces the addresses that the task reports.

mod default_route;
mod http;
mod mapper;
mod natpmp;
mod router;
mod upnp;

#[cfg(test)]
mod tests;

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

pub(crate) use mapper::{Mapper, PortNews};

/// Multicast address at which routers with UPnP listen for searches.
const SSDP: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(239, 255, 255, 250), 1900));

/// Port at which routers listen for NAT-PMP.
const NATPMP_PORT: u16 = 5351;

/// Lifetime requested for a mapping; mappings are renewed after half of it.
const LEASE: Duration = Duration::from_secs(20 * 60);

/// Minimum time between two renewals, whatever lifetime the router grants.
const RENEWAL_MIN: Duration = Duration::from_secs(10);

/// Protocols used to ask the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingMethod {
    /// UPnP, and NAT-PMP if no router answers.
    Any,
    /// UPnP (Internet Gateway Device) only.
    Upnp,
    /// NAT-PMP only.
    Pmp,
}

/// Protocol of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PortKind {
    Tcp,
    Udp,
}

/// A port that the node listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LocalPort {
    pub(crate) kind: PortKind,
    pub(crate) number: u16,
}

/// Where and how to look for a router.
#[derive(Clone, Debug)]
pub(crate) struct RouterSearch {
    pub(crate) method: MappingMethod,
    /// Address to which the search for routers with UPnP is sent.
    pub(crate) ssdp: SocketAddr,
    /// The router's address for NAT-PMP; `None` for that of the default route.
    pub(crate) natpmp: Option<SocketAddr>,
    pub(crate) lease: Duration,
    /// Minimum time between two renewals, whatever lifetime the router grants.
    pub(crate) renewal_min: Duration,
}

impl RouterSearch {
    pub(crate) fn new(method: MappingMethod) -> Self {
        Self {
            method,
            ssdp: SSDP,
            natpmp: None,
            lease: LEASE,
            renewal_min: RENEWAL_MIN,
        }
    }
}
