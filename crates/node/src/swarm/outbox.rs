//! What the driver and a connection share: the frames that wait, and whether to read on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bytes::{Bytes, BytesMut};
use undertone_gossip::{Overflow, QueueLimits, QueuedFrame, SendHandle, SendQueue};

/// Small frames are gathered up to this many bytes into one write: one header, one cipher call.
const GATHER_BYTES: usize = 8 << 10;

/// Frames begun that are remembered until the router asks.
const STARTED_MAX: usize = 4096;

#[derive(Debug, Default)]
struct Inner {
    queue: SendQueue,
    started: Vec<SendHandle>,
    writer: Option<Waker>,
}

/// The outbound queue of one connection. The driver pushes, the task that writes takes.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Arc<Mutex<Inner>>);

impl Outbox {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            queue: SendQueue::new(limits),
            ..Inner::default()
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while it is held, and the queue is whole between calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, frame: QueuedFrame) -> Result<(), Overflow> {
        let mut inner = self.lock();
        inner.queue.push(frame)?;
        if let Some(writer) = inner.writer.take() {
            drop(inner);
            writer.wake();
        }
        Ok(())
    }

    pub(crate) fn cancel(&self, handle: SendHandle) -> bool {
        self.lock().queue.cancel(handle)
    }

    /// Frames begun since the last call.
    pub(crate) fn take_started(&self) -> Vec<SendHandle> {
        std::mem::take(&mut self.lock().started)
    }

    /// Bytes to write next: one large frame, or several small ones.
    pub(crate) fn next(&self, cx: &mut Context<'_>) -> Option<Bytes> {
        let mut inner = self.lock();
        let Some(first) = inner.take() else {
            inner.writer = Some(cx.waker().clone());
            return None;
        };
        // A large frame is written as it is: copying it would cost more than a header.
        let fits = |inner: &Inner, len: usize| {
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

impl Inner {
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
    closed: AtomicBool,
    readers: Mutex<Vec<Waker>>,
}

/// Back-pressure: while it is closed, connections read no frames, and TCP slows the peers down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<GateInner>);

impl Gate {
    pub(crate) fn set_closed(&self, closed: bool) {
        let was_closed = self.0.closed.swap(closed, Ordering::AcqRel);
        if was_closed && !closed {
            let mut readers = self
                .0
                .readers
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            readers.drain(..).for_each(Waker::wake);
        }
    }

    /// Whether to read; if not, the task is woken when it opens.
    pub(crate) fn is_open(&self, cx: &Context<'_>) -> bool {
        if !self.0.closed.load(Ordering::Acquire) {
            return true;
        }
        let mut readers = self
            .0
            .readers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !readers.iter().any(|reader| reader.will_wake(cx.waker())) {
            readers.push(cx.waker().clone());
        }
        // It may have opened between the look and the registration.
        !self.0.closed.load(Ordering::Acquire)
    }
}
