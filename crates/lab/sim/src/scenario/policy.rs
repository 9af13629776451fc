//! What an adversary does, as numbers.

/// Behaviour of a group of adversarial nodes: peers that speak the protocol, and of which nothing else is known.
/// Attacks are values of this type, and a search varies its numbers. [`Policy::honest`] is a peer that behaves well.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Policy {
    /// Number of IP addresses that the identities share evenly.
    pub addresses: u32,
    /// Time from which the identities arrive, nanoseconds.
    pub arrives_ns: u64,
    /// Length of the interval in which they arrive, evenly at random, nanoseconds.
    pub arrives_over_ns: u64,
    /// Time at which they close their connections, nanoseconds; `None` if they stay.
    pub leaves_ns: Option<u64>,
    /// Nodes with which they connect.
    pub targets: Targets,
    /// Number of targets that each identity dials.
    pub dials: u32,
    /// Number of identities that each target dials, on average.
    pub dialled: f64,
    /// Probability that an identity sends GRAFT when a connection begins.
    pub graft: f64,
    /// Probability that an identity accepts a peer's GRAFT; otherwise it answers with PRUNE.
    pub accepts_graft: f64,
    /// Time from a PRUNE to the next GRAFT, and up to a quarter more, nanoseconds; `None` for no further GRAFT.
    pub regraft_after_ns: Option<u64>,
    /// Time until which the identities forward and answer everything, nanoseconds. The fields below hold afterwards.
    pub misbehaves_from_ns: u64,
    /// Times of misbehaviour and of good behaviour, in turn, nanoseconds; `None` for misbehaviour to the end.
    pub turns_ns: Option<(u64, u64)>,
    /// Probability that an identity forwards a message.
    pub forward: f64,
    /// Publishers of whose messages no identity forwards any.
    pub censored: Vec<u32>,
    /// Time for which an identity holds a message back before it forwards it, nanoseconds.
    pub forward_delay_ns: u64,
    /// Probability that an identity announces a message (IHAVE) that any of the group has.
    pub announce: f64,
    /// Number of ids of messages that do not exist, announced at each heartbeat on each connection.
    pub announce_false: u32,
    /// Probability that an identity answers a request (IWANT).
    pub answer: f64,
    /// Number of requests for known messages at each heartbeat on each connection.
    pub request: u32,
    /// Time from one message that an identity publishes with its membership to the next, nanoseconds; `None` if it
    /// publishes nothing. The first comes so long after its start.
    pub publish_every_ns: Option<u64>,
    /// Number of different messages that it publishes each time, all under one nullifier; 1 keeps the rate limit. Each
    /// goes to another part of its peers.
    pub signals: u32,
    /// Time from one of these messages to the next, nanoseconds. They all have timestamps of the epoch of the first.
    pub signal_gap_ns: u64,
    /// Time by which the timestamps of the messages are ahead of the true time, nanoseconds; negative if behind.
    pub clock_ahead_ns: i64,
    /// Time from one change of the membership to the next, nanoseconds; 0 for none. The proofs of the identities have
    /// the newest Merkle root; each honest node learns of it evenly at random within the same time.
    pub root_spread_ns: u64,
}

/// Honest nodes with which adversaries connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// All nodes.
    All,
    /// All nodes that publish.
    Publishers,
    /// These nodes.
    Nodes(Vec<u32>),
}

impl Policy {
    /// A peer that behaves well: it joins meshes, and forwards and answers everything.
    pub fn honest() -> Self {
        Self {
            addresses: u32::MAX,
            arrives_ns: 0,
            arrives_over_ns: 1_000_000_000,
            leaves_ns: None,
            targets: Targets::All,
            dials: 10,
            dialled: 0.0,
            graft: 1.0,
            accepts_graft: 1.0,
            regraft_after_ns: None,
            misbehaves_from_ns: 0,
            turns_ns: None,
            forward: 1.0,
            censored: Vec::new(),
            forward_delay_ns: 0,
            announce: 0.0,
            announce_false: 0,
            answer: 1.0,
            request: 0,
            publish_every_ns: None,
            signals: 1,
            signal_gap_ns: 0,
            clock_ahead_ns: 0,
            root_spread_ns: 0,
        }
    }

    /// Whether the identities misbehave at a time.
    pub(crate) fn misbehaves(&self, now_ns: u64) -> bool {
        let Some(since_ns) = now_ns.checked_sub(self.misbehaves_from_ns) else {
            return false;
        };
        match self.turns_ns {
            Some((bad_ns, good_ns)) => since_ns % bad_ns.saturating_add(good_ns).max(1) < bad_ns,
            None => true,
        }
    }

    /// Whether the policy does anything at heartbeats.
    pub(crate) fn has_heartbeats(&self) -> bool {
        self.announce > 0.0 || self.announce_false > 0 || self.request > 0
    }
}
