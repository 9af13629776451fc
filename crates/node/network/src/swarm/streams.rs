//! Behaviour that carries the streams of the services. It passes inbound streams to their acceptor, and opens outbound
//! ones on the newest connection to a peer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, NotifyHandler, Stream,
    StreamProtocol, THandlerInEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::stream_handler::StreamHandler;
use super::stream_request::{InboundStream, StreamOpenError, StreamRequest};
use crate::stopped::Stopped;

/// Maximum number of requested outbound streams not yet passed to a connection; further callers wait.
const OPEN_QUEUE: usize = 256;

/// Maximum number of concurrent requests from this node to one peer; further ones wait. Other implementations reset
/// more than 32 streams of one protocol.
const ASKED_MAX: usize = 16;

/// Number of peers with request limits above which unused limits are forgotten.
const TURNS_MAX: usize = 256;

/// Opens streams to connected peers; clones share the queue of requests.
#[derive(Clone, Debug)]
pub struct StreamOpener {
    requests: mpsc::Sender<StreamRequest>,
    /// Limits on concurrent requests, by peer.
    turns: Arc<Mutex<BTreeMap<PeerId, Arc<Semaphore>>>>,
}

impl StreamOpener {
    /// Waits until another request to a peer may run; its turn ends when the permit is dropped.
    pub async fn turn(&self, peer: PeerId) -> Option<OwnedSemaphorePermit> {
        let turns = {
            let mut peers = self.turns.lock();
            if peers.len() >= TURNS_MAX {
                peers.retain(|_, turns| Arc::strong_count(turns) > 1);
            }
            let turns = peers.entry(peer);
            turns
                .or_insert_with(|| Arc::new(Semaphore::new(ASKED_MAX)))
                .clone()
        };
        turns.acquire_owned().await.ok()
    }

    /// Opens a stream on the newest connection to a peer.
    pub async fn open(
        &self,
        peer: PeerId,
        protocol: StreamProtocol,
    ) -> Result<Stream, StreamOpenError> {
        let (reply, answer) = oneshot::channel();
        let request = StreamRequest {
            peer,
            protocol,
            reply,
        };
        self.requests.send(request).await.map_err(|_| Stopped)?;
        // The reply is dropped with the connection.
        answer.await.unwrap_or(Err(StreamOpenError::NotConnected))
    }
}

/// The services' channels to the behaviour.
pub struct StreamChannels {
    /// Opens streams to peers.
    pub opener: StreamOpener,
    /// Streams waiting for the acceptor. The muxer of each connection bounds their number.
    pub inbound: mpsc::UnboundedReceiver<InboundStream>,
    /// Peers whose last connection has ended.
    pub gone: mpsc::UnboundedReceiver<PeerId>,
}

/// Behaviour that carries the streams of the services.
pub struct ServiceStreams {
    protocols: Arc<[StreamProtocol]>,
    inbound: mpsc::UnboundedSender<InboundStream>,
    requests: mpsc::Receiver<StreamRequest>,
    gone: mpsc::UnboundedSender<PeerId>,
    /// Connections of each peer, the newest last.
    connections: BTreeMap<PeerId, Vec<ConnectionId>>,
}

impl ServiceStreams {
    /// Creates a behaviour that accepts streams for `protocols`.
    pub fn new(protocols: Vec<StreamProtocol>) -> (Self, StreamChannels) {
        let (inbound, accepted) = mpsc::unbounded_channel();
        let (opener, requests) = mpsc::channel(OPEN_QUEUE);
        let (gone, ended) = mpsc::unbounded_channel();
        let behaviour = Self {
            protocols: Arc::from(protocols),
            inbound,
            requests,
            gone,
            connections: BTreeMap::new(),
        };
        let channels = StreamChannels {
            opener: StreamOpener {
                requests: opener,
                turns: Arc::default(),
            },
            inbound: accepted,
            gone: ended,
        };
        (behaviour, channels)
    }

    fn handler(&self, peer: PeerId) -> StreamHandler {
        StreamHandler::new(peer, self.protocols.clone(), self.inbound.clone())
    }
}

impl NetworkBehaviour for ServiceStreams {
    type ConnectionHandler = StreamHandler;
    type ToSwarm = std::convert::Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<StreamHandler, ConnectionDenied> {
        Ok(self.handler(peer))
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<StreamHandler, ConnectionDenied> {
        Ok(self.handler(peer))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(event) => {
                let connections = self.connections.entry(event.peer_id).or_default();
                connections.push(event.connection_id);
            }
            FromSwarm::ConnectionClosed(event) => {
                if let Some(connections) = self.connections.get_mut(&event.peer_id) {
                    connections.retain(|connection| *connection != event.connection_id);
                    if connections.is_empty() {
                        self.connections.remove(&event.peer_id);
                        // The node may have no services.
                        let _ = self.gone.send(event.peer_id);
                    }
                }
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: std::convert::Infallible,
    ) {
        match event {}
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        while let Poll::Ready(Some(request)) = self.requests.poll_recv(cx) {
            let connections = self.connections.get(&request.peer);
            let Some(newest) = connections.and_then(|connections| connections.last()) else {
                // The caller may have given up.
                let _ = request.reply.send(Err(StreamOpenError::NotConnected));
                continue;
            };
            return Poll::Ready(ToSwarm::NotifyHandler {
                peer_id: request.peer,
                handler: NotifyHandler::One(*newest),
                event: request,
            });
        }
        Poll::Pending
    }
}
