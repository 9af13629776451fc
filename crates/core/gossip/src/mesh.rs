//! The mesh: joining and leaving topics, GRAFT and PRUNE.

use std::time::Duration;

use crate::error::{ApiMisuse, PeerMisbehaved};
use crate::io::Report;
use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{Direction, PeerIx, Topic};
use crate::wire::{self, Prune};

/// Offence of sending a GRAFT before the backoff is over.
struct GraftDuringBackoff {
    /// Whether the GRAFT came within `graft_flood_threshold` of the PRUNE.
    flood: bool,
}

impl Router {
    pub(crate) fn join(&mut self, topic: &Topic) -> Result<(), ApiMisuse> {
        let ix = self.own_topic(topic)?;
        if self.topics.get(ix).joined {
            return Ok(());
        }
        self.topics.get_mut(ix).joined = true;
        self.announce_subscription(ix, true);
        if self.strategy.keeps_mesh() {
            let fanout = std::mem::take(&mut self.topics.get_mut(ix).fanout);
            for peer in fanout.as_slice() {
                if self.may_graft(ix, *peer) {
                    self.graft(ix, *peer);
                }
            }
            self.fill_mesh(ix);
        }
        Ok(())
    }

    pub(crate) fn leave(&mut self, topic: &Topic) {
        let Some(ix) = self
            .topics
            .find(topic)
            .filter(|ix| self.topics.get(*ix).joined)
        else {
            return;
        };
        self.announce_subscription(ix, false);
        let mesh = self.topics.get(ix).mesh.clone();
        for peer in mesh.as_slice() {
            self.prune(ix, *peer, self.config.unsubscribe_backoff, false);
        }
        self.topics.get_mut(ix).joined = false;
    }

    fn announce_subscription(&mut self, ix: TopicIx, subscribe: bool) {
        let name = self.topics.get(ix).name.clone();
        let connected: Vec<_> = self.peers.iter().map(|(peer, _)| peer).collect();
        for peer in connected {
            self.control(peer).subscription(subscribe, &name);
        }
    }

    /// Whether this node may graft the peer: it supports a mesh, is not explicit, is not in the mesh, has
    /// no backoff, and its score is not negative.
    pub(crate) fn may_graft(&self, ix: TopicIx, peer: PeerIx) -> bool {
        let Some(state) = self.peers.get(peer) else {
            return false;
        };
        state.features.mesh
            && !state.explicit
            && !self.topics.get(ix).mesh.contains(peer)
            && !self.backoffs.blocks_graft(ix, peer, self.now)
            && self.scores.score(peer) >= 0.0
    }

    pub(crate) fn graftable(&self, ix: TopicIx) -> Vec<PeerIx> {
        let subscribers = self.topics.get(ix).subscribers.as_slice().iter().copied();
        subscribers
            .filter(|peer| self.may_graft(ix, *peer))
            .collect()
    }

    /// Grafts random peers until the mesh has D members.
    pub(crate) fn fill_mesh(&mut self, ix: TopicIx) {
        let missing = self
            .config
            .degrees
            .d
            .saturating_sub(self.topics.get(ix).mesh.len());
        let mut candidates = self.graftable(ix);
        self.rng.choose(&mut candidates, missing);
        for peer in candidates.into_iter().take(missing) {
            self.graft(ix, peer);
        }
    }

    /// Grafts a newly subscribed peer if the mesh is too small, without waiting for the heartbeat.
    pub(crate) fn graft_newcomer(&mut self, ix: TopicIx, peer: PeerIx) {
        let topic = self.topics.get(ix);
        let short = topic.joined && topic.mesh.len() < self.config.degrees.d_low;
        if short
            && self.config.policy.grafts_newcomers
            && self.strategy.keeps_mesh()
            && self.may_graft(ix, peer)
        {
            self.graft(ix, peer);
        }
    }

    pub(crate) fn graft(&mut self, ix: TopicIx, peer: PeerIx) {
        self.add_to_mesh(ix, peer);
        let name = self.topics.get(ix).name.clone();
        self.stats.sent.graft += 1;
        self.control(peer).graft(&name);
    }

    fn add_to_mesh(&mut self, ix: TopicIx, peer: PeerIx) {
        let topic = self.topics.get_mut(ix);
        if topic.mesh.insert(peer) {
            let topic = topic.name.clone();
            self.scores.grafted(peer, ix, self.now);
            self.report(Report::Grafted { peer, topic });
        }
    }

    /// Removes the peer from the mesh, and returns whether it was in it.
    pub(crate) fn remove_from_mesh(&mut self, ix: TopicIx, peer: PeerIx) -> bool {
        let topic = self.topics.get_mut(ix);
        let was_member = topic.mesh.remove(peer);
        if was_member {
            let topic = topic.name.clone();
            self.scores.pruned(peer, ix);
            self.report(Report::Pruned { peer, topic });
        }
        was_member
    }

    /// Removes the peer from the mesh and sends it a PRUNE.
    pub(crate) fn prune(&mut self, ix: TopicIx, peer: PeerIx, backoff: Duration, px: bool) {
        self.remove_from_mesh(ix, peer);
        self.send_prune(ix, peer, backoff, px);
    }

    fn send_prune(&mut self, ix: TopicIx, peer: PeerIx, backoff: Duration, px: bool) {
        self.backoffs.set(ix, peer, self.now, backoff);
        let detailed = self
            .peers
            .get(peer)
            .is_some_and(|state| state.features.prune_details);
        let offered = if px && detailed {
            self.px_offer(ix, peer)
        } else {
            Vec::new()
        };
        let backoff_s = detailed.then_some(backoff.as_secs());
        let name = self.topics.get(ix).name.clone();
        self.stats.sent.prune += 1;
        self.stats.sent.prune_with_backoff += u64::from(detailed);
        let px_bytes = wire::px_bytes(&offered);
        self.control_with_room(peer, px_bytes)
            .prune(&name, backoff_s, &offered);
    }

    /// Handles all GRAFTs of one frame. Those during a backoff are a single offence: a peer that grafts
    /// eight topics at once makes one mistake, not eight.
    pub(crate) fn on_grafts(&mut self, peer: PeerIx, topics: &[Topic]) {
        let offences = topics.iter().filter_map(|topic| self.on_graft(peer, topic));
        let flood = offences.map(|offence| offence.flood).max();
        if let Some(flood) = flood {
            self.misbehaved(peer, None, PeerMisbehaved::GraftDuringBackoff { flood });
        }
    }

    /// Handles the GRAFT of one topic; the checks are in the order that other implementations use. Returns
    /// the offence, if the GRAFT is one.
    fn on_graft(&mut self, peer: PeerIx, name: &Topic) -> Option<GraftDuringBackoff> {
        self.stats.received.graft += 1;
        // A topic that is not joined gets no answer: answering would make this node an amplifier.
        let ix = self.topics.find(name);
        let ix = ix.filter(|ix| self.topics.get(*ix).joined)?;
        let state = self.peers.get(peer)?;
        let (explicit, direction) = (state.explicit, state.direction);
        let connected_at = state.connected_at;
        // A peer without mesh support would not understand the PRUNE that ends its membership.
        if self.topics.get(ix).mesh.contains(peer) || !state.features.mesh {
            return None;
        }
        let backoff = self.config.prune_backoff;
        if explicit {
            self.send_prune(ix, peer, backoff, false);
            return None;
        }
        // A backoff from an earlier connection binds only this node. The peer may have restarted since
        // then, so it may have forgotten our PRUNE, or no longer want the backoff that it requested.
        let pruned_at = self.backoffs.active(ix, peer, self.now);
        if let Some(pruned_at) = pruned_at.filter(|at| *at >= connected_at) {
            let flood = self.now.since(pruned_at) < self.config.graft_flood_threshold;
            self.send_prune(ix, peer, backoff, false);
            return Some(GraftDuringBackoff { flood });
        }
        if self.scores.score(peer) < 0.0 {
            self.send_prune(ix, peer, backoff, false);
            return None;
        }
        let full = self.topics.get(ix).mesh.len() >= self.config.degrees.d_high;
        if full && direction == Direction::Inbound {
            let Some(worst) = self.makes_room_for(ix, peer) else {
                self.send_prune(ix, peer, backoff, true);
                return None;
            };
            self.prune(ix, worst, backoff, true);
        }
        self.add_to_mesh(ix, peer);
        // A peer that grafts is subscribed, even if its announcement has not arrived yet.
        self.peer_joins(peer, name);
        if !self.topics.get(ix).subscribers.contains(peer) {
            // The peer has too many subscriptions. A disconnect removes peers only from the meshes
            // of their topics.
            self.prune(ix, peer, backoff, false);
        }
        None
    }

    pub(crate) fn on_prune(&mut self, peer: PeerIx, prune: &Prune) {
        self.stats.received.prune += 1;
        self.stats.received.prune_with_backoff += u64::from(prune.backoff_s.is_some());
        // Only joined topics can have state (GHSA-vrx6-jcp8-vm7m).
        let Some(ix) = self
            .topics
            .find(&prune.topic)
            .filter(|ix| self.topics.get(*ix).joined)
        else {
            return;
        };
        let was_member = self.remove_from_mesh(ix, peer);
        // Clamped here, and every sum saturates (CVE-2026-33040, CVE-2026-34219).
        let asked = prune
            .backoff_s
            .map_or(self.config.prune_backoff, |seconds| {
                Duration::from_secs(seconds.min(self.config.limits.prune_backoff_s_max))
            });
        self.backoffs.set(ix, peer, self.now, asked);
        if was_member {
            let topic = self.topics.get(ix).name.clone();
            self.accept_px(peer, &topic, &prune.peers);
        }
    }
}
