//! Events, outputs, limits and counters of the server.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use undertone_message::WakuMessage;

use super::{codec::LightpushCodecLimits, refusal::PublishRefusal, version::PushVersion};
use crate::{PeerNo, RequestNo};

/// Limits on the resources that remote peers can make a [`LightpushServer`](super::LightpushServer) use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightpushLimits {
    /// Limits on frames, and the largest message that the network carries.
    pub codec: LightpushCodecLimits,
    /// Maximum number of messages being published, including those that wait for the relay.
    pub max_publishing: usize,
    /// Maximum number of messages handed to the relay at a time; its other slots are for the node's own
    /// messages.
    pub max_in_relay: usize,
    /// Maximum number of messages of one peer being published.
    pub max_publishing_per_peer: usize,
    /// Maximum total size of the messages being published, in bytes.
    pub max_publishing_bytes: usize,
    /// Time after which a message counts as not published.
    pub publish_timeout: Duration,
}

impl Default for LightpushLimits {
    fn default() -> Self {
        Self {
            codec: LightpushCodecLimits::default(),
            max_publishing: 256,
            max_in_relay: 32,
            max_publishing_per_peer: 16,
            max_publishing_bytes: 16 << 20,
            publish_timeout: Duration::from_secs(30),
        }
    }
}

/// Event that a driver hands to a [`LightpushServer`](super::LightpushServer).
#[derive(Clone, Debug)]
pub enum Input {
    /// A frame arrived.
    Request {
        /// Peer that sent it.
        peer: PeerNo,
        /// Number that identifies the request in the answer.
        request: RequestNo,
        /// Protocol version of the stream.
        version: PushVersion,
        /// Bytes of the request frame.
        bytes: Bytes,
    },
    /// A peer opened a stream beyond the rate limit; the frame was not read.
    TooMany {
        /// Number that identifies the request in the answer.
        request: RequestNo,
        /// Protocol version of the stream.
        version: PushVersion,
    },
    /// The relay has published a message, or refused to.
    Published {
        /// Number of the [`Output::Publish`].
        publish: RequestNo,
        /// Number of relay peers that the message was sent to, or the reason why it was not.
        outcome: Result<u32, PublishRefusal>,
    },
    /// The last connection to a peer ended; its requests need no answer.
    PeerGone(PeerNo),
    /// The time of [`next_timeout`](super::LightpushServer::next_timeout) has come.
    Tick,
}

/// Work for the driver of a [`LightpushServer`](super::LightpushServer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer to send.
    Respond {
        /// Number of the request.
        request: RequestNo,
        /// Bytes of the response frame.
        bytes: Bytes,
    },
    /// Message to validate and publish through the relay; the driver reports with [`Input::Published`].
    Publish {
        /// Number that identifies the message in the report.
        publish: RequestNo,
        /// Topic to publish on.
        pubsub_topic: Arc<str>,
        /// Message to validate and publish.
        message: WakuMessage,
    },
}

/// Counters of a [`LightpushServer`](super::LightpushServer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightpushStats {
    /// Requests, including invalid ones and those beyond the rate limit.
    pub requests: u64,
    /// Messages that the relay published.
    pub published: u64,
    /// Requests that were refused, or whose message was not published.
    pub refused: u64,
}

/// Current resource usage of a [`LightpushServer`](super::LightpushServer); [`LightpushLimits`] bounds each
/// value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightpushUsage {
    /// Messages being published.
    pub publishing: usize,
    /// Peers whose messages are being published.
    pub peers: usize,
    /// Bytes of the messages being published.
    pub publishing_bytes: usize,
}
