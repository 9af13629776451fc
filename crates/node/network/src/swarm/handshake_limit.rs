//! Transport that bounds concurrent handshakes by aborting those that [`Handshakes`] selects.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::{AbortHandle, AbortRegistration, Abortable};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, DialOpts, ListenerId, TransportError, TransportEvent};
use libp2p::{Multiaddr, PeerId, Transport};
use parking_lot::Mutex;

use super::address_group::AddressGroup;
use super::address_kind::is_quic;
use super::handshakes::{HandshakeId, Handshakes};
use super::limits::ConnectionLimits;

type BoxedTransport = Boxed<(PeerId, StreamMuxerBox)>;

#[derive(Debug)]
struct HandshakeTable {
    handshakes: Handshakes,
    aborts: BTreeMap<HandshakeId, AbortHandle>,
}

#[derive(Clone, Debug)]
struct SharedHandshakes(Arc<Mutex<HandshakeTable>>);

impl SharedHandshakes {
    fn new(limits: ConnectionLimits) -> Self {
        Self(Arc::new(Mutex::new(HandshakeTable {
            handshakes: Handshakes::new(limits),
            aborts: BTreeMap::new(),
        })))
    }

    fn begin(&self, group: AddressGroup) -> (HandshakeEntry, AbortRegistration) {
        let (abort, registration) = AbortHandle::new_pair();
        let mut shared = self.0.lock();
        let (id, evicted) = shared.handshakes.begin(group);
        shared.aborts.insert(id, abort);
        if let Some(evicted) = evicted.and_then(|evicted| shared.aborts.remove(&evicted)) {
            evicted.abort();
        }
        drop(shared);
        let table = self.clone();
        (HandshakeEntry { table, id }, registration)
    }
}

/// A handshake in progress. Dropping it removes the handshake from the table.
struct HandshakeEntry {
    table: SharedHandshakes,
    id: HandshakeId,
}

impl Drop for HandshakeEntry {
    fn drop(&mut self) {
        let mut shared = self.table.0.lock();
        shared.handshakes.end(self.id);
        shared.aborts.remove(&self.id);
    }
}

/// Transport with a bound on inbound handshakes.
pub(crate) struct HandshakeLimit {
    inner: BoxedTransport,
    /// Handshakes with peers whose address is proven to receive packets, as TCP does by itself.
    validated: SharedHandshakes,
    /// QUIC handshakes. The library does not tell whether the address is verified until they end, so it may be forged.
    unvalidated: SharedHandshakes,
}

impl HandshakeLimit {
    pub(crate) fn new(inner: BoxedTransport, limits: ConnectionLimits) -> Self {
        Self {
            inner,
            validated: SharedHandshakes::new(limits.clone()),
            unvalidated: SharedHandshakes::new(limits),
        }
    }
}

type Handshake = Pin<Box<dyn Future<Output = io::Result<(PeerId, StreamMuxerBox)>> + Send>>;

impl Transport for HandshakeLimit {
    type Output = (PeerId, StreamMuxerBox);
    type Error = io::Error;
    type ListenerUpgrade = Handshake;
    type Dial = <BoxedTransport as Transport>::Dial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<io::Error>> {
        self.inner.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.inner.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<io::Error>> {
        self.inner.dial(address, options)
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Handshake, io::Error>> {
        let polled = Pin::new(&mut self.inner).poll(cx);
        polled.map(|event| {
            let (group, is_quic) = match &event {
                TransportEvent::Incoming { send_back_addr, .. } => {
                    (AddressGroup::of(send_back_addr), is_quic(send_back_addr))
                }
                _ => (AddressGroup::Other, false),
            };
            let table = match is_quic {
                true => self.unvalidated.clone(),
                false => self.validated.clone(),
            };
            event.map_upgrade(move |upgrade| -> Handshake {
                let (entry, abort) = table.begin(group);
                Box::pin(async move {
                    let _entry = entry;
                    let ended = Abortable::new(upgrade, abort).await;
                    ended.unwrap_or_else(|_| Err(too_many()))
                })
            })
        })
    }
}

fn too_many() -> io::Error {
    io::Error::other("the handshake was ended to make room for another one")
}
