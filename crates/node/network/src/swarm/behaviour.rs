//! Behaviour that carries pubsub frames: which peers speak pubsub, and which connection carries their frames.

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

use super::frames::Reading;
use super::handler::{FromHandler, Handler, ToHandler};
use super::in_transit::InTransit;
use super::nat::ProbeOnly;
use super::outbox::Outbox;
use super::session::{Session, SessionStep};
use super::stream_tasks::InboundFrames;
use super::upgrade::StreamUpgrade;

/// Settings and channels of the pubsub behaviour.
pub(crate) struct PubsubConfig {
    /// Protocol ids to offer, most preferred first.
    pub(crate) protocols: Vec<StreamProtocol>,
    /// Longest frame that is read, bytes.
    pub(crate) frame_bytes_max: usize,
    /// Bounds on the outbound queue of each peer.
    pub(crate) queue: QueueLimits,
    /// Queue for the frames of all connections.
    pub(crate) inbound: InboundFrames,
    /// Length above which a frame in transit is reported to `in_transit`, bytes.
    pub(crate) long_frame_bytes: usize,
    /// Registry of long frames in transit.
    pub(crate) in_transit: InTransit,
}

/// Change of a peer's pubsub session.
#[derive(Debug)]
pub(crate) enum PubsubEvent {
    /// A session with a peer began with this protocol; its frames are read from now on.
    Opened {
        peer: PeerId,
        protocol: StreamProtocol,
        endpoint: ConnectedPoint,
    },
    /// The session with a peer, reported as `Opened` before, has ended.
    Closed { peer: PeerId },
    /// Frames from or to a peer reported as `Opened` use another stream from now on.
    Renewed {
        peer: PeerId,
        protocol: StreamProtocol,
        endpoint: ConnectedPoint,
    },
    /// The peer supports none of our pubsub protocols.
    Unsupported { peer: PeerId },
}

#[derive(Debug)]
struct PubsubPeer {
    session: Session,
    outbox: Outbox,
}

/// Behaviour that carries pubsub frames between peers and the driver.
pub(crate) struct Pubsub {
    upgrade: StreamUpgrade,
    frame_bytes_max: usize,
    queue: QueueLimits,
    inbound: InboundFrames,
    long_frame_bytes: usize,
    in_transit: InTransit,
    peers: BTreeMap<PeerId, PubsubPeer>,
    /// Outboxes of connections that are being set up.
    establishing: BTreeMap<ConnectionId, Outbox>,
    events: VecDeque<ToSwarm<PubsubEvent, THandlerInEvent<Self>>>,
    waker: Option<Waker>,
    /// Connections that carry no pubsub.
    probe_only: ProbeOnly,
}

impl Pubsub {
    pub(crate) fn new(config: PubsubConfig, probe_only: ProbeOnly) -> Self {
        Self {
            upgrade: StreamUpgrade {
                protocols: Arc::from(config.protocols),
            },
            frame_bytes_max: config.frame_bytes_max,
            queue: config.queue,
            inbound: config.inbound,
            long_frame_bytes: config.long_frame_bytes,
            in_transit: config.in_transit,
            peers: BTreeMap::new(),
            establishing: BTreeMap::new(),
            events: VecDeque::new(),
            waker: None,
            probe_only,
        }
    }

    fn outbox(&self, peer: &PeerId) -> Option<&Outbox> {
        Some(&self.peers.get(peer)?.outbox)
    }

    /// Queues a frame for a peer. Frames for a disconnected peer are dropped: its `Closed` event is on the way.
    pub(crate) fn send(&mut self, peer: &PeerId, frame: QueuedFrame) -> Result<(), Overflow> {
        self.outbox(peer)
            .map_or(Ok(()), |outbox| outbox.push(frame))
    }

    pub(crate) fn cancel(&mut self, peer: &PeerId, handle: SendHandle) {
        if let Some(outbox) = self.outbox(peer) {
            outbox.cancel(handle);
        }
    }

    /// Returns the frames to a peer whose writing has started since the last call.
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
        // All connections to a peer share its outbound queue.
        let known = self.outbox(&peer).cloned();
        let outbox = known.unwrap_or_else(|| Outbox::new(self.queue));
        let is_probe_only = self.probe_only.contains(connection);
        if !is_probe_only {
            self.establishing.insert(connection, outbox.clone());
        }
        let reading = Reading {
            frame_bytes_max: self.frame_bytes_max,
            long_frame_bytes: self.long_frame_bytes,
            in_transit: self.in_transit.clone(),
            peer,
        };
        let inbound = self.inbound.clone();
        let upgrade = match is_probe_only {
            true => StreamUpgrade {
                protocols: Arc::default(),
            },
            false => self.upgrade.clone(),
        };
        Handler::new(connection, upgrade, outbox, inbound, reading)
    }

    fn established(&mut self, event: &ConnectionEstablished<'_>) {
        let Some(outbox) = self.establishing.remove(&event.connection_id) else {
            return;
        };
        let peer = self
            .peers
            .entry(event.peer_id)
            .or_insert_with(|| PubsubPeer {
                session: Session::default(),
                outbox,
            });
        let endpoint = event.endpoint.clone();
        let steps = peer.session.established(event.connection_id, endpoint);
        self.take(event.peer_id, steps);
    }

    fn closed(&mut self, event: &ConnectionClosed<'_>) {
        let Some(peer) = self.peers.get_mut(&event.peer_id) else {
            return;
        };
        peer.outbox.detach(event.connection_id);
        let steps = peer.session.closed(event.connection_id);
        self.take(event.peer_id, steps);
        if self
            .peers
            .get(&event.peer_id)
            .is_some_and(|peer| peer.session.is_empty())
        {
            self.peers.remove(&event.peer_id);
        }
    }

    /// Carries out the steps that a peer's session requests.
    fn take(&mut self, id: PeerId, steps: impl IntoIterator<Item = SessionStep>) {
        for step in steps {
            self.step(id, step);
        }
        if let Some(peer) = self.peers.get(&id)
            && peer.outbox.carrier() != peer.session.carrier()
        {
            peer.outbox.set_carrier(peer.session.carrier());
        }
    }

    fn step(&mut self, peer: PeerId, step: SessionStep) {
        let tell = |connection, event| ToSwarm::NotifyHandler {
            peer_id: peer,
            handler: NotifyHandler::One(connection),
            event,
        };
        let event = match step {
            SessionStep::Opened(connection) => {
                let Some((protocol, endpoint)) = self.agreed(peer, connection) else {
                    return;
                };
                ToSwarm::GenerateEvent(PubsubEvent::Opened {
                    peer,
                    protocol,
                    endpoint,
                })
            }
            SessionStep::Renewed(connection) => {
                let Some((protocol, endpoint)) = self.agreed(peer, connection) else {
                    return;
                };
                ToSwarm::GenerateEvent(PubsubEvent::Renewed {
                    peer,
                    protocol,
                    endpoint,
                })
            }
            SessionStep::Closed => {
                if let Some(peer) = self.peers.get(&peer) {
                    peer.outbox.drop_control();
                }
                ToSwarm::GenerateEvent(PubsubEvent::Closed { peer })
            }
            // Sent after `Opened`, so that the driver knows the peer when its first frame arrives.
            SessionStep::Read(connection) => tell(connection, ToHandler::Read),
            SessionStep::Write(connection, may_write) => {
                tell(connection, ToHandler::Write(may_write))
            }
            SessionStep::Retire(connection) => tell(connection, ToHandler::Retire),
            SessionStep::Close(connection) => return self.close(peer, connection),
        };
        self.event(event);
    }

    fn agreed(
        &self,
        peer: PeerId,
        connection: ConnectionId,
    ) -> Option<(StreamProtocol, ConnectedPoint)> {
        let connection = self.peers.get(&peer)?.session.connection(connection)?;
        Some((connection.protocol.clone()?, connection.endpoint.clone()))
    }

    fn close(&mut self, peer: PeerId, connection: ConnectionId) {
        self.event(ToSwarm::CloseConnection {
            peer_id: peer,
            connection: CloseConnection::One(connection),
        });
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
            // Another behaviour refused the connection after its handler was created.
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
        let Some(known) = self.peers.get_mut(&peer) else {
            return;
        };
        let steps = match event {
            FromHandler::Heard(protocol) => known.session.heard(connection, protocol),
            FromHandler::Writable(protocol) => known.session.writable(connection, protocol),
            FromHandler::Unwritable => Vec::from_iter(known.session.unwritable(connection)),
            FromHandler::Failed(error) => {
                tracing::info!(%peer, %error, "disconnecting a peer that broke the framing");
                return self.disconnect(peer);
            }
            FromHandler::Unsupported => {
                let steps = known.session.unsupported(connection);
                self.event(ToSwarm::GenerateEvent(PubsubEvent::Unsupported { peer }));
                steps
            }
            FromHandler::GaveUp => {
                tracing::info!(%peer, "closing a connection whose pubsub streams fail again and again");
                return self.close(peer, connection);
            }
            FromHandler::Retired => return self.close(peer, connection),
        };
        self.take(peer, steps);
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
