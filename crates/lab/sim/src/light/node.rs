//! One light client: its machine, its connections, and its application.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use undertone_link::{self as link, ConnIx, Host};

use crate::events::{EventKey, Scheduled};
use crate::light::LightEvent;
use crate::light::client::HonestClient;
use crate::light::connections::PeerSlot;
use crate::light::reading::{FinishedReading, ReadingClient};
use crate::light::streams::OpenStream;
use crate::node::event::{Event, Step};
use crate::outcome::{ClientCounters, LightArrival};
use crate::seeds::{SeededRng, derive};
use crate::services::frames::StreamFrame;
use crate::trace;
use crate::world::World;

/// Delay before the next wake-up if a timer of the state machines is still due after a tick, nanoseconds;
/// otherwise time would stand still.
const TICK_NS: u64 = 1_000_000;

/// State of one light client.
#[derive(Debug)]
pub(crate) struct LightNode {
    pub(crate) id: u32,
    pub(crate) host: Host<Bytes>,
    pub(crate) counters: ClientCounters,
    pub(crate) deliveries: Vec<LightArrival>,
    pub(crate) readings: Vec<FinishedReading>,
    /// Hash over all frames received and messages delivered.
    pub(crate) trace: u64,
    /// The client's state machines; `None` before the start, and for one that floods.
    pub(super) client: Option<Box<HonestClient>>,
    pub(super) reading: Option<Box<ReadingClient>>,
    /// Service nodes that the client knows.
    pub(super) peers: Vec<PeerSlot>,
    /// Number of peer exchange requests.
    pub(super) exchanges: usize,
    /// Open connections and pending ones, with the indices of their peers.
    pub(super) conns: BTreeMap<ConnIx, usize>,
    pub(super) next_conn: u32,
    pub(super) streams: BTreeMap<u32, OpenStream>,
    pub(super) next_stream: u32,
    /// Messages that the application has, to check that it gets each only once.
    pub(crate) delivered: BTreeSet<u32>,
    pub(super) floods: bool,
    pub(super) flooded: u64,
    pub(super) rng: SeededRng,
    asleep_until_ns: Option<u64>,
    scheduled: u32,
    wake_ns: u64,
}

impl LightNode {
    pub(crate) fn new(world: &World, id: u32) -> Self {
        let number = id - world.scenario.nodes;
        let setup = world.scenario.services.as_ref();
        let floods = setup.is_some_and(|setup| number >= setup.honest_clients());
        Self {
            id,
            host: Host::new(world.host(id), derive(world.seed, "host", u64::from(id))),
            counters: ClientCounters {
                floods,
                ..ClientCounters::default()
            },
            deliveries: Vec::new(),
            readings: Vec::new(),
            trace: u64::from(id),
            client: None,
            reading: None,
            peers: PeerSlot::all(world, number),
            exchanges: 0,
            conns: BTreeMap::new(),
            next_conn: 0,
            streams: BTreeMap::new(),
            next_stream: 0,
            delivered: BTreeSet::new(),
            floods,
            flooded: 0,
            rng: SeededRng::new(world.seed, "light", u64::from(id)),
            asleep_until_ns: None,
            scheduled: 0,
            wake_ns: u64::MAX,
        }
    }

    /// Handles one event of the client.
    pub(crate) fn handle(&mut self, step: &mut Step<'_>, event: Event) {
        if let Some(until_ns) = self.asleep_until_ns
            && !matches!(event, Event::Light(LightEvent::WakeUp))
        {
            // The network holds data for a sleeping machine, and timers fire when it wakes up.
            match event {
                Event::Wake => self.wake_ns = u64::MAX,
                event => self.schedule_own(step, until_ns, event),
            }
            return;
        }
        match event {
            Event::Start => self.start(step),
            Event::Arrival(arrival) => self.arrival(step, arrival),
            Event::Wake => {
                if self.wake_ns != step.now_ns {
                    return; // Another wake event was scheduled for an earlier time.
                }
                self.wake_ns = u64::MAX;
                self.tick(step);
            }
            Event::Frame { conn, frame } => self.frame(step, conn, &frame),
            Event::Publish(number) => self.publish(step, number),
            Event::Closed(conn) => self.closed(step, conn),
            Event::Light(event) => self.light_event(step, event),
            // Only relays receive these.
            Event::Connect
            | Event::Proved { .. }
            | Event::Verified(_)
            | Event::VerifierDone(_)
            | Event::Spam { .. }
            | Event::Fault(_)
            | Event::Find(_)
            | Event::Service(_)
            | Event::Adversary(_)
            | Event::Watch
            | Event::Root(_) => {}
        }
        self.drive(step);
        self.set_timer(step);
    }

    fn light_event(&mut self, step: &mut Step<'_>, event: LightEvent) {
        match event {
            LightEvent::Accepted {
                node,
                conn,
                remote_conn,
            } => self.accepted(step, node, (conn, remote_conn)),
            LightEvent::Refused { conn } => self.refused(step, conn),
            LightEvent::Greeted(conn) => self.greeted_enough(step, conn),
            LightEvent::FindPeers => self.find_peers(step),
            LightEvent::StreamOpen(stream) => self.stream_open(step, stream),
            LightEvent::Proved { id, attempt, proof } => self.proved(step, id, attempt, &proof),
            LightEvent::Epoch => self.epoch(step),
            LightEvent::ConnectionLost(conn) => self.connection_lost(step, conn),
            LightEvent::Sleep => self.sleep(step),
            LightEvent::WakeUp => self.wake_up(step),
            LightEvent::Read => self.read(step),
            LightEvent::ReadOn => self.read_on(step),
            LightEvent::Flood => self.flood(step),
        }
    }

    fn start(&mut self, step: &mut Step<'_>) {
        if self.floods {
            return self.start_flood(step);
        }
        self.start_client(step);
        self.start_reading(step);
        self.find_peers(step);
        let setup = step.world.scenario.services.as_ref();
        if let Some(sleep) = setup.and_then(|setup| setup.sleep) {
            let at_ns = step.now_ns + self.exponential_ns(sleep.every_ns);
            self.schedule_own(step, at_ns, Event::Light(LightEvent::Sleep));
        }
    }

    /// Falls asleep, unless the calm at the end of the run has begun.
    fn sleep(&mut self, step: &mut Step<'_>) {
        let setup = step.world.scenario.services.as_ref();
        let Some((sleep, noticed_after_ns)) =
            setup.and_then(|setup| Some((setup.sleep?, setup.noticed_after_ns)))
        else {
            return;
        };
        if step.world.is_calm(step.now_ns) {
            return;
        }
        self.counters.sleeps += 1;
        let until_ns = step.now_ns + sleep.for_ns;
        self.asleep_until_ns = Some(until_ns);
        self.schedule_own(step, until_ns, Event::Light(LightEvent::WakeUp));
        let next_ns = until_ns + self.exponential_ns(sleep.every_ns);
        self.schedule_own(step, next_ns, Event::Light(LightEvent::Sleep));
        if sleep.for_ns >= noticed_after_ns {
            self.noticed(step, noticed_after_ns);
        }
    }

    fn wake_up(&mut self, step: &mut Step<'_>) {
        self.asleep_until_ns = None;
        self.drop_noticed(step);
        self.tick(step);
    }

    fn tick(&mut self, step: &mut Step<'_>) {
        if self.host.next_timeout().is_some_and(|at| at <= step.now_ns) {
            self.host_input(step, link::Input::Tick);
        }
        self.tick_machines(step);
    }

    fn arrival(&mut self, step: &mut Step<'_>, arrival: link::Arrival<Bytes>) {
        let peer = self.conns.get(&arrival.conn);
        let remote = peer
            .and_then(|at| self.peers.get(*at))
            .map(|slot| slot.node);
        if let Some(remote) = remote
            && let Some(until_ns) = step.world.cut_until_ns(step.now_ns, self.id, remote)
        {
            let at_ns = until_ns + step.world.delay_ns(remote, self.id);
            return self.schedule_own(step, at_ns, Event::Arrival(arrival));
        }
        self.host_input(step, link::Input::Arrival(arrival));
    }

    pub(super) fn host_input(&mut self, step: &mut Step<'_>, input: link::Input<Bytes>) {
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
                // A client writes little, which sockets always accept.
                link::Output::Begun { .. } | link::Output::Writable(_) => {}
            }
        }
        for (conn, frame) in received {
            self.frame(step, conn, &frame);
        }
    }

    fn frame(&mut self, step: &mut Step<'_>, conn: ConnIx, frame: &Bytes) {
        let Some(peer) = self.conns.get(&conn).copied() else {
            return;
        };
        let words = [step.now_ns, u64::from(conn.0), frame.len() as u64];
        trace::mix(&mut self.trace, words, frame);
        match StreamFrame::decode(frame) {
            Some(StreamFrame::Answer { stream, body }) => self.answered(step, stream, &body),
            Some(StreamFrame::Push { body }) => self.pushed(step, peer, &body),
            // Sent by clients, or between stores.
            Some(
                StreamFrame::Request { .. }
                | StreamFrame::Reconcile { .. }
                | StreamFrame::Transfer { .. },
            )
            | None => {}
        }
    }

    /// A random time, exponentially distributed with this mean, nanoseconds.
    pub(super) fn exponential_ns(&mut self, mean_ns: u64) -> u64 {
        (-(1.0 - self.rng.unit()).ln() * mean_ns as f64) as u64
    }

    /// Schedules a wake event for the next timer, unless an earlier one is scheduled.
    fn set_timer(&mut self, step: &mut Step<'_>) {
        if self.asleep_until_ns.is_some() {
            return;
        }
        // A machine's timer may stay due; one of the host's must fire in time, or acknowledgements are lost.
        let machines = self.next_machine_timeout();
        let machines = machines.map(|at_ns| match at_ns <= step.now_ns {
            true => step.now_ns + TICK_NS,
            false => at_ns,
        });
        let host = self.host.next_timeout();
        let host = host.map(|at_ns| at_ns.max(step.now_ns));
        let Some(next) = machines.into_iter().chain(host).min() else {
            return;
        };
        if next < self.wake_ns {
            self.wake_ns = next;
            self.schedule_own(step, next, Event::Wake);
        }
    }

    /// Schedules an event for a node, this one or another.
    pub(super) fn schedule(&mut self, step: &mut Step<'_>, at_ns: u64, node: u32, event: Event) {
        let key = EventKey::new(at_ns, self.id, self.scheduled);
        self.scheduled += 1;
        step.scratch.scheduled.push(Scheduled { key, node, event });
    }

    /// Schedules an event for this client.
    pub(super) fn schedule_own(&mut self, step: &mut Step<'_>, at_ns: u64, event: Event) {
        self.schedule(step, at_ns, self.id, event);
    }
}
