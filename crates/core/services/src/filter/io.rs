//! Events, outputs, limits and counters of the server.

use std::time::Duration;

use bytes::Bytes;

use super::{codec::FilterCodecLimits, subscriptions::FilterCriterion};
use crate::{PeerNo, RequestNo, history::StoredMessage};

/// Time after which a driver reports a push as failed (nwaku).
pub const PUSH_TIMEOUT: Duration = Duration::from_secs(20);

/// Limits on the resources that remote peers can make a [`FilterServer`](super::FilterServer) use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterLimits {
    /// Limits on frames.
    pub codec: FilterCodecLimits,
    /// Maximum number of subscribed peers (nwaku). Disconnected peers are evicted for new ones.
    pub max_peers: usize,
    /// Maximum number of criteria of a peer (nwaku).
    pub max_criteria_per_peer: usize,
    /// Memory for all criteria, in bytes. Half of it is divided equally among `max_peers` peers, so that each has
    /// its part however greedy the others are. The other half is shared; see
    /// [`criteria_share`](Self::criteria_share).
    pub max_criteria_bytes: usize,
    /// Divisor for the shared half: a peer may hold up to the half's free bytes divided by this number, if that
    /// is more than its equal part.
    pub criteria_share: usize,
    /// Time after which a subscription expires without a request of its peer (nwaku).
    pub subscription_ttl: Duration,
    /// Time within which the same message is not pushed again (nwaku).
    pub seen_ttl: Duration,
    /// Maximum number of pushed messages remembered to avoid pushing them again.
    pub max_seen: usize,
    /// Maximum number of pushes in flight to a peer; it misses messages beyond.
    pub max_pushes_per_peer: usize,
    /// Maximum number of bytes in flight to a peer with more than one push in flight.
    pub max_push_bytes_per_peer: usize,
    /// Maximum number of bytes of all messages in flight. Beyond, the slowest readers are dropped.
    pub max_push_bytes: usize,
    /// Time for which all pushes to a connected peer may fail before it is dropped.
    pub max_failing: Duration,
}

impl Default for FilterLimits {
    fn default() -> Self {
        Self {
            codec: FilterCodecLimits::default(),
            max_peers: 1000,
            max_criteria_per_peer: 1000,
            max_criteria_bytes: 64 << 20,
            criteria_share: 64,
            subscription_ttl: Duration::from_secs(300),
            seen_ttl: Duration::from_secs(120),
            max_seen: 1 << 16,
            max_pushes_per_peer: 1_024,
            max_push_bytes_per_peer: 4 << 20,
            max_push_bytes: 64 << 20,
            max_failing: Duration::from_secs(60),
        }
    }
}

/// Event that a driver hands to a [`FilterServer`](super::FilterServer).
#[derive(Clone, Debug)]
pub enum Input {
    /// A frame arrived on [`SUBSCRIBE_PROTOCOL_ID`](super::SUBSCRIBE_PROTOCOL_ID).
    Request {
        /// Peer that sent it.
        peer: PeerNo,
        /// Number that identifies the request in the answer.
        request: RequestNo,
        /// Bytes of the request frame.
        bytes: Bytes,
    },
    /// A peer opened a stream beyond the rate limit; the frame was not read.
    TooMany {
        /// Number under which the driver wants the answer.
        request: RequestNo,
    },
    /// The relay accepted a message.
    Message {
        /// Message that the relay accepted.
        message: StoredMessage,
    },
    /// The oldest push to a peer that was not reported on has ended. A push that takes longer than
    /// [`PUSH_TIMEOUT`] has failed.
    Pushed {
        /// Peer that the message was pushed to.
        peer: PeerNo,
        /// Whether all of it was sent.
        delivered: bool,
    },
    /// The last connection to a peer ended. The driver forgets the pushes in flight, without reports.
    /// Later pushes to the peer fail until it is connected again; its subscriptions live on.
    PeerGone(PeerNo),
    /// The time of [`next_timeout`](super::FilterServer::next_timeout) has come.
    Tick,
}

/// Work for the driver of a [`FilterServer`](super::FilterServer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer to send.
    Respond {
        /// Number of the request.
        request: RequestNo,
        /// Bytes of the response frame.
        bytes: Bytes,
    },
    /// Frame to send on [`PUSH_PROTOCOL_ID`](super::PUSH_PROTOCOL_ID), after earlier ones to the peer.
    /// The driver reports its end with [`Input::Pushed`].
    Push {
        /// Peer to send to.
        peer: PeerNo,
        /// The frame; pushes of a message to several peers share its memory.
        bytes: Bytes,
    },
    /// The peer read too slowly and lost its subscriptions. The driver forgets the pushes in flight to it,
    /// without reports, and closes their stream.
    Drop {
        /// Peer that was dropped.
        peer: PeerNo,
    },
}

/// Counts of what a [`FilterServer`](super::FilterServer) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterStats {
    /// Requests by kind: ping, subscribe, unsubscribe, unsubscribe all.
    pub requests: [u64; 4],
    /// Requests that were refused, invalid ones and those beyond the rate limit among them.
    pub refused: u64,
    /// Pushes handed to the driver.
    pub pushes: u64,
    /// Pushes reported as delivered.
    pub delivered: u64,
    /// Pushes reported as failed.
    pub failed: u64,
    /// Pushes not made because too many were in flight to the peer.
    pub lost: u64,
    /// Messages not pushed because they had been pushed before.
    pub duplicates: u64,
    /// Peers dropped because they read too slowly.
    pub dropped: u64,
}

/// Amounts that a [`FilterServer`](super::FilterServer) holds, each bounded by [`FilterLimits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterUsage {
    /// Number of subscribed peers.
    pub peers: usize,
    /// Criteria, each counted once however many peers have it.
    pub criteria: usize,
    /// Bytes charged for criteria.
    pub criteria_bytes: usize,
    /// Messages remembered so as not to be pushed again.
    pub seen: usize,
    /// Peers with pushes in flight or failing.
    pub pushing: usize,
    /// Bytes of messages in flight.
    pub push_bytes: usize,
}

/// Subscriptions of a peer, as shown to operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSubscription {
    /// Peer that holds the subscription.
    pub peer: PeerNo,
    /// Criteria of the peer, at least one.
    pub criteria: Vec<FilterCriterion>,
}
