//! Who speaks pubsub, and where the frames to each peer go.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use libp2p::core::transport::PortUse;
use libp2p::core::{ConnectedPoint, Endpoint};
use libp2p::swarm::behaviour::ConnectionEstablished;
use libp2p::swarm::{
    CloseConnection, ConnectionClosed, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour,
    NotifyHandler, StreamProtocol, THandlerInEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId};
use undertone_gossip::{Overflow, QueueLimits, QueuedFrame, SendHandle};

use super::arrivals::Arrivals;
use super::frames::Reading;
use super::handler::{FromHandler, Handler, Read};
use super::outbox::Outbox;
use super::pump::Inbound;
use super::upgrade::PubsubUpgrade;

/// What the behaviour is built from.
pub(crate) struct PubsubConfig {
    /// Protocol ids to offer, most preferred first.
    pub(crate) protocols: Vec<StreamProtocol>,
    /// Longest frame that is read, bytes.
    pub(crate) frame_bytes_max: usize,
    /// Bounds of each connection's outbound queue.
    pub(crate) queue: QueueLimits,
    /// Where the frames of all connections go.
    pub(crate) inbound: Inbound,
    /// A frame longer than this is noted while it comes, bytes.
    pub(crate) long_frame_bytes: usize,
    /// Where.
    pub(crate) arrivals: Arrivals,
}

/// What happened on some connection.
#[derive(Debug)]
pub(crate) enum PubsubEvent {
    /// A peer speaks this protocol; its frames are read from now on.
    Opened {
        peer: PeerId,
        protocol: StreamProtocol,
        endpoint: ConnectedPoint,
    },
    /// The last connection to a peer that was `Opened` is gone.
    Closed { peer: PeerId },
    /// The peer speaks no pubsub protocol of ours.
    Unsupported { peer: PeerId },
}

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    endpoint: ConnectedPoint,
    outbox: Outbox,
}

#[derive(Debug, Default)]
struct PeerConnections {
    /// The first is written to; frames are read from all.
    connections: Vec<Connection>,
    opened: bool,
}

/// The behaviour.
pub(crate) struct Pubsub {
    upgrade: PubsubUpgrade,
    frame_bytes_max: usize,
    queue: QueueLimits,
    inbound: Inbound,
    long_frame_bytes: usize,
    arrivals: Arrivals,
    peers: BTreeMap<PeerId, PeerConnections>,
    /// Outboxes of connections that are being set up.
    establishing: BTreeMap<ConnectionId, Outbox>,
    events: VecDeque<ToSwarm<PubsubEvent, THandlerInEvent<Self>>>,
    waker: Option<Waker>,
}

impl Pubsub {
    pub(crate) fn new(config: PubsubConfig) -> Self {
        Self {
            upgrade: PubsubUpgrade {
                protocols: Arc::from(config.protocols),
            },
            frame_bytes_max: config.frame_bytes_max,
            queue: config.queue,
            inbound: config.inbound,
            long_frame_bytes: config.long_frame_bytes,
            arrivals: config.arrivals,
            peers: BTreeMap::new(),
            establishing: BTreeMap::new(),
            events: VecDeque::new(),
            waker: None,
        }
    }

    fn outbox(&self, peer: &PeerId) -> Option<&Outbox> {
        Some(&self.peers.get(peer)?.connections.first()?.outbox)
    }

    /// Queues a frame for a peer. A peer that is gone swallows it: its `Closed` is on the way.
    pub(crate) fn send(&mut self, peer: &PeerId, frame: QueuedFrame) -> Result<(), Overflow> {
        self.outbox(peer)
            .map_or(Ok(()), |outbox| outbox.push(frame))
    }

    pub(crate) fn cancel(&mut self, peer: &PeerId, handle: SendHandle) {
        if let Some(outbox) = self.outbox(peer) {
            outbox.cancel(handle);
        }
    }

    /// Frames to a peer that have begun since the last call.
    pub(crate) fn take_started(&mut self, peer: &PeerId) -> Vec<SendHandle> {
        self.outbox(peer)
            .map(Outbox::take_started)
            .unwrap_or_default()
    }

    /// Closes every connection to a peer.
    pub(crate) fn disconnect(&mut self, peer: PeerId) {
        self.event(ToSwarm::CloseConnection {
            peer_id: peer,
            connection: CloseConnection::All,
        });
    }

    fn event(&mut self, event: ToSwarm<PubsubEvent, THandlerInEvent<Self>>) {
        self.events.push_back(event);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn handler(&mut self, connection: ConnectionId, peer: PeerId) -> Handler {
        let outbox = Outbox::new(self.queue);
        self.establishing.insert(connection, outbox.clone());
        let reading = Reading {
            frame_bytes_max: self.frame_bytes_max,
            long_frame_bytes: self.long_frame_bytes,
            arrivals: self.arrivals.clone(),
            peer,
        };
        Handler::new(self.upgrade.clone(), outbox, self.inbound.clone(), reading)
    }

    fn established(&mut self, event: &ConnectionEstablished<'_>) {
        if let Some(outbox) = self.establishing.remove(&event.connection_id) {
            let peer = self.peers.entry(event.peer_id).or_default();
            peer.connections.push(Connection {
                id: event.connection_id,
                endpoint: event.endpoint.clone(),
                outbox,
            });
        }
    }

    fn opened(&mut self, peer: PeerId, connection: ConnectionId, protocol: StreamProtocol) {
        let Some(state) = self.peers.get_mut(&peer) else {
            return;
        };
        let Some(from) = state.connections.iter().find(|c| c.id == connection) else {
            return;
        };
        if !std::mem::replace(&mut state.opened, true) {
            let endpoint = from.endpoint.clone();
            self.event(ToSwarm::GenerateEvent(PubsubEvent::Opened {
                peer,
                protocol,
                endpoint,
            }));
        }
        // Behind the event above: the driver knows the peer when its first frame comes.
        self.event(ToSwarm::NotifyHandler {
            peer_id: peer,
            handler: NotifyHandler::One(connection),
            event: Read,
        });
    }

    fn closed(&mut self, event: &ConnectionClosed<'_>) {
        let Some(peer) = self.peers.get_mut(&event.peer_id) else {
            return;
        };
        peer.connections
            .retain(|connection| connection.id != event.connection_id);
        if peer.connections.is_empty() {
            let opened = peer.opened;
            self.peers.remove(&event.peer_id);
            if opened {
                let closed = PubsubEvent::Closed {
                    peer: event.peer_id,
                };
                self.event(ToSwarm::GenerateEvent(closed));
            }
        }
    }
}

impl NetworkBehaviour for Pubsub {
    type ConnectionHandler = Handler;
    type ToSwarm = PubsubEvent;

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<Handler, ConnectionDenied> {
        Ok(self.handler(connection, peer))
    }

    fn handle_established_outbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<Handler, ConnectionDenied> {
        Ok(self.handler(connection, peer))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(event) => self.established(&event),
            FromSwarm::ConnectionClosed(event) => self.closed(&event),
            // Denied by another behaviour after its handler was made.
            FromSwarm::DialFailure(event) => {
                self.establishing.remove(&event.connection_id);
            }
            FromSwarm::ListenFailure(event) => {
                self.establishing.remove(&event.connection_id);
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        peer: PeerId,
        connection: ConnectionId,
        event: FromHandler,
    ) {
        match event {
            FromHandler::Opened(protocol) => self.opened(peer, connection, protocol),
            FromHandler::Failed(error) => {
                tracing::info!(%peer, %error, "disconnecting a peer that broke the framing");
                self.disconnect(peer);
            }
            FromHandler::Unsupported => {
                self.event(ToSwarm::GenerateEvent(PubsubEvent::Unsupported { peer }));
            }
        }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        match self.events.pop_front() {
            Some(event) => Poll::Ready(event),
            None => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
