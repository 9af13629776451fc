//! Dissemination strategies: who gets a copy of a message.
//!
//! Adding one: a file here, a line in [`StrategyKind::build`], a scenario.
//!
//! Fragmentation is no choice of receivers and has a room of its own, `fragments`.

mod eager_mesh;
mod flood;
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

/// The registry of strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyKind {
    /// GossipSub: full copies to the mesh, ids to some others.
    EagerMesh,
    /// Flooding: a full copy to every subscriber (Waku v1, floodsub).
    Flood,
    /// GossipSub, large messages to a few of the mesh at a time.
    Staggered,
    /// GossipSub, large messages to some of the mesh, their ids to the rest of it.
    Reduced,
}

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

/// What a strategy may look at.
pub(crate) struct View<'a> {
    pub(crate) config: &'a Config,
    pub(crate) topic: &'a TopicState,
    pub(crate) peers: &'a Peers,
    pub(crate) scores: &'a Scores,
    pub(crate) now: Time,
    /// When the router was started.
    pub(crate) started: Time,
}

impl View<'_> {
    /// Whether the peer gets a copy without being in the mesh: the operator's own, and those that
    /// know no mesh and are not below the publish threshold.
    pub(crate) fn is_always_sent(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some_and(|state| {
            state.explicit || (!state.features.mesh && self.is_publishable(peer))
        })
    }

    /// Receivers that agreed to get a message of `len` bytes otherwise than at once, and the others.
    fn by_agreement(&self, len: usize, receivers: Vec<PeerIx>) -> (Vec<PeerIx>, Vec<PeerIx>) {
        if len <= self.config.large.threshold_bytes {
            return (Vec::new(), receivers);
        }
        receivers.into_iter().partition(|peer| {
            let state = self.peers.get(*peer);
            state.is_some_and(|state| state.features.large_messages && !state.explicit)
        })
    }

    /// Whether own messages may be flooded to the peer.
    pub(crate) fn is_publishable(&self, peer: PeerIx) -> bool {
        self.scores.score(peer) >= self.config.thresholds.publish
    }
}

/// Chooses receivers. The router removes those that have the message or do not want it. What a
/// strategy does not say is as in GossipSub.
pub(crate) trait Strategy: fmt::Debug + Send {
    /// Whether meshes are kept and ids are gossiped.
    fn keeps_mesh(&self) -> bool {
        true
    }

    /// Receivers of a message that is passed on.
    fn forward(&self, view: &View<'_>) -> Vec<PeerIx> {
        eager_mesh::forward(view)
    }

    /// Receivers of a message of our own, `len` bytes long.
    fn publish(&self, view: &View<'_>, len: usize, rng: &mut Rng) -> Vec<PeerIx> {
        eager_mesh::publish(view, len, rng)
    }

    /// How a message of `len` bytes gets to those receivers that still lack it.
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

/// How a message gets to its receivers.
#[derive(Debug)]
pub(crate) struct Sending {
    /// A copy now.
    pub(crate) now: Vec<PeerIx>,
    /// A copy in a while, in this order, unless it is not wanted by then.
    pub(crate) later: Vec<PeerIx>,
    /// When the first of those leave.
    pub(crate) later_at: Time,
    /// How many of those leave at a time.
    pub(crate) group: usize,
    /// The id.
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
