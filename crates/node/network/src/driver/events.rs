//! Events for observers of a node within the same process.

use std::time::Instant;

use libp2p::PeerId;
use undertone_relay::Rejection;
use undertone_rln::RecoveredSecret;

/// An event and the time at which it happened.
#[derive(Clone, Debug)]
pub struct TimedEvent {
    /// Time of the event.
    pub at: Instant,
    /// Kind and details of the event.
    pub event: NodeEvent,
}

/// Events for observers of a node within the same process, such as the demo and tests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NodeEvent {
    /// A proof for an own message was requested and generated.
    Proved {
        /// Time when the proof was requested.
        asked: Instant,
        /// Time when the proof was ready.
        made: Instant,
    },
    /// A message was rejected.
    Rejected {
        /// Peer that sent the message.
        from: PeerId,
        /// Reason for the rejection.
        reason: Rejection,
    },
    /// A member exceeded its limit, which revealed its secret.
    SpammerExposed {
        /// Peer that sent the second message; not necessarily the member.
        from: PeerId,
        /// Secret of the member.
        secret: RecoveredSecret,
    },
    /// The node closes the connection to a peer whose score fell below the graylist threshold.
    Graylisted {
        /// The peer that is disconnected.
        peer: PeerId,
        /// Score of the peer.
        score: f64,
    },
    /// A pubsub session with a peer began.
    PeerConnected {
        /// The peer of the session.
        peer: PeerId,
    },
    /// The pubsub session with a peer ended.
    PeerDisconnected {
        /// The peer of the session.
        peer: PeerId,
    },
}
