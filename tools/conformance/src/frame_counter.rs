//! Counting of control messages on the wire.
//!
//! `libp2p-gossipsub` does not report which control messages it sends. So the peer puts a [`FrameCounter`] between the
//! multiplexer and the behaviour. The tap passes every byte on unchanged and counts the control entries of
//! each frame on streams that negotiated a GossipSub protocol.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures::io::{AsyncRead, AsyncWrite};
use libp2p::core::muxing::{StreamMuxer, StreamMuxerEvent};
use parking_lot::Mutex;

use crate::protocol::{Control, ControlCounts};

mod frames;
mod rpc;

pub use frames::Frames;

/// Counts of control entries, shared by all taps of one peer.
#[derive(Clone, Debug, Default)]
pub struct TrafficCounter(Arc<Mutex<Control>>);

impl TrafficCounter {
    /// Returns the counts so far.
    #[must_use]
    pub fn read(&self) -> Control {
        *self.0.lock()
    }

    fn add(&self, direction: Direction, more: ControlCounts, carried: &CarriedMessages) {
        if more == ControlCounts::default() {
            return;
        }
        let mut control = self.0.lock();
        let (counts, carried) = match direction {
            Direction::Sent => (&mut control.sent, &carried.sent),
            Direction::Received => (&mut control.received, &carried.received),
        };
        let is_first = more.messages > 0 && !carried.swap(true, Ordering::Relaxed);
        counts.links = Some(counts.links.unwrap_or(0) + u64::from(is_first));
        counts.messages += more.messages;
        counts.graft += more.graft;
        counts.prune += more.prune;
        counts.prune_with_backoff += more.prune_with_backoff;
        counts.prune_backoff_s = more.prune_backoff_s.or(counts.prune_backoff_s);
        counts.ihave += more.ihave;
        counts.iwant += more.iwant;
        counts.idontwant += more.idontwant;
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Sent,
    Received,
}

/// Whether a connection has carried a message, in each direction.
#[derive(Debug, Default)]
struct CarriedMessages {
    sent: AtomicBool,
    received: AtomicBool,
}

/// Wrapper of a multiplexed connection, or of one of its streams, that counts messages and control entries.
#[derive(Debug)]
pub struct FrameCounter<T> {
    inner: T,
    counter: TrafficCounter,
    /// Shared by the connection and all its streams.
    carried: Arc<CarriedMessages>,
    sent: Frames,
    received: Frames,
}

impl<T> FrameCounter<T> {
    /// Wraps a connection and counts into `counter`.
    pub fn new(inner: T, counter: TrafficCounter) -> Self {
        Self::of_connection(inner, counter, Arc::default())
    }

    fn of_connection(inner: T, counter: TrafficCounter, carried: Arc<CarriedMessages>) -> Self {
        Self {
            inner,
            counter,
            carried,
            sent: Frames::default(),
            received: Frames::default(),
        }
    }
}

impl<M> FrameCounter<M> {
    /// Wraps a stream of this connection.
    fn stream<S>(&self, stream: S) -> FrameCounter<S> {
        FrameCounter::of_connection(stream, self.counter.clone(), Arc::clone(&self.carried))
    }
}

impl<M> StreamMuxer for FrameCounter<M>
where
    M: StreamMuxer<Substream: Unpin> + Unpin,
{
    type Substream = FrameCounter<M::Substream>;
    type Error = M::Error;

    fn poll_inbound(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Self::Substream, Self::Error>> {
        let polled = Pin::new(&mut self.inner).poll_inbound(cx);
        polled.map_ok(|stream| self.stream(stream))
    }

    fn poll_outbound(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Self::Substream, Self::Error>> {
        let polled = Pin::new(&mut self.inner).poll_outbound(cx);
        polled.map_ok(|stream| self.stream(stream))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<StreamMuxerEvent, Self::Error>> {
        Pin::new(&mut self.inner).poll(cx)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameCounter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if let Poll::Ready(Ok(length)) = polled {
            let seen = self.received.feed(&buffer[..length]);
            self.counter.add(Direction::Received, seen, &self.carried);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FrameCounter<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        if let Poll::Ready(Ok(length)) = polled {
            let seen = self.sent.feed(&bytes[..length]);
            self.counter.add(Direction::Sent, seen, &self.carried);
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }
}
