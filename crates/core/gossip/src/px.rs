//! Peer exchange: peers that a pruned peer may connect to instead.

use bytes::Bytes;

use crate::io::Output;
use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{PeerIx, Topic};
use crate::wire::PxPeer;

impl Router {
    /// Returns the peers to offer in a PRUNE, as (identity, signed record): random subscribers without a negative
    /// score. Empty when exchange is off or the pruned peer has a negative score.
    pub(crate) fn px_offer(&mut self, ix: TopicIx, pruned: PeerIx) -> Vec<(Bytes, Bytes)> {
        if !self.config.peer_exchange || self.scores.score(pruned) < 0.0 {
            return Vec::new();
        }
        let subscribers = self.topics.get(ix).subscribers.as_slice().iter().copied();
        let mut candidates: Vec<_> = subscribers
            .filter(|peer| *peer != pruned && self.scores.score(*peer) >= 0.0)
            .collect();
        let max = self.config.peer_exchange_peers;
        self.rng.choose(&mut candidates, max);
        let states = candidates
            .into_iter()
            .take(max)
            .filter_map(|peer| self.peers.get(peer));
        states
            .filter_map(|state| state.introduction.as_deref())
            .filter(|introduced| !introduced.identity.is_empty())
            .map(|introduced| (introduced.identity.clone(), introduced.record.clone()))
            .collect()
    }

    /// Uses the peers offered by `from`, if its score is high enough. The caller must have checked that `from` was in
    /// the mesh. Otherwise any peer could make this node verify and dial arbitrary peers, PRUNE after PRUNE.
    pub(crate) fn accept_px(&mut self, from: PeerIx, topic: &Topic, offered: &[PxPeer]) {
        if !self.config.peer_exchange || self.scores.score(from) < self.config.thresholds.accept_px
        {
            return;
        }
        for peer in offered.iter().take(self.config.peer_exchange_peers) {
            self.output(Output::Connect {
                from,
                topic: topic.clone(),
                identity: Bytes::copy_from_slice(&peer.peer_id),
                record: Bytes::copy_from_slice(&peer.record),
            });
        }
    }
}
