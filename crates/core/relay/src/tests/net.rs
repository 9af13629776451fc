//! A network of relays in virtual time. Links take 10 ms, verifying a proof 5 ms, making one 100 ms.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::wire::{self, Rpc};
use undertone_gossip::{Limits, MessageId, PeerIx, Progress, RequestId, Time};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, Fr, ProofStatement, RateLimitProof, RlnIdentifier, fr_to_le};

use super::fake_proof::{NOW_NS, config, root, share, topic, window};
use super::real::{Rln, rln};
use super::solo::{message_frame, new_peer, strip_prefix};
use crate::{Input, Output, ProofTicket, PublishError, Published, Relay, RelayConfig};

/// Configuration of a spammer's node.
pub(crate) fn sends_reused_ids(mut config: RelayConfig) -> RelayConfig {
    if let Some(rln) = &mut config.rln {
        rln.sends_reused_ids = true;
    }
    config
}

const LINK: Duration = Duration::from_millis(10);
const CHECK: Duration = Duration::from_millis(5);
const PROVE: Duration = Duration::from_millis(100);

/// Index, at every node, of a peer that is not a relay: the test writes its frames.
pub(crate) const STRANGER: usize = 99;

/// Source of the proofs in a network.
#[derive(Clone, Copy)]
enum Proofs {
    /// Forged proofs, all of which count as valid.
    Forged,
    /// Real proofs, made and verified; node n is member n.
    Real(&'static Rln),
}

#[derive(Debug)]
enum Event {
    Arrive {
        from: usize,
        to: usize,
        frame: Bytes,
    },
    Verified {
        node: usize,
        ticket: ProofTicket,
        valid: bool,
    },
    Proved {
        node: usize,
        request: RequestId,
        proof: Box<RateLimitProof>,
    },
}

pub(crate) struct Net {
    pub(crate) now: Time,
    pub(crate) relays: Vec<Relay>,
    /// Every output of the relays, with time and node.
    pub(crate) outputs: Vec<(Time, usize, Output)>,
    /// Every RPC that arrived, with sender and receiver.
    pub(crate) arrivals: Vec<(usize, usize, Rpc)>,
    /// Message id of each node's next proof; setting it back turns a node that [`sends_reused_ids`]
    /// into a spammer.
    pub(crate) next_message_id: Vec<u32>,
    /// Member that each node's forged proofs belong to.
    pub(crate) member: Vec<usize>,
    /// Root that each node's forged proofs name.
    pub(crate) proves_by: Vec<Fr>,
    proofs: Proofs,
    links: BTreeSet<(usize, usize)>,
    events: BTreeMap<(Time, u64), Event>,
    work: VecDeque<(usize, Input)>,
    sequence: u64,
}

impl Net {
    /// Creates relays that accept forged proofs.
    pub(crate) fn forged(nodes: usize, seed: u8) -> Self {
        Self::new(&vec![config(); nodes], seed, Proofs::Forged)
    }

    /// Creates relays with forged proofs that send under nullifiers which they used before.
    pub(crate) fn spamming(nodes: usize, seed: u8) -> Self {
        Self::forged_with(&sends_reused_ids(config()), nodes, seed)
    }

    /// Creates relays with forged proofs and this configuration.
    pub(crate) fn forged_with(config: &RelayConfig, nodes: usize, seed: u8) -> Self {
        Self::new(&vec![config.clone(); nodes], seed, Proofs::Forged)
    }

    /// Creates relays that make and verify real proofs.
    pub(crate) fn real(nodes: usize, seed: u8) -> Self {
        Self::new(&vec![config(); nodes], seed, Proofs::Real(rln()))
    }

    fn new(configs: &[RelayConfig], seed: u8, proofs: Proofs) -> Self {
        let relays: Vec<_> = (0u8..)
            .zip(configs)
            .map(|(node, config)| {
                let mut seed = [seed; 32];
                seed[0] = node;
                Relay::new(config.clone(), seed, Time::ZERO).unwrap()
            })
            .collect();
        let nodes = relays.len();
        let mut net = Self {
            now: Time::ZERO,
            relays,
            outputs: Vec::new(),
            arrivals: Vec::new(),
            next_message_id: vec![0; nodes],
            member: (0..nodes).collect(),
            proves_by: vec![root(); nodes],
            proofs,
            links: BTreeSet::new(),
            events: BTreeMap::new(),
            work: VecDeque::new(),
            sequence: 0,
        };
        let accepted = match proofs {
            Proofs::Forged => root(),
            Proofs::Real(rln) => rln.root(),
        };
        for node in 0..nodes {
            let unix_ns_at_zero = NOW_NS;
            net.input(node, Input::ClockSet { unix_ns_at_zero });
            net.input(node, Input::Roots(window(&[accepted])));
            net.input(node, Input::Subscribe(topic()));
        }
        net
    }

    /// Connects each pair and lets the meshes settle.
    pub(crate) fn linked(mut self, pairs: &[(usize, usize)]) -> Self {
        for (a, b) in pairs {
            self.connect(*a, *b);
        }
        self.run_ms(3000);
        self
    }

    fn connect(&mut self, a: usize, b: usize) {
        for (at, other) in [(a, b), (b, a)] {
            self.links.insert((at, other));
            let peer = new_peer(u32::try_from(other).unwrap());
            self.work.push_back((at, Input::Connected(peer)));
        }
        self.work_off();
    }

    pub(crate) fn are_linked(&self, a: usize, b: usize) -> bool {
        self.links.contains(&(a, b))
    }

    /// Current wall time, Unix nanoseconds.
    pub(crate) fn unix_now_ns(&self) -> u64 {
        NOW_NS + self.now.as_nanos()
    }

    pub(crate) fn input(&mut self, node: usize, input: Input) {
        self.work.push_back((node, input));
        self.work_off();
    }

    pub(crate) fn publish(&mut self, node: usize, message: WakuMessage) {
        let (topic, request) = (topic(), RequestId(0));
        let publish = Input::Publish {
            topic,
            message,
            request,
        };
        self.input(node, publish);
    }

    /// Publishes a text with the node's timestamp, and waits until it has settled everywhere.
    pub(crate) fn say(&mut self, node: usize, text: &str) {
        self.publish(
            node,
            WakuMessage::new(text.as_bytes().to_vec(), super::fake_proof::CONTENT_TOPIC),
        );
        self.run_ms(500);
    }

    /// Sends a message from the stranger to a node.
    pub(crate) fn stranger_sends(&mut self, node: usize, data: &[u8]) {
        let stranger = u32::try_from(STRANGER).unwrap();
        if self.links.insert((node, STRANGER)) {
            self.input(node, Input::Connected(new_peer(stranger)));
        }
        let (peer, frame) = (PeerIx(stranger), message_frame(&topic(), data));
        self.input(
            node,
            Input::Frame {
                peer,
                frame: frame.into(),
            },
        );
    }

    pub(crate) fn run_ms(&mut self, ms: u64) {
        let end = self.now.after(Duration::from_millis(ms));
        loop {
            let timer = self.relays.iter().map(Relay::next_timeout).min();
            let event = self.events.keys().next().map(|(at, _)| *at);
            let Some(next) = timer.into_iter().chain(event).min().filter(|at| *at <= end) else {
                break;
            };
            self.now = self.now.max(next);
            while let Some(entry) = self.events.first_entry()
                && entry.key().0 <= self.now
            {
                let event = entry.remove();
                self.happen(event);
            }
            for node in 0..self.relays.len() {
                if self.relays[node].next_timeout() <= self.now {
                    self.input(node, Input::Tick);
                }
            }
        }
        self.now = end;
    }

    fn schedule(&mut self, after: Duration, event: Event) {
        self.sequence += 1;
        self.events
            .insert((self.now.after(after), self.sequence), event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { from, to, frame } => {
                if self.links.contains(&(from, to)) && to < self.relays.len() {
                    let rpc = wire::decode(&strip_prefix(&frame), &Limits::default()).unwrap();
                    self.arrivals.push((from, to, rpc));
                    let peer = PeerIx(u32::try_from(from).unwrap());
                    self.input(
                        to,
                        Input::Frame {
                            peer,
                            frame: frame.into(),
                        },
                    );
                }
            }
            Event::Verified {
                node,
                ticket,
                valid,
            } => {
                self.input(node, Input::ProofVerified { ticket, valid });
            }
            Event::Proved {
                node,
                request,
                proof,
            } => {
                let result = Ok(*proof);
                self.input(node, Input::Proved { request, result });
            }
        }
    }

    fn work_off(&mut self) {
        while let Some((node, input)) = self.work.pop_front() {
            let relay = &mut self.relays[node];
            relay.handle(self.now, input).unwrap();
            let outputs: Vec<_> = std::iter::from_fn(|| relay.poll()).collect();
            for output in outputs {
                self.outputs.push((self.now, node, output.clone()));
                self.react(node, output);
            }
        }
    }

    fn react(&mut self, node: usize, output: Output) {
        match output {
            Output::Send {
                peer,
                handle,
                frame,
                ..
            } => {
                let (from, to) = (node, peer.0 as usize);
                self.schedule(LINK, Event::Arrive { from, to, frame });
                let progress = Progress::Started;
                self.work.push_back((
                    node,
                    Input::Sent {
                        peer,
                        handle,
                        progress,
                    },
                ));
            }
            Output::VerifyProof {
                ticket, statement, ..
            } => {
                let valid = self.holds(&statement);
                self.schedule(
                    CHECK,
                    Event::Verified {
                        node,
                        ticket,
                        valid,
                    },
                );
            }
            Output::Prove {
                request, epoch, x, ..
            } => {
                let proof = Box::new(self.prove(node, epoch, x));
                self.schedule(
                    PROVE,
                    Event::Proved {
                        node,
                        request,
                        proof,
                    },
                );
            }
            Output::Disconnect(peer) => self.hang_up(node, peer.0 as usize),
            _ => {}
        }
    }

    fn hang_up(&mut self, a: usize, b: usize) {
        for (at, other) in [(a, b), (b, a)] {
            if self.links.remove(&(at, other)) {
                let gone = PeerIx(u32::try_from(other).unwrap());
                self.work.push_back((at, Input::Disconnected(gone)));
            }
        }
    }

    fn holds(&self, statement: &ProofStatement) -> bool {
        match self.proofs {
            Proofs::Forged => true,
            Proofs::Real(rln) => rln.holds(statement),
        }
    }

    /// Makes a proof with the node's next message id, as its driver would.
    fn prove(&mut self, node: usize, epoch: Epoch, x: Fr) -> RateLimitProof {
        let message_id = self.next_message_id[node];
        self.next_message_id[node] += 1;
        match self.proofs {
            Proofs::Real(rln) => rln.prove(u32::try_from(node).unwrap(), message_id, epoch, x),
            Proofs::Forged => {
                let nullifier = 1000 * self.member[node] as u64 + u64::from(message_id);
                RateLimitProof {
                    proof: [9; 128],
                    merkle_root: fr_to_le(&self.proves_by[node]),
                    epoch: epoch.to_bytes(),
                    share_x: fr_to_le(&x),
                    share_y: fr_to_le(&share(nullifier, x)),
                    nullifier: fr_to_le(&Fr::from(nullifier)),
                    rln_identifier: RlnIdentifier::WAKU.0,
                }
            }
        }
    }

    pub(crate) fn outputs_of(&self, node: usize) -> Vec<Output> {
        let of_node = self.outputs.iter().filter(|(_, at, _)| *at == node);
        of_node.map(|(.., output)| output.clone()).collect()
    }

    /// Payloads that a node delivered, as text.
    pub(crate) fn heard(&self, node: usize) -> Vec<String> {
        let delivered = super::solo::delivered(&self.outputs_of(node));
        let text = |m: WakuMessage| String::from_utf8(m.payload.to_vec()).unwrap();
        delivered.into_iter().map(text).collect()
    }

    pub(crate) fn published(&self, node: usize) -> Vec<Result<Published, PublishError>> {
        let published = super::solo::published(&self.outputs_of(node));
        published.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// The data of every message that came from one node to another.
    pub(crate) fn carried(&self, from: usize, to: usize) -> Vec<Bytes> {
        let between = self
            .arrivals
            .iter()
            .filter(|(a, b, _)| (*a, *b) == (from, to));
        between
            .flat_map(|(.., rpc)| &rpc.messages)
            .map(|message| message.data.clone())
            .collect()
    }

    /// Hash of every output of every relay, in order.
    pub(crate) fn trace(&self) -> MessageId {
        let mut hash = MessageId([0; 32]);
        for (at, node, output) in &self.outputs {
            let line = format!("{:?} {at:?} {node} {output:?}", hash.0);
            hash = MessageId::of(line.as_bytes());
        }
        hash
    }

    pub(crate) fn subscribe(&mut self, node: usize, topic: PubsubTopic) {
        self.input(node, Input::Subscribe(topic));
    }
}
