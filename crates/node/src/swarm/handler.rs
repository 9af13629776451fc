//! One connection: a stream to write on, a stream to read from.

use std::task::{Context, Poll};

use libp2p::swarm::handler::{
    ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
};
use libp2p::swarm::{
    ConnectionHandler, ConnectionHandlerEvent, Stream, StreamProtocol, StreamUpgradeError,
    SubstreamProtocol,
};

use super::frames::{FrameReader, FrameWriter, Incoming, ReadError, Reading};
use super::outbox::{Gate, Outbox};
use super::upgrade::PubsubUpgrade;

/// Streams that a peer may open one after the other before the connection is given up
/// (CVE-2022-23486: a stream must not cost more than its sender).
const STREAM_ATTEMPTS_MAX: u32 = 5;

/// What a connection tells the behaviour.
#[derive(Debug)]
pub(crate) enum FromHandler {
    /// The protocol is agreed on; frames may follow.
    Opened(StreamProtocol),
    /// A frame arrived.
    Frame(Incoming),
    /// The peer broke the framing; the connection is of no more use.
    Failed(ReadError),
    /// The peer speaks none of our protocols.
    Unsupported,
}

#[derive(Debug)]
enum Outbound {
    /// Not asked for yet.
    Idle,
    Opening,
    Open(FrameWriter<Stream>),
    /// Tried too often, or unsupported.
    Disabled,
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Handler {
    upgrade: PubsubUpgrade,
    outbox: Outbox,
    gate: Gate,
    reading: Reading,
    inbound: Option<FrameReader<Stream>>,
    outbound: Outbound,
    opened: Option<StreamProtocol>,
    announced: bool,
    failure: Option<FromHandler>,
    inbound_attempts: u32,
    outbound_attempts: u32,
}

impl Handler {
    pub(crate) fn new(
        upgrade: PubsubUpgrade,
        outbox: Outbox,
        gate: Gate,
        reading: Reading,
    ) -> Self {
        Self {
            upgrade,
            outbox,
            gate,
            reading,
            inbound: None,
            outbound: Outbound::Idle,
            opened: None,
            announced: false,
            failure: None,
            inbound_attempts: 0,
            outbound_attempts: 0,
        }
    }

    fn on_inbound(&mut self, (stream, protocol): (Stream, StreamProtocol)) {
        self.inbound_attempts += 1;
        if self.inbound_attempts <= STREAM_ATTEMPTS_MAX {
            // A new stream replaces the old one: the peer has given that up.
            self.inbound = Some(FrameReader::new(stream, self.reading.clone()));
            self.opened.get_or_insert(protocol);
        }
    }

    fn poll_outbound(&mut self, cx: &mut Context<'_>) {
        if let Outbound::Open(writer) = &mut self.outbound {
            let outbox = &self.outbox;
            if let Poll::Ready(Err(error)) = writer.poll_write(cx, |cx| outbox.next(cx)) {
                tracing::debug!(%error, "outbound stream closed");
                self.retry_outbound();
            }
        }
    }

    fn retry_outbound(&mut self) {
        let again = self.outbound_attempts < STREAM_ATTEMPTS_MAX;
        self.outbound = if again {
            Outbound::Idle
        } else {
            Outbound::Disabled
        };
    }

    fn poll_inbound(&mut self, cx: &mut Context<'_>) -> Poll<FromHandler> {
        if !self.gate.is_open(cx) {
            return Poll::Pending;
        }
        let Some(reader) = &mut self.inbound else {
            return Poll::Pending;
        };
        match reader.poll_frame(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Some(incoming))) => Poll::Ready(FromHandler::Frame(incoming)),
            Poll::Ready(Ok(None)) => {
                self.inbound = None;
                Poll::Pending
            }
            Poll::Ready(Err(ReadError::Io(error))) => {
                tracing::debug!(%error, "inbound stream closed");
                self.inbound = None;
                Poll::Pending
            }
            Poll::Ready(Err(error)) => {
                self.inbound = None;
                Poll::Ready(FromHandler::Failed(error))
            }
        }
    }
}

type HandlerEvent = ConnectionHandlerEvent<PubsubUpgrade, (), FromHandler>;

impl ConnectionHandler for Handler {
    type FromBehaviour = std::convert::Infallible;
    type ToBehaviour = FromHandler;
    type InboundProtocol = PubsubUpgrade;
    type OutboundProtocol = PubsubUpgrade;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = ();

    fn listen_protocol(&self) -> SubstreamProtocol<PubsubUpgrade> {
        SubstreamProtocol::new(self.upgrade.clone(), ())
    }

    fn connection_keep_alive(&self) -> bool {
        self.inbound.is_some() || matches!(self.outbound, Outbound::Opening | Outbound::Open(_))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<HandlerEvent> {
        if matches!(self.outbound, Outbound::Idle) {
            self.outbound = Outbound::Opening;
            self.outbound_attempts += 1;
            let protocol = SubstreamProtocol::new(self.upgrade.clone(), ());
            return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest { protocol });
        }
        if let Some(protocol) = self.opened.as_ref().filter(|_| !self.announced) {
            self.announced = true;
            let event = FromHandler::Opened(protocol.clone());
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(event));
        }
        if let Some(event) = self.failure.take() {
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(event));
        }
        self.poll_outbound(cx);
        if matches!(self.outbound, Outbound::Idle) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.poll_inbound(cx)
            .map(ConnectionHandlerEvent::NotifyBehaviour)
    }

    fn on_behaviour_event(&mut self, event: Self::FromBehaviour) {
        match event {}
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, PubsubUpgrade, PubsubUpgrade, (), ()>,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
                protocol, ..
            }) => self.on_inbound(protocol),
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol: (stream, protocol),
                ..
            }) => {
                self.outbound = Outbound::Open(FrameWriter::new(stream));
                self.opened.get_or_insert(protocol);
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { error, .. }) => match error {
                StreamUpgradeError::NegotiationFailed => {
                    self.outbound = Outbound::Disabled;
                    if self.opened.is_none() {
                        self.failure = Some(FromHandler::Unsupported);
                    }
                }
                error => {
                    tracing::debug!(%error, "cannot open a pubsub stream");
                    self.retry_outbound();
                }
            },
            _ => {}
        }
    }
}
