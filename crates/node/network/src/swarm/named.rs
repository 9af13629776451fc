//! Dials that stay out of private networks, unless the operator named the address.
//!
//! All dials pass through here, whoever requested them. libp2p's behaviours dial addresses that peers name, without
//! asking (hole punching). A stranger may also name a public host whose name resolves to an address in this host's own
//! network, which only shows after resolution.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use libp2p::core::transport::{DialOpts, ListenerId, TransportError, TransportEvent};
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, Transport, dns};
use parking_lot::Mutex;
use undertone_peers::{AddressHost, AddressRules, host_of};

/// Host names and sockets that this node's operator named, which may lead into private networks.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrustedNames(Arc<Mutex<Names>>);

/// A host that the operator named. For an IP address only one port is trusted, so that strangers do not learn which
/// other ports of that host are open.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TrustedHost {
    Name(String),
    Socket(IpAddr, u16),
}

impl TrustedHost {
    /// Returns the host and port that an address begins with. The name is lower case, because resolvers ignore case.
    fn of(address: &Multiaddr) -> Option<Self> {
        let ip = match host_of(address)? {
            AddressHost::Name(name) => return Some(Self::Name(name.to_ascii_lowercase())),
            AddressHost::Ip(ip) => ip.to_canonical(),
        };
        address.iter().find_map(|part| match part {
            Protocol::Tcp(port) | Protocol::Udp(port) => Some(Self::Socket(ip, port)),
            _ => None,
        })
    }
}

#[derive(Debug)]
enum Names {
    All,
    These(BTreeSet<TrustedHost>),
}

impl Default for Names {
    fn default() -> Self {
        Self::These(BTreeSet::new())
    }
}

impl TrustedNames {
    /// Returns the names of a node that may dial private networks, whoever names the address.
    pub(crate) fn all() -> Self {
        Self(Arc::new(Mutex::new(Names::All)))
    }

    /// Adds the host of an address, if it has one.
    pub(crate) fn trust(&self, address: &Multiaddr) {
        if let Names::These(hosts) = &mut *self.0.lock() {
            hosts.extend(TrustedHost::of(address));
        }
    }

    /// Whether an address leads to a host that the operator named.
    fn trusts(&self, address: &Multiaddr) -> bool {
        match &*self.0.lock() {
            Names::All => true,
            Names::These(hosts) => {
                TrustedHost::of(address).is_some_and(|host| hosts.contains(&host))
            }
        }
    }
}

/// Transport `T`, which dials IP addresses, preceded by name resolution.
pub(super) struct Named<T> {
    /// For addresses that the operator named. It has the listeners.
    anywhere: Resolved<T>,
    /// For all other addresses.
    in_public: Resolved<T>,
    trusted: TrustedNames,
}

pub(super) type Resolved<T> = dns::tokio::Transport<AfterResolution<T>>;

impl<T: Transport> Named<T> {
    /// Adds the system's resolver in front of a transport.
    ///
    /// # Errors
    /// If the system's DNS configuration cannot be read.
    pub(super) fn system(inner: T, trusted: TrustedNames) -> io::Result<Self> {
        let inner = Arc::new(Mutex::new(inner));
        let resolved = |rules| {
            dns::tokio::Transport::system(AfterResolution {
                inner: Arc::clone(&inner),
                rules,
            })
        };
        Ok(Self {
            anywhere: resolved(None)?,
            in_public: resolved(Some(AddressRules::default()))?,
            trusted,
        })
    }
}

impl<T> Transport for Named<T>
where
    T: Transport + Send + Unpin + 'static,
    T::Error: Send,
    T::Dial: Send,
{
    type Output = T::Output;
    type Error = dns::Error<T::Error>;
    type ListenerUpgrade = <Resolved<T> as Transport>::ListenerUpgrade;
    type Dial = <Resolved<T> as Transport>::Dial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<Self::Error>> {
        self.anywhere.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.anywhere.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        match self.trusted.trusts(&address) {
            true => self.anywhere.dial(address, options),
            false => self.in_public.dial(address, options),
        }
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Pin::new(&mut self.anywhere).poll(cx)
    }
}

/// Transport that receives the resolved addresses of a name, and refuses those that the rules do not allow.
pub(super) struct AfterResolution<T> {
    /// Transport shared by the two resolvers of a [`Named`].
    inner: Arc<Mutex<T>>,
    rules: Option<AddressRules>,
}

impl<T: Transport + Unpin> Transport for AfterResolution<T> {
    type Output = T::Output;
    type Error = T::Error;
    type ListenerUpgrade = T::ListenerUpgrade;
    type Dial = T::Dial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<Self::Error>> {
        self.inner.lock().listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.inner.lock().remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        if let Some(rules) = &self.rules {
            let is_accepted = match host_of(&address) {
                Some(AddressHost::Ip(ip)) => rules.accepts_ip(ip),
                Some(AddressHost::Name(_)) | None => false,
            };
            if !is_accepted {
                tracing::debug!(%address, "not dialled: an address that the operator has not given leads into a private network");
                return Err(TransportError::MultiaddrNotSupported(address));
            }
        }
        self.inner.lock().dial(address, options)
    }

    fn poll(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Pin::new(&mut *self.inner.lock()).poll(cx)
    }
}

#[cfg(test)]
#[path = "tests/named.rs"]
mod tests;
