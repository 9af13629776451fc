//! Metrics that dashboards made for the reference node (nwaku) query, under its names.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::{MetricsPage, SharedSnapshot};
use crate::command::MessageSizes;

/// Collector of these metrics, whose names have no prefix of ours.
#[derive(Debug)]
pub(super) struct Dashboards(pub(super) SharedSnapshot);

impl Collector for Dashboards {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut page = MetricsPage(encoder);
        let snapshot = &*self.0.0;
        page.libp2p(snapshot)?;
        page.waku(snapshot)
    }
}

impl MetricsPage<'_> {
    fn libp2p(&mut self, snapshot: &crate::command::MetricsSnapshot) -> fmt::Result {
        let (stats, totals) = (&snapshot.gossip.stats, &snapshot.totals);
        let topics = &snapshot.topics;
        self.gauge("libp2p_peers", "Connected peers", snapshot.peers)?;
        let help = "Peers with which pubsub is spoken";
        self.gauge("libp2p_pubsub_peers", help, snapshot.pubsub_peers)?;
        self.gauge("libp2p_pubsub_topics", "Topics joined", topics.len())?;
        let mesh = || topics.iter().map(|t| (t.topic.as_str(), t.mesh));
        let help = "Peers in the mesh";
        self.gauges(
            "libp2p_gossipsub_peers_per_topic_mesh",
            help,
            "topic",
            mesh(),
        )?;
        let subscribers = topics.iter().map(|t| (t.topic.as_str(), t.subscribers));
        let help = "Peers subscribed";
        let name = "libp2p_gossipsub_peers_per_topic_gossipsub";
        self.gauges(name, help, "topic", subscribers)?;
        let (received, sent) = (&stats.received, &stats.sent);
        let rejected = totals.rejected.values().sum();
        for (name, help, total) in [
            (
                "libp2p_pubsub_subscriptions",
                "Topics joined so far",
                totals.joined,
            ),
            (
                "libp2p_pubsub_unsubscriptions",
                "Topics left so far",
                totals.left,
            ),
            (
                "libp2p_pubsub_messages_published",
                "Own messages sent",
                totals.published,
            ),
            (
                "libp2p_pubsub_validation_success",
                "Valid messages",
                totals.delivered,
            ),
            (
                "libp2p_pubsub_validation_failure",
                "Messages refused",
                rejected,
            ),
            (
                "libp2p_gossipsub_received",
                "First copies received",
                stats.messages_received,
            ),
            (
                "libp2p_gossipsub_duplicate",
                "Further copies received",
                stats.duplicates_received,
            ),
            (
                "libp2p_pubsub_broadcast_messages",
                "Copies sent",
                stats.messages_sent,
            ),
            ("libp2p_pubsub_broadcast_graft", "GRAFTs sent", sent.graft),
            ("libp2p_pubsub_broadcast_prune", "PRUNEs sent", sent.prune),
            (
                "libp2p_pubsub_broadcast_ihave",
                "Ids in IHAVEs sent",
                sent.ihave,
            ),
            (
                "libp2p_pubsub_broadcast_iwant",
                "Ids in IWANTs sent",
                sent.iwant,
            ),
            (
                "libp2p_pubsub_broadcast_idontwant",
                "Ids in IDONTWANTs sent",
                sent.idontwant,
            ),
            (
                "libp2p_pubsub_received_graft",
                "GRAFTs received",
                received.graft,
            ),
            (
                "libp2p_pubsub_received_prune",
                "PRUNEs received",
                received.prune,
            ),
            (
                "libp2p_pubsub_received_ihave",
                "Ids in IHAVEs received",
                received.ihave,
            ),
            (
                "libp2p_pubsub_received_iwant",
                "Ids in IWANTs received",
                received.iwant,
            ),
            (
                "libp2p_pubsub_received_idontwant",
                "Ids in IDONTWANTs received",
                received.idontwant,
            ),
        ] {
            self.counter(name, help, total)?;
        }
        Ok(())
    }

    fn waku(&mut self, snapshot: &crate::command::MetricsSnapshot) -> fmt::Result {
        self.gauge("waku_peer_store_size", "Known peers", snapshot.known_peers)?;
        let relayed = [("relay", snapshot.totals.delivered)].into_iter();
        self.counters("waku_node_messages", "Messages received", "type", relayed)?;
        let version = [(env!("CARGO_PKG_VERSION"), 1)].into_iter();
        self.gauges("waku_version", "Version", "version", version)?;
        let sizes = &snapshot.totals.message_sizes;
        let bounds = MessageSizes::BOUNDS_KB.iter().map(|bound| *bound as f64);
        let buckets: Vec<_> = bounds.chain([f64::MAX]).zip(sizes.counts).collect();
        let count = sizes.counts.iter().sum();
        let sum_kb = sizes.sum_bytes as f64 / 1000.0;
        let (name, help) = ("waku_histogram_message_size", "Payloads, in kB");
        let mut metric = self.metric(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<NoLabelSet>(sum_kb, count, &buckets, None)
    }
}
