//! Lazy gossip: IHAVE to some peers outside the mesh, and answers to their IWANT. The module `iwant`
//! handles IHAVE from others.

use crate::io::Class;
use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};
use crate::wire;

impl Router {
    /// Returns the number of ids that fit one control frame.
    pub(crate) fn ids_per_frame(&self) -> usize {
        let id_field = wire::ids_bytes(&[MessageId([0; MessageId::LEN])]);
        let room = self.config.limits.control_frame_bytes_max;
        let rest = self.config.limits.topic_bytes_max + wire::ENTRY_OVERHEAD_BYTES;
        (room.saturating_sub(rest) / id_field).max(1)
    }

    /// Sends IHAVE to random subscribers outside the mesh and the fanout.
    pub(crate) fn emit_gossip(&mut self, ix: TopicIx) {
        let mut ids = self.cache.advertised(ix);
        if ids.is_empty() {
            return;
        }
        let topic = self.topics.get(ix);
        let name = topic.name.clone();
        let subscribers = topic.subscribers.as_slice().iter().copied();
        let mut candidates: Vec<_> = subscribers
            .filter(|p| !topic.mesh.contains(*p) && !topic.fanout.contains(*p))
            .filter(|p| self.scores.score(*p) >= self.config.thresholds.gossip)
            .filter(|p| {
                self.peers
                    .get(*p)
                    .is_some_and(|s| s.features.mesh && !s.explicit)
            })
            .collect();
        let share = (candidates.len() as f64 * self.config.gossip_factor) as usize;
        let count = share.max(self.config.degrees.d_lazy);
        self.rng.choose(&mut candidates, count);
        let (per_frame, ids_max) = (self.ids_per_frame(), self.config.limits.ids_per_rpc_max);
        for peer in candidates.into_iter().take(count) {
            // Shuffled for each peer, so that truncation omits different ids each time.
            self.rng.shuffle(&mut ids);
            let ids = &ids[..ids.len().min(ids_max)];
            self.stats.sent.ihave += ids.len() as u64;
            for part in ids.chunks(per_frame) {
                let bytes = wire::ids_bytes(part);
                self.control_with_room(peer, bytes).ihave(&name, part);
            }
        }
    }

    pub(crate) fn on_iwant(&mut self, peer: PeerIx, ids: &[MessageId]) {
        self.stats.received.iwant += ids.len() as u64;
        if ids.is_empty() || self.scores.score(peer) < self.config.thresholds.gossip {
            return;
        }
        let times_max = self.config.gossip_retransmissions;
        for id in ids {
            if self.is_unwanted(peer, id) {
                continue;
            }
            if let Some((topic, frame)) = self.cache.serve(id, peer, times_max) {
                // The name of the topic is counted with the message, and is part of the frame.
                let name = self.topics.get(topic).name.as_bytes().len();
                self.count_sent(topic, frame.len().saturating_sub(name), 1);
                self.send_message(peer, Class::Forward, *id, frame);
            }
        }
    }
}
