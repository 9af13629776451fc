//! What the node counts, at one moment.

use std::collections::BTreeMap;

use undertone_gossip::{Stats, Usage};
use undertone_membership::evm;
use undertone_rln::{BatchPolicy, PoolConfig, PoolSnapshot};

/// The router at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GossipSnapshot {
    /// Totals since the start.
    pub stats: Stats,
    /// How much of its bounds is in use.
    pub usage: Usage,
}

/// Rate limiting at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RlnSnapshot {
    /// Whether the node has a membership.
    pub may_publish: bool,
    /// Why it cannot publish now though it has one, as far as is known.
    pub refusal: Option<String>,
    /// Message ids that another node with this identity used first.
    pub ids_taken_total: u64,
    /// The tokens prepared ahead; `None` without a membership, or when its proofs know no tokens.
    pub tokens: Option<TokenSnapshot>,
    /// The threads that check proofs.
    pub verifier: VerifierSnapshot,
    /// Who may publish.
    pub membership: MembershipSnapshot,
    /// How the chain is followed that says so; `None` where the registry is none.
    pub chain: Option<evm::Status>,
}

/// The pool of tokens at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenSnapshot {
    /// How many are prepared, and at which cost.
    pub config: PoolConfig,
    /// What has become of them.
    pub state: PoolSnapshot,
}

/// The threads that check proofs, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifierSnapshot {
    /// How many there are.
    pub threads: usize,
    /// When they check proofs together.
    pub policy: BatchPolicy,
    /// Proofs that wait.
    pub waiting: usize,
    /// Peers whose proofs are checked singly, because they delivered a bad one.
    pub suspects: usize,
    /// Proofs that were checked.
    pub checked_total: u64,
    /// Those of them that did not hold.
    pub bad_total: u64,
    /// Batches that were checked.
    pub batches_total: u64,
    /// How many proofs were checked at a time.
    pub job_sizes: JobSizes,
}

/// How often so many proofs were checked at a time; a single one counts as a batch of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobSizes {
    /// Times, by size: of at most [`JobSizes::BOUNDS`] and more than the bound before; the last
    /// entry is for those above all bounds.
    pub counts: [u64; Self::BOUNDS.len() + 1],
}

impl JobSizes {
    /// Upper bounds of the sizes counted together, in proofs.
    pub const BOUNDS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

    /// Counts a job of `proofs`.
    pub(crate) fn count(&mut self, proofs: usize) {
        let at = Self::BOUNDS.partition_point(|bound| *bound < proofs);
        self.counts[at] += 1;
    }
}

/// Messages by the length of their payloads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageSizes {
    /// Messages, by size: of at most [`MessageSizes::BOUNDS_KB`] and more than the bound before; the last entry is
    /// for those above all bounds.
    pub counts: [u64; Self::BOUNDS_KB.len() + 1],
    /// All payloads together, bytes.
    pub sum_bytes: u64,
}

impl MessageSizes {
    /// Upper bounds of the sizes counted together, thousands of bytes: nwaku's.
    pub const BOUNDS_KB: [usize; 13] = [0, 1, 3, 5, 15, 50, 75, 100, 125, 150, 500, 700, 1000];

    /// Counts a payload.
    pub(crate) fn count(&mut self, bytes: usize) {
        let at = Self::BOUNDS_KB.partition_point(|bound_kb| bound_kb * 1000 < bytes);
        self.counts[at] += 1;
        self.sum_bytes += bytes as u64;
    }
}

/// The membership as the node follows it, at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MembershipSnapshot {
    /// The registry's version; `None` where the log of changes is not known.
    pub version: Option<u64>,
    /// Members at that version; `None` where they are not known.
    pub members: Option<usize>,
    /// Roots that are accepted.
    pub roots: usize,
}

/// One topic at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSnapshot {
    /// The topic.
    pub topic: String,
    /// Peers in our mesh.
    pub mesh: usize,
    /// Peers that are subscribed.
    pub subscribers: usize,
}

/// What the driver counts itself; totals since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes of the frames that came, without their length prefixes.
    pub received_bytes: u64,
    /// Bytes of the frames that were queued for peers; some are taken back before they begin.
    pub queued_bytes: u64,
    /// Valid messages of ours and of others.
    pub delivered: u64,
    /// Messages of our own that went to a peer.
    pub published: u64,
    /// Messages of our own that did not.
    pub publish_failed: u64,
    /// Messages of others that were dropped, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Members whose secret two messages gave away.
    pub spammers: u64,
    /// Times that a peer's score fell so low that it was cut off; its returns until it recovers do not count.
    pub graylisted: u64,
    /// Times that a topic was joined.
    pub joined: u64,
    /// Times that a topic was left.
    pub left: u64,
    /// Valid messages of ours and of others, by size.
    pub message_sizes: MessageSizes,
}

/// Everything that is counted, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsSnapshot {
    /// Peers that are connected.
    pub peers: usize,
    /// Those of them with which pubsub is spoken.
    pub pubsub_peers: usize,
    /// Peers that are known, connected or not.
    pub known_peers: usize,
    /// The router.
    pub gossip: GossipSnapshot,
    /// The topics that the node takes part in.
    pub topics: Vec<TopicSnapshot>,
    /// The driver.
    pub totals: Totals,
    /// Proofs that wait for their verdict, as the relay sees it.
    pub checks_waiting: usize,
    /// Rate limiting; `None` when it is off.
    pub rln: Option<RlnSnapshot>,
}
