//! Bounded hole punching (DCUtR): a peer cannot make this node dial as many addresses as fit into a message.
//!
//! All dials are filtered in one place (`Named`), which refuses addresses in private networks.

use std::collections::BTreeSet;
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::dcutr::{Behaviour, Event};
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;

/// Maximum number of a peer's addresses that are dialled at once.
const ADDRESSES_MAX: usize = 20;

/// Reason why a dial was refused.
#[derive(Debug, Error)]
#[error("the peer names {0} addresses at which to punch a hole")]
struct TooManyAddresses(usize);

/// Hole punching: connections through a relay are replaced by direct ones.
pub(crate) struct HolePunching {
    inner: Behaviour,
    /// Dials requested by a peer.
    dials: BTreeSet<ConnectionId>,
}

impl HolePunching {
    pub(super) fn new(own: PeerId) -> Self {
        Self {
            inner: Behaviour::new(own),
            dials: BTreeSet::new(),
        }
    }
}

impl NetworkBehaviour for HolePunching {
    type ConnectionHandler = THandler<Behaviour>;
    type ToSwarm = Event;

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
        if self.dials.contains(&connection) && addresses.len() > ADDRESSES_MAX {
            return Err(ConnectionDenied::new(TooManyAddresses(addresses.len())));
        }
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
        match &event {
            FromSwarm::ConnectionEstablished(new) => {
                self.dials.remove(&new.connection_id);
            }
            FromSwarm::DialFailure(failed) => {
                self.dials.remove(&failed.connection_id);
            }
            _ => {}
        }
        self.inner.on_swarm_event(event);
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        self.inner
            .on_connection_handler_event(peer, connection, event);
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        let action = self.inner.poll(cx);
        if let Poll::Ready(ToSwarm::Dial { opts }) = &action {
            self.dials.insert(opts.connection_id());
        }
        action
    }
}
