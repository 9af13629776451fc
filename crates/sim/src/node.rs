//! One simulated node: the relay that ships on an emulated machine.

pub(crate) mod check;
mod faults;
pub(crate) mod input;
mod output;
mod verifier;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use undertone_gossip::SendQueue;
use undertone_gossip::fragments::AssemblerLimits;
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

/// Something that happens to a node.
#[derive(Debug)]
pub(crate) enum What {
    /// It starts.
    Start,
    /// Connections are ready.
    Connect,
    /// Packets come.
    Arrival(Arrival<Bytes>),
    /// A timer of the host or the relay is due.
    Wake,
    /// A frame is read.
    Frame { place: u32, frame: Bytes },
    /// A proof of ours is made.
    Proved {
        token: u64,
        proof: Box<RateLimitProof>,
    },
    /// One proof is checked, without regard to others.
    Verified(ProofTicket),
    /// The verifier is done with what it had.
    VerifierDone(Vec<ProofTicket>),
    /// It publishes the message of that number.
    Publish(u32),
    /// It publishes spam, and will again.
    Spam { interval_ns: u64, count: u64 },
    /// A fault happens to it.
    Fault(u32),
    /// The other end of a connection is gone.
    Closed(u32),
}

/// A message that was delivered here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) message: u32,
    /// The node that the first copy came from.
    pub(crate) parent: u32,
    pub(crate) at_ns: u64,
}

/// Buffers that the nodes of a thread share, and what they have in common.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) ids: SharedIds,
    pub(crate) signals: SharedSignals,
    pub(crate) relay_outputs: VecDeque<Output>,
    pub(crate) received: VecDeque<(u32, Bytes)>,
    pub(crate) writable: Vec<u32>,
    /// What the node that is at work caused.
    pub(crate) caused: Vec<Event<What>>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) deliveries: u64,
}

/// One node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: u32,
    /// `None` before it starts and after it crashed.
    pub(crate) relay: Option<Box<Relay>>,
    pub(crate) host: Host<Bytes>,
    pub(crate) counters: Counters,
    pub(crate) deliveries: Vec<Delivered>,
    /// Where messages are published in parts: what has come of them, and who sent the first part of
    /// those that are not whole. Nodes that had that part from one another form no circle.
    reassembly: Option<(Reassembly, BTreeMap<i64, u32>)>,
    /// Over everything that came in and was delivered.
    pub(crate) trace: u64,
    queues: BTreeMap<u32, SendQueue>,
    /// When long frames of each connection began that were not given to the relay.
    coming: BTreeMap<u32, VecDeque<u64>>,
    /// Frames longer than this are long, bytes.
    long_frame_bytes: u64,
    /// Connections still to be made, the next one last.
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

    /// Makes something happen to a node, this one or another.
    fn cause(&mut self, bench: &mut Bench, at_ns: u64, node: u32, what: What) {
        let key = Key::new(at_ns, self.id, self.caused);
        self.caused += 1;
        bench.caused.push(Event { key, node, what });
    }

    /// Works off one event.
    pub(crate) fn handle(&mut self, world: &World, bench: &mut Bench, now_ns: u64, what: What) {
        match what {
            What::Start => self.start(world, bench, now_ns),
            What::Connect => self.connect_due(world, bench, now_ns),
            What::Arrival(arrival) => self.arrival(world, bench, now_ns, arrival),
            What::Wake => self.wake(world, bench, now_ns),
            What::Frame { place, frame } => self.frame(world, bench, now_ns, place, frame),
            What::Proved { token, proof } => self.proved(world, bench, now_ns, token, *proof),
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

    /// Sees to it that the next timer wakes the node.
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

    /// Mixes what happened into the trace.
    fn mix(&mut self, words: [u64; 3], bytes: &[u8]) {
        let mut state = self.trace;
        let mut mix = |word: u64| {
            state = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            state ^= state >> 29;
        };
        words.into_iter().for_each(&mut mix);
        // The head of a frame tells everything but a long payload.
        for chunk in bytes[..bytes.len().min(192)].chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mix(u64::from_le_bytes(word));
        }
        self.trace = state;
    }
}
