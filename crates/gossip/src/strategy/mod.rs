//! Dissemination strategies: who gets a copy of a message.
//!
//! Adding one: a file here, a line in [`StrategyKind::build`], a scenario.

mod eager_mesh;
mod flood;

use std::fmt;

use crate::config::Config;
use crate::peers::Peers;
use crate::rng::Rng;
use crate::score::Scores;
use crate::topics::TopicState;
use crate::types::PeerIx;

/// The registry of strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategyKind {
    /// GossipSub: full copies to the mesh, ids to some others.
    EagerMesh,
    /// Flooding: a full copy to every subscriber (Waku v1, floodsub).
    Flood,
}

impl StrategyKind {
    pub(crate) fn build(self) -> Box<dyn Strategy> {
        match self {
            Self::EagerMesh => Box::new(eager_mesh::EagerMesh),
            Self::Flood => Box::new(flood::Flood),
        }
    }
}

/// What a strategy may look at.
pub(crate) struct View<'a> {
    pub(crate) config: &'a Config,
    pub(crate) topic: &'a TopicState,
    pub(crate) peers: &'a Peers,
    pub(crate) scores: &'a Scores,
}

impl View<'_> {
    /// Whether the peer gets a copy without being in the mesh: the operator's own, and those that
    /// know no mesh and are not below the publish threshold.
    pub(crate) fn is_always_sent(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some_and(|state| {
            state.explicit || (!state.features.mesh && self.is_publishable(peer))
        })
    }

    /// Whether own messages may be flooded to the peer.
    pub(crate) fn is_publishable(&self, peer: PeerIx) -> bool {
        self.scores.score(peer) >= self.config.thresholds.publish
    }
}

/// Chooses receivers. The router removes those that have the message or do not want it.
pub(crate) trait Strategy: fmt::Debug + Send {
    /// Whether meshes are kept and ids are gossiped.
    fn keeps_mesh(&self) -> bool;

    /// Receivers of a message that is passed on.
    fn forward(&self, view: &View<'_>) -> Vec<PeerIx>;

    /// Receivers of a message of our own, `len` bytes long.
    fn publish(&self, view: &View<'_>, len: usize, rng: &mut Rng) -> Vec<PeerIx>;
}
