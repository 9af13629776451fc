//! UDP sockets of the service, one per address family.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Socket, Type};
use tokio::net::UdpSocket;

/// Public addresses of a root name server, used only to find the system's route; nothing is sent there.
const V4_IN_THE_INTERNET: Ipv4Addr = Ipv4Addr::new(192, 33, 4, 12);
const V6_IN_THE_INTERNET: Ipv6Addr = Ipv6Addr::new(0x2001, 0x500, 0x2, 0, 0, 0, 0, 0xc);

/// Sockets of the service, at least one.
#[derive(Debug)]
pub struct Discv5Sockets {
    /// Socket of IPv4.
    pub ipv4: Option<UdpSocket>,
    /// Socket of IPv6, which receives no IPv4 packets.
    pub ipv6: Option<UdpSocket>,
}

/// Ports of the service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpPorts {
    /// Port of IPv4.
    pub v4: Option<u16>,
    /// Port of IPv6.
    pub v6: Option<u16>,
}

impl Discv5Sockets {
    /// Returns the ports that the sockets are bound to.
    pub fn ports(&self) -> UdpPorts {
        let port = |socket: &Option<UdpSocket>| bound(socket).map(|address| address.port());
        UdpPorts {
            v4: port(&self.ipv4),
            v6: port(&self.ipv6),
        }
    }

    /// Whether the sockets can be reached only from this host.
    pub(super) fn are_of_this_host(&self) -> bool {
        let sockets = [&self.ipv4, &self.ipv6];
        let mut bound = sockets.into_iter().filter_map(bound);
        bound.all(|address| address.ip().is_loopback())
    }
}

fn bound(socket: &Option<UdpSocket>) -> Option<SocketAddr> {
    socket.as_ref()?.local_addr().ok()
}

/// Binds a socket that receives only packets of its own family, whatever the system's default.
pub(super) fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    UdpSocket::from_std(socket.into())
}

/// Returns this machine's source address for IPv4 to the Internet; `None` without a route.
pub fn source_v4() -> Option<IpAddr> {
    source(Ipv4Addr::UNSPECIFIED.into(), V4_IN_THE_INTERNET.into())
}

/// Returns this machine's source address for IPv6 to the Internet; `None` without a route from a globally reachable
/// address.
pub fn source_v6() -> Option<IpAddr> {
    let source = source(Ipv6Addr::UNSPECIFIED.into(), V6_IN_THE_INTERNET.into());
    // Global unicast addresses are 2000::/3.
    source.filter(|ip| matches!(ip, IpAddr::V6(ip) if ip.octets()[0] >> 5 == 1))
}

fn source(any: IpAddr, remote: IpAddr) -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind((any, 0)).ok()?;
    // The system chooses a route and a source address, and sends nothing.
    socket.connect((remote, 53)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
