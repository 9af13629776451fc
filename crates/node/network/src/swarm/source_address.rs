//! TCP transport whose outgoing connections use the listen address as source address, where there is exactly one.
//!
//! libp2p's transport binds an outgoing socket to the listening port on all addresses. A machine with several addresses
//! then appears under the one that its routing table prefers, which may not be one that the node announces.

use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use libp2p::core::transport::{DialOpts, ListenerId, PortUse, TransportError, TransportEvent};
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, Transport, tcp};
use parking_lot::Mutex;
use tokio::net::TcpSocket;

/// IP addresses that a node's TCP transports listen on; the transports share this list.
#[derive(Clone, Debug, Default)]
pub(super) struct ListenAddresses(Arc<Mutex<Vec<(ListenerId, IpAddr)>>>);

impl ListenAddresses {
    /// Returns the source address for connections to `remote`, if the node listens on exactly one of that kind.
    fn source(&self, remote: IpAddr) -> Option<IpAddr> {
        let listening = self.0.lock();
        // Packets from a loopback address reach no other machine.
        let mut ips: BTreeSet<_> = listening
            .iter()
            .map(|(_, ip)| ip)
            .filter(|ip| ip.is_ipv4() == remote.is_ipv4())
            .filter(|ip| ip.is_loopback() == remote.is_loopback())
            .collect();
        let ip = *ips.pop_first()?;
        (ips.is_empty() && !ip.is_unspecified()).then_some(ip)
    }

    fn add(&self, id: ListenerId, ip: IpAddr) {
        self.0.lock().push((id, ip));
    }

    fn remove(&self, id: ListenerId) {
        self.0.lock().retain(|(listener, _)| *listener != id);
    }
}

/// TCP transport that binds outgoing sockets to the address of its listeners.
pub(super) struct SourceAddress {
    inner: tcp::tokio::Transport,
    listening: ListenAddresses,
    /// Listening sockets of this transport.
    own: Vec<(ListenerId, SocketAddr)>,
}

type SocketDial = Pin<Box<dyn Future<Output = io::Result<tcp::tokio::TcpStream>> + Send>>;

impl SourceAddress {
    pub(super) fn new(inner: tcp::tokio::Transport, listening: ListenAddresses) -> Self {
        Self {
            inner,
            listening,
            own: Vec::new(),
        }
    }

    /// Returns the socket address from which to connect to `remote`.
    ///
    /// Its port is that of a listener if the dial may reuse it, so that peers learn the port at which this node can be
    /// reached. Otherwise it is 0, for any port.
    fn source(&self, remote: SocketAddr, port_use: PortUse) -> Option<SocketAddr> {
        let ip = self.listening.source(remote.ip())?;
        let own = self.own.iter().find(|(_, own)| own.ip() == ip);
        let port = match port_use {
            PortUse::Reuse => own.map_or(0, |(_, own)| own.port()),
            PortUse::New => 0,
        };
        Some(SocketAddr::new(ip, port))
    }

    fn forget(&mut self, id: ListenerId) {
        self.own.retain(|(listener, _)| *listener != id);
        self.listening.remove(id);
    }
}

impl Transport for SourceAddress {
    type Output = tcp::tokio::TcpStream;
    type Error = io::Error;
    type ListenerUpgrade = <tcp::tokio::Transport as Transport>::ListenerUpgrade;
    type Dial = SocketDial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<io::Error>> {
        let socket = socket_address(&address);
        if let Some(socket) = socket {
            check_free(socket).map_err(TransportError::Other)?;
        }
        self.inner.listen_on(id, address)?;
        if let Some(socket) = socket {
            self.own.push((id, socket));
            self.listening.add(id, socket.ip());
        }
        Ok(())
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.forget(id);
        self.inner.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<SocketDial, TransportError<io::Error>> {
        let remote = socket_address(&address);
        let source = remote.and_then(|remote| self.source(remote, options.port_use));
        let (Some(remote), Some(source)) = (remote, source) else {
            return self.inner.dial(address, options);
        };
        if remote.port() == 0 || remote.ip().is_unspecified() {
            return Err(TransportError::MultiaddrNotSupported(address));
        }
        Ok(Box::pin(async move {
            let stream = connect_from(source, remote).await?;
            Ok(tcp::tokio::TcpStream(stream))
        }))
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, io::Error>> {
        let event = Pin::new(&mut self.inner).poll(cx);
        match &event {
            Poll::Ready(TransportEvent::NewAddress {
                listener_id,
                listen_addr,
            }) => {
                // The port chosen by the system, if the address was given without one.
                let mut own = self.own.iter_mut();
                if let Some((_, own)) = own.find(|(id, _)| id == listener_id)
                    && let Some(bound) = socket_address(listen_addr)
                {
                    own.set_port(bound.port());
                }
            }
            Poll::Ready(TransportEvent::ListenerClosed { listener_id, .. }) => {
                let id = *listener_id;
                self.forget(id);
            }
            _ => {}
        }
        event
    }
}

/// Connects from a socket address; if that is unavailable, from another port of its IP address, then from any address.
///
/// A port is unavailable while a connection between the same two sockets exists, or did until a moment ago. An IP
/// address is unavailable if the machine's address has changed since it began to listen.
async fn connect_from(source: SocketAddr, remote: SocketAddr) -> io::Result<tokio::net::TcpStream> {
    let anywhere = match source {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    for source in [source, SocketAddr::new(source.ip(), 0)] {
        match connect(source, remote).await {
            Err(error) if is_taken(&error) => {}
            outcome => return outcome,
        }
    }
    connect(SocketAddr::new(anywhere, 0), remote).await
}

fn is_taken(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(
        kind,
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse
    )
}

async fn connect(source: SocketAddr, remote: SocketAddr) -> io::Result<tokio::net::TcpStream> {
    let socket = match source {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))]
    if source.port() != 0 {
        socket.set_reuseport(true)?;
    }
    socket.bind(source)?;
    let stream = socket.connect(remote).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Checks that no other socket listens on an address.
///
/// libp2p's transport shares its ports (`SO_REUSEPORT`), so a second node, or a second transport of this one, would
/// silently receive part of the connections. `SO_REUSEADDR` lets a restarting node use a port whose connections have
/// only just ended.
fn check_free(address: SocketAddr) -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt};
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let probe = socket(family, SocketType::STREAM, None)?;
    sockopt::set_socket_reuseaddr(&probe, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&probe, true)?;
    }
    Ok(bind(&probe, &address)?)
}

/// Returns the IP address and TCP port that a multiaddress begins with.
fn socket_address(address: &Multiaddr) -> Option<SocketAddr> {
    let mut parts = address.iter();
    let ip = match parts.next()? {
        Protocol::Ip4(ip) => IpAddr::V4(ip),
        Protocol::Ip6(ip) => IpAddr::V6(ip),
        _ => return None,
    };
    match parts.next()? {
        Protocol::Tcp(port) => Some(SocketAddr::new(ip, port)),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "tests/source_address.rs"]
mod tests;
