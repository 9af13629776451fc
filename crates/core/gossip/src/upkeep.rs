//! Upkeep at fixed intervals (heartbeats and score decay), and when it can be deferred.
//!
//! Most upkeep of a router at rest has no visible effect: no mesh is too small, nothing is to be advertised, and no
//! requests are open. After such a heartbeat the driver need not wake the router for the next ones, until there is an
//! input. The deferred upkeep is caught up before that input, each heartbeat with the time at which it was due, so that
//! the router is in the same state as if it had been woken.

use crate::router::Router;
use crate::time::Time;
use crate::topics::{TopicIx, TopicState};

/// Maximum number of heartbeats for which a router without opportunistic grafting rests.
const REST_HEARTBEATS_MAX: u64 = 60;

impl Router {
    /// Returns the time of the next heartbeat or decay, whether it can be deferred or not.
    pub(crate) fn next_upkeep(&self) -> Time {
        self.next_heartbeat.min(self.scores.next_decay())
    }

    /// Latest time at which upkeep must be done.
    pub(crate) fn upkeep_timeout(&self) -> Time {
        self.next_upkeep().max(self.rests_until)
    }

    /// Catches up on the deferred upkeep that was due before `now`.
    pub(crate) fn catch_up(&mut self, now: Time) {
        let end = now.min(self.rests_until);
        while self.next_upkeep() < end {
            self.now = self.next_upkeep();
            self.upkeep();
            debug_assert!(
                self.outputs_waiting() == 0,
                "upkeep that could wait has outputs"
            );
        }
    }

    /// Does the upkeep that is due now.
    pub(crate) fn upkeep(&mut self) {
        if self.scores.decay(self.now) {
            self.after_decay();
        }
        if self.now >= self.next_heartbeat {
            self.heartbeat();
            // Checked once per heartbeat, not after every input, of which a busy router has many.
            if self.is_at_rest() {
                self.rests_until = self.next_graft_by_score();
            }
        }
    }

    /// Returns the time of the next heartbeat at which meshes change although they have enough members.
    fn next_graft_by_score(&self) -> Time {
        let every = match self.config.opportunistic_graft_heartbeats {
            0 => REST_HEARTBEATS_MAX,
            every => every,
        };
        let between = every - 1 - self.heartbeats % every;
        let between = u32::try_from(between.min(REST_HEARTBEATS_MAX)).unwrap_or(u32::MAX);
        let heartbeat = self.config.heartbeat;
        self.next_heartbeat.after(heartbeat.saturating_mul(between))
    }

    /// Whether heartbeats and decays have no visible effect, whenever they occur.
    fn is_at_rest(&self) -> bool {
        self.cache.is_empty()
            && self.departed.is_empty()
            && self.fetcher.is_idle()
            // Counts since the last heartbeat take memory until the next one.
            && self.peers.are_idle()
            && self.topics.iter().all(|(ix, topic)| {
                let keeps_mesh = topic.joined && self.strategy.keeps_mesh();
                topic.fanout.is_empty() && (!keeps_mesh || self.has_settled_mesh(ix, topic))
            })
            && self.scores.cannot_sink()
    }

    /// Whether a heartbeat leaves the mesh of a topic unchanged, provided that no member has a negative score.
    fn has_settled_mesh(&self, ix: TopicIx, topic: &TopicState) -> bool {
        let (degrees, mesh) = (&self.config.degrees, topic.mesh.as_slice());
        let trim = self.config.policy.trim;
        let outbound = mesh.iter().filter(|peer| self.is_outbound(**peer)).count();
        mesh.len() >= degrees.d_low
            && !trim.is_due(mesh.len(), degrees.d_high)
            && outbound >= degrees.d_out
            && !self.is_crowded(ix)
    }
}
