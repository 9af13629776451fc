//! Dissemination strategies: which peers get a copy of a message, and when.
//!
//! To add one: a file here, a variant of [`StrategyKind`] with its name in `kind.rs` and its arm in `build`,
//! and a scenario.
//!
//! Fragmentation does not choose receivers and has its own module, `fragments`.

mod eager_mesh;
mod flood;
mod kind;
mod reduced;
mod staggered;

use std::fmt;

use crate::config::Config;
use crate::peers::Peers;
use crate::rng::Rng;
use crate::score::Scores;
use crate::time::Time;
use crate::topics::TopicState;
use crate::types::PeerIx;

pub use kind::{StrategyKind, UnknownStrategy};

impl StrategyKind {
    pub(crate) fn build(self) -> Box<dyn Strategy> {
        match self {
            Self::EagerMesh => Box::new(eager_mesh::EagerMesh),
            Self::Flood => Box::new(flood::Flood),
            Self::Staggered => Box::new(staggered::Staggered),
            Self::Reduced => Box::new(reduced::Reduced),
        }
    }
}

/// State that a strategy may read.
pub(crate) struct View<'a> {
    pub(crate) config: &'a Config,
    pub(crate) topic: &'a TopicState,
    pub(crate) peers: &'a Peers,
    pub(crate) scores: &'a Scores,
    pub(crate) now: Time,
    /// Time at which the router was created.
    pub(crate) started: Time,
}

impl View<'_> {
    /// Whether the peer gets a copy without being in the mesh: the operator's own peers, and peers without
    /// mesh support whose score is not below the publish threshold.
    pub(crate) fn is_always_sent(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some_and(|state| {
            state.explicit || (!state.features.mesh && self.is_publishable(peer))
        })
    }

    /// Splits receivers into those whose protocol allows a message of `len` bytes to be delayed or
    /// announced, and the others.
    fn by_agreement(&self, len: usize, receivers: Vec<PeerIx>) -> (Vec<PeerIx>, Vec<PeerIx>) {
        if len <= self.config.large.threshold_bytes {
            return (Vec::new(), receivers);
        }
        receivers.into_iter().partition(|peer| {
            let state = self.peers.get(*peer);
            state.is_some_and(|state| state.features.large_messages && !state.explicit)
        })
    }

    /// Whether messages of this node may be flooded to the peer.
    pub(crate) fn is_publishable(&self, peer: PeerIx) -> bool {
        self.scores.score(peer) >= self.config.thresholds.publish
    }
}

/// Chooses the receivers of messages. The router removes those that have the message or do not want it. The
/// default methods behave as GossipSub.
pub(crate) trait Strategy: fmt::Debug + Send {
    /// Whether meshes are maintained and ids are gossiped.
    fn keeps_mesh(&self) -> bool {
        true
    }

    /// Receivers of a forwarded message.
    fn forward(&self, view: &View<'_>) -> Vec<PeerIx> {
        eager_mesh::forward(view)
    }

    /// Receivers of a message published by this node, `len` bytes long.
    fn publish(&self, view: &View<'_>, len: usize, rng: &mut Rng) -> Vec<PeerIx> {
        eager_mesh::publish(view, len, rng)
    }

    /// Decides how a message of `len` bytes is sent to the receivers that still lack it.
    fn spread(
        &self,
        _view: &View<'_>,
        _len: usize,
        receivers: Vec<PeerIx>,
        _rng: &mut Rng,
    ) -> Sending {
        Sending::at_once(receivers)
    }
}

/// Plan for sending a message to its receivers.
#[derive(Debug)]
pub(crate) struct Sending {
    /// Peers that get a copy at once.
    pub(crate) now: Vec<PeerIx>,
    /// Peers that get a copy later, in this order, unless they do not want it by then.
    pub(crate) later: Vec<PeerIx>,
    /// Time at which the first delayed copies are sent.
    pub(crate) later_at: Time,
    /// Number of delayed copies sent at a time.
    pub(crate) group: usize,
    /// Peers that get only the id (IHAVE).
    pub(crate) told: Vec<PeerIx>,
}

impl Sending {
    pub(crate) fn at_once(receivers: Vec<PeerIx>) -> Self {
        Self {
            now: receivers,
            later: Vec::new(),
            later_at: Time::ZERO,
            group: 1,
            told: Vec::new(),
        }
    }
}
