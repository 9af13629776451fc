//! Lazy gossip: ids to some peers outside the mesh, messages to those who ask.

use crate::io::Class;
use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};
use crate::wire::{self, IHave};

impl Router {
    /// Ids that fit one control frame.
    pub(crate) fn ids_per_frame(&self) -> usize {
        let id_field = wire::ids_bytes(&[MessageId([0; MessageId::LEN])]);
        let room = self.config.limits.control_frame_bytes_max;
        let rest = self.config.limits.topic_bytes_max + wire::ENTRY_OVERHEAD_BYTES;
        (room.saturating_sub(rest) / id_field).max(1)
    }

    /// IHAVE to random subscribers outside the mesh and the fanout.
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
            // Shuffled for each peer, so that a cut list hides different ids from each.
            self.rng.shuffle(&mut ids);
            let ids = &ids[..ids.len().min(ids_max)];
            self.stats.sent.ihave += ids.len() as u64;
            for part in ids.chunks(per_frame) {
                let bytes = wire::ids_bytes(part);
                self.control_with_room(peer, bytes).ihave(&name, part);
            }
        }
    }

    pub(crate) fn on_ihave(&mut self, peer: PeerIx, ihave: &IHave) {
        self.stats.received.ihave += ihave.ids.len() as u64;
        let joined = self
            .topics
            .find(&ihave.topic)
            .filter(|ix| self.topics.get(*ix).joined);
        if joined.is_none() || self.scores.score(peer) < self.config.thresholds.gossip {
            return;
        }
        let limits = &self.config.limits;
        let Some(state) = self.peers.get_busy(peer) else {
            return;
        };
        state.used.ihave_messages += 1;
        let max = match state.features.large_messages {
            true => limits.announcements_per_heartbeat_max,
            false => limits.ihave_messages_per_heartbeat_max,
        };
        if state.used.ihave_messages > max {
            return;
        }
        let budget = limits
            .iwant_ids_per_heartbeat_max
            .saturating_sub(state.used.iwant_ids + state.used.waiting_ids)
            .min(self.promises.room());
        let asking = self.asking();
        let mut wanted = Vec::new();
        for id in ihave.ids.iter().filter(|id| !self.seen.contains(id)) {
            if self.promises.may_ask(id, peer, asking) {
                wanted.push(*id);
            } else if self.promises.is_asked(id, asking) {
                // Others are asked already; it is the next if they do not deliver.
                let when = self.ask_in(self.config.large.iwant_retry);
                self.deferred.add(*id, peer, when);
            }
        }
        if wanted.is_empty() {
            return;
        }
        wanted.sort_unstable();
        wanted.dedup();
        self.rng.choose(&mut wanted, budget);
        wanted.truncate(budget);
        let delay = self.config.large.iwant_delay;
        if delay.is_zero() && self.arriving_until().is_none() {
            return self.ask(peer, &wanted);
        }
        if let Some(state) = self.peers.get_busy(peer) {
            state.used.waiting_ids += wanted.len();
        }
        let when = self.ask_in(delay);
        for id in wanted {
            self.deferred.add(id, peer, when);
        }
    }

    /// IWANT for ids within every budget.
    pub(crate) fn ask(&mut self, peer: PeerIx, wanted: &[MessageId]) {
        let Some(state) = self.peers.get_busy(peer).filter(|_| !wanted.is_empty()) else {
            return;
        };
        state.used.iwant_ids += wanted.len();
        let tracked = self.rng.below(wanted.len());
        self.promises.asked(wanted, tracked, peer, self.now);
        self.stats.sent.iwant += wanted.len() as u64;
        let per_frame = self.ids_per_frame();
        for part in wanted.chunks(per_frame) {
            let bytes = wire::ids_bytes(part);
            self.control_with_room(peer, bytes).iwant(part);
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
            if let Some(frame) = self.cache.serve(id, peer, times_max) {
                self.send_message(peer, Class::Forward, *id, frame);
            }
        }
    }
}
