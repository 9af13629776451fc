//! PushStreams for messages pushed to one peer: a single stream, or one stream per message.
//!
//! Some clients read any number of messages from a stream and never close it. With one stream per message, js-waku
//! would have too many open streams after a hundred and end the connection. Others (go-waku, older nwaku) close a
//! stream after its first message and ignore any further one on it. The kind of a client shows only after its first
//! message. Until then, messages are written to its first stream and kept. If the client closes the stream, it has read
//! only the first message, and the others are sent again, each on its own stream.
//!
//! The first stream can be opened before there is a message, so that the message need not wait for it.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use libp2p::{PeerId, StreamProtocol};
use tokio::time::{Instant, timeout_at};
use undertone_services::filter::PUSH_PROTOCOL_ID;

use self::push_stream::{FirstWrite, PushStream};
use undertone_network::swarm::{StreamOpenError, StreamOpener};

mod push_stream;
#[cfg(test)]
#[path = "tests/push_streams.rs"]
mod tests;

/// Time after the first message within which a client that reads one message per stream has to close it.
const LEARNING_MAX: Duration = Duration::from_secs(10);

/// The same time limit if more than [`KEPT_FEW`] messages are kept, so that they do not fill the client's share of
/// messages in flight.
const LEARNING: Duration = Duration::from_secs(1);

/// Maximum number of messages kept for the whole of [`LEARNING_MAX`].
const KEPT_FEW: usize = 16;

/// How a client uses streams.
enum Habit {
    /// No message has been written; a stream may have been opened for the first one.
    Unknown(Option<PushStream>),
    /// A message has been written to `first` at `since`, and the client may be about to close it.
    Learning { first: PushStream, since: Instant },
    /// The client reads all messages from one stream.
    Many(PushStream),
    /// The client reads one message per stream.
    One,
}

/// Outcome of a successful push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushEnd {
    /// The message has been sent.
    Sent,
    /// The message is kept until it is known whether the client reads it; see [`PushStreams::learn`].
    Kept,
}

/// Fate of the messages that were kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeptEnd {
    /// The client reads further messages from the stream they were written to; this is their number.
    Sent(usize),
    /// The client has closed the stream without reading these messages; oldest first.
    Unread(Vec<Bytes>),
}

/// PushStreams to one peer.
pub(super) struct PushStreams {
    streams: StreamOpener,
    peer: PeerId,
    habit: Habit,
    /// Messages written to the first stream after its first message. They count as in flight, which the filter server
    /// bounds.
    kept: Vec<Bytes>,
}

impl PushStreams {
    pub(super) fn new(streams: StreamOpener, peer: PeerId) -> Self {
        Self {
            streams,
            peer,
            habit: Habit::Unknown(None),
            kept: Vec::new(),
        }
    }

    /// Opens the stream for the first message, if none has been sent. Fails with `NotConnected` if the peer has no
    /// connection.
    pub(super) async fn prepare(&mut self) -> io::Result<()> {
        if matches!(self.habit, Habit::Unknown(None)) {
            self.habit = Habit::Unknown(Some(self.open().await?));
        }
        Ok(())
    }

    /// Writes a message to the peer. Fails with `NotConnected` if the peer has no connection. If the call is cancelled,
    /// the messages kept before have been written.
    pub(super) async fn push(&mut self, frame: &Bytes) -> io::Result<PushEnd> {
        match &mut self.habit {
            Habit::Learning { first, .. } => {
                let written = first.write_unless_ended(frame).await;
                self.kept.push(frame.clone());
                if written == FirstWrite::Refused {
                    self.first_has_ended();
                }
                return Ok(PushEnd::Kept);
            }
            Habit::Many(stream) => {
                if !stream.has_ended() && stream.write(frame).await.is_ok() {
                    return Ok(PushEnd::Sent);
                }
                // The client or its connection has ended the stream.
                self.habit = Habit::Unknown(None);
            }
            Habit::One => return self.push_apart(frame).await,
            Habit::Unknown(_) => {}
        }
        let first = self.write_first(frame).await?;
        let since = Instant::now();
        self.habit = Habit::Learning { first, since };
        Ok(PushEnd::Sent)
    }

    /// Writes a message on its own stream, which either kind of client reads.
    pub(super) async fn push_apart(&mut self, frame: &Bytes) -> io::Result<PushEnd> {
        let mut stream = self.open().await?;
        stream.write(frame).await?;
        stream.close().await?;
        Ok(PushEnd::Sent)
    }

    /// Waits until the fate of the kept messages is known; forever if there is nothing to learn. May be cancelled at
    /// any time.
    pub(super) async fn learn(&mut self) -> KeptEnd {
        if let Habit::Learning { first, since } = &mut self.habit {
            let time = match self.kept.len() > KEPT_FEW {
                true => LEARNING,
                false => LEARNING_MAX,
            };
            if timeout_at(*since + time, first.ends()).await.is_err() {
                if let Habit::Learning { first, .. } =
                    std::mem::replace(&mut self.habit, Habit::Unknown(None))
                {
                    self.habit = Habit::Many(first);
                }
                return KeptEnd::Sent(self.give_up());
            }
            self.first_has_ended();
        } else if self.kept.is_empty() {
            return std::future::pending().await;
        }
        KeptEnd::Unread(std::mem::take(&mut self.kept))
    }

    /// Drops all kept messages; returns their number.
    pub(super) fn give_up(&mut self) -> usize {
        std::mem::take(&mut self.kept).len()
    }

    /// Handles the end of the first stream within the learning time.
    fn first_has_ended(&mut self) {
        if let Habit::Learning { first, .. } =
            std::mem::replace(&mut self.habit, Habit::Unknown(None))
            && first.was_closed()
        {
            self.habit = Habit::One;
        }
    }

    /// Writes a message to the stream opened in advance, or to a new one if the client has ended that stream.
    async fn write_first(&mut self, frame: &Bytes) -> io::Result<PushStream> {
        let habit = std::mem::replace(&mut self.habit, Habit::Unknown(None));
        if let Habit::Unknown(Some(mut ready)) = habit
            && !ready.has_ended()
            && ready.write(frame).await.is_ok()
        {
            return Ok(ready);
        }
        let mut first = self.open().await?;
        first.write(frame).await?;
        Ok(first)
    }

    /// Opens a stream for pushed messages. Fails with `NotConnected` if the peer has no connection.
    async fn open(&mut self) -> io::Result<PushStream> {
        let protocol = StreamProtocol::new(PUSH_PROTOCOL_ID);
        let opened = self.streams.open(self.peer, protocol).await;
        opened.map(PushStream::new).map_err(|error| match error {
            StreamOpenError::NotConnected => io::Error::new(io::ErrorKind::NotConnected, error),
            error => io::Error::other(error),
        })
    }
}
