//! What adversaries did and heard, and what honest nodes saw of them.

/// Adversaries of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttackOutcome {
    /// Number of identities.
    pub identities: u32,
    /// Number of addresses that they share.
    pub addresses: u32,
    /// Time at which the first of them begins to misbehave, nanoseconds.
    pub begins_ns: u64,
    /// Bytes that they sent on the wire.
    pub sent_bytes: u64,
    /// First copies that each identity received, ordered by message, then identity.
    pub heard: Vec<HeardMessage>,
    /// What honest nodes saw in each second.
    pub watched: Vec<WatchSecond>,
    /// What the identities published with memberships, and who delivered it; `None` if they published nothing.
    pub memberships: Option<MembershipOutcome>,
}

/// Messages that identities published with their memberships, and what honest nodes made of them. Memberships that were
/// exposed are not removed during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MembershipOutcome {
    /// Number of identities that published, each with a membership of its own.
    pub memberships: u32,
    /// Number of those whose secret an honest node computed from two messages of one nullifier.
    pub exposed: u32,
    /// Number of messages published.
    pub published: u64,
    /// Number of nullifiers under which they were published: so many messages the rate limit allows.
    pub nullifiers: u64,
    /// Largest number of these nullifiers that a node knows at the end of the run.
    pub nullifiers_held: u64,
    /// Number of messages that any honest node delivered.
    pub delivered: u64,
    /// Number of these that some honest nodes delivered, and others did not.
    pub delivered_partly: u64,
    /// Number of deliveries of all messages, over all honest nodes.
    pub deliveries: u64,
    /// Number of messages beyond the rate limit that any honest node delivered: all that share a nullifier, but for the
    /// one that reached most nodes.
    pub beyond_limit: u64,
    /// Number of deliveries of these.
    pub beyond_limit_deliveries: u64,
    /// Number of deliveries to a node that had delivered a message of the same nullifier before.
    pub repeated_deliveries: u64,
}

/// First copy of a message at an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardMessage {
    /// Number of the message.
    pub message: u32,
    /// Number of the identity, after those of the relays and light clients.
    pub observer: u32,
    /// Node that sent the copy.
    pub from: u32,
    /// Time of its arrival, nanoseconds.
    pub at_ns: u64,
}

/// Sums over all honest nodes, at the end of one second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WatchSecond {
    /// Time of the look, nanoseconds.
    pub at_ns: u64,
    /// Lowest score that any node gave to an adversary; infinite if none was connected.
    pub lowest_adversary_score: f64,
    /// Number of mesh places that adversaries had, over all nodes and topics.
    pub adversaries_in_meshes: u64,
    /// Number of mesh places that honest nodes had.
    pub honest_in_meshes: u64,
    /// Number of honest peers to which a node gave a score below 0, over all nodes.
    pub honest_below_zero: u64,
}

impl WatchSecond {
    pub(crate) fn new(at_ns: u64) -> Self {
        Self {
            at_ns,
            lowest_adversary_score: f64::INFINITY,
            adversaries_in_meshes: 0,
            honest_in_meshes: 0,
            honest_below_zero: 0,
        }
    }

    /// Adds the figures of other nodes.
    pub(crate) fn add(&mut self, other: &Self) {
        let lowest = self
            .lowest_adversary_score
            .min(other.lowest_adversary_score);
        self.lowest_adversary_score = lowest;
        self.adversaries_in_meshes += other.adversaries_in_meshes;
        self.honest_in_meshes += other.honest_in_meshes;
        self.honest_below_zero += other.honest_below_zero;
    }
}
