//! One simulated node: the relay code of real nodes on an emulated machine.

pub(crate) mod check;
pub(crate) mod event;
mod faults;
pub(crate) mod find;
pub(crate) mod input;
mod output;
mod service;
mod verifier;
mod verify;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use undertone_compact::FewMap;
use undertone_gossip::SendQueue;
use undertone_gossip::fragments::AssemblerLimits;
use undertone_link::{ConnIx, Host};
use undertone_relay::{Reassembly, Relay};

use crate::events::{EventKey, Scheduled};
use crate::member::SimMember;
use crate::node::check::RuleChecks;
use crate::node::event::{Event, Step};
use crate::node::find::PeerFinder;
use crate::node::verifier::VerifierModel;
use crate::outcome::Counters;
use crate::record::NodeTraffic;
use crate::seeds::derive;
use crate::services::io::ServiceInput;
use crate::services::server::SimService;
use crate::trace;
use crate::world::World;

/// A message that was delivered to the node's application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveredMessage {
    pub(crate) message: u32,
    /// Node that sent the first copy.
    pub(crate) parent: u32,
    pub(crate) at_ns: u64,
}

/// State of one simulated node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: u32,
    /// The relay; `None` before the node starts and after it stopped.
    pub(crate) relay: Option<Box<Relay>>,
    pub(crate) host: Host<Bytes>,
    pub(crate) counters: Counters,
    pub(crate) deliveries: Vec<DeliveredMessage>,
    /// For messages published in fragments: reassembly, and the node that sent the first fragment, by
    /// message timestamp. The senders of first fragments form no cycle, so hops can be traced back
    /// through them.
    reassembly: Option<Box<(Reassembly, BTreeMap<i64, u32>)>>,
    /// Hash over all frames received and messages delivered.
    pub(crate) trace: u64,
    queues: FewMap<ConnIx, SendQueue>,
    /// Start times of long frames in transit, by connection.
    in_transit: FewMap<ConnIx, VecDeque<u64>>,
    /// Length above which a frame counts as long, bytes.
    long_frame_bytes: u64,
    /// Pending connections, as (time, index), the next one last.
    to_connect: Vec<(u64, ConnIx)>,
    /// Membership, created when the node first publishes.
    member: Option<Box<SimMember>>,
    /// The worker that verifies proofs, while it has any.
    verifier: Option<Box<VerifierModel>>,
    mux_overhead_bytes: u32,
    spams: bool,
    /// Whether the node withholds the messages of others.
    is_silent: bool,
    /// Number of events that the node has scheduled.
    scheduled: u32,
    wake_ns: u64,
    cpu_free_ns: u64,
    pub(crate) checks: RuleChecks,
    /// Traffic of each of the node's connections, if recorded.
    pub(crate) record: Option<Box<NodeTraffic>>,
    /// Services for light clients, if the node offers any.
    pub(crate) service: Option<Box<ServiceSide>>,
    /// Connection manager, if nodes discover their peers.
    finder: Option<Box<PeerFinder>>,
}

/// Services of a node, with their pending inputs and their clients' pending frames.
#[derive(Debug)]
pub(crate) struct ServiceSide {
    pub(crate) machine: SimService,
    /// Events of the current step that the services have not handled yet.
    inbox: VecDeque<ServiceInput>,
    /// Frames waiting for a client's connection, with their length, and the client for a push.
    waiting: BTreeMap<ConnIx, VecDeque<(Bytes, u64, Option<u32>)>>,
}

impl Node {
    pub(crate) fn new(world: &World, id: u32) -> Self {
        Self {
            id,
            relay: None,
            host: Host::new(world.host(id), derive(world.seed, "host", u64::from(id))),
            counters: Counters::default(),
            deliveries: Vec::new(),
            reassembly: (world.scenario.relay.fragments > 1)
                .then(|| Box::new((Reassembly::new(AssemblerLimits::default()), BTreeMap::new()))),
            trace: u64::from(id),
            queues: FewMap::new(),
            in_transit: FewMap::new(),
            long_frame_bytes: world.scenario.gossip_of(id).large.transfer_bytes as u64,
            to_connect: Vec::new(),
            member: None,
            verifier: None,
            mux_overhead_bytes: world.scenario.network.mux_overhead_bytes,
            spams: false,
            is_silent: false,
            scheduled: 0,
            wake_ns: u64::MAX,
            cpu_free_ns: 0,
            checks: RuleChecks::default(),
            record: NodeTraffic::new(world.record),
            finder: None,
            service: world.service_nodes().contains(&id).then(|| {
                let relay_conns = world.ends(id).len() as u32;
                Box::new(ServiceSide {
                    machine: SimService::new(world, id, relay_conns),
                    inbox: VecDeque::new(),
                    waiting: BTreeMap::new(),
                })
            }),
        }
    }

    /// Schedules an event for a node, this one or another.
    fn schedule(&mut self, step: &mut Step<'_>, at_ns: u64, node: u32, event: Event) {
        let key = EventKey::new(at_ns, self.id, self.scheduled);
        self.scheduled += 1;
        step.scratch.scheduled.push(Scheduled { key, node, event });
    }

    /// Schedules an event for this node.
    pub(crate) fn schedule_own(&mut self, step: &mut Step<'_>, at_ns: u64, event: Event) {
        self.schedule(step, at_ns, self.id, event);
    }

    /// Handles one event of the node.
    pub(crate) fn handle(&mut self, step: &mut Step<'_>, event: Event) {
        match event {
            Event::Start => self.start(step),
            Event::Connect => self.connect_due(step),
            Event::Arrival(arrival) => self.arrival(step, arrival),
            Event::Wake => self.wake(step),
            Event::Frame { conn, frame } => self.frame(step, conn, frame),
            Event::Proved { request, proof } => self.proved(step, request, *proof),
            Event::Verified(ticket) => self.verified(step, &[ticket]),
            Event::VerifierDone(tickets) => self.verifier_done(step, &tickets),
            Event::Publish(number) => self.publish(step, number),
            Event::Spam { interval_ns, count } => self.spam(step, interval_ns, count),
            Event::Fault(number) => self.fault(step, number),
            Event::Closed(conn) => self.closed(step, conn),
            Event::Find(event) => self.find_event(step, event),
            Event::Service(event) => self.for_service(event.into()),
            Event::Light(event) => self.store_dialled(event),
            Event::Adversary(_) => {}
            Event::Watch => self.watch(step),
            Event::Root(number) => self.learn_root(step, number),
        }
        self.take_received(step);
        if self.service.is_some() {
            self.serve(step);
        }
        self.set_timer(step);
    }

    /// Schedules a wake event for the next timer, unless an earlier one is scheduled.
    fn set_timer(&mut self, step: &mut Step<'_>) {
        let relay = self.relay.as_ref().map(|r| r.next_timeout().as_nanos());
        let host = self.host.next_timeout();
        let service = self.service.as_ref();
        let service = service.and_then(|service| service.machine.next_timeout());
        let finder = self.finder.as_ref().map(|finder| finder.next_timeout());
        let Some(next) = relay
            .into_iter()
            .chain(host)
            .chain(service)
            .chain(finder)
            .min()
        else {
            return;
        };
        // A wake event after the end would only take memory.
        if next < self.wake_ns.min(step.world.end_ns) {
            self.wake_ns = next;
            self.schedule_own(step, next, Event::Wake);
        }
    }

    /// Mixes an event into the trace.
    fn mix(&mut self, words: [u64; 3], bytes: &[u8]) {
        trace::mix(&mut self.trace, words, bytes);
    }
}
