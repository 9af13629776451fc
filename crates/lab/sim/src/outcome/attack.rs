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
