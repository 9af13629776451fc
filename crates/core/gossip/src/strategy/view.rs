//! The part of a router's state that strategies read.

use crate::features::Features;
use crate::parameters::{FloodPublish, Parameters};
use crate::peers::Peers;
use crate::rng::Rng;
use crate::score::Scores;
use crate::time::Time;
use crate::topics::TopicState;
use crate::types::{Direction, PeerIx, Topic};

/// State that a strategy may read: the topic of a message, and the peers around it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) parameters: Parameters<'a>,
    pub(crate) topic: &'a TopicState,
    pub(crate) peers: &'a Peers,
    pub(crate) scores: &'a Scores,
    pub(crate) now: Time,
    /// Time at which the router was created.
    pub(crate) started: Time,
}

impl<'a> View<'a> {
    /// Topic of the message.
    pub fn topic(&self) -> &'a Topic {
        &self.topic.name
    }

    /// Whether this node is subscribed to the topic.
    pub fn is_joined(&self) -> bool {
        self.topic.joined
    }

    /// Connected peers that are subscribed to the topic, in ascending order.
    pub fn subscribers(&self) -> &'a [PeerIx] {
        self.topic.subscribers.as_slice()
    }

    /// Peers in the mesh of this node, in ascending order; empty unless the topic is joined.
    pub fn mesh(&self) -> &'a [PeerIx] {
        self.topic.mesh.as_slice()
    }

    /// Peers that get published messages while this node is not subscribed, in ascending order.
    pub fn fanout(&self) -> &'a [PeerIx] {
        self.topic.fanout.as_slice()
    }

    /// Score of a peer; 0 without a score function, and for an unknown peer.
    pub fn score(&self, peer: PeerIx) -> f64 {
        self.scores.score(peer)
    }

    /// Features of the protocol that a connected peer speaks.
    pub fn features(&self, peer: PeerIx) -> Option<Features> {
        self.peers.get(peer).map(|state| state.features)
    }

    /// Whether a connected peer is explicit, see [`explicit`](crate::NewPeer::explicit).
    pub fn is_explicit(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some_and(|state| state.explicit)
    }

    /// Whether this node dialled a connected peer.
    pub fn is_outbound(&self, peer: PeerIx) -> bool {
        let state = self.peers.get(peer);
        state.is_some_and(|state| state.direction == Direction::Outbound)
    }

    /// Whether messages of the topic may be passed on to the peer in the stem of Dandelion++: it is subscribed and has
    /// the feature [`stem`](Features::stem).
    pub fn understands_stem(&self, peer: PeerIx) -> bool {
        let features = self.features(peer);
        self.topic.subscribers.contains(peer) && features.is_some_and(|features| features.stem)
    }

    /// Present time of the router.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Time at which the router was created.
    pub fn started(&self) -> Time {
        self.started
    }

    /// Parameters of the configuration that concern strategies.
    pub fn parameters(&self) -> Parameters<'a> {
        self.parameters
    }

    /// Receivers of a forwarded message in GossipSub: the mesh, and peers that always get a copy.
    pub fn receivers_of_forwarded(&self) -> Vec<PeerIx> {
        let subscribers = self.subscribers().iter().copied();
        subscribers
            .filter(|p| self.topic.mesh.contains(*p) || self.is_always_sent(*p))
            .collect()
    }

    /// Receivers of a message of this node in GossipSub, `len` bytes long: the mesh or fanout, peers that always get
    /// a copy, and the peers that it is flooded to.
    pub fn receivers_of_published(&self, len: usize, rng: &mut Rng) -> Vec<PeerIx> {
        let topic = self.topic;
        let base = if topic.joined {
            &topic.mesh
        } else {
            &topic.fanout
        };
        let mut chosen: Vec<_> = base.as_slice().to_vec();
        let subscribers = topic.subscribers.as_slice().iter().copied();
        chosen.extend(subscribers.filter(|p| !base.contains(*p) && self.is_always_sent(*p)));
        let Some(max) = flood_max(&self.parameters, len) else {
            return chosen;
        };
        let mut flood: Vec<_> = topic
            .subscribers
            .as_slice()
            .iter()
            .copied()
            .filter(|p| !chosen.contains(p) && self.is_publishable(*p))
            .collect();
        let room = max.saturating_sub(chosen.len()).min(flood.len());
        // Random only if some are left out. A fixed order puts the connections that carried the last message first;
        // their congestion windows are therefore open.
        if room < flood.len() {
            rng.choose(&mut flood, room);
        }
        chosen.extend_from_slice(&flood[..room]);
        chosen
    }

    /// Whether the peer gets a copy without being in the mesh: explicit peers, and peers without mesh support whose
    /// score is not below the publish threshold.
    pub fn is_always_sent(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some_and(|state| {
            state.explicit || (!state.features.mesh && self.is_publishable(peer))
        })
    }

    /// Splits receivers into those whose protocol allows a message of `len` bytes to be delayed or
    /// announced, and the others.
    pub fn by_agreement(&self, len: usize, receivers: Vec<PeerIx>) -> (Vec<PeerIx>, Vec<PeerIx>) {
        if len <= self.parameters.large.threshold_bytes {
            return (Vec::new(), receivers);
        }
        receivers.into_iter().partition(|peer| {
            let state = self.peers.get(*peer);
            state.is_some_and(|state| state.features.large_messages && !state.explicit)
        })
    }

    /// Whether messages of this node may be flooded to the peer.
    pub fn is_publishable(&self, peer: PeerIx) -> bool {
        self.scores.score(peer) >= self.parameters.publish_threshold
    }
}

/// Returns the maximum number of peers to flood a message of `len` bytes to; `None` when flooding is off.
fn flood_max(parameters: &Parameters<'_>, len: usize) -> Option<usize> {
    match parameters.flood_publish {
        FloodPublish::Off => None,
        FloodPublish::On => Some(usize::MAX),
        FloodPublish::BoundedByRate { rate_bytes_per_ms } => {
            let send_ms = (len / rate_bytes_per_ms.max(1)).max(1);
            let heartbeat_ms =
                usize::try_from(parameters.heartbeat.as_millis()).unwrap_or(usize::MAX);
            Some((heartbeat_ms / send_ms).max(parameters.degrees.d_low))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn flood_is_bounded_as_nwaku_bounds_it() {
        let config = Config::waku();
        let max = |len| flood_max(&config.parameters(), len);
        assert_eq!(max(2_000), Some(1000));
        assert_eq!(max(25_000), Some(500));
        assert_eq!(max(100_000), Some(125));
        assert_eq!(max(500_000), Some(25));
        assert_eq!(max(50_000_000), Some(config.degrees.d_low));
    }
}
