//! Snapshots of the node's counters and gauges.

use std::collections::BTreeMap;
use std::time::Duration;

use undertone_gossip::{Stats, TopicTraffic, Usage};
use undertone_membership::evm;
use undertone_rln::{BatchPolicy, PoolConfig, PoolSnapshot};

use crate::traces::TraceTotals;

/// State of the router at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GossipSnapshot {
    /// Totals since the start.
    pub stats: Stats,
    /// Present use of the router's bounds.
    pub usage: Usage,
}

/// State of rate limiting at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RlnSnapshot {
    /// Whether the node has a membership to publish with.
    pub may_publish: bool,
    /// Reason why the node cannot publish now, if any is known.
    pub refusal: Option<String>,
    /// Messages left to the node's membership in the current epoch. `None` without a membership, and while an id is
    /// being written to disk.
    pub allowance: Option<EpochAllowance>,
    /// Message ids that another node with this identity used first.
    pub ids_taken_total: u64,
    /// Pool of tokens prepared ahead; `None` without a membership or if proofs use no pool.
    pub tokens: Option<TokenSnapshot>,
    /// Proofs that the node has generated.
    pub proofs: ProofTotals,
    /// State of the threads that verify proofs.
    pub verifier: VerifierSnapshot,
    /// The node's view of the membership set.
    pub membership: MembershipSnapshot,
    /// State of following the chain; `None` if the membership registry is not a contract.
    pub chain: Option<evm::ChainStatus>,
}

/// Messages that a membership may publish in one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochAllowance {
    /// Messages that may still be published in the epoch.
    pub left: u64,
    /// Messages that may be published in each epoch.
    pub limit: u64,
}

impl EpochAllowance {
    /// Returns the messages per epoch that are reserved for the node itself: a quarter of the limit, at least one.
    pub fn own_share(&self) -> u64 {
        self.limit.div_ceil(4)
    }

    /// Returns the messages that may still be proved for light clients in the epoch.
    pub fn left_for_clients(&self) -> u64 {
        self.left.saturating_sub(self.own_share())
    }
}

/// State of the token pool at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSnapshot {
    /// Configured size and cost bounds of the pool.
    pub config: PoolConfig,
    /// Counters of the pool.
    pub state: PoolSnapshot,
}

/// State of the threads that verify proofs, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifierSnapshot {
    /// Number of verifier threads.
    pub threads: usize,
    /// Rule for verifying proofs in batches.
    pub policy: BatchPolicy,
    /// Proofs waiting to be verified.
    pub waiting: usize,
    /// Peers whose proofs are verified singly, because they delivered an invalid one.
    pub suspects: usize,
    /// Proofs verified since the start.
    pub checked_total: u64,
    /// Verified proofs that were invalid.
    pub bad_total: u64,
    /// Batches verified since the start.
    pub batches_total: u64,
    /// Histogram of the number of proofs per verification job.
    pub job_sizes: JobSizes,
    /// Duration of the last job divided by its number of proofs; zero before the first.
    pub last_took: Duration,
}

/// Histogram of verification jobs by their number of proofs; a single proof counts as a job of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobSizes {
    /// Number of jobs per bucket. A bucket holds jobs above the previous bound in [`JobSizes::BOUNDS`] and up to its
    /// own.
    /// The last entry counts the jobs above all bounds.
    pub counts: [u64; Self::BOUNDS.len() + 1],
}

impl JobSizes {
    /// Upper bounds of the buckets, in proofs.
    pub const BOUNDS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

    /// Counts a job of `proofs` proofs.
    pub(crate) fn count(&mut self, proofs: usize) {
        let at = Self::BOUNDS.partition_point(|bound| *bound < proofs);
        self.counts[at] += 1;
    }
}

/// Histogram of messages by the length of their payloads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageSizes {
    /// Number of messages per bucket. A bucket holds sizes above the previous bound in [`MessageSizes::BOUNDS_KB`] and
    /// up to its own.
    pub counts: [u64; Self::BOUNDS_KB.len() + 1],
    /// Sum of all payload lengths, bytes.
    pub sum_bytes: u64,
}

impl MessageSizes {
    /// Upper bounds of the buckets, in units of 1000 bytes; the same as nwaku's.
    pub const BOUNDS_KB: [usize; 13] = [0, 1, 3, 5, 15, 50, 75, 100, 125, 150, 500, 700, 1000];

    /// Counts a payload of `bytes` bytes.
    pub(crate) fn count(&mut self, bytes: usize) {
        let at = Self::BOUNDS_KB.partition_point(|bound_kb| bound_kb * 1000 < bytes);
        self.counts[at] += 1;
        self.sum_bytes += bytes as u64;
    }
}

/// State of the node's view of the membership set, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MembershipSnapshot {
    /// Version of the registry; `None` if the log of changes is not known.
    pub version: Option<u64>,
    /// Number of members at that version; `None` if they are not known.
    pub members: Option<usize>,
    /// Number of accepted Merkle roots.
    pub roots: usize,
}

/// State of one topic at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSnapshot {
    /// Name of the topic.
    pub topic: String,
    /// Peers in this node's mesh for the topic.
    pub mesh: usize,
    /// Peers subscribed to the topic.
    pub subscribers: usize,
    /// Whether nothing has been relayed for 20 s, because no peer in the mesh answers.
    pub is_cut_off: bool,
    /// Bytes transferred on the topic since the start.
    pub traffic: TopicTraffic,
    /// Payloads of the topic's valid messages since the start, own and of peers.
    pub payloads: PayloadTotals,
}

/// Payloads of valid messages since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PayloadTotals {
    /// Number of messages.
    pub messages: u64,
    /// Bytes of all payloads.
    pub sum_bytes: u64,
    /// Bytes of the longest payload.
    pub longest_bytes: u64,
}

impl PayloadTotals {
    /// Counts a payload of `bytes` bytes.
    pub(crate) fn count(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        self.messages += 1;
        self.sum_bytes += bytes;
        self.longest_bytes = self.longest_bytes.max(bytes);
    }

    /// Mean length of a payload, bytes; 0 without messages.
    pub fn mean_bytes(&self) -> u64 {
        self.sum_bytes.checked_div(self.messages).unwrap_or(0)
    }
}

/// Proofs that the node has generated for its own messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProofTotals {
    /// Proofs generated since the start.
    pub generated: u64,
    /// Time that the last one took; zero before the first.
    pub last_took: Duration,
}

/// Totals that the driver itself counts, since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeTotals {
    /// Bytes of received frames, without their length prefixes.
    pub received_bytes: u64,
    /// Bytes of frames queued for peers; some are cancelled before they are written.
    pub queued_bytes: u64,
    /// Valid messages, own and of peers; each part of a fragmented message counts.
    pub delivered: u64,
    /// Own messages that were sent to at least one peer.
    pub published: u64,
    /// Own messages that failed or were sent to no peer.
    pub publish_failed: u64,
    /// Messages of peers that were rejected, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Number of times that a member's secret was recovered from two of its messages.
    pub spammers: u64,
    /// Number of times that a peer was disconnected for a low score. Repetitions before its score recovers do not
    /// count.
    pub graylisted: u64,
    /// Number of connections closed only because of the number of peers at their address.
    pub graylisted_for_address: u64,
    /// Metadata requests not answered because the peer had asked too often.
    pub metadata_refused: u64,
    /// Peers that dialled this node and were refused for lack of a place.
    pub connections_refused: u64,
    /// Peers reported by rendezvous points; a peer that is reported again counts again.
    pub found_by_rendezvous: u64,
    /// Dials by this node that resulted in a connection.
    pub dials_succeeded: u64,
    /// Dials by this node that failed.
    pub dials_failed: u64,
    /// Number of topics joined since the start.
    pub joined: u64,
    /// Number of topics left since the start.
    pub left: u64,
    /// Sizes of valid messages, own and of peers.
    pub message_sizes: MessageSizes,
}

/// Reachability of the node, as its peers report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reachable {
    /// No peer has reported it so far.
    #[default]
    Unknown,
    /// Peers can reach the node.
    Yes,
    /// Peers cannot reach the node.
    No,
}

/// Circuits through relays, and holes punched, since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NatTotals {
    /// Reservations granted to peers, by which others reach them through this node.
    pub reservations: u64,
    /// Reservations refused.
    pub reservations_denied: u64,
    /// Circuits of other peers through this node.
    pub circuits: u64,
    /// Circuits that were refused.
    pub circuits_denied: u64,
    /// Own connections through relays, in both directions.
    pub relayed: u64,
    /// Relayed connections replaced by direct ones.
    pub holes_punched: u64,
    /// Relayed connections that could not be replaced by direct ones.
    pub holes_failed: u64,
}

/// Connected peers that speak a protocol, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolPeers {
    /// Peers that dialled this node.
    pub inbound: usize,
    /// Peers that this node dialled.
    pub outbound: usize,
}

/// All counters and gauges, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsSnapshot {
    /// Share of the last ten seconds for which the runtime's threads were busy, 0 to 1.
    pub runtime_load: f64,
    /// Number of connected peers.
    pub peers: usize,
    /// Connected peers that speak a pubsub protocol of this node.
    pub pubsub_peers: usize,
    /// Known peers, connected or not.
    pub known_peers: usize,
    /// Connected peers by the Waku protocols that they speak.
    pub protocol_peers: BTreeMap<&'static str, ProtocolPeers>,
    /// Number of nodes found by discv5 and not forgotten since, by shard.
    pub discovered: BTreeMap<u16, usize>,
    /// State of the router.
    pub gossip: GossipSnapshot,
    /// Topics that the node is subscribed to.
    pub topics: Vec<TopicSnapshot>,
    /// Mesh size below which the router grafts more peers.
    pub mesh_low: usize,
    /// Totals that the driver itself counts.
    pub totals: NodeTotals,
    /// Proofs whose verdicts the relay is waiting for.
    pub checks_waiting: usize,
    /// Expiry time of the WebSocket port's certificate, Unix seconds; `None` without one.
    pub certificate_expires_unix_s: Option<i64>,
    /// Reachability of the node, as its peers report it.
    pub reachable: Reachable,
    /// Circuits through relays, and holes punched.
    pub nat: NatTotals,
    /// State of rate limiting; `None` when it is off.
    pub rln: Option<RlnSnapshot>,
    /// Totals of spans; `None` without traces.
    pub traces: Option<TraceTotals>,
}
