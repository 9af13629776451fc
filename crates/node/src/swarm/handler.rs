//! One connection: agrees on a stream to write on and a stream to read from, and hands each to a task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use libp2p::swarm::handler::{
    ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
};
use libp2p::swarm::{
    ConnectionHandler, ConnectionHandlerEvent, Stream, StreamProtocol, StreamUpgradeError,
    SubstreamProtocol,
};

use super::frames::{ReadError, Reading};
use super::outbox::Outbox;
use super::pump::{self, Inbound, Task};
use super::upgrade::PubsubUpgrade;

/// Streams that a peer may open one after the other before the connection is given up
/// (CVE-2022-23486: a stream must not cost more than its sender).
const STREAM_ATTEMPTS_MAX: u32 = 5;

/// What a connection tells the behaviour.
#[derive(Debug)]
pub(crate) enum FromHandler {
    /// The protocol is agreed on. No frame is read before the handler is told to.
    Opened(StreamProtocol),
    /// The peer broke the framing; the connection is of no more use.
    Failed(ReadError),
    /// The peer speaks none of our protocols.
    Unsupported,
}

/// What the behaviour tells a connection: who reads its frames knows the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read;

#[derive(Debug)]
enum Reader {
    /// There is no stream, or none any more.
    None,
    /// Until the behaviour says so.
    Waiting(Stream),
    Reading(Task<Result<(), ReadError>>),
}

#[derive(Debug)]
enum Writer {
    /// Not asked for yet.
    Idle,
    Opening,
    Writing(Task<std::io::Error>),
    /// Tried too often, or unsupported.
    Disabled,
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Handler {
    upgrade: PubsubUpgrade,
    outbox: Outbox,
    inbound: Inbound,
    reading: Reading,
    may_read: bool,
    reader: Reader,
    writer: Writer,
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
        inbound: Inbound,
        reading: Reading,
    ) -> Self {
        Self {
            upgrade,
            outbox,
            inbound,
            reading,
            may_read: false,
            reader: Reader::None,
            writer: Writer::Idle,
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
            self.reader = Reader::Waiting(stream);
            self.opened.get_or_insert(protocol);
            self.read();
        }
    }

    /// Begins to read if there is a stream, and whoever gets its frames knows the peer.
    fn read(&mut self) {
        if !self.may_read {
            return;
        }
        self.reader = match std::mem::replace(&mut self.reader, Reader::None) {
            Reader::Waiting(stream) => {
                let (reading, inbound) = (self.reading.clone(), self.inbound.clone());
                Reader::Reading(Task::spawn(pump::read(stream, reading, inbound)))
            }
            as_it_was => as_it_was,
        };
    }

    fn retry_outbound(&mut self) {
        let again = self.outbound_attempts < STREAM_ATTEMPTS_MAX;
        self.writer = if again {
            Writer::Idle
        } else {
            Writer::Disabled
        };
    }

    fn poll_writer(&mut self, cx: &mut Context<'_>) {
        if let Writer::Writing(task) = &mut self.writer
            && let Poll::Ready(error) = Pin::new(task).poll(cx)
        {
            tracing::debug!(%error, "outbound stream closed");
            self.retry_outbound();
        }
    }

    fn poll_reader(&mut self, cx: &mut Context<'_>) -> Poll<FromHandler> {
        let Reader::Reading(task) = &mut self.reader else {
            return Poll::Pending;
        };
        let Poll::Ready(ended) = Pin::new(task).poll(cx) else {
            return Poll::Pending;
        };
        self.reader = Reader::None;
        match ended {
            Ok(()) => Poll::Pending,
            Err(ReadError::Io(error)) => {
                tracing::debug!(%error, "inbound stream closed");
                Poll::Pending
            }
            Err(error) => Poll::Ready(FromHandler::Failed(error)),
        }
    }
}

type HandlerEvent = ConnectionHandlerEvent<PubsubUpgrade, (), FromHandler>;

impl ConnectionHandler for Handler {
    type FromBehaviour = Read;
    type ToBehaviour = FromHandler;
    type InboundProtocol = PubsubUpgrade;
    type OutboundProtocol = PubsubUpgrade;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = ();

    fn listen_protocol(&self) -> SubstreamProtocol<PubsubUpgrade> {
        SubstreamProtocol::new(self.upgrade.clone(), ())
    }

    fn connection_keep_alive(&self) -> bool {
        !matches!(self.reader, Reader::None)
            || matches!(self.writer, Writer::Opening | Writer::Writing(_))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<HandlerEvent> {
        self.poll_writer(cx);
        if matches!(self.writer, Writer::Idle) {
            self.writer = Writer::Opening;
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
        self.poll_reader(cx)
            .map(ConnectionHandlerEvent::NotifyBehaviour)
    }

    fn on_behaviour_event(&mut self, Read: Read) {
        self.may_read = true;
        self.read();
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
                let outbox = self.outbox.clone();
                self.writer = Writer::Writing(Task::spawn(pump::write(stream, outbox)));
                self.opened.get_or_insert(protocol);
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { error, .. }) => match error {
                StreamUpgradeError::NegotiationFailed => {
                    self.writer = Writer::Disabled;
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
