//! Snapshot of all counters and gauges for `/metrics`.

use undertone_gossip::Topic;
use undertone_relay::Rejection;
use undertone_rln::ProofRejection as Why;

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

/// Label of a rejection's reason, one of a fixed set, so that the number of time series is bounded.
pub(super) fn reason_label(reason: &Rejection) -> &'static str {
    match reason {
        Rejection::Capacity => "capacity",
        Rejection::Decode(_) => "decode",
        Rejection::Duplicate => "duplicate",
        Rejection::MalformedProof(_) => "malformed_proof",
        Rejection::MissingProof => "missing_proof",
        Rejection::Proof(why) => match why {
            Why::NegativeTimestamp { .. } => "negative_timestamp",
            Why::StaleTimestamp { .. } => "stale_timestamp",
            Why::FutureTimestamp { .. } => "future_timestamp",
            Why::MalformedEpoch(_) => "malformed_epoch",
            Why::EpochMismatch { .. } => "epoch_mismatch",
            Why::ForeignIdentifier => "foreign_identifier",
            Why::NonCanonical(_) => "non_canonical",
            Why::SignalMismatch => "signal_mismatch",
            Why::UnknownRoot { .. } => "unknown_root",
        },
        Rejection::OtherShard => "other_shard",
        Rejection::Snark => "snark",
        Rejection::Spam { .. } => "spam",
        Rejection::TooLarge { .. } => "too_large",
        Rejection::Unjudged => "unjudged",
        Rejection::WrongShard => "wrong_shard",
        _ => "other",
    }
}
