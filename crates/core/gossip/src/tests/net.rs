//! A network of routers in virtual time: one-way delays, links with a rate on which frames are queued and
//! can be cancelled, and a hash of all delivered frames.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::raw::strip_prefix;
use super::solo::{TOPIC, features, topic};
use crate::types::RequestId;
use crate::wire::{self, Rpc};
use crate::{
    Config, Direction, Features, Input, Limits, MessageId, NewPeer, Output, Overflow, PeerIx,
    Progress, QueuedFrame, Router, SendQueue, Time, Verdict,
};

/// Verdict of a node's validator on some data, and the time it takes.
pub(crate) type Judge = fn(node: usize, data: &[u8]) -> (Verdict, Duration);

/// A frame that arrives at a node.
pub(crate) struct Arrival {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) rpc: Rpc,
}

enum Event {
    Arrive {
        from: usize,
        to: usize,
        frame: Bytes,
        connection: u64,
    },
    LinkFree {
        from: usize,
        to: usize,
        connection: u64,
    },
    Judged {
        node: usize,
        id: MessageId,
        verdict: Verdict,
    },
}

/// One direction of a connection between two nodes.
struct Link {
    queue: SendQueue,
    busy: bool,
    connection: u64,
}

pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) routers: Vec<Router>,
    /// One-way delay of every pair that is not in `delays`.
    pub(crate) delay: Duration,
    pub(crate) delays: BTreeMap<(usize, usize), Duration>,
    /// Rate of a link, bytes per millisecond; a link that is not here takes no time.
    pub(crate) rates: BTreeMap<(usize, usize), u64>,
    pub(crate) judge: Judge,
    /// Whether routers are woken for all upkeep, even for what can be deferred.
    pub(crate) wakes_always: bool,
    /// Number of times that a router was woken.
    pub(crate) ticks: u64,
    pub(crate) arrivals: Vec<Arrival>,
    /// Messages that each node delivered to its application, with the time.
    pub(crate) delivered: Vec<Vec<(Time, Bytes)>>,
    links: BTreeMap<(usize, usize), Link>,
    events: BTreeMap<(Time, u64), Event>,
    work: VecDeque<(usize, Input)>,
    sequence: u64,
    trace: Sha256,
}

impl Net {
    pub(crate) fn new(configs: Vec<Config>, seed: u64) -> Self {
        let routers: Vec<_> = (0u64..)
            .zip(configs)
            .map(|(i, config)| {
                let seed = Sha256::digest([seed.to_le_bytes(), i.to_le_bytes()].concat());
                Router::new(config, seed.into(), Time::ZERO).unwrap()
            })
            .collect();
        Self {
            now: Time::ZERO,
            delivered: vec![Vec::new(); routers.len()],
            routers,
            delay: Duration::from_millis(10),
            delays: BTreeMap::new(),
            rates: BTreeMap::new(),
            judge: |_, _| (Verdict::Accept, Duration::ZERO),
            wakes_always: false,
            ticks: 0,
            arrivals: Vec::new(),
            links: BTreeMap::new(),
            events: BTreeMap::new(),
            work: VecDeque::new(),
            sequence: 0,
            trace: Sha256::new(),
        }
    }

    /// Two connected nodes, both subscribed to [`TOPIC`], meshes settled.
    pub(crate) fn pair(config: &Config) -> Self {
        let mut net = Self::new(vec![config.clone(), config.clone()], 1);
        net.connect(0, 1);
        net.subscribe_all();
        net.run_ms(3000);
        net
    }

    pub(crate) fn connect(&mut self, dialler: usize, listener: usize) {
        self.connect_with(dialler, listener, features("/meshsub/1.2.0"));
    }

    pub(crate) fn connect_with(&mut self, dialler: usize, listener: usize, features: Features) {
        self.sequence += 1;
        let connection = self.sequence;
        for (at, other, direction) in [
            (dialler, listener, Direction::Outbound),
            (listener, dialler, Direction::Inbound),
        ] {
            let link = Link {
                queue: SendQueue::default(),
                busy: false,
                connection,
            };
            assert!(self.links.insert((at, other), link).is_none());
            self.work.push_back((
                at,
                Input::Connected(NewPeer {
                    peer: PeerIx(other as u32),
                    identity: Bytes::copy_from_slice(&other.to_le_bytes()),
                    record: Bytes::new(),
                    direction,
                    features,
                    ip: None,
                    explicit: false,
                }),
            ));
        }
        self.work_off();
    }

    pub(crate) fn connected(&self, a: usize, b: usize) -> bool {
        self.links.contains_key(&(a, b))
    }

    pub(crate) fn disconnect(&mut self, a: usize, b: usize) {
        self.hang_up(a, b);
        self.work_off();
    }

    /// Restarts a node's process: the node has no state and no connections.
    pub(crate) fn restart(&mut self, node: usize, config: &Config) {
        let connected = self.links.keys().any(|(at, _)| *at == node);
        assert!(!connected, "disconnect node {node} first");
        let seed = Sha256::digest(self.sequence.to_le_bytes());
        self.routers[node] = Router::new(config.clone(), seed.into(), self.now).unwrap();
    }

    fn hang_up(&mut self, a: usize, b: usize) {
        for (at, other) in [(a, b), (b, a)] {
            if self.links.remove(&(at, other)).is_some() {
                let gone = Input::Disconnected(PeerIx(other as u32));
                self.work.push_back((at, gone));
            }
        }
    }

    pub(crate) fn input(&mut self, node: usize, input: Input) {
        self.work.push_back((node, input));
        self.work_off();
    }

    pub(crate) fn subscribe_all(&mut self) {
        for node in 0..self.routers.len() {
            self.input(node, Input::Subscribe(topic()));
        }
    }

    pub(crate) fn publish(&mut self, node: usize, data: &[u8]) {
        let data = Bytes::copy_from_slice(data);
        let request = RequestId(0);
        self.input(
            node,
            Input::Publish {
                topic: topic(),
                data,
                request,
            },
        );
    }

    pub(crate) fn run_ms(&mut self, ms: u64) {
        let end = self.now.after(Duration::from_millis(ms));
        loop {
            let timer = (0..self.routers.len()).map(|node| self.due(node)).min();
            let event = self.events.keys().next().map(|(at, _)| *at);
            let Some(next) = timer.into_iter().chain(event).min().filter(|t| *t <= end) else {
                break;
            };
            self.now = self.now.max(next);
            while self
                .events
                .first_key_value()
                .is_some_and(|((at, _), _)| *at <= self.now)
            {
                let (_, event) = self.events.pop_first().unwrap();
                self.happen(event);
            }
            for node in 0..self.routers.len() {
                if self.due(node) <= self.now {
                    self.ticks += 1;
                    self.input(node, Input::Tick);
                }
            }
        }
        self.now = end;
    }

    fn due(&self, node: usize) -> Time {
        let router = &self.routers[node];
        match self.wakes_always {
            true => router.next_timeout().min(router.next_upkeep()),
            false => router.next_timeout(),
        }
    }

    /// Connects two nodes, or disconnects them.
    pub(crate) fn flip(&mut self, a: usize, b: usize) {
        if self.connected(a, b) {
            self.disconnect(a, b);
        } else if a != b {
            self.connect(a, b);
        }
    }

    fn schedule(&mut self, after: Duration, event: Event) {
        self.sequence += 1;
        let at = self.now.after(after);
        self.events.insert((at, self.sequence), event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive {
                from,
                to,
                frame,
                connection,
            } => {
                let link = self.links.get(&(from, to));
                if link.is_some_and(|link| link.connection == connection) {
                    self.arrive(from, to, &frame);
                }
            }
            Event::LinkFree {
                from,
                to,
                connection,
            } => {
                if let Some(link) = self.links.get_mut(&(from, to))
                    && link.connection == connection
                {
                    link.busy = false;
                    self.pump(from, to);
                }
            }
            Event::Judged { node, id, verdict } => {
                self.work
                    .push_back((node, Input::Validated { id, verdict }));
            }
        }
        self.work_off();
    }

    fn arrive(&mut self, from: usize, to: usize, frame: &Bytes) {
        self.trace.update(self.now.as_nanos().to_le_bytes());
        self.trace.update([from as u8, to as u8]);
        self.trace.update(frame);
        let rpc = wire::decode(&strip_prefix(frame), &Limits::default()).unwrap();
        self.arrivals.push(Arrival { from, to, rpc });
        let (peer, frame) = (PeerIx(from as u32), frame.clone());
        self.work.push_back((
            to,
            Input::Frame {
                peer,
                frame: frame.into(),
            },
        ));
    }

    fn work_off(&mut self) {
        while let Some((node, input)) = self.work.pop_front() {
            let router = &mut self.routers[node];
            router.handle(self.now, input).unwrap();
            let outputs: Vec<_> = std::iter::from_fn(|| router.poll()).collect();
            for output in outputs {
                self.output(node, output);
            }
        }
    }

    fn output(&mut self, node: usize, output: Output) {
        match output {
            Output::Send {
                peer,
                handle,
                class,
                frame,
            } => {
                let to = peer.0 as usize;
                let Some(link) = self.links.get_mut(&(node, to)) else {
                    return;
                };
                match link.queue.push(QueuedFrame {
                    handle,
                    class,
                    frame,
                }) {
                    Ok(()) => self.pump(node, to),
                    Err(Overflow::Control) => self.hang_up(node, to),
                    Err(Overflow::Message) => self.work.push_back((
                        node,
                        Input::Sent {
                            peer,
                            handle,
                            progress: Progress::Dropped,
                        },
                    )),
                }
            }
            Output::Cancel { peer, handle } => {
                if let Some(link) = self.links.get_mut(&(node, peer.0 as usize)) {
                    link.queue.cancel(handle);
                }
            }
            Output::Validate { id, data, .. } => {
                let (verdict, delay) = (self.judge)(node, &data);
                self.schedule(delay, Event::Judged { node, id, verdict });
            }
            Output::Deliver { data, .. } => self.delivered[node].push((self.now, data)),
            Output::Disconnect(peer) => self.hang_up(node, peer.0 as usize),
            Output::Copied { .. }
            | Output::Published { .. }
            | Output::Connect { .. }
            | Output::Forgotten(_)
            | Output::Report(_) => {}
        }
    }

    /// Sends queued frames while the link is free.
    fn pump(&mut self, from: usize, to: usize) {
        let delay = *self.delays.get(&(from, to)).unwrap_or(&self.delay);
        let rate = self.rates.get(&(from, to)).copied();
        while let Some(link) = self.links.get_mut(&(from, to)) {
            if link.busy {
                return;
            }
            let Some(next) = link.queue.pop() else { return };
            let connection = link.connection;
            let nanos = rate.map_or(0, |rate| next.frame.len() as u64 * 1_000_000 / rate);
            let transmission = Duration::from_nanos(nanos);
            if nanos > 0 {
                link.busy = true;
                self.schedule(
                    transmission,
                    Event::LinkFree {
                        from,
                        to,
                        connection,
                    },
                );
            }
            let arrive = Event::Arrive {
                from,
                to,
                frame: next.frame,
                connection,
            };
            self.schedule(transmission + delay, arrive);
            let started = Input::Sent {
                peer: PeerIx(to as u32),
                handle: next.handle,
                progress: Progress::Started,
            };
            self.work.push_back((from, started));
        }
    }

    /// Hash of every frame delivered so far, with its time, sender and receiver.
    pub(crate) fn trace(&self) -> String {
        hex::encode(self.trace.clone().finalize())
    }

    /// Number of copies of messages that arrived at a node.
    pub(crate) fn copies_at(&self, node: usize) -> usize {
        let at_node = self.arrivals.iter().filter(|arrival| arrival.to == node);
        at_node.map(|arrival| arrival.rpc.messages.len()).sum()
    }

    /// Peers of a node in its mesh of [`TOPIC`].
    pub(crate) fn mesh(&self, node: usize) -> Vec<usize> {
        let mesh = self.routers[node].mesh(&TOPIC.into());
        mesh.iter().map(|peer| peer.0 as usize).collect()
    }
}
