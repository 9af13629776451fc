//! Counters behind P1 to P4 for one peer in one topic.

use std::time::Duration;

use super::params::TopicScoreParams;
use crate::time::Time;

/// Counters of a peer in a topic. `mesh_since` is set while the peer is in our mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TopicCounters {
    mesh_since: Option<Time>,
    /// Time in the mesh at the last decay tick; not live, as in other implementations.
    time_in_mesh_ns: u64,
    active: bool,
    first_deliveries: f64,
    mesh_deliveries: f64,
    mesh_failure: f64,
    invalid_messages: f64,
}

impl TopicCounters {
    pub(crate) fn grafted(&mut self, now: Time) {
        self.mesh_since = Some(now);
        self.time_in_mesh_ns = 0;
        self.active = false;
    }

    /// Records that the peer left the mesh, by PRUNE or disconnect: an active deficit becomes
    /// a failure (P3b).
    pub(crate) fn pruned(&mut self, params: &TopicScoreParams) {
        let deficit = self.deficit(params);
        self.mesh_failure += deficit * deficit;
        self.mesh_since = None;
        self.active = false;
    }

    pub(crate) fn first_delivery(&mut self, params: &TopicScoreParams) {
        self.first_deliveries = (self.first_deliveries + 1.0).min(params.first_deliveries_cap);
        self.mesh_delivery(params);
    }

    /// Whether no counter lowers the score, except for missing deliveries (P3).
    pub(crate) fn is_spotless(&self) -> bool {
        self.mesh_failure == 0.0 && self.invalid_messages == 0.0
    }

    pub(crate) fn first_deliveries(&self) -> f64 {
        self.first_deliveries
    }

    /// Time since the peer entered the mesh, live; `None` while it is not a member.
    pub(crate) fn time_in_mesh(&self, now: Time) -> Option<Duration> {
        self.mesh_since.map(|since| now.since(since))
    }

    pub(crate) fn mesh_delivery(&mut self, params: &TopicScoreParams) {
        if self.mesh_since.is_some() {
            self.mesh_deliveries = (self.mesh_deliveries + 1.0).min(params.mesh_deliveries_cap);
        }
    }

    pub(crate) fn invalid_message(&mut self) {
        self.invalid_messages += 1.0;
    }

    /// Keeps only the counters that lower the score, for a disconnected peer.
    pub(crate) fn retain_bad(&mut self, params: &TopicScoreParams) {
        self.first_deliveries = 0.0;
        self.pruned(params);
    }

    pub(crate) fn refresh(&mut self, params: &TopicScoreParams, now: Time) {
        if let Some(since) = self.mesh_since {
            let time_in_mesh = now.since(since);
            self.time_in_mesh_ns = time_in_mesh.as_nanos() as u64;
            self.active |= time_in_mesh > params.mesh_deliveries_activation;
        }
    }

    pub(crate) fn decay(&mut self, params: &TopicScoreParams, to_zero: f64) {
        let decay = |counter: &mut f64, factor: f64| decay_counter(counter, factor, to_zero);
        decay(&mut self.first_deliveries, params.first_deliveries_decay);
        decay(&mut self.mesh_deliveries, params.mesh_deliveries_decay);
        decay(&mut self.mesh_failure, params.mesh_failure_decay);
        decay(&mut self.invalid_messages, params.invalid_messages_decay);
    }

    fn deficit(&self, params: &TopicScoreParams) -> f64 {
        if self.active {
            (params.mesh_deliveries_threshold - self.mesh_deliveries).max(0.0)
        } else {
            0.0
        }
    }

    /// Weighted contribution of the topic to the score.
    pub(crate) fn score(&self, params: &TopicScoreParams, whole_quanta: bool) -> f64 {
        let mut score = 0.0;
        if self.mesh_since.is_some() {
            let time_in_mesh = Duration::from_nanos(self.time_in_mesh_ns);
            let quanta = time_in_mesh.as_secs_f64() / params.time_in_mesh_quantum.as_secs_f64();
            let quanta = if whole_quanta { quanta.trunc() } else { quanta };
            score += quanta.min(params.time_in_mesh_cap) * params.time_in_mesh_weight;
        }
        let deficit = self.deficit(params);
        score += self.first_deliveries * params.first_deliveries_weight;
        score += deficit * deficit * params.mesh_deliveries_weight;
        score += self.mesh_failure * params.mesh_failure_weight;
        score += self.invalid_messages * self.invalid_messages * params.invalid_messages_weight;
        score * params.topic_weight
    }
}

pub(crate) fn decay_counter(counter: &mut f64, factor: f64, to_zero: f64) {
    *counter *= factor;
    if *counter < to_zero {
        *counter = 0.0;
    }
}
