//! Connection handler for the streams of the services.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use libp2p::PeerId;
use libp2p::swarm::handler::{
    ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
};
use libp2p::swarm::{
    ConnectionHandler, ConnectionHandlerEvent, Stream, StreamProtocol, StreamUpgradeError,
    SubstreamProtocol,
};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::stream_request::{InboundStream, StreamOpenError, StreamRequest};
use super::upgrade::StreamUpgrade;

/// Maximum number of a connection's requests by one protocol that are answered concurrently; further ones wait. The
/// muxer bounds the number of open streams.
const ANSWERED_MAX: usize = 8;

/// Maximum number of streams to a peer that wait to be opened; further ones are refused.
const OUTBOUND_MAX: usize = 64;

/// Time for which a connection is kept after a service last used it. Light clients with subscriptions send something at
/// least every minute.
const KEPT_AFTER_USE: Duration = Duration::from_secs(300);

type StreamReply = oneshot::Sender<Result<Stream, StreamOpenError>>;

/// State of one connection.
pub struct StreamHandler {
    peer: PeerId,
    protocols: Arc<[StreamProtocol]>,
    inbound: mpsc::UnboundedSender<InboundStream>,
    /// Limits on concurrent requests, for each protocol that the peer has used.
    turns: BTreeMap<String, Arc<Semaphore>>,
    waiting: VecDeque<StreamRequest>,
    opening: usize,
    kept_until: Option<Instant>,
}

impl StreamHandler {
    pub(crate) fn new(
        peer: PeerId,
        protocols: Arc<[StreamProtocol]>,
        inbound: mpsc::UnboundedSender<InboundStream>,
    ) -> Self {
        Self {
            peer,
            protocols,
            inbound,
            turns: BTreeMap::new(),
            waiting: VecDeque::new(),
            opening: 0,
            kept_until: None,
        }
    }

    fn used(&mut self) {
        self.kept_until = Some(Instant::now() + KEPT_AFTER_USE);
    }

    fn on_inbound(&mut self, (stream, protocol): (Stream, StreamProtocol)) {
        self.used();
        let turns = self.turns.entry(protocol.to_string());
        let turns = turns.or_insert_with(|| Arc::new(Semaphore::new(ANSWERED_MAX)));
        let inbound = InboundStream {
            peer: self.peer,
            protocol,
            stream,
            turns: turns.clone(),
        };
        // The node may have no services, or be stopping.
        let _ = self.inbound.send(inbound);
    }
}

impl ConnectionHandler for StreamHandler {
    type FromBehaviour = StreamRequest;
    type ToBehaviour = Infallible;
    type InboundProtocol = StreamUpgrade;
    type OutboundProtocol = StreamUpgrade;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = (StreamProtocol, StreamReply);

    fn listen_protocol(&self) -> SubstreamProtocol<StreamUpgrade> {
        let protocols = self.protocols.clone();
        SubstreamProtocol::new(StreamUpgrade { protocols }, ())
    }

    fn connection_keep_alive(&self) -> bool {
        self.kept_until.is_some_and(|until| Instant::now() < until)
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<StreamUpgrade, (StreamProtocol, StreamReply), Infallible>>
    {
        let Some(request) = self.waiting.pop_front() else {
            return Poll::Pending;
        };
        self.opening += 1;
        let StreamRequest {
            protocol, reply, ..
        } = request;
        let upgrade = StreamUpgrade {
            protocols: Arc::from([protocol.clone()]),
        };
        Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
            protocol: SubstreamProtocol::new(upgrade, (protocol, reply)),
        })
    }

    fn on_behaviour_event(&mut self, request: StreamRequest) {
        if self.waiting.len() + self.opening >= OUTBOUND_MAX {
            let busy =
                StreamOpenError::Failed("too many streams to the peer are being opened".into());
            // The caller may have given up, also below.
            let _ = request.reply.send(Err(busy));
            return;
        }
        self.used();
        self.waiting.push_back(request);
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, StreamUpgrade, StreamUpgrade, (), (StreamProtocol, StreamReply)>,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
                protocol, ..
            }) => self.on_inbound(protocol),
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol: (stream, _),
                info: (_, reply),
            }) => {
                self.opening = self.opening.saturating_sub(1);
                let _ = reply.send(Ok(stream));
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError {
                error,
                info: (protocol, reply),
            }) => {
                self.opening = self.opening.saturating_sub(1);
                let _ = reply.send(Err(match error {
                    StreamUpgradeError::NegotiationFailed => StreamOpenError::Unsupported(protocol),
                    error => StreamOpenError::Failed(error.to_string()),
                }));
            }
            _ => {}
        }
    }
}
