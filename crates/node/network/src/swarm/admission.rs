//! Behaviour that admits connections within the limits and closes those that give way.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::task::{Context, Poll, Waker};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId};

use super::address_group::AddressGroup;
use super::connection_slots::{ConnectionSlots, Newcomer, NoSlot};
use super::limits::ConnectionLimits;

/// Behaviour that admits connections and closes those that give way.
#[derive(Debug)]
pub(crate) struct Admission {
    slots: ConnectionSlots,
    /// Connections that lost their slots and are to be closed.
    closing: VecDeque<(PeerId, CloseConnection)>,
    waker: Option<Waker>,
}

impl Admission {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            slots: ConnectionSlots::new(limits),
            closing: VecDeque::new(),
            waker: None,
        }
    }

    /// Returns the table of admitted connections, which must be told the score, session and static status of peers.
    pub(crate) fn slots(&mut self) -> &mut ConnectionSlots {
        &mut self.slots
    }

    /// Records that a peer has a pubsub session; closes its connections if there is no relay slot for it.
    ///
    /// # Errors
    /// The reason why there is no slot.
    pub(crate) fn begin_session(&mut self, peer: PeerId) -> Result<(), NoSlot> {
        let given = self.slots.begin_session(peer);
        match given {
            Ok(losers) => {
                self.close(losers);
                Ok(())
            }
            Err(no_place) => {
                self.closing.push_back((peer, CloseConnection::All));
                self.wake();
                Err(no_place)
            }
        }
    }

    fn close(&mut self, losers: Vec<(PeerId, ConnectionId)>) {
        let losers = losers.into_iter();
        self.closing
            .extend(losers.map(|(peer, id)| (peer, CloseConnection::One(id))));
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn admit(&mut self, new: Newcomer) -> Result<dummy::ConnectionHandler, ConnectionDenied> {
        match self.slots.admit(new) {
            Ok(closed) => {
                self.close(closed);
                Ok(dummy::ConnectionHandler)
            }
            Err(no_place) => Err(ConnectionDenied::new(no_place)),
        }
    }
}

impl NetworkBehaviour for Admission {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        remote: &Multiaddr,
    ) -> Result<dummy::ConnectionHandler, ConnectionDenied> {
        self.admit(Newcomer {
            id,
            peer,
            group: AddressGroup::of(remote),
            inbound: true,
        })
    }

    fn handle_established_outbound_connection(
        &mut self,
        id: ConnectionId,
        peer: PeerId,
        remote: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<dummy::ConnectionHandler, ConnectionDenied> {
        self.admit(Newcomer {
            id,
            peer,
            group: AddressGroup::of(remote),
            inbound: false,
        })
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionClosed(event) => self.slots.leave(event.connection_id),
            // Another behaviour refused the connection after it had its slot.
            FromSwarm::DialFailure(event) => self.slots.leave(event.connection_id),
            FromSwarm::ListenFailure(event) => self.slots.leave(event.connection_id),
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        let Some((peer_id, connection)) = self.closing.pop_front() else {
            self.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        tracing::debug!(peer = %peer_id, "closing a connection to make room");
        Poll::Ready(ToSwarm::CloseConnection {
            peer_id,
            connection,
        })
    }
}
