//! Outlet to one peer for pushed messages: one stream for all of them, or a stream for each.
//!
//! Some clients read any number of messages from a stream and never close it; if each message came on a stream
//! of its own, js-waku would have too many open streams after a hundred and end the connection. Others close a
//! stream after its first message and would lose the second. Which kind a client is of shows after its first
//! message.

use std::io;
use std::time::Duration;

use futures::{AsyncReadExt as _, AsyncWriteExt as _, FutureExt as _};
use libp2p::swarm::Stream;
use libp2p::{PeerId, StreamProtocol};
use tokio::time::{Instant, timeout_at};
use undertone_services::filter::PUSH_PROTOCOL_ID;

use super::framing::write_frame;
use crate::swarm::{StreamOpenError, StreamOpener};

/// Time after the first message for which a client that reads one message from a stream has to close it.
const LEARNING: Duration = Duration::from_secs(1);

/// Messages at most that go on streams of their own while the habit of a client is not known. A client that never closes a
/// stream is left with so many.
const APART_MAX: u32 = 16;

/// Use that a client makes of streams.
enum Habit {
    /// Nothing is known yet.
    Unknown,
    /// A message has been written to `first`, and the client may be about to close it.
    Learning {
        first: Stream,
        /// Time at which a client that has not closed it is taken for one that reads many.
        until: Instant,
        /// Messages that went on streams of their own meanwhile.
        apart: u32,
    },
    /// The client reads all messages from one stream.
    Many(Stream),
    /// The client reads one message from a stream.
    One,
}

/// Outlet to one peer.
pub(super) struct Outlet {
    streams: StreamOpener,
    peer: PeerId,
    habit: Habit,
}

impl Outlet {
    pub(super) fn new(streams: StreamOpener, peer: PeerId) -> Self {
        Self {
            streams,
            peer,
            habit: Habit::Unknown,
        }
    }

    /// Writes a message to the peer; `NotConnected` if the peer has no connection.
    pub(super) async fn push(&mut self, frame: &[u8]) -> io::Result<()> {
        if let Habit::Learning { first, apart, .. } = &mut self.habit {
            if has_ended(first) {
                self.learnt(false).await;
            } else if *apart < APART_MAX {
                // Either kind of client reads the first message of a stream.
                *apart += 1;
                let mut stream = open(&self.streams, self.peer).await?;
                write_frame(&mut stream, frame).await?;
                return stream.close().await;
            } else {
                self.learn().await;
            }
        }
        if let Habit::Many(stream) = &mut self.habit {
            if !has_ended(stream) && write_frame(stream, frame).await.is_ok() {
                return Ok(());
            }
            // The client or its connection has ended the stream.
            self.habit = Habit::Unknown;
        }
        let mut stream = open(&self.streams, self.peer).await?;
        write_frame(&mut stream, frame).await?;
        if matches!(self.habit, Habit::One) {
            return stream.close().await;
        }
        self.habit = Habit::Learning {
            first: stream,
            until: Instant::now() + LEARNING,
            apart: 0,
        };
        Ok(())
    }

    /// After the first message: waits for a moment to see whether the client closes the stream. Never ends when there is
    /// nothing to learn. May be dropped at any time.
    pub(super) async fn learn(&mut self) {
        let Habit::Learning { first, until, .. } = &mut self.habit else {
            return std::future::pending().await;
        };
        let stays_open = timeout_at(*until, ends(first)).await.is_err();
        self.learnt(stays_open).await;
    }

    /// Ends the learning.
    async fn learnt(&mut self, reads_many: bool) {
        let Habit::Learning { mut first, .. } = std::mem::replace(&mut self.habit, Habit::One)
        else {
            return;
        };
        if reads_many {
            self.habit = Habit::Many(first);
        } else {
            // The client has closed its half; the other one may be closed already.
            let _ = first.close().await;
        }
    }
}

/// Opens a stream for pushed messages; `NotConnected` if the peer has no connection.
async fn open(streams: &StreamOpener, peer: PeerId) -> io::Result<Stream> {
    let protocol = StreamProtocol::new(PUSH_PROTOCOL_ID);
    let opened = streams.open(peer, protocol).await;
    opened.map_err(|error| match error {
        StreamOpenError::NotConnected => io::Error::new(io::ErrorKind::NotConnected, error),
        error => io::Error::other(error),
    })
}

/// Waits until the client closes its half of a stream. What it writes is not read by this protocol.
async fn ends(stream: &mut Stream) {
    let mut ignored = [0; 64];
    while stream.read(&mut ignored).await.is_ok_and(|len| len > 0) {}
}

/// Whether the client has closed its half of a stream.
fn has_ended(stream: &mut Stream) -> bool {
    ends(stream).now_or_never().is_some()
}
