//! The heartbeat: upkeep of budgets, IWANT requests, meshes, gossip and caches, in go-libp2p-pubsub's order.

use crate::policy::MeshTrim;
use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{Direction, PeerIx};

impl Router {
    pub(crate) fn heartbeat(&mut self) {
        self.heartbeats += 1;
        // Counted from now, not from the due time: after a pause of the driver there is no
        // burst of heartbeats.
        self.next_heartbeat = self.now.after(self.config.heartbeat);
        self.backoffs.clear_expired(self.now);
        let history = self.config.history_length as u64;
        self.peers.renew(self.heartbeats, history);
        self.judge_unanswered();
        if self.strategy.keeps_mesh() {
            for ix in self.topics.joined() {
                self.maintain_mesh(ix);
                self.emit_gossip(ix);
            }
            self.maintain_fanout();
            let fanouts = self
                .topics
                .iter()
                .filter(|(_, topic)| !topic.fanout.is_empty());
            for ix in fanouts.map(|(ix, _)| ix).collect::<Vec<_>>() {
                self.emit_gossip(ix);
            }
        }
        self.cache.shift();
        self.seen.expire(self.now);
        self.forget_departed();
    }

    fn maintain_mesh(&mut self, ix: TopicIx) {
        self.drop_negative(ix);
        let degrees = self.config.degrees.clone();
        if self.topics.get(ix).mesh.len() < degrees.d_low {
            self.fill_mesh(ix);
        }
        let members = self.topics.get(ix).mesh.len();
        if self.config.policy.trim.is_due(members, degrees.d_high) {
            self.trim_mesh(ix);
        }
        if self.topics.get(ix).mesh.len() >= degrees.d_low {
            self.fill_outbound_quota(ix);
        }
        self.even_out_addresses(ix);
        let every = self.config.opportunistic_graft_heartbeats;
        if every > 0 && self.heartbeats.is_multiple_of(every) {
            self.graft_opportunistically(ix);
            self.exchange_idle_members(ix);
        }
    }

    fn drop_negative(&mut self, ix: TopicIx) {
        let mesh = self.topics.get(ix).mesh.as_slice().iter().copied();
        let negative: Vec<_> = mesh.filter(|peer| self.scores.score(*peer) < 0.0).collect();
        for peer in negative {
            self.prune(ix, peer, self.config.prune_backoff, false);
        }
    }

    /// Prunes the mesh to D peers: the best by score, then random others, with enough outbound ones among
    /// them.
    fn trim_mesh(&mut self, ix: TopicIx) {
        let degrees = self.config.degrees.clone();
        let mut mesh = self.topics.get(ix).mesh.as_slice().to_vec();
        // Shuffled first, so that ties are broken at random and not by index.
        self.rng.shuffle(&mut mesh);
        mesh.sort_by(|a, b| self.scores.score(*b).total_cmp(&self.scores.score(*a)));
        let best = degrees.d_score.min(mesh.len());
        if self.config.policy.trim == MeshTrim::AllBelowScore {
            let rest = mesh.split_off(best);
            return self.trim_below_score(ix, rest);
        }
        self.rng.shuffle(&mut mesh[best..]);
        let keep = degrees.d.min(mesh.len());
        let (kept, dropped) = mesh.split_at_mut(keep);
        let outbound = kept.iter().filter(|peer| self.is_outbound(**peer)).count();
        let mut missing = degrees.d_out.saturating_sub(outbound);
        for candidate in dropped.iter_mut() {
            if missing == 0 {
                break;
            }
            if self.is_outbound(*candidate)
                && let Some(worst) = kept.iter_mut().rev().find(|peer| !self.is_outbound(**peer))
            {
                std::mem::swap(candidate, worst);
                missing -= 1;
            }
        }
        for peer in dropped.iter().copied() {
            self.prune(ix, peer, self.config.prune_backoff, true);
        }
    }

    /// Prunes members outside the best-scoring ones: see [`MeshTrim::AllBelowScore`].
    fn trim_below_score(&mut self, ix: TopicIx, rest: Vec<PeerIx>) {
        let degrees = self.config.degrees.clone();
        let (mut outbound, mut dropped): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .rev()
            .partition(|peer| self.is_outbound(*peer));
        outbound.truncate(outbound.len().saturating_sub(degrees.d_out));
        dropped.extend(outbound);
        if dropped.len() > degrees.d {
            self.rng.shuffle(&mut dropped);
            dropped.truncate(dropped.len() - degrees.d);
        }
        for peer in dropped {
            self.prune(ix, peer, self.config.prune_backoff, true);
        }
    }

    pub(crate) fn is_outbound(&self, peer: PeerIx) -> bool {
        self.peers
            .get(peer)
            .is_some_and(|state| state.direction == Direction::Outbound)
    }

    fn fill_outbound_quota(&mut self, ix: TopicIx) {
        let mesh = self.topics.get(ix).mesh.as_slice();
        let outbound = mesh.iter().filter(|peer| self.is_outbound(**peer)).count();
        let missing = self.config.degrees.d_out.saturating_sub(outbound);
        if missing == 0 {
            return;
        }
        let mut candidates = self.graftable(ix);
        candidates.retain(|peer| self.is_outbound(*peer));
        self.rng.choose(&mut candidates, missing);
        for peer in candidates.into_iter().take(missing) {
            self.graft(ix, peer);
        }
    }

    /// Grafts peers whose scores exceed the mesh's median, when that is below the threshold.
    fn graft_opportunistically(&mut self, ix: TopicIx) {
        let mesh = self.topics.get(ix).mesh.as_slice();
        let threshold = self.config.thresholds.opportunistic_graft;
        if threshold <= 0.0 || mesh.len() < 2 {
            return;
        }
        let mut scores: Vec<_> = mesh.iter().map(|peer| self.scores.score(*peer)).collect();
        scores.sort_by(f64::total_cmp);
        let median = scores[scores.len() / 2];
        if median >= threshold {
            return;
        }
        let mut better = self.graftable(ix);
        better.retain(|peer| self.scores.score(*peer) > median);
        let count = self.config.opportunistic_graft_peers;
        self.rng.choose(&mut better, count);
        for peer in better.into_iter().take(count) {
            self.graft(ix, peer);
        }
    }
}
