//! Tasks that carry frames between a connection's streams and the driver. The frames bypass the swarm, whose work per
//! connection event would delay them.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use libp2p::PeerId;
use libp2p::swarm::{ConnectionId, Stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

use super::frames::{FrameReader, FrameWriter, Incoming, ReadError, Reading};
use super::outbox::{Gate, Outbox};

/// Maximum number of frames read but not yet taken by the driver, over all connections. Further readers wait.
const FRAMES_MAX: usize = 32;

/// Maximum number of bytes of these frames. A longer frame is taken when no other frame waits.
const FRAMES_BYTES_MAX: u32 = 4 << 20;

/// A frame received from a peer.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) peer: PeerId,
    pub(crate) incoming: Incoming,
    /// Permit for the frame's share of the waiting bytes; dropped when the router has the frame.
    pub(crate) room: OwnedSemaphorePermit,
}

/// Queue for the frames of all connections, and the gate that controls reading.
#[derive(Clone, Debug)]
pub(crate) struct InboundFrames {
    gate: Gate,
    /// Bytes for which there is still room.
    room: Arc<Semaphore>,
    frames: mpsc::Sender<Received>,
}

impl InboundFrames {
    /// Creates the queue. Peers whose gate is closed are not read from.
    pub(crate) fn new(gate: Gate) -> (Self, mpsc::Receiver<Received>) {
        let (frames, received) = mpsc::channel(FRAMES_MAX);
        let room = Arc::new(Semaphore::new(FRAMES_BYTES_MAX as usize));
        let queue = Self { gate, room, frames };
        (queue, received)
    }

    /// Waits for room and queues a frame; returns whether the driver is still there.
    async fn push(&self, peer: PeerId, incoming: Incoming) -> bool {
        let bytes = u32::try_from(incoming.frame.bytes().len()).unwrap_or(u32::MAX);
        let room = self.room.clone();
        let room = room.acquire_many_owned(bytes.min(FRAMES_BYTES_MAX));
        let Ok(room) = room.await else {
            return false;
        };
        let received = Received {
            peer,
            incoming,
            room,
        };
        self.frames.send(received).await.is_ok()
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
        if !inbound.push(peer, incoming).await {
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

/// A spawned task that is aborted when this value is dropped.
#[derive(Debug)]
pub(crate) struct StreamTask<T>(JoinHandle<T>);

impl<T: Send + 'static> StreamTask<T> {
    /// Spawns the future; must be called on a tokio runtime, as connection handlers are.
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

#[cfg(test)]
#[path = "tests/stream_tasks.rs"]
mod tests;
