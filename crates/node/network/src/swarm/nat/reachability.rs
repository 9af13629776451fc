//! Bounded AutoNAT: claims of peers are passed on as events, and dials for peers are closed as soon as they succeed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::{Context, Poll, Waker};

use libp2p::autonat::v1::{Behaviour, Event};
use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::behaviour::{ConnectionClosed, ConnectionEstablished};
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler,
    THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId};

use super::ProbeOnly;

/// Maximum number of candidate addresses, reported by peers, whose reachability is checked; further ones are ignored.
const CANDIDATES_MAX: usize = 8;

/// AutoNAT with bounds. By itself, the library would announce any address that a peer claims to have reached, keep
/// every address that a peer claims to see, and leave open the connections that it dials to test peers.
pub(crate) struct Reachability {
    inner: Behaviour,
    candidates: BTreeSet<Multiaddr>,
    /// Connections dialled to test a peer's reachability.
    probe_only: ProbeOnly,
    /// Test connections that have succeeded and are to be closed.
    closing: VecDeque<(PeerId, ConnectionId)>,
    /// Test connections reported to the library as closed, with their peers, so that it sends no probes of its own on
    /// them.
    ended: BTreeMap<ConnectionId, PeerId>,
    waker: Option<Waker>,
}

impl Reachability {
    pub(super) fn new(inner: Behaviour, probe_only: ProbeOnly) -> Self {
        Self {
            inner,
            candidates: BTreeSet::new(),
            probe_only,
            closing: VecDeque::new(),
            ended: BTreeMap::new(),
            waker: None,
        }
    }

    /// Whether the library is told of a candidate for an external address.
    fn takes(&mut self, candidate: &Multiaddr) -> bool {
        let is_known = self.candidates.contains(candidate);
        let has_room = self.candidates.len() < CANDIDATES_MAX;
        if !is_known && has_room {
            self.candidates.insert(candidate.clone());
        }
        is_known || has_room
    }

    /// Closes a connection that was dialled to test a peer, and reports it to the library as closed. Otherwise the
    /// library would send its own probe on it, get no answer, and not ask that peer again for 90 s.
    fn end(&mut self, new: ConnectionEstablished<'_>) {
        self.inner
            .on_swarm_event(FromSwarm::ConnectionClosed(ConnectionClosed {
                peer_id: new.peer_id,
                connection_id: new.connection_id,
                endpoint: new.endpoint,
                cause: None,
                remaining_established: new.other_established,
            }));
        self.ended.insert(new.connection_id, new.peer_id);
        self.closing.push_back((new.peer_id, new.connection_id));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Returns the number of a peer's connections that are open, but reported to the library as closed.
    fn ended_of(&self, peer: PeerId) -> usize {
        self.ended.values().filter(|ended| **ended == peer).count()
    }
}

impl NetworkBehaviour for Reachability {
    type ConnectionHandler = THandler<Behaviour>;
    type ToSwarm = Event;

    fn handle_pending_inbound_connection(
        &mut self,
        connection: ConnectionId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        self.inner
            .handle_pending_inbound_connection(connection, local, remote)
    }

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        local: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.inner
            .handle_established_inbound_connection(connection, peer, local, remote)
    }

    fn handle_pending_outbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: Option<PeerId>,
        addresses: &[Multiaddr],
        role: Endpoint,
    ) -> Result<Vec<Multiaddr>, ConnectionDenied> {
        self.inner
            .handle_pending_outbound_connection(connection, peer, addresses, role)
    }

    fn handle_established_outbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        address: &Multiaddr,
        role: Endpoint,
        port_use: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.inner
            .handle_established_outbound_connection(connection, peer, address, role, port_use)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::NewExternalAddrCandidate(candidate) if !self.takes(candidate.addr) => {}
            FromSwarm::ConnectionEstablished(mut new) => {
                new.other_established -= self.ended_of(new.peer_id);
                self.inner
                    .on_swarm_event(FromSwarm::ConnectionEstablished(new));
                if self.probe_only.contains(new.connection_id) {
                    self.end(new);
                }
            }
            FromSwarm::ConnectionClosed(mut closed) => {
                self.probe_only.remove(closed.connection_id);
                if self.ended.remove(&closed.connection_id).is_none() {
                    closed.remaining_established -= self.ended_of(closed.peer_id);
                    self.inner
                        .on_swarm_event(FromSwarm::ConnectionClosed(closed));
                }
            }
            FromSwarm::AddressChange(change) if self.ended.contains_key(&change.connection_id) => {}
            other => {
                if let FromSwarm::DialFailure(failed) = &other {
                    self.probe_only.remove(failed.connection_id);
                }
                self.inner.on_swarm_event(other);
            }
        }
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        if !self.ended.contains_key(&connection) {
            self.inner
                .on_connection_handler_event(peer, connection, event);
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        loop {
            match self.inner.poll(cx) {
                // The driver decides whether to believe the peer; it gets the event too.
                Poll::Ready(ToSwarm::ExternalAddrConfirmed(_)) => {}
                Poll::Ready(ToSwarm::Dial { opts }) => {
                    self.probe_only.insert(opts.connection_id());
                    return Poll::Ready(ToSwarm::Dial { opts });
                }
                Poll::Ready(other) => return Poll::Ready(other),
                Poll::Pending => break,
            }
        }
        let Some((peer_id, connection)) = self.closing.pop_front() else {
            self.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(ToSwarm::CloseConnection {
            peer_id,
            connection: CloseConnection::One(connection),
        })
    }
}
