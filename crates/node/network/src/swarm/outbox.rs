//! State shared by the driver and the connections: outbound frames, and the peers to read from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use bytes::{Bytes, BytesMut};
use libp2p::PeerId;
use libp2p::swarm::ConnectionId;
use parking_lot::Mutex;
use undertone_gossip::{Overflow, QueueLimits, QueuedFrame, SendHandle, SendQueue};

/// Small frames are combined up to this many bytes into one write, with one header and one cipher call.
const GATHER_BYTES: usize = 8 << 10;

/// Maximum number of started frames that are remembered until the router asks for them.
const STARTED_MAX: usize = 4096;

#[derive(Debug, Default)]
struct PeerQueue {
    queue: SendQueue,
    started: Vec<SendHandle>,
    carrier: Option<ConnectionId>,
    /// Waiting writers of all connections, to be woken when there are frames.
    writers: BTreeMap<ConnectionId, Waker>,
}

/// Outbound queue of one peer. The driver pushes frames. Of the tasks that write to the peer's connections, only the
/// one of the carrier takes them.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Arc<Mutex<PeerQueue>>);

impl Outbox {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self(Arc::new(Mutex::new(PeerQueue {
            queue: SendQueue::new(limits),
            ..PeerQueue::default()
        })))
    }

    pub(crate) fn push(&self, frame: QueuedFrame) -> Result<(), Overflow> {
        let mut inner = self.0.lock();
        inner.queue.push(frame)?;
        inner.wake_carrier();
        Ok(())
    }

    pub(crate) fn cancel(&self, handle: SendHandle) -> bool {
        self.0.lock().queue.cancel(handle)
    }

    /// Returns the frames whose writing has started since the last call.
    pub(crate) fn take_started(&self) -> Vec<SendHandle> {
        std::mem::take(&mut self.0.lock().started)
    }

    /// Returns the connection whose writer takes the frames.
    pub(crate) fn carrier(&self) -> Option<ConnectionId> {
        self.0.lock().carrier
    }

    /// Makes another connection the carrier. The former carrier's writer finishes its current frame and takes no more.
    pub(crate) fn set_carrier(&self, carrier: Option<ConnectionId>) {
        let mut inner = self.0.lock();
        inner.carrier = carrier;
        inner.wake_carrier();
    }

    /// Forgets the writer of a closed connection.
    pub(crate) fn detach(&self, connection: ConnectionId) {
        self.0.lock().writers.remove(&connection);
    }

    /// Drops queued control messages when a new session with the peer begins. Queued data messages are still sent.
    pub(crate) fn drop_control(&self) {
        self.0.lock().queue.drop_control();
    }

    /// Returns the bytes that a connection must write next: one large frame, or several small ones. `None`
    /// while there are none or another connection is the carrier.
    pub(crate) fn next(&self, connection: ConnectionId, cx: &mut Context<'_>) -> Option<Bytes> {
        let mut inner = self.0.lock();
        let carries = inner.carrier == Some(connection);
        let first = if carries { inner.take() } else { None };
        let Some(first) = first else {
            inner.writers.insert(connection, cx.waker().clone());
            return None;
        };
        // A large frame is written as is, because copying it would cost more than a header.
        let fits = |inner: &PeerQueue, len: usize| {
            let next = inner.queue.next_len();
            next.is_some_and(|next| len + next <= GATHER_BYTES)
        };
        if !fits(&inner, first.len()) {
            return Some(first);
        }
        let mut gathered = BytesMut::from(&first[..]);
        while fits(&inner, gathered.len()) {
            let Some(frame) = inner.take() else { break };
            gathered.extend_from_slice(&frame);
        }
        Some(gathered.freeze())
    }
}

impl PeerQueue {
    fn wake_carrier(&mut self) {
        let carrier = self.carrier;
        if let Some(writer) = carrier.and_then(|carrier| self.writers.remove(&carrier)) {
            writer.wake();
        }
    }

    fn take(&mut self) -> Option<Bytes> {
        let frame = self.queue.pop()?;
        if self.started.len() < STARTED_MAX {
            self.started.push(frame.handle);
        }
        Some(frame.frame)
    }
}

#[derive(Debug, Default)]
struct GateInner {
    /// Number of peers in `closed`, readable without the lock.
    count: AtomicUsize,
    /// Peers that are not read from, with the tasks to wake when they are read again.
    closed: Mutex<BTreeMap<PeerId, Vec<Waker>>>,
}

/// Back-pressure per peer: while the gate is closed for a peer, its connections read no frames, and TCP slows the peer
/// down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<GateInner>);

impl Gate {
    pub(crate) fn set_closed(&self, peer: PeerId, is_closed: bool) {
        let mut closed = self.0.closed.lock();
        let readers = if is_closed {
            closed.entry(peer).or_default();
            None
        } else {
            closed.remove(&peer)
        };
        self.0.count.store(closed.len(), Ordering::Release);
        drop(closed);
        readers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Whether to read from a peer; if not, the task is woken when the gate opens.
    pub(crate) fn is_open(&self, peer: &PeerId, cx: &Context<'_>) -> bool {
        if self.0.count.load(Ordering::Acquire) == 0 {
            return true;
        }
        let mut closed = self.0.closed.lock();
        let Some(readers) = closed.get_mut(peer) else {
            return true;
        };
        if !readers.iter().any(|reader| reader.will_wake(cx.waker())) {
            readers.push(cx.waker().clone());
        }
        false
    }
}

#[cfg(test)]
#[path = "tests/outbox.rs"]
mod tests;
