//! Closing of connections within a time limit, so that a peer that does not read cannot delay it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use libp2p::core::muxing::{StreamMuxer, StreamMuxerEvent};
use tokio::time::Sleep;

/// Time limit for sending the last bytes.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A muxer that closes within a time limit, whether the peer reads or not.
#[derive(Debug)]
pub(crate) struct Closing<M> {
    muxer: Pin<Box<M>>,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<M> Closing<M> {
    pub(crate) fn new(muxer: M) -> Self {
        Self {
            muxer: Box::pin(muxer),
            deadline: None,
        }
    }
}

impl<M: StreamMuxer> StreamMuxer for Closing<M> {
    type Substream = M::Substream;
    type Error = M::Error;

    fn poll_inbound(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Self::Substream, Self::Error>> {
        self.muxer.as_mut().poll_inbound(cx)
    }

    fn poll_outbound(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Self::Substream, Self::Error>> {
        self.muxer.as_mut().poll_outbound(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if let Poll::Ready(closed) = self.muxer.as_mut().poll_close(cx) {
            return Poll::Ready(closed);
        }
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(CLOSE_TIMEOUT)));
        deadline.as_mut().poll(cx).map(Ok)
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<StreamMuxerEvent, Self::Error>> {
        self.muxer.as_mut().poll(cx)
    }
}
