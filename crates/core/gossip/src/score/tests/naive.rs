//! A second score function, written from the specification's text: every term spelled out, nothing cached
//! that can be computed, everything looked up in maps.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::score::{Evaluation, ScoreParams, TopicScoreParams};
use crate::time::Time;

/// Counters of a peer in a topic.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Time of the graft, while the peer is in the mesh.
    grafted_at: Option<Time>,
    /// `meshTime` of the specification, as of the last decay tick.
    mesh_time: Duration,
    /// Whether `meshTime` was above the activation at a decay tick.
    active: bool,
    p2: f64,
    p3: f64,
    p3b: f64,
    p4: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Peer {
    connected: bool,
    forget_at: Time,
    /// Number of connections made before this one, by any peer.
    came: u64,
    ip: Option<IpAddr>,
    topics: BTreeMap<usize, Counts>,
    p5: f64,
    p7: f64,
    slow: f64,
    at_last_decay: f64,
}

pub(super) struct Naive {
    pub(super) params: ScoreParams,
    pub(super) topics: Vec<TopicScoreParams>,
    peers: BTreeMap<u32, Peer>,
    connections: u64,
    next_decay: Time,
}

impl Naive {
    pub(super) fn new(params: ScoreParams, topics: Vec<TopicScoreParams>) -> Self {
        let next_decay = Time::ZERO.after(params.decay_interval);
        Self {
            params,
            topics,
            peers: BTreeMap::new(),
            connections: 0,
            next_decay,
        }
    }

    pub(super) fn is_connected(&self, peer: u32) -> bool {
        self.peers.get(&peer).is_some_and(|peer| peer.connected)
    }

    pub(super) fn is_in_mesh(&self, peer: u32, topic: usize) -> bool {
        let counts = self.peers.get(&peer).and_then(|p| p.topics.get(&topic));
        counts.is_some_and(|counts| counts.grafted_at.is_some())
    }

    pub(super) fn connect(&mut self, peer: u32, ip: Option<IpAddr>) {
        self.connections += 1;
        let peer = self.peers.entry(peer).or_default();
        peer.connected = true;
        peer.came = self.connections;
        peer.ip = ip;
    }

    /// "If score > 0 the record is deleted; otherwise P2 is zeroed, active deficits go to P3b, mesh status
    /// inactive, kept until RetainScore." Here a score of 0 without offences is deleted too, and P6 is not
    /// attributed to the peer.
    pub(super) fn disconnect(&mut self, peer: u32, now: Time) {
        self.peers.get_mut(&peer).unwrap().ip = None;
        if self.live_score(peer) >= 0.0 && self.peers[&peer].p7 == 0.0 {
            self.peers.remove(&peer);
            return;
        }
        let topics: Vec<usize> = self.peers[&peer].topics.keys().copied().collect();
        for topic in topics {
            self.prune(peer, topic);
            self.counts(peer, topic).p2 = 0.0;
        }
        let retain = self.params.retain_score;
        let peer = self.peers.get_mut(&peer).unwrap();
        peer.connected = false;
        peer.forget_at = now.after(retain);
    }

    pub(super) fn counts(&mut self, peer: u32, topic: usize) -> &mut Counts {
        let peer = self.peers.get_mut(&peer).unwrap();
        peer.topics.entry(topic).or_default()
    }

    pub(super) fn graft(&mut self, peer: u32, topic: usize, now: Time) {
        let counts = self.counts(peer, topic);
        counts.grafted_at = Some(now);
        counts.mesh_time = Duration::ZERO;
        counts.active = false;
    }

    /// P3b: "sum of deficit² at PRUNE or disconnect while active and below".
    pub(super) fn prune(&mut self, peer: u32, topic: usize) {
        let threshold = self.topics[topic].mesh_deliveries_threshold;
        let counts = self.counts(peer, topic);
        if counts.active && counts.p3 < threshold {
            counts.p3b += (threshold - counts.p3).powi(2);
        }
        counts.grafted_at = None;
        counts.active = false;
    }

    pub(super) fn first_delivery(&mut self, peer: u32, topic: usize) {
        let cap = self.topics[topic].first_deliveries_cap;
        let counts = self.counts(peer, topic);
        counts.p2 += 1.0;
        if counts.p2 > cap {
            counts.p2 = cap;
        }
        self.mesh_delivery(peer, topic);
    }

    /// P3 "counts first and near-first from mesh peers, capped".
    pub(super) fn mesh_delivery(&mut self, peer: u32, topic: usize) {
        let cap = self.topics[topic].mesh_deliveries_cap;
        let counts = self.counts(peer, topic);
        if counts.grafted_at.is_some() {
            counts.p3 += 1.0;
            if counts.p3 > cap {
                counts.p3 = cap;
            }
        }
    }

    pub(super) fn invalid(&mut self, peer: u32, topic: usize) {
        self.counts(peer, topic).p4 += 1.0;
    }

    pub(super) fn peer(&mut self, peer: u32) -> Option<&mut Peer> {
        self.peers.get_mut(&peer)
    }

    pub(super) fn decay(&mut self, now: Time) {
        if now < self.next_decay {
            return;
        }
        self.next_decay = now.after(self.params.decay_interval);
        self.peers
            .retain(|_, peer| peer.connected || peer.forget_at > now);
        let names: Vec<u32> = self.peers.keys().copied().collect();
        if self.params.evaluation == Evaluation::AtDecay {
            self.update_mesh_times(now);
            for name in &names {
                let score = self.live_score(*name);
                self.peers.get_mut(name).unwrap().at_last_decay = score;
            }
        }
        let to_zero = self.params.decay_to_zero;
        let decayed = |value: f64, factor: f64| {
            let value = value * factor;
            if value < to_zero { 0.0 } else { value }
        };
        // "Disconnected peers do not decay."
        for peer in self.peers.values_mut().filter(|peer| peer.connected) {
            for (topic, counts) in &mut peer.topics {
                let params = &self.topics[*topic];
                counts.p2 = decayed(counts.p2, params.first_deliveries_decay);
                counts.p3 = decayed(counts.p3, params.mesh_deliveries_decay);
                counts.p3b = decayed(counts.p3b, params.mesh_failure_decay);
                counts.p4 = decayed(counts.p4, params.invalid_messages_decay);
            }
            peer.p7 = decayed(peer.p7, self.params.behaviour_decay);
            peer.slow = decayed(peer.slow, self.params.slow_peer_decay);
        }
        self.update_mesh_times(now);
    }

    fn update_mesh_times(&mut self, now: Time) {
        for peer in self.peers.values_mut() {
            for (topic, counts) in &mut peer.topics {
                if let Some(grafted_at) = counts.grafted_at {
                    counts.mesh_time = now.since(grafted_at);
                    if counts.mesh_time > self.topics[*topic].mesh_deliveries_activation {
                        counts.active = true;
                    }
                }
            }
        }
    }

    pub(super) fn score(&self, peer: u32) -> f64 {
        match self.params.evaluation {
            Evaluation::OnDemand => self.live_score(peer),
            Evaluation::AtDecay => self.peers.get(&peer).map_or(0.0, |peer| peer.at_last_decay),
        }
    }

    fn live_score(&self, name: u32) -> f64 {
        let Some(peer) = self.peers.get(&name) else {
            return 0.0;
        };
        let params = &self.params;
        let mut topics = 0.0;
        for (topic, counts) in &peer.topics {
            let t = &self.topics[*topic];
            let mut quanta = counts.mesh_time.as_secs_f64() / t.time_in_mesh_quantum.as_secs_f64();
            if params.whole_quanta {
                quanta = quanta.floor();
            }
            let in_mesh = counts.grafted_at.is_some();
            let p1 = if in_mesh {
                f64::min(quanta, t.time_in_mesh_cap)
            } else {
                0.0
            };
            let below = in_mesh && counts.active && counts.p3 < t.mesh_deliveries_threshold;
            let p3 = if below {
                (t.mesh_deliveries_threshold - counts.p3).powi(2)
            } else {
                0.0
            };
            topics += t.topic_weight
                * (t.time_in_mesh_weight * p1
                    + t.first_deliveries_weight * counts.p2
                    + t.mesh_deliveries_weight * p3
                    + t.mesh_failure_weight * counts.p3b
                    + t.invalid_messages_weight * counts.p4.powi(2));
        }
        if params.topic_score_cap > 0.0 && topics > params.topic_score_cap {
            topics = params.topic_score_cap;
        }
        // Connected peers at the address that came before this one, itself included.
        let others = self.peers.values().filter(|other| other.connected);
        let same_ip = others
            .filter(|other| other.ip == peer.ip && other.came <= peer.came)
            .count();
        let threshold = params.ip_colocation_threshold as usize;
        let counted = peer
            .ip
            .is_some_and(|ip| !params.ip_colocation_allowed.contains(&ip));
        let p6 = if counted && same_ip > threshold {
            ((same_ip - threshold) as f64).powi(2)
        } else {
            0.0
        };
        let p7 = f64::max(peer.p7 - params.behaviour_threshold, 0.0).powi(2);
        let slow = f64::max(peer.slow - params.slow_peer_threshold, 0.0);
        topics
            + params.application_weight * peer.p5
            + params.ip_colocation_weight * p6
            + params.behaviour_weight * p7
            + params.slow_peer_weight * slow
    }
}

impl Peer {
    pub(super) fn set_application(&mut self, value: f64) {
        self.p5 = value;
    }

    pub(super) fn misbehave(&mut self, count: u32) {
        self.p7 += f64::from(count);
    }

    pub(super) fn drop_frame(&mut self) {
        self.slow += 1.0;
    }
}
