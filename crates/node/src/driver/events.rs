//! What a node tells those who watch it from within the process.

use std::time::Instant;

use libp2p::PeerId;
use undertone_relay::Rejection;
use undertone_rln::RecoveredSecret;

/// An event and when it happened.
#[derive(Clone, Debug)]
pub struct TimedEvent {
    /// When.
    pub at: Instant,
    /// What.
    pub event: NodeEvent,
}

/// Events for whoever watches a node from within the process: the demo, tests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NodeEvent {
    /// A proof for a message of our own was asked for and made.
    Proved {
        /// When it was asked for.
        asked: Instant,
        /// When it was there.
        made: Instant,
    },
    /// A message was dropped.
    Rejected {
        /// Who sent it.
        from: PeerId,
        /// Why.
        reason: Rejection,
    },
    /// A member exceeded its limit.
    SpammerExposed {
        /// Who sent us the message that proves it.
        from: PeerId,
        /// Its secret.
        secret: RecoveredSecret,
    },
    /// We close the connection to a peer whose score fell below the graylist threshold.
    Graylisted {
        /// Whom.
        peer: PeerId,
        /// Its score.
        score: f64,
    },
    /// A peer speaks pubsub with us.
    PeerConnected {
        /// Who.
        peer: PeerId,
    },
    /// A peer is gone.
    PeerDisconnected {
        /// Who.
        peer: PeerId,
    },
}
