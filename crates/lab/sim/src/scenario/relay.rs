//! Scenario parameters of the relay, and the costs of running it.

use undertone_gossip::Config;

/// Relay configuration of every node.
#[derive(Clone, Debug)]
pub struct RelaySetup {
    /// Protocol id that peers agree on. It determines the wire features in use, see `undertone_gossip::PROTOCOLS`.
    pub protocol: String,
    /// Parameters of the GossipSub router.
    pub gossip: Config,
    /// Length limit of an encoded message, bytes.
    pub max_message_bytes: usize,
    /// Number of fragments in which every message is published; 1 publishes it whole.
    pub fragments: u32,
    /// Number of topics.
    pub topics: u32,
    /// Number of topics that each node subscribes to; `None` is all of them. Node n subscribes to topic n modulo
    /// `topics` and the following ones, publishes on the first of them, and dials only nodes that share a topic with
    /// it.
    pub topics_per_node: Option<u32>,
}

impl RelaySetup {
    /// Whether a node subscribes to a topic.
    pub fn joins(&self, node: u32, topic: u32) -> bool {
        let Some(per_node) = self.topics_per_node else {
            return true;
        };
        let topics = self.topics.max(1);
        let after_first = (topic % topics + topics - node % topics) % topics;
        after_first < per_node
    }

    /// Whether two nodes share a topic.
    pub fn share_a_topic(&self, a: u32, b: u32) -> bool {
        let first = |node: u32| node % self.topics.max(1);
        self.joins(a, first(b)) || self.joins(b, first(a))
    }
}

/// Parameters of the rate limit. Proofs are not computed: generating and verifying them takes the times configured
/// here. Every other check is real.
#[derive(Clone, Debug, PartialEq)]
pub struct Rln {
    /// Messages allowed per member and epoch.
    pub message_limit: u32,
    /// Length of an epoch, seconds.
    pub epoch_s: u64,
    /// Time to generate a proof, nanoseconds.
    pub generation_ns: u64,
    /// Time from the arrival of a proof to the verdict.
    pub verification: Verification,
}

/// Model of the time that verifying proofs takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Verification {
    /// Every proof waits this long, however many others wait: the model of the published simulations.
    Wait {
        /// Wait of a proof, nanoseconds.
        ns: u64,
    },
    /// One worker per node verifies waiting proofs in batches, by the policy of real nodes.
    Batches {
        /// Time for a proof verified alone, nanoseconds.
        single_ns: u64,
        /// Base time of any batch, nanoseconds.
        batch_base_ns: u64,
        /// Additional time for each proof of a batch, nanoseconds.
        batch_per_proof_ns: u64,
    },
}

/// Processing costs that delay a frame before the router sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Cost of each frame, nanoseconds.
    pub per_frame_ns: u64,
    /// Cost of each kilobyte (1000 bytes) of a frame, nanoseconds.
    pub per_kb_ns: u64,
}
