//! One identity of an adversary: its machine, its connections, and when it acts.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use undertone_gossip::{Direction, MessageId, Topic};
use undertone_link::{self as link, ConnIx, Host, Priority};

use crate::adversary::publish::{Publisher, Signal};
use crate::adversary::{AdversaryEvent, Heard};
use crate::events::{EventKey, Scheduled};
use crate::node::event::{Event, Step};
use crate::outcome::HeardMessage;
use crate::scenario::Policy;
use crate::seeds::{SeededRng, derive};
use crate::trace;
use crate::world::World;

/// Time between two heartbeats, nanoseconds.
pub(super) const HEARTBEAT_NS: u64 = 1_000_000_000;

/// State of one identity.
#[derive(Debug)]
pub(crate) struct AdversaryNode {
    pub(crate) id: u32,
    pub(crate) host: Host<Bytes>,
    /// Hash over all frames received.
    pub(crate) trace: u64,
    /// First copies of messages that came on a connection.
    pub(crate) heard: Vec<HeardMessage>,
    pub(super) topics: Vec<Topic>,
    /// Messages that the identity has, by id.
    pub(super) known: BTreeMap<MessageId, Heard>,
    /// Ids of recent messages, each with its time, the oldest first.
    pub(super) recent: Vec<(u64, MessageId)>,
    /// Open connections, each with the topics in whose mesh the peer is.
    pub(super) meshes: BTreeMap<ConnIx, BTreeSet<usize>>,
    agenda: BTreeMap<(u64, u32), Action>,
    pub(super) rng: SeededRng,
    /// Membership and what was published with it, once anything was.
    pub(crate) publisher: Option<Box<Publisher>>,
    planned: u32,
    scheduled: u32,
    wake_ns: u64,
}

/// Something that an identity does at a later time.
#[derive(Debug)]
pub(super) enum Action {
    /// A connection is ready for frames.
    Connect(ConnIx),
    /// The identity asks to join a peer's mesh again.
    Graft(ConnIx, usize),
    /// It forwards a message to the mesh, but not to the connection on which it came.
    Forward(Box<Heard>, ConnIx),
    /// It announces and requests.
    Heartbeat,
    /// It publishes with its membership.
    Publish,
    /// It publishes one of several messages with one nullifier.
    Signal(Signal),
}

impl AdversaryNode {
    pub(crate) fn new(world: &World, id: u32) -> Self {
        Self {
            id,
            host: Host::new(world.host(id), derive(world.seed, "host", u64::from(id))),
            trace: u64::from(id),
            heard: Vec::new(),
            topics: world
                .topics
                .iter()
                .map(|topic| Topic::new(&topic.to_string()))
                .collect(),
            known: BTreeMap::new(),
            recent: Vec::new(),
            meshes: BTreeMap::new(),
            agenda: BTreeMap::new(),
            rng: SeededRng::new(world.seed, "adversary", u64::from(id)),
            publisher: None,
            planned: 0,
            scheduled: 0,
            wake_ns: u64::MAX,
        }
    }

    /// Handles one event of the identity.
    pub(crate) fn handle(&mut self, step: &mut Step<'_>, event: Event) {
        match event {
            Event::Start => self.start(step),
            Event::Arrival(arrival) => self.host_input(step, link::Input::Arrival(arrival)),
            Event::Wake => {
                if self.wake_ns != step.now_ns {
                    return; // Another wake event was scheduled for an earlier time.
                }
                self.wake_ns = u64::MAX;
                if self.host.next_timeout().is_some_and(|at| at <= step.now_ns) {
                    self.host_input(step, link::Input::Tick);
                }
                self.act(step);
            }
            Event::Closed(conn) => self.close(step, conn),
            Event::Adversary(AdversaryEvent::Shared(heard)) => self.learn(step.now_ns, *heard),
            Event::Adversary(AdversaryEvent::Leave) => self.leave(step),
            // Only relays and light clients receive the others.
            _ => {}
        }
        self.set_timer(step);
    }

    fn start(&mut self, step: &mut Step<'_>) {
        let world = step.world;
        let policy = world.policy(self.id);
        for (conn, end) in (0..).zip(world.ends(self.id)) {
            let at_ns = world.connected_ns(self.id, end);
            self.plan(at_ns, Action::Connect(ConnIx(conn)));
        }
        if policy.has_heartbeats() {
            self.plan(step.now_ns + HEARTBEAT_NS, Action::Heartbeat);
        }
        if let Some(every_ns) = policy.publish_every_ns {
            self.plan(step.now_ns.saturating_add(every_ns), Action::Publish);
        }
        if let Some(at_ns) = policy.leaves_ns {
            self.schedule(
                step,
                at_ns.max(step.now_ns),
                self.id,
                Event::Adversary(AdversaryEvent::Leave),
            );
        }
    }

    pub(super) fn plan(&mut self, at_ns: u64, action: Action) {
        self.agenda.insert((at_ns, self.planned), action);
        self.planned += 1;
    }

    fn act(&mut self, step: &mut Step<'_>) {
        while let Some(first) = self.agenda.first_entry()
            && first.key().0 <= step.now_ns
        {
            match first.remove() {
                Action::Connect(conn) => self.connect(step, conn),
                Action::Graft(conn, topic) => self.graft(step, conn, topic),
                Action::Forward(heard, from) => self.forward(step, &heard, from),
                Action::Heartbeat => {
                    self.heartbeat(step);
                    self.plan(step.now_ns + HEARTBEAT_NS, Action::Heartbeat);
                }
                Action::Publish => self.publish(step),
                Action::Signal(signal) => self.send_signal(step, signal),
            }
        }
    }

    fn connect(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let world = step.world;
        let end = world.ends(self.id)[conn.0 as usize];
        let direction = match end.outbound {
            true => Direction::Outbound,
            false => Direction::Inbound,
        };
        let connect = world.connect_input(self.id, conn, direction);
        self.host_input(step, connect);
        self.meshes.insert(conn, BTreeSet::new());
        self.greet(step, conn);
    }

    fn close(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        if self.meshes.remove(&conn).is_some() {
            self.host_input(step, link::Input::Close(conn));
        }
    }

    fn leave(&mut self, step: &mut Step<'_>) {
        self.agenda.clear();
        for conn in self.meshes.keys().copied().collect::<Vec<_>>() {
            let end = step.world.ends(self.id)[conn.0 as usize];
            let at_ns = step.now_ns + step.world.delay_ns(self.id, end.remote);
            self.schedule(step, at_ns, end.remote, Event::Closed(end.remote_conn));
            self.close(step, conn);
        }
    }

    /// Sends a frame. An adversary has no queue: what the socket does not take is dropped.
    pub(super) fn write(&mut self, step: &mut Step<'_>, conn: ConnIx, frame: Bytes) {
        if !self.host.is_open(conn) || !self.host.is_writable(conn) {
            return;
        }
        let overhead = step.world.scenario.network.mux_overhead_bytes;
        let write = link::Input::Write {
            conn,
            bytes: frame.len() as u64 + u64::from(overhead),
            frame,
            priority: Priority::Normal,
        };
        self.host_input(step, write);
    }

    fn host_input(&mut self, step: &mut Step<'_>, input: link::Input<Bytes>) {
        self.host
            .handle(step.now_ns, input)
            .expect("the simulation keeps the host's contract");
        let mut received = Vec::new();
        while let Some(output) = self.host.poll() {
            match output {
                link::Output::Send { to, at_ns, arrival } => {
                    self.schedule(step, at_ns, to, Event::Arrival(arrival));
                }
                link::Output::Received { conn, frame } => received.push((conn, frame)),
                link::Output::Begun { .. } | link::Output::Writable(_) => {}
            }
        }
        for (conn, frame) in received {
            let words = [step.now_ns, u64::from(conn.0), frame.len() as u64];
            trace::mix(&mut self.trace, words, &frame);
            self.received(step, conn, &frame);
        }
    }

    /// Whether chance, with this probability, lets something happen.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.unit() < probability
    }

    pub(super) fn policy<'a>(&self, step: &Step<'a>) -> &'a Policy {
        step.world.policy(self.id)
    }

    fn set_timer(&mut self, step: &mut Step<'_>) {
        let agenda = self.agenda.first_key_value().map(|((at_ns, _), _)| *at_ns);
        let Some(next) = agenda.into_iter().chain(self.host.next_timeout()).min() else {
            return;
        };
        let next = next.max(step.now_ns + 1);
        if next < self.wake_ns.min(step.world.end_ns) {
            self.wake_ns = next;
            self.schedule(step, next, self.id, Event::Wake);
        }
    }

    /// Schedules an event for a node, this one or another.
    pub(super) fn schedule(&mut self, step: &mut Step<'_>, at_ns: u64, node: u32, event: Event) {
        let key = EventKey::new(at_ns, self.id, self.scheduled);
        self.scheduled += 1;
        step.scratch.scheduled.push(Scheduled { key, node, event });
    }
}
