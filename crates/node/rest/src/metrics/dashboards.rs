//! Metrics that dashboards made for the reference node (nwaku) query, under its names.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::{MetricsPage, SharedSnapshot, signed};
use undertone_network::command::{MessageSizes, MetricsSnapshot, RlnSnapshot};
use undertone_provider::services::{ArchiveCounts, SyncTotals};

/// Reason for rejecting messages of a member that exceeded its limit, as the relay names it.
const SPAM: &str = "spam";

/// Reasons for rejecting messages that concern rate limiting, as the relay names them.
const RLN_REASONS: [&str; 13] = [
    "epoch_mismatch",
    "foreign_identifier",
    "future_timestamp",
    "malformed_epoch",
    "malformed_proof",
    "missing_proof",
    "negative_timestamp",
    "non_canonical",
    "signal_mismatch",
    "snark",
    SPAM,
    "stale_timestamp",
    "unknown_root",
];

/// Collector of the metrics with libp2p's names.
#[derive(Debug)]
pub(super) struct LibP2pNames(pub(super) SharedSnapshot);

impl Collector for LibP2pNames {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        MetricsPage(encoder).libp2p(&self.0.0)
    }
}

/// Collector of the reference node's own metrics. The registry adds the prefix; two are in use.
#[derive(Debug)]
pub(super) struct WakuNames {
    pub(super) snapshot: SharedSnapshot,
    /// Counts of messages passed to the store; `None` without a store.
    pub(super) archive: Option<ArchiveCounts>,
}

impl Collector for WakuNames {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut page = MetricsPage(encoder);
        let snapshot = &*self.snapshot.0;
        page.waku(snapshot)?;
        if let Some(rln) = &snapshot.rln {
            page.waku_rln(snapshot, rln)?;
        }
        match &self.archive {
            Some(counts) => page.waku_archive(counts),
            None => Ok(()),
        }
    }
}

/// Collector of the reference node's metrics that had no prefix up to version 0.38 and have the later prefix
/// since.
#[derive(Debug)]
pub(super) struct LaterPrefixed {
    pub(super) snapshot: SharedSnapshot,
    /// Counts of store synchronisation; `None` without it.
    pub(super) sync: Option<SyncTotals>,
    /// Whether the registry adds a prefix.
    pub(super) has_prefix: bool,
}

impl Collector for LaterPrefixed {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let (mut page, snapshot) = (MetricsPage(encoder), &*self.snapshot.0);
        let help = "Share of the last ten seconds for which the threads of the node were at work";
        page.share("event_loop_load", help, snapshot.runtime_load)?;
        // The only one whose old name was spelt differently.
        let name = match self.has_prefix {
            true => "rendezvous_peer_found",
            false => "rendezvousPeerFoundTotal",
        };
        let found = snapshot.totals.found_by_rendezvous;
        page.counter(name, "Peers named by rendezvous points", found)?;
        match &self.sync {
            Some(totals) => page.sync(totals),
            None => Ok(()),
        }
    }
}

impl MetricsPage<'_> {
    fn libp2p(&mut self, snapshot: &MetricsSnapshot) -> fmt::Result {
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
        let with = |peers: Range<usize>| mesh().filter(|(_, mesh)| peers.contains(mesh)).count();
        let low = snapshot.mesh_low;
        for (name, help, peers) in [
            ("no", "Topics without a peer in the mesh", 0..1),
            ("low", "Topics whose mesh has too few peers", 1..low),
            (
                "healthy",
                "Topics whose mesh has enough peers",
                low..usize::MAX,
            ),
        ] {
            let name = format!("libp2p_gossipsub_{name}_peers_topics");
            self.gauge(&name, help, with(peers))?;
        }
        let (received, sent) = (&stats.received, &stats.sent);
        let rejected = totals.rejected.values().sum();
        for (name, help, total) in [
            (
                "libp2p_total_dial_attempts",
                "Dials that have ended",
                totals.dials_succeeded + totals.dials_failed,
            ),
            (
                "libp2p_successful_dials",
                "Dials that led to a connection",
                totals.dials_succeeded,
            ),
            (
                "libp2p_failed_dials",
                "Dials that did not",
                totals.dials_failed,
            ),
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

    fn waku(&mut self, snapshot: &MetricsSnapshot) -> fmt::Result {
        self.gauge("peer_store_size", "Known peers", snapshot.known_peers)?;
        let relayed = [("relay", snapshot.totals.delivered)].into_iter();
        self.counters("node_messages", "Messages received", "type", relayed)?;
        self.waku_bytes(&snapshot.topics)?;
        self.waku_payloads(&snapshot.topics)?;
        self.waku_peers(snapshot)?;
        let version = [(env!("CARGO_PKG_VERSION"), 1)].into_iter();
        self.gauges("version", "Version", "version", version)?;
        let sizes = &snapshot.totals.message_sizes;
        let bounds = MessageSizes::BOUNDS_KB.iter().map(|bound| *bound as f64);
        let buckets: Vec<_> = bounds.chain([f64::INFINITY]).zip(sizes.counts).collect();
        let count = sizes.counts.iter().sum();
        let sum_kb = sizes.sum_bytes as f64 / 1000.0;
        let (name, help) = ("histogram_message_size", "Payloads, in kB");
        let mut metric = self.metric(name, help, None, MetricType::Histogram)?;
        metric.encode_histogram::<NoLabelSet>(sum_kb, count, &buckets, None)
    }

    fn waku_rln(&mut self, snapshot: &MetricsSnapshot, rln: &RlnSnapshot) -> fmt::Result {
        let totals = &snapshot.totals;
        let rejected = totals.rejected.iter().map(|(reason, n)| (*reason, *n));
        let invalid: Vec<_> = rejected
            .filter(|(reason, _)| RLN_REASONS.contains(reason))
            .collect();
        let spam = totals.rejected.get(SPAM).copied().unwrap_or_default();
        let all = totals.delivered + invalid.iter().map(|(_, n)| n).sum::<u64>();
        // nwaku's names of these counters end in `_total`, and the format appends another `_total`.
        self.counter(
            "rln_messages_total",
            "Messages checked for their proof",
            all,
        )?;
        let help = "Messages of members over their limit";
        self.counter("rln_spam_messages_total", help, spam)?;
        let help = "Messages refused for their proof";
        self.counters(
            "rln_invalid_messages_total",
            help,
            "type",
            invalid.into_iter().filter(|(reason, _)| *reason != SPAM),
        )?;
        let topics = snapshot.topics.iter();
        let valid = topics.map(|topic| (topic.topic.as_str(), topic.payloads.messages));
        let (name, help) = ("rln_valid_messages_total", "Messages found valid");
        self.counters(name, help, "shard", valid)?;
        let (checked, made) = (&rln.verifier, &rln.proofs);
        let help = "Time for the check of the last proof, seconds";
        self.seconds(
            "rln_proof_verification_duration_seconds",
            help,
            checked.last_took,
        )?;
        let help = "Time for the last proof of this node, seconds";
        self.seconds(
            "rln_proof_generation_duration_seconds",
            help,
            made.last_took,
        )?;
        let help = "Proofs made by this node";
        let generated = usize::try_from(made.generated).unwrap_or(usize::MAX);
        self.gauge("rln_total_generated_proofs", help, generated)?;
        let verified = checked.checked_total;
        self.counter("rln_proof_verification_total", "Proofs checked", verified)?;
        if let Some(allowance) = rln.allowance {
            let left = usize::try_from(allowance.left).unwrap_or(usize::MAX);
            let help = "Messages that this node may still publish in the epoch";
            self.gauge("rln_remaining_proofs_per_epoch", help, left)?;
        }
        match rln.membership.members {
            Some(members) => self.gauge("rln_number_registered_memberships", "Members", members),
            None => Ok(()),
        }
    }

    pub(super) fn share(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        let mut metric = self.metric(name, help, None, MetricType::Gauge)?;
        metric.encode_gauge(&value)
    }

    fn seconds(&mut self, name: &str, help: &str, value: Duration) -> fmt::Result {
        let mut metric = self.metric(name, help, None, MetricType::Gauge)?;
        metric.encode_gauge(&value.as_secs_f64())
    }

    fn waku_archive(&mut self, counts: &ArchiveCounts) -> fmt::Result {
        let held = usize::try_from(counts.held).unwrap_or(usize::MAX);
        let held = [("stored", held)].into_iter();
        self.gauges("archive_messages", "Messages in the archive", "type", held)?;
        let (name, help) = (
            "archive_insert_duration_seconds",
            "Time for a write, seconds",
        );
        self.durations(name, help, &counts.write_times)
    }

    fn waku_peers(&mut self, snapshot: &MetricsSnapshot) -> fmt::Result {
        let totals = &snapshot.totals;
        let outcomes = [
            ("successful", totals.dials_succeeded),
            ("failed", totals.dials_failed),
        ];
        let help = "Dials, by what came of them";
        self.counters("peers_dials", help, "outcome", outcomes.into_iter())?;
        let help = "Connected peers by direction and protocol";
        let mut metric = self.metric("connected_peers", help, None, MetricType::Gauge)?;
        for (protocol, peers) in &snapshot.protocol_peers {
            for (direction, number) in [("In", peers.inbound), ("Out", peers.outbound)] {
                let labels = [("direction", direction), ("protocol", *protocol)];
                let mut one = metric.encode_family(&labels)?;
                one.encode_gauge(&signed(number))?;
            }
        }
        let help = "Nodes found by discv5 and not forgotten since, by shard";
        let name = "discv5_discovered_per_shard";
        let mut metric = self.metric(name, help, None, MetricType::Gauge)?;
        for (shard, nodes) in &snapshot.discovered {
            let labels = [("shard", u64::from(*shard))];
            metric
                .encode_family(&labels)?
                .encode_gauge(&signed(*nodes))?;
        }
        Ok(())
    }
}
