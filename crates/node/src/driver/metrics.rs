//! Snapshot of all counters and gauges for `/metrics`.

use undertone_gossip::Topic;

use super::event_loop::EventLoop;
use super::rln::RlnService;
use crate::command::{GossipSnapshot, MetricsSnapshot, TopicSnapshot};

impl EventLoop {
    pub(super) fn metrics(&self) -> MetricsSnapshot {
        let router = self.relay.router();
        let topic = |topic: &Topic| TopicSnapshot {
            topic: topic.as_str().to_owned(),
            mesh: router.mesh(topic).len(),
            subscribers: router.subscribers(topic).len(),
        };
        MetricsSnapshot {
            peers: self.peers.connected_count(),
            pubsub_peers: self.peers.count(|ix| router.is_connected(ix)),
            known_peers: self.peers.iter().count(),
            gossip: GossipSnapshot {
                stats: router.stats(),
                usage: router.usage(),
            },
            topics: router.joined().iter().map(topic).collect(),
            totals: self.totals.clone(),
            checks_waiting: self.relay.checks_waiting(),
            rln: self.rln.as_ref().map(RlnService::snapshot),
        }
    }
}
