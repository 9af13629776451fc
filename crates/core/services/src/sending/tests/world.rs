//! Small deterministic network around one sender, in virtual time: a driver that keeps records, a prover
//! with a rate limit, lightpush peers, a relay, and stores.

mod peers;
mod prover;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_gossip::Time;
use undertone_gossip::fragments::split;
use undertone_message::{MessageHash, WakuMessage, message_hash};

use self::prover::Proof;
use super::super::record::SendRecord;
use super::super::{
    Input, MessageSender, Output, RelayFailure, SendEvent, SendEventKind, SendId, SenderConfig,
};
use crate::history::{HistoryCriteria, HistoryEntry, HistoryPage};
use crate::light::{ServicePeer, Services};
use crate::trust::Standing;
use crate::{PeerNo, RequestNo};

pub(super) use self::peers::{Episode, Server, Trouble};

pub(super) const UNIX_AT_ZERO: u64 = 1_700_000_000_000_000_000;
pub(super) const SHARD: &str = "/waku/2/rs/1/0";
const HOP: Duration = Duration::from_millis(50);

enum Event {
    /// Input for the current incarnation of the sender; a crash voids it.
    ToSender(u32, Input),
    Push(u32, usize, RequestNo, WakuMessage),
    Ask(u32, usize, RequestNo, Vec<MessageHash>),
    Connect(u32, usize),
    /// A message, given by its fragments.
    Send(Vec<WakuMessage>),
    Crash,
    Begin(Episode),
    End(Episode),
    Epoch,
    NewRoot,
    Relay(bool),
}

pub(super) struct World {
    pub(super) now: Time,
    pub(super) sender: MessageSender,
    pub(super) servers: Vec<Server>,
    pub(super) loss_percent: u64,
    pub(super) epoch_s: u64,
    pub(super) limit: u32,
    pub(super) events_seen: Vec<SendEvent>,
    pub(super) records: BTreeMap<SendId, Bytes>,
    /// Messages given to the relay or a lightpush peer, with their proofs.
    pub(super) given: Vec<(SendId, WakuMessage)>,
    pub(super) proofs_made: u32,
    pub(super) crashes: u32,
    pub(super) published: BTreeSet<MessageHash>,
    /// Number of fragments of each message; one for a whole message.
    pub(super) fragments: BTreeMap<SendId, u64>,
    pub(super) config: SenderConfig,
    relay: bool,
    life: u32,
    spent: u32,
    root: u64,
    proofs: BTreeMap<(SendId, u32), Proof>,
    events: BTreeMap<(Time, u64), Event>,
    sequence: u64,
    rng: ChaCha8Rng,
    /// Number of outputs after which the machine dies, if it is to die.
    pub(super) dies_after: Option<u32>,
}

pub(super) fn services(lightpush: bool, store: bool) -> Services {
    Services {
        filter: false,
        lightpush,
        store,
    }
}

impl World {
    pub(super) fn new(seed: u64, config: SenderConfig, servers: &[Services]) -> Self {
        let sender = MessageSender::new(
            config.clone(),
            UNIX_AT_ZERO,
            ChaCha8Rng::seed_from_u64(seed),
        );
        let server = |services: &Services| Server {
            services: *services,
            standing: Standing::Known,
            ..Server::default()
        };
        let mut world = Self {
            now: Time::ZERO,
            sender,
            servers: servers.iter().map(server).collect(),
            loss_percent: 0,
            epoch_s: 60,
            limit: 5,
            events_seen: Vec::new(),
            records: BTreeMap::new(),
            given: Vec::new(),
            proofs_made: 0,
            crashes: 0,
            published: BTreeSet::new(),
            fragments: BTreeMap::new(),
            config,
            relay: false,
            life: 0,
            spent: 0,
            root: 0,
            proofs: BTreeMap::new(),
            events: BTreeMap::new(),
            sequence: 0,
            rng: ChaCha8Rng::seed_from_u64(seed ^ 1),
            dies_after: None,
        };
        world.introduce();
        world.schedule(Time::from_millis(60_000), Event::Epoch);
        world
    }

    /// Passes a new sender what the driver knows.
    pub(super) fn introduce(&mut self) {
        for at in 0..self.servers.len() {
            let peer = ServicePeer {
                peer: PeerNo(at as u64),
                services: self.servers[at].services,
                pubsub_topics: None,
                filters_all: false,
                standing: self.servers[at].standing,
                network: self.servers[at].network,
            };
            self.tell(Input::PeerFound(peer));
        }
        self.tell(Input::RelayTopics(self.relay_topics()));
        self.schedule_budget();
    }

    pub(super) fn send_at(&mut self, at: Time, message: WakuMessage) {
        self.schedule(at, Event::Send(vec![message]));
    }

    /// Sends a message in `count` fragments.
    pub(super) fn send_in_fragments_at(&mut self, at: Time, message: &WakuMessage, count: usize) {
        let payloads = split(&message.payload, count).unwrap();
        let fragment = |payload| WakuMessage {
            payload,
            ..message.clone()
        };
        self.schedule(
            at,
            Event::Send(payloads.into_iter().map(fragment).collect()),
        );
    }

    /// Hashes of the fragments of a message that were sent.
    pub(super) fn fragments_given(&self, id: SendId) -> BTreeMap<SendId, MessageHash> {
        let count = self.fragments[&id];
        let given = self.given.iter();
        let of_id = given.filter(|(part, _)| (id.0..id.0 + count).contains(&part.0));
        of_id
            .map(|(part, message)| (*part, message_hash(SHARD, message)))
            .collect()
    }

    fn relay_topics(&self) -> BTreeSet<Arc<str>> {
        self.relay.then(|| SHARD.into()).into_iter().collect()
    }

    pub(super) fn relay_at(&mut self, at: Time, is_available: bool) {
        self.schedule(at, Event::Relay(is_available));
    }

    pub(super) fn new_root_at(&mut self, at: Time) {
        self.schedule(at, Event::NewRoot);
    }

    pub(super) fn crash_at(&mut self, at: Time) {
        self.schedule(at, Event::Crash);
    }

    pub(super) fn trouble(&mut self, episode: Episode) {
        let from = Time::from_millis(episode.from_s * 1000);
        let to = from.after(Duration::from_secs(episode.len_s));
        self.schedule(from, Event::Begin(episode));
        self.schedule(to, Event::End(episode));
    }

    pub(super) fn tell(&mut self, input: Input) {
        self.sender.handle(self.now, input);
        self.drain();
    }

    pub(super) fn run_until(&mut self, end: Time) {
        let mut idle_turns = 0;
        loop {
            let event = self.events.keys().next().map_or(Time::MAX, |(at, _)| *at);
            let timer = self.sender.next_timeout().unwrap_or(Time::MAX);
            let next = event.min(timer);
            if next > end {
                self.now = end;
                return;
            }
            idle_turns = if next <= self.now { idle_turns + 1 } else { 0 };
            assert!(idle_turns < 10_000, "the sender spins at {:?}", self.now);
            self.now = self.now.max(next);
            if event <= timer {
                let (_, event) = self.events.pop_first().unwrap();
                self.happen(event);
            } else {
                self.tell(Input::Tick);
            }
        }
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.sequence += 1;
        self.events.insert((at, self.sequence), event);
    }

    fn schedule_soon(&mut self, input: Input) {
        self.schedule(self.now.after(HOP), Event::ToSender(self.life, input));
    }

    fn is_lost(&mut self) -> bool {
        self.rng.next_u64() % 100 < self.loss_percent
    }

    /// Kills the machine: outputs not carried out are lost, and so are the answers still on their way.
    pub(super) fn crash(&mut self) {
        self.crashes += 1;
        self.life += 1;
        self.dies_after = None;
        let rng = ChaCha8Rng::seed_from_u64(self.rng.next_u64());
        self.sender = MessageSender::new(self.config.clone(), UNIX_AT_ZERO, rng);
        for server in &mut self.servers {
            server.is_connected = false;
        }
        for record in self.records.values() {
            self.sender.restore(self.now, record).unwrap();
        }
        self.introduce();
    }

    fn drain(&mut self) {
        let life = self.life;
        while let Some(output) = self.sender.poll() {
            if let Some(left) = &mut self.dies_after {
                if *left == 0 {
                    self.crash();
                    return;
                }
                *left -= 1;
            }
            let soon = self.now.after(HOP);
            match output {
                Output::Persist { id, record } => {
                    self.records.insert(id, record);
                }
                Output::Erase(id) => {
                    self.records.remove(&id);
                }
                Output::Prove {
                    id,
                    attempt,
                    message,
                    ..
                } => {
                    assert_eq!(message.rate_limit_proof, None);
                    let result = self.make_proof(id, attempt);
                    let input = Input::Proved {
                        id,
                        attempt,
                        result,
                    };
                    self.schedule_soon(input);
                }
                Output::CheckProof { id, .. } => {
                    let is_good = self.proof_of(id).is_some_and(|proof| self.is_good(proof));
                    self.schedule_soon(match is_good {
                        true => Input::ProofFresh(id),
                        false => Input::ProofStale(id),
                    });
                }
                Output::Relay { id, message, .. } => {
                    let result = match (self.relay, self.accepts(&message)) {
                        (false, _) => Err(RelayFailure::NoPeers),
                        (true, false) => Err(RelayFailure::ProofRefused),
                        (true, true) => Ok(4),
                    };
                    self.given.push((id, message.clone()));
                    if result.is_ok() {
                        self.publish(&message);
                    }
                    self.schedule_soon(Input::Relayed { id, result });
                }
                Output::Push {
                    peer,
                    request,
                    message,
                    ..
                } => {
                    self.given.push((self.id_of(&message), message.clone()));
                    if !self.is_lost() {
                        self.schedule(soon, Event::Push(life, peer.0 as usize, request, message));
                    }
                }
                Output::Connect(peer) => self.schedule(soon, Event::Connect(life, peer.0 as usize)),
                Output::History {
                    peer,
                    request,
                    query,
                } => {
                    let HistoryCriteria::Hashes(hashes) = query.criteria else {
                        panic!("the sender asks by hash");
                    };
                    if !self.is_lost() {
                        self.schedule(soon, Event::Ask(life, peer.0 as usize, request, hashes));
                    }
                }
                Output::Event(event) => self.events_seen.push(event),
                Output::Forgotten(_) | Output::GivenUp { .. } => {}
            }
        }
    }

    /// Returns the message's number, found by its payload, which is unique within a test.
    fn id_of(&self, message: &WakuMessage) -> SendId {
        let limits = &self.config.limits;
        let has_payload = |record: &Bytes| {
            SendRecord::decode(record, limits).unwrap().message.payload == message.payload
        };
        let of_payload = |(_, record): &(&SendId, &Bytes)| has_payload(record);
        *self.records.iter().find(of_payload).unwrap().0
    }

    fn publish(&mut self, message: &WakuMessage) {
        let hash = message_hash(SHARD, message);
        self.published.insert(hash);
        if self.is_too_old(message.timestamp_ns() as u64) {
            return; // No store keeps it.
        }
        for at in 0..self.servers.len() {
            let is_store = self.servers[at].services.store && !message.is_ephemeral();
            if is_store && self.servers[at].is_reachable() && !self.is_lost() {
                self.servers[at].archive.insert(hash);
            }
        }
    }

    fn answer(&mut self, life: u32, server: usize, input: Input) {
        let is_late = self.servers[server].has(Trouble::Late);
        let wait = if is_late {
            Duration::from_secs(25)
        } else {
            HOP
        };
        if !self.is_lost() {
            self.schedule(self.now.after(wait), Event::ToSender(life, input));
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::ToSender(life, input) => {
                if life == self.life {
                    self.tell(input);
                }
            }
            Event::Connect(life, at) => {
                if life != self.life {
                    return;
                }
                let peer = PeerNo(at as u64);
                let is_up = self.servers[at].is_reachable();
                self.servers[at].is_connected |= is_up;
                self.schedule_soon(match is_up {
                    true => Input::Connected(peer),
                    false => Input::ConnectFailed(peer),
                });
            }
            Event::Push(life, at, request, message) => self.serve_push(life, at, request, &message),
            Event::Ask(life, at, request, hashes) => {
                if !self.is_open(at) {
                    return;
                }
                let server = &self.servers[at];
                let has = |hash: &MessageHash| {
                    server.has(Trouble::Claims)
                        || server.archive.contains(hash) && !server.has(Trouble::Denies)
                };
                let held = hashes.into_iter().filter(has);
                let entries = held.map(|hash| HistoryEntry { hash, data: None }).collect();
                let page = HistoryPage {
                    entries,
                    next: None,
                };
                let answer = Ok(page);
                self.answer(life, at, Input::HistoryAnswer { request, answer });
            }
            Event::Send(fragments) => {
                let (topic, count): (Arc<str>, _) = (SHARD.into(), fragments.len() as u64);
                let sent = self.sender.send_fragments(self.now, topic, fragments);
                self.fragments.insert(sent.unwrap(), count);
                self.drain();
            }
            Event::Crash => {
                // The machine dies in the middle of its next outputs.
                self.dies_after = Some((self.rng.next_u64() % 6) as u32);
            }
            Event::Begin(episode) => {
                let server = &mut self.servers[episode.peer];
                server.troubles.push(episode.trouble);
                if episode.trouble == Trouble::Vanished && std::mem::take(&mut server.is_connected)
                {
                    self.schedule_soon(Input::Disconnected(PeerNo(episode.peer as u64)));
                }
            }
            Event::End(episode) => {
                let troubles = &mut self.servers[episode.peer].troubles;
                if let Some(at) = troubles.iter().position(|t| *t == episode.trouble) {
                    troubles.swap_remove(at);
                }
            }
            Event::Epoch => {
                self.spent = 0;
                self.schedule_budget();
                self.schedule(
                    self.now.after(Duration::from_secs(self.epoch_s)),
                    Event::Epoch,
                );
            }
            Event::NewRoot => self.root += 1,
            Event::Relay(is_available) => {
                self.relay = is_available;
                self.tell(Input::RelayTopics(self.relay_topics()));
            }
        }
    }

    /// Returns the end of each message that was taken into the queue; `None` for those without one.
    pub(super) fn ends(&self) -> BTreeMap<SendId, Option<SendEventKind>> {
        let mut ends = BTreeMap::new();
        for event in &self.events_seen {
            let end = ends.entry(event.id).or_insert(None);
            if event.kind.is_end() {
                *end = Some(event.kind);
            }
        }
        ends
    }

    pub(super) fn kinds(&self) -> Vec<SendEventKind> {
        self.events_seen.iter().map(|event| event.kind).collect()
    }
}
