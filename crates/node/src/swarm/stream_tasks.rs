//! Tasks that carry frames between a connection's streams and the driver. The frames bypass the swarm, whose
//! work for each event of a connection would delay them.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use libp2p::PeerId;
use libp2p::swarm::{ConnectionId, Stream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::frames::{FrameReader, FrameWriter, Incoming, ReadError, Reading};
use super::outbox::{Gate, Outbox};

/// Most frames read and not yet taken by the driver, over all connections. Further readers wait.
const FRAMES_MAX: usize = 32;

/// A frame received from a peer.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) peer: PeerId,
    pub(crate) incoming: Incoming,
}

/// Queue for the frames of all connections, and the gate that stops reading.
#[derive(Clone, Debug)]
pub(crate) struct InboundFrames {
    gate: Gate,
    frames: mpsc::Sender<Received>,
}

impl InboundFrames {
    /// Creates the queue. Nothing is read from a peer whose gate is closed.
    pub(crate) fn new(gate: Gate) -> (Self, mpsc::Receiver<Received>) {
        let (frames, received) = mpsc::channel(FRAMES_MAX);
        (Self { gate, frames }, received)
    }
}

/// Reads frames until the stream ends or the driver is gone.
pub(crate) async fn read(
    stream: Stream,
    reading: Reading,
    inbound: InboundFrames,
) -> Result<(), ReadError> {
    let peer = reading.peer;
    let mut reader = FrameReader::new(stream, reading);
    loop {
        let next = poll_fn(|cx| {
            if !inbound.gate.is_open(&peer, cx) {
                return Poll::Pending;
            }
            reader.poll_frame(cx)
        });
        let Some(incoming) = next.await? else {
            return Ok(());
        };
        if inbound
            .frames
            .send(Received { peer, incoming })
            .await
            .is_err()
        {
            return Ok(());
        }
    }
}

/// Writes the outbox's frames for a connection until the stream fails.
pub(crate) async fn write(stream: Stream, outbox: Outbox, connection: ConnectionId) -> io::Error {
    let mut writer = FrameWriter::new(stream);
    poll_fn(
        |cx| match ready!(writer.poll_write(cx, |cx| outbox.next(connection, cx))) {
            Ok(never) => match never {},
            Err(error) => Poll::Ready(error),
        },
    )
    .await
}

/// A spawned task that is aborted when this is dropped.
#[derive(Debug)]
pub(crate) struct StreamTask<T>(JoinHandle<T>);

impl<T: Send + 'static> StreamTask<T> {
    /// Spawns the future; must be called on a tokio runtime, as the handlers of connections are.
    pub(crate) fn spawn(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(future))
    }
}

impl<T> Future for StreamTask<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match ready!(Pin::new(&mut self.0).poll(cx)) {
            Ok(output) => Poll::Ready(output),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Nothing else aborts the task, so the runtime itself is ending.
                Err(_) => Poll::Pending,
            },
        }
    }
}

impl<T> Drop for StreamTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
