//! Result of a run.

mod attack;
mod recorded;
mod services;

pub use attack::{AttackOutcome, HeardMessage, MembershipOutcome, WatchSecond};
pub use recorded::{CopyRecord, LinkRecord, RecordOptions, Recorded, TrafficInterval};
pub use services::{
    ClientCounters, HistoryReading, LightArrival, ServiceCounters, ServicesOutcome,
};

/// One message as it was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of the message, from 0.
    pub index: u32,
    /// Node that published the message; light clients have the numbers after those of the relays.
    pub publisher: u32,
    /// Length of the payload, bytes.
    pub payload_bytes: u32,
    /// Time at which the application published it, before its proof was made, nanoseconds.
    pub published_ns: u64,
    /// Whether the message only warms up the connections.
    pub warm_up: bool,
}

/// Delivery of one message to one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Number of the message.
    pub message: u32,
    /// Node that received the message.
    pub receiver: u32,
    /// Node that sent the first copy.
    pub from: u32,
    /// Connections that the first copy crossed.
    pub hops: u16,
    /// Time at which the validated message was delivered to the application, nanoseconds.
    pub received_ns: u64,
}

/// The first copy of a message at one receiver, without the path that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstCopy {
    /// Number of the message.
    pub message: u32,
    /// Node that received the message.
    pub receiver: u32,
    /// Node that sent the first copy.
    pub from: u32,
    /// Time at which the validated message was delivered to the application, nanoseconds.
    pub received_ns: u64,
}

/// Computes deliveries from first copies, ordered by message, then receiver. A delivery's hops are counted by
/// following the senders of first copies back to the publisher. All nodes except publishers must be below
/// `nodes`, and all messages must be in `messages`.
pub fn trace_back(messages: &[Message], nodes: u32, mut firsts: Vec<FirstCopy>) -> Vec<Delivery> {
    const UNKNOWN: u32 = u32::MAX;
    firsts.sort_unstable_by_key(|first| (first.message, first.receiver));
    let mut deliveries = Vec::with_capacity(firsts.len());
    // A light client publishes through a node, which then counts as having received the message from it.
    let publishers = messages.iter().map(|message| message.publisher + 1);
    let nodes = publishers.max().unwrap_or(0).max(nodes);
    let mut parents = vec![UNKNOWN; nodes as usize];
    for of_message in firsts.chunk_by(|a, b| a.message == b.message) {
        parents.fill(UNKNOWN);
        for first in of_message {
            parents[first.receiver as usize] = first.from;
        }
        let publisher = messages[of_message[0].message as usize].publisher;
        for first in of_message {
            let (mut at, mut hops) = (first.receiver, 0);
            while at != publisher && at != UNKNOWN && hops < u16::MAX {
                at = parents[at as usize];
                hops += 1;
            }
            deliveries.push(Delivery {
                message: first.message,
                receiver: first.receiver,
                from: first.from,
                hops,
                received_ns: first.received_ns,
            });
        }
    }
    deliveries
}

/// Sent traffic of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounter {
    /// Number of frames, or of entries of control frames.
    pub count: u64,
    /// Length of the frames or entries without transport overhead, bytes.
    pub bytes: u64,
}

/// Counters of one node, or their sum over several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sent frames with messages.
    pub messages: KindCounter,
    /// Sent SUBSCRIBE and UNSUBSCRIBE entries.
    pub subscriptions: KindCounter,
    /// GossipSub GRAFT entries that were sent.
    pub graft: KindCounter,
    /// GossipSub PRUNE entries that were sent.
    pub prune: KindCounter,
    /// GossipSub IHAVE entries that were sent.
    pub ihave: KindCounter,
    /// GossipSub IWANT entries that were sent.
    pub iwant: KindCounter,
    /// GossipSub IDONTWANT entries that were sent.
    pub idontwant: KindCounter,
    /// Bytes sent on the wire, including multiplexing, TCP and IP.
    pub wire_sent_bytes: u64,
    /// Bytes received from the wire.
    pub wire_received_bytes: u64,
    /// Packets dropped by random loss or by a queue.
    pub packets_dropped: u64,
    /// Copies of messages that arrived after the first one.
    pub duplicates: u64,
    /// First copies of messages that arrived from peers.
    pub first_copies: u64,
    /// Messages that the relay delivered, including spam; fragments count one by one.
    pub accepted: u64,
}

impl Counters {
    /// Subscriptions and the kinds of control entries.
    pub const fn control_kinds(&self) -> [KindCounter; 6] {
        [
            self.subscriptions,
            self.graft,
            self.prune,
            self.ihave,
            self.iwant,
            self.idontwant,
        ]
    }

    /// Adds another node's sent traffic by kind, or that of the same node at another time.
    pub(crate) fn add_kinds(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.messages, other.messages),
            (&mut self.subscriptions, other.subscriptions),
            (&mut self.graft, other.graft),
            (&mut self.prune, other.prune),
            (&mut self.ihave, other.ihave),
            (&mut self.iwant, other.iwant),
            (&mut self.idontwant, other.idontwant),
        ] {
            sum.count += more.count;
            sum.bytes += more.bytes;
        }
    }
}

/// Mesh sizes over all nodes and topics at the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshDegree {
    /// Size of the smallest mesh.
    pub min: u32,
    /// Mean size of a mesh.
    pub mean: f64,
    /// Size of the largest mesh.
    pub max: u32,
}

/// Violation of a rule that must hold in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Time of the violation, nanoseconds.
    pub at_ns: u64,
    /// Node that violated the rule.
    pub node: u32,
    /// The rule in words.
    pub rule: &'static str,
}

/// Complete result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Seed of the run.
    pub seed: u64,
    /// Virtual time that passed, nanoseconds.
    pub virtual_ns: u64,
    /// Number of events handled.
    pub events: u64,
    /// Deliveries to relays that a network without faults would make, including the warm-up.
    pub expected: u64,
    /// Messages in the order of their numbers.
    pub messages: Vec<Message>,
    /// Deliveries to relays, ordered by message, then receiver. They do not include a
    /// publisher's delivery to itself.
    pub deliveries: Vec<Delivery>,
    /// Counters of each node, by index.
    pub nodes: Vec<Counters>,
    /// Mesh sizes at the end of the run.
    pub mesh_degree: MeshDegree,
    /// Number of peers of each node at the end of the run.
    pub connections: Vec<u32>,
    /// Whether the run was stopped before its end; the rules for the end were then not checked.
    pub interrupted: bool,
    /// SHA-256 over a trace of every node; equal for equal scenario and seed. `None` for a run on real
    /// clocks, which cannot be repeated exactly, and for one that was stopped.
    pub trace_hash: Option<[u8; 32]>,
    /// Violations of rules; only the first ones are kept per thread.
    pub violations: Vec<Violation>,
    /// What adversaries did and heard; `None` for a network without.
    pub attack: Option<Box<AttackOutcome>>,
    /// Services and light clients; `None` for a network of relays alone.
    pub services: Option<ServicesOutcome>,
    /// Records requested for the run; `None` if there were none.
    pub recorded: Option<Box<Recorded>>,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time now, nanoseconds.
    pub virtual_ns: u64,
    /// Virtual time at the end, nanoseconds.
    pub end_ns: u64,
    /// Number of events handled so far.
    pub events: u64,
    /// Number of deliveries so far.
    pub deliveries: u64,
}
