//! Stream of pushed messages whose writes can be cancelled and resumed.

use std::future::{Future as _, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;

use bytes::{Buf as _, Bytes};
use futures::{AsyncReadExt as _, AsyncWriteExt as _, FutureExt as _};
use libp2p::swarm::Stream;

use crate::services::framing::frame_pieces;

/// Outcome of a write to a stream that the client may close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstWrite {
    /// The frame is completely written.
    Written,
    /// The client closed its half of the stream first, or the stream takes no more data.
    Refused,
}

/// Stream of pushed messages.
pub(super) struct PushStream {
    stream: Stream,
    /// Unwritten pieces of the last frame; empty unless a write is in progress or was cancelled.
    rest: [Bytes; 2],
}

impl PushStream {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            rest: Default::default(),
        }
    }

    /// Writes a frame and flushes it. After a cancelled call, the next write begins with the rest of the frame.
    pub(super) async fn write(&mut self, frame: &Bytes) -> io::Result<()> {
        if self.rest.iter().any(|piece| !piece.is_empty()) {
            self.finish().await?;
        }
        self.rest = frame_pieces(frame);
        self.finish().await
    }

    /// Writes a frame, unless the client closes its half of the stream meanwhile. Cancellation-safe like
    /// [`write`](Self::write).
    pub(super) async fn write_unless_ended(&mut self, frame: &Bytes) -> FirstWrite {
        let mut is_begun = false;
        poll_fn(|cx| {
            // These futures have no state of their own, so each poll may create new ones.
            if pin!(self.ends()).poll(cx).is_ready() {
                return Poll::Ready(FirstWrite::Refused);
            }
            loop {
                let finished = pin!(self.finish()).poll(cx);
                match finished {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(_)) => return Poll::Ready(FirstWrite::Refused),
                    Poll::Ready(Ok(())) if is_begun => return Poll::Ready(FirstWrite::Written),
                    Poll::Ready(Ok(())) => {
                        is_begun = true;
                        self.rest = frame_pieces(frame);
                    }
                }
            }
        })
        .await
    }

    /// Writes the rest of the last frame. May be cancelled at any time.
    async fn finish(&mut self) -> io::Result<()> {
        for piece in &mut self.rest {
            while !piece.is_empty() {
                let written = self.stream.write(piece).await?;
                if written == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                piece.advance(written);
            }
        }
        self.stream.flush().await
    }

    /// Waits until the client closes its half of the stream. This protocol ignores the client's data. May be cancelled
    /// at any time.
    pub(super) async fn ends(&mut self) {
        let mut ignored = [0; 64];
        while self
            .stream
            .read(&mut ignored)
            .await
            .is_ok_and(|len| len > 0)
        {}
    }

    /// Whether the client has closed its half of the stream.
    pub(super) fn has_ended(&mut self) -> bool {
        self.ends().now_or_never().is_some()
    }

    pub(super) async fn close(&mut self) -> io::Result<()> {
        self.stream.close().await
    }

    /// Closes an ended stream; returns whether the client closed it. Otherwise the stream was reset or its connection
    /// has ended, which does not show how the client reads.
    pub(super) fn was_closed(mut self) -> bool {
        // A client that has read its one message ignores further data. A reset stream takes nothing.
        if let Some(Err(_)) = self.stream.write(&[]).now_or_never() {
            return false;
        }
        // If the stream cannot be closed at once, dropping it closes it, because the other half is closed.
        let _ = self.stream.close().now_or_never();
        true
    }
}
