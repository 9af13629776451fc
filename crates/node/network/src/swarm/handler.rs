//! Handler of one connection: negotiates a stream to write on and one to read from, and passes each to a task.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use libp2p::swarm::handler::{
    ConnectionEvent, DialUpgradeError, FullyNegotiatedInbound, FullyNegotiatedOutbound,
};
use libp2p::swarm::{
    ConnectionHandler, ConnectionHandlerEvent, ConnectionId, Stream, StreamProtocol,
    StreamUpgradeError, SubstreamProtocol,
};
use tokio::time::Sleep;

use super::attempts::Attempts;
use super::frames::{ReadError, Reading};
use super::outbox::Outbox;
use super::stream_tasks::{self, InboundFrames, StreamTask};
use super::upgrade::StreamUpgrade;

/// Number of streams that may be opened in a row, in each direction, before the connection is closed (CVE-2022-23486: a
/// stream must not cost the receiver more than its sender).
const STREAMS_MAX: u32 = 5;

/// Interval at which one more stream may be opened, because some implementations reset a stream now and then.
const STREAMS_REFILL: Duration = Duration::from_secs(10);

/// Time for which a retired connection is still read from. The peer may switch a little later than this node, and a
/// long frame already on its way takes time through a slow relay.
const RETIREMENT: Duration = Duration::from_secs(10);

/// Events from a connection's handler to the behaviour.
#[derive(Debug)]
pub(crate) enum FromHandler {
    /// The peer has opened a stream. No frame is read from it before the handler has received `Read` once.
    Heard(StreamProtocol),
    /// A stream to the peer is open.
    Writable(StreamProtocol),
    /// The stream to the peer is closed.
    Unwritable,
    /// The peer violated the framing; the connection is unusable.
    Failed(ReadError),
    /// The peer supports none of our pubsub protocols.
    Unsupported,
    /// Streams failed too often; the connection is unusable.
    GaveUp,
    /// The connection was retired, and the time for its last frames has passed.
    Retired,
}

/// Commands from the behaviour to a connection's handler.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToHandler {
    /// Start to read frames: the driver now knows the peer.
    Read,
    /// Whether to open a stream to the peer, and to reopen it when it fails.
    Write(bool),
    /// Read the peer's last frames for a while, then report `Retired`.
    Retire,
}

#[derive(Debug)]
enum ReaderState {
    /// No stream from the peer is open.
    None,
    /// A stream is open, but reading has not been allowed yet.
    Waiting(Stream),
    Reading(StreamTask<Result<(), ReadError>>),
}

#[derive(Debug)]
enum WriterState {
    /// No stream is open or requested.
    Idle,
    Opening,
    Writing(StreamTask<std::io::Error>),
    /// Streams failed too often, or the peer does not support the protocol.
    Disabled,
}

/// State of one connection.
#[derive(Debug)]
pub(crate) struct Handler {
    id: ConnectionId,
    upgrade: StreamUpgrade,
    outbox: Outbox,
    inbound: InboundFrames,
    reading: Reading,
    may_read: bool,
    may_write: bool,
    reader: ReaderState,
    writer: WriterState,
    inbound_streams: Attempts,
    outbound_streams: Attempts,
    gave_up: bool,
    /// Time at which a retired connection is no longer read from.
    retirement: Option<Pin<Box<Sleep>>>,
    /// Events for the behaviour. Their number is bounded: at most a few per stream, and streams are bounded.
    events: VecDeque<FromHandler>,
}

impl Handler {
    pub(crate) fn new(
        id: ConnectionId,
        upgrade: StreamUpgrade,
        outbox: Outbox,
        inbound: InboundFrames,
        reading: Reading,
    ) -> Self {
        let now = Instant::now();
        Self {
            id,
            upgrade,
            outbox,
            inbound,
            reading,
            may_read: false,
            may_write: false,
            reader: ReaderState::None,
            writer: WriterState::Idle,
            inbound_streams: Attempts::new(STREAMS_MAX, STREAMS_REFILL, now),
            outbound_streams: Attempts::new(STREAMS_MAX, STREAMS_REFILL, now),
            gave_up: false,
            retirement: None,
            events: VecDeque::new(),
        }
    }

    fn on_inbound(&mut self, (stream, protocol): (Stream, StreamProtocol)) {
        if self.inbound_streams.take(Instant::now()) {
            // A new stream replaces the old one, which the peer has given up.
            self.reader = ReaderState::Waiting(stream);
            self.events.push_back(FromHandler::Heard(protocol));
            self.read();
        } else {
            self.give_up();
        }
    }

    /// Reports, once, that the connection is unusable.
    fn give_up(&mut self) {
        self.writer = WriterState::Disabled;
        if !std::mem::replace(&mut self.gave_up, true) {
            self.events.push_back(FromHandler::GaveUp);
        }
    }

    /// Starts to read if there is a stream and the driver knows the peer.
    fn read(&mut self) {
        if !self.may_read {
            return;
        }
        self.reader = match std::mem::replace(&mut self.reader, ReaderState::None) {
            ReaderState::Waiting(stream) => {
                let (reading, inbound) = (self.reading.clone(), self.inbound.clone());
                ReaderState::Reading(StreamTask::spawn(stream_tasks::read(
                    stream, reading, inbound,
                )))
            }
            as_it_was => as_it_was,
        };
    }

    fn poll_writer(&mut self, cx: &mut Context<'_>) {
        if let WriterState::Writing(task) = &mut self.writer
            && let Poll::Ready(error) = Pin::new(task).poll(cx)
        {
            tracing::debug!(%error, "outbound stream closed");
            self.writer = WriterState::Idle;
            self.events.push_back(FromHandler::Unwritable);
        }
    }

    /// Whether to open a stream to the peer now; if so, the attempt is counted.
    fn opens_stream(&mut self) -> bool {
        // A node that does not relay has no protocol to offer.
        let has_protocol = !self.upgrade.protocols.is_empty();
        if !self.may_write || !has_protocol || !matches!(self.writer, WriterState::Idle) {
            return false;
        }
        let opens = self.outbound_streams.take(Instant::now());
        if opens {
            self.writer = WriterState::Opening;
        } else {
            self.give_up();
        }
        opens
    }

    /// Reports, once, that a retired connection may be closed.
    fn poll_retirement(&mut self, cx: &mut Context<'_>) {
        if let Some(end) = &mut self.retirement
            && end.as_mut().poll(cx).is_ready()
        {
            self.retirement = None;
            self.events.push_back(FromHandler::Retired);
        }
    }

    fn poll_reader(&mut self, cx: &mut Context<'_>) -> Poll<FromHandler> {
        let ReaderState::Reading(task) = &mut self.reader else {
            return Poll::Pending;
        };
        let Poll::Ready(ended) = Pin::new(task).poll(cx) else {
            return Poll::Pending;
        };
        self.reader = ReaderState::None;
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

type HandlerEvent = ConnectionHandlerEvent<StreamUpgrade, (), FromHandler>;

impl ConnectionHandler for Handler {
    type FromBehaviour = ToHandler;
    type ToBehaviour = FromHandler;
    type InboundProtocol = StreamUpgrade;
    type OutboundProtocol = StreamUpgrade;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = ();

    fn listen_protocol(&self) -> SubstreamProtocol<StreamUpgrade> {
        SubstreamProtocol::new(self.upgrade.clone(), ())
    }

    fn connection_keep_alive(&self) -> bool {
        !matches!(self.reader, ReaderState::None)
            || matches!(self.writer, WriterState::Opening | WriterState::Writing(_))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<HandlerEvent> {
        self.poll_writer(cx);
        self.poll_retirement(cx);
        if self.opens_stream() {
            let protocol = SubstreamProtocol::new(self.upgrade.clone(), ());
            return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest { protocol });
        }
        if let Some(event) = self.events.pop_front() {
            return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(event));
        }
        self.poll_reader(cx)
            .map(ConnectionHandlerEvent::NotifyBehaviour)
    }

    fn on_behaviour_event(&mut self, event: ToHandler) {
        match event {
            ToHandler::Read => {
                self.may_read = true;
                self.read();
            }
            ToHandler::Write(may_write) => self.may_write = may_write,
            ToHandler::Retire => {
                self.retirement = Some(Box::pin(tokio::time::sleep(RETIREMENT)));
            }
        }
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, StreamUpgrade, StreamUpgrade, (), ()>,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
                protocol, ..
            }) => self.on_inbound(protocol),
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol: (stream, protocol),
                ..
            }) => {
                let writing = stream_tasks::write(stream, self.outbox.clone(), self.id);
                self.writer = WriterState::Writing(StreamTask::spawn(writing));
                self.events.push_back(FromHandler::Writable(protocol));
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { error, .. }) => match error {
                StreamUpgradeError::NegotiationFailed => {
                    self.writer = WriterState::Disabled;
                    self.events.push_back(FromHandler::Unsupported);
                }
                error => {
                    tracing::debug!(%error, "cannot open a pubsub stream");
                    self.writer = WriterState::Idle;
                }
            },
            _ => {}
        }
    }
}
