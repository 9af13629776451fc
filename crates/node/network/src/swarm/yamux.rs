//! Yamux with a bound on the bytes that a peer may send ahead.
//!
//! The receive window of a stream grows while the peer fills it faster than it answers pings. The peer alone controls
//! both. `libp2p-yamux` lets the windows of a connection grow to 1 GiB in total and has no setting for that, so this
//! module adapts the `yamux` crate itself.

use std::collections::VecDeque;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use futures::io::{AsyncRead, AsyncWrite, IoSlice};
use libp2p::core::muxing::{StreamMuxer, StreamMuxerEvent};
use libp2p::core::upgrade::{InboundConnectionUpgrade, OutboundConnectionUpgrade, UpgradeInfo};
use yamux::{Connection, ConnectionError, Mode};

/// Maximum number of streams of a connection in both directions; a peer that opens more is disconnected.
const STREAMS_MAX: usize = 256;

/// Maximum number of streams that a peer may have open at a time, including those not yet accepted; further ones are
/// reset. A node needs four: pubsub, identify, ping and metadata. A light client has one per unanswered request, and
/// some that it keeps ready.
const INBOUND_STREAMS_MAX: usize = 128;

/// Maximum growth of all windows of a connection together, bytes. One stream may then have 2.25 MiB in flight: messages
/// of 150 kB flow at 180 Mbit/s over a round trip of 100 ms, and a frame of 1 MiB does not wait for the window update
/// of its first half.
const WINDOW_GROWTH_BYTES: usize = 2 << 20;

/// Upgrade of a connection to yamux.
#[derive(Clone, Debug)]
pub(crate) struct YamuxUpgrade(yamux::Config);

impl Default for YamuxUpgrade {
    fn default() -> Self {
        let mut config = yamux::Config::default();
        let windows = STREAMS_MAX * yamux::DEFAULT_CREDIT as usize;
        config.set_max_num_streams(STREAMS_MAX);
        config.set_max_connection_receive_window(Some(windows + WINDOW_GROWTH_BYTES));
        Self(config)
    }
}

impl UpgradeInfo for YamuxUpgrade {
    type Info = &'static str;
    type InfoIter = std::iter::Once<&'static str>;

    fn protocol_info(&self) -> Self::InfoIter {
        std::iter::once("/yamux/1.0.0")
    }
}

impl<C: AsyncRead + AsyncWrite + Send + Unpin + 'static> InboundConnectionUpgrade<C>
    for YamuxUpgrade
{
    type Output = Muxer<C>;
    type Error = io::Error;
    type Future = Ready<io::Result<Muxer<C>>>;

    fn upgrade_inbound(self, socket: C, _: Self::Info) -> Self::Future {
        ready(Ok(Muxer::new(Connection::new(
            socket,
            self.0,
            Mode::Server,
        ))))
    }
}

impl<C: AsyncRead + AsyncWrite + Send + Unpin + 'static> OutboundConnectionUpgrade<C>
    for YamuxUpgrade
{
    type Output = Muxer<C>;
    type Error = io::Error;
    type Future = Ready<io::Result<Muxer<C>>>;

    fn upgrade_outbound(self, socket: C, _: Self::Info) -> Self::Future {
        ready(Ok(Muxer::new(Connection::new(
            socket,
            self.0,
            Mode::Client,
        ))))
    }
}

/// Stream muxer over one yamux connection.
#[derive(Debug)]
pub(crate) struct Muxer<C> {
    connection: Connection<C>,
    /// Streams of the peer that arrived while the muxer was polled for something else.
    waiting: VecDeque<Stream>,
    waker: Option<Waker>,
    /// Shared by all of the peer's streams in use, so that the reference count is their number.
    inbound: Arc<()>,
}

impl<C: AsyncRead + AsyncWrite + Unpin> Muxer<C> {
    fn new(connection: Connection<C>) -> Self {
        Self {
            connection,
            waiting: VecDeque::new(),
            waker: None,
            inbound: Arc::new(()),
        }
    }

    /// Returns the peer's next stream within the limit. The connection makes progress only through this method.
    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<Result<Stream, ConnectionError>> {
        loop {
            let Some(next) = ready!(self.connection.poll_next_inbound(cx)) else {
                return Poll::Ready(Err(ConnectionError::Closed));
            };
            let stream = next?;
            // The muxer holds one reference itself. A dropped stream is reset.
            if Arc::strong_count(&self.inbound) <= INBOUND_STREAMS_MAX {
                let inbound = Some(self.inbound.clone());
                return Poll::Ready(Ok(Stream { stream, inbound }));
            }
        }
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin> StreamMuxer for Muxer<C> {
    type Substream = Stream;
    type Error = ConnectionError;

    fn poll_inbound(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Stream, ConnectionError>> {
        if let Some(stream) = self.waiting.pop_front() {
            return Poll::Ready(Ok(stream));
        }
        if let Poll::Ready(accepted) = self.poll_accept(cx) {
            return Poll::Ready(accepted);
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_outbound(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Stream, ConnectionError>> {
        let stream = ready!(self.connection.poll_new_outbound(cx))?;
        let inbound = None;
        Poll::Ready(Ok(Stream { stream, inbound }))
    }

    fn poll_close(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ConnectionError>> {
        self.connection.poll_close(cx)
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<StreamMuxerEvent, ConnectionError>> {
        let stream = ready!(self.poll_accept(cx))?;
        self.waiting.push_back(stream);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        // There may be more streams; other tasks have their turn first.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// One stream of a yamux connection.
#[derive(Debug)]
pub(crate) struct Stream {
    stream: yamux::Stream,
    /// Present if the peer opened the stream; counts it while it is in use.
    #[expect(dead_code, reason = "counted by its references")]
    inbound: Option<Arc<()>>,
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

#[cfg(test)]
#[path = "tests/yamux.rs"]
mod tests;
