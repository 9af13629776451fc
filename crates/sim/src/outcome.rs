//! What a run returns.

/// One message as it was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number, from 0.
    pub index: u32,
    /// The node that published it.
    pub publisher: u32,
    /// Bytes of its payload.
    pub payload_bytes: u32,
    /// When the application published it, before its proof was made, nanoseconds.
    pub published_ns: u64,
    /// Whether it only warms up the connections.
    pub warm_up: bool,
}

/// One message at one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The message.
    pub message: u32,
    /// The receiver.
    pub receiver: u32,
    /// The node that the first copy came from.
    pub from: u32,
    /// Connections that the first copy crossed.
    pub hops: u16,
    /// When the validated message was delivered to the application, nanoseconds.
    pub received_ns: u64,
}

/// The first copy of a message at one receiver, whatever way it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstCopy {
    /// The message.
    pub message: u32,
    /// The receiver.
    pub receiver: u32,
    /// The node that it came from.
    pub from: u32,
    /// When the validated message was delivered to the application, nanoseconds.
    pub received_ns: u64,
}

/// Deliveries from first copies, ordered by message, then receiver: hops follow from who had the
/// first copy from whom. All nodes are below `nodes`, all messages in `messages`.
pub fn trace_back(messages: &[Message], nodes: u32, mut firsts: Vec<FirstCopy>) -> Vec<Delivery> {
    const UNKNOWN: u32 = u32::MAX;
    firsts.sort_unstable_by_key(|first| (first.message, first.receiver));
    let mut deliveries = Vec::with_capacity(firsts.len());
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

/// What was sent of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindCounter {
    /// Frames, or entries of control frames.
    pub count: u64,
    /// Bytes of them, without the cost of the transport.
    pub bytes: u64,
}

/// Counters of one node, or their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames with messages.
    pub messages: KindCounter,
    /// SUBSCRIBE and UNSUBSCRIBE.
    pub subscriptions: KindCounter,
    /// GRAFT.
    pub graft: KindCounter,
    /// PRUNE.
    pub prune: KindCounter,
    /// IHAVE.
    pub ihave: KindCounter,
    /// IWANT.
    pub iwant: KindCounter,
    /// IDONTWANT.
    pub idontwant: KindCounter,
    /// Bytes sent on the wire: everything, with muxing, TCP and IP.
    pub wire_sent_bytes: u64,
    /// Bytes received from the wire.
    pub wire_received_bytes: u64,
    /// Packets dropped by loss or by a queue.
    pub packets_dropped: u64,
    /// Copies of messages that arrived after the first.
    pub duplicates: u64,
    /// First copies that arrived from peers.
    pub first_copies: u64,
    /// Messages delivered to the application, those of a spammer included.
    pub accepted: u64,
}

/// Size of the mesh over all nodes and topics when the run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshDegree {
    /// Smallest.
    pub min: u32,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: u32,
}

/// A rule that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// When, nanoseconds.
    pub at_ns: u64,
    /// At which node.
    pub node: u32,
    /// Which rule, in words.
    pub rule: &'static str,
}

/// Everything that a run found out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Virtual time that has passed, nanoseconds.
    pub virtual_ns: u64,
    /// Events handled.
    pub events: u64,
    /// Deliveries that a network without faults would make, warm-up included.
    pub expected: u64,
    /// Messages in the order of their numbers.
    pub messages: Vec<Message>,
    /// Deliveries, ordered by message, then receiver. A publisher's delivery to itself is not among
    /// them.
    pub deliveries: Vec<Delivery>,
    /// Counters by node.
    pub nodes: Vec<Counters>,
    /// Mesh sizes at the end.
    pub mesh_degree: MeshDegree,
    /// Peers of each node at the end.
    pub connections: Vec<u32>,
    /// SHA-256 over everything that every node did; equal for equal scenario and seed. `None` for a
    /// run on real clocks, which is like no other.
    pub trace_hash: Option<[u8; 32]>,
    /// Rules that did not hold, the first few of them.
    pub violations: Vec<Violation>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time now, nanoseconds.
    pub virtual_ns: u64,
    /// Virtual time at the end, nanoseconds.
    pub end_ns: u64,
    /// Events so far.
    pub events: u64,
    /// Deliveries so far.
    pub deliveries: u64,
}
