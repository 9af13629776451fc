//! One simulated node: the relay of real nodes on an emulated machine.

pub(crate) mod check;
mod faults;
pub(crate) mod input;
mod output;
mod verifier;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use undertone_gossip::fragments::AssemblerLimits;
use undertone_gossip::{RequestId, SendQueue};
use undertone_link::{Arrival, Host};
use undertone_relay::{Output, ProofTicket, Reassembly, Relay};
use undertone_rln::RateLimitProof;

use crate::events::{Event, Key};
use crate::hashes::{SharedIds, SharedSignals};
use crate::member::Member;
use crate::node::check::Checks;
use crate::node::verifier::Verifier;
use crate::outcome::{Counters, Violation};
use crate::seeds::derive;
use crate::world::World;

/// Event of a simulated node.
#[derive(Debug)]
pub(crate) enum What {
    /// The node starts its relay.
    Start,
    /// Connections that are due are ready for frames.
    Connect,
    /// A transmission arrives from another host.
    Arrival(Arrival<Bytes>),
    /// A timer of the host or the relay is due.
    Wake,
    /// A received frame is handed to the relay.
    Frame { place: u32, frame: Bytes },
    /// A proof for a message of this node is ready.
    Proved {
        request: RequestId,
        proof: Box<RateLimitProof>,
    },
    /// One proof is verified, independently of others.
    Verified(ProofTicket),
    /// The verifier has finished its current job.
    VerifierDone(Vec<ProofTicket>),
    /// The node publishes the message of this number.
    Publish(u32),
    /// The node publishes a spam message and schedules the next one.
    Spam { interval_ns: u64, count: u64 },
    /// The fault of this number happens to the node.
    Fault(u32),
    /// The other end of a connection has closed it.
    Closed(u32),
}

/// A message that was delivered to the node's application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) message: u32,
    /// Node that sent the first copy.
    pub(crate) parent: u32,
    pub(crate) at_ns: u64,
}

/// Buffers and caches that the nodes of a thread share.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) ids: SharedIds,
    pub(crate) signals: SharedSignals,
    pub(crate) relay_outputs: VecDeque<Output>,
    pub(crate) received: VecDeque<(u32, Bytes)>,
    pub(crate) writable: Vec<u32>,
    /// Events that the current node has scheduled.
    pub(crate) caused: Vec<Event<What>>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) deliveries: u64,
}

/// State of one simulated node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: u32,
    /// The relay; `None` before the node starts and after it stopped.
    pub(crate) relay: Option<Box<Relay>>,
    pub(crate) host: Host<Bytes>,
    pub(crate) counters: Counters,
    pub(crate) deliveries: Vec<Delivered>,
    /// For messages published in fragments: reassembly, and by message time the node that sent the first
    /// fragment. The senders of first fragments form no cycle, so hops can be traced back through them.
    reassembly: Option<(Reassembly, BTreeMap<i64, u32>)>,
    /// Hash over all frames received and messages delivered.
    pub(crate) trace: u64,
    queues: BTreeMap<u32, SendQueue>,
    /// Start times of long frames in transit, by connection.
    coming: BTreeMap<u32, VecDeque<u64>>,
    /// Length above which a frame counts as long, bytes.
    long_frame_bytes: u64,
    /// Connections to be made, as (time, index), the next one last.
    to_connect: Vec<(u64, u32)>,
    member: Option<Member>,
    verifier: Option<Verifier>,
    mux_overhead_bytes: u32,
    spams: bool,
    /// Whether the node withholds the messages of others.
    is_silent: bool,
    caused: u32,
    wake_ns: u64,
    cpu_free_ns: u64,
    pub(crate) checks: Checks,
}

impl Node {
    pub(crate) fn new(world: &World, id: u32) -> Self {
        let rln = world.scenario.rln.as_ref();
        Self {
            id,
            relay: None,
            host: Host::new(world.host(id), derive(world.seed, "host", u64::from(id))),
            counters: Counters::default(),
            deliveries: Vec::new(),
            reassembly: (world.scenario.relay.fragments > 1)
                .then(|| (Reassembly::new(AssemblerLimits::default()), BTreeMap::new())),
            trace: u64::from(id),
            queues: BTreeMap::new(),
            coming: BTreeMap::new(),
            long_frame_bytes: world.scenario.relay.gossip.large.transfer_bytes as u64,
            to_connect: Vec::new(),
            member: rln.map(|rln| Member::new(world.seed, id, rln.message_limit)),
            verifier: rln.and_then(Verifier::new),
            mux_overhead_bytes: world.scenario.network.mux_overhead_bytes,
            spams: false,
            is_silent: false,
            caused: 0,
            wake_ns: u64::MAX,
            cpu_free_ns: 0,
            checks: Checks::default(),
        }
    }

    /// Schedules an event for a node, this one or another.
    fn cause(&mut self, bench: &mut Bench, at_ns: u64, node: u32, what: What) {
        let key = Key::new(at_ns, self.id, self.caused);
        self.caused += 1;
        bench.caused.push(Event { key, node, what });
    }

    /// Handles one event of the node.
    pub(crate) fn handle(&mut self, world: &World, bench: &mut Bench, now_ns: u64, what: What) {
        match what {
            What::Start => self.start(world, bench, now_ns),
            What::Connect => self.connect_due(world, bench, now_ns),
            What::Arrival(arrival) => self.arrival(world, bench, now_ns, arrival),
            What::Wake => self.wake(world, bench, now_ns),
            What::Frame { place, frame } => self.frame(world, bench, now_ns, place, frame),
            What::Proved { request, proof } => self.proved(world, bench, now_ns, request, *proof),
            What::Verified(ticket) => self.verified(world, bench, now_ns, &[ticket]),
            What::VerifierDone(tickets) => self.verifier_done(world, bench, now_ns, &tickets),
            What::Publish(number) => self.publish(world, bench, now_ns, number),
            What::Spam { interval_ns, count } => {
                self.spam(world, bench, now_ns, interval_ns, count);
            }
            What::Fault(number) => self.fault(world, bench, now_ns, number),
            What::Closed(place) => self.closed(world, bench, now_ns, place),
        }
        self.take_received(world, bench, now_ns);
        self.set_timer(bench);
    }

    /// Schedules a wake event for the next timer, unless an earlier one is scheduled.
    fn set_timer(&mut self, bench: &mut Bench) {
        let relay = self.relay.as_ref().map(|r| r.next_timeout().as_nanos());
        let host = self.host.next_timeout();
        let Some(next) = relay.into_iter().chain(host).min() else {
            return;
        };
        if next < self.wake_ns {
            self.wake_ns = next;
            let id = self.id;
            self.cause(bench, next, id, What::Wake);
        }
    }

    /// Mixes an event into the trace.
    fn mix(&mut self, words: [u64; 3], bytes: &[u8]) {
        let mut state = self.trace;
        let mut mix = |word: u64| {
            state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            state ^= state >> 29;
        };
        words.into_iter().for_each(&mut mix);
        // The first bytes of a frame identify it, except for a long payload.
        for chunk in bytes[..bytes.len().min(192)].chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mix(u64::from_le_bytes(word));
        }
        self.trace = state;
    }
}
