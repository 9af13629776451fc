//! Small deterministic network of service peers around one light client, in virtual time.

mod peers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_gossip::Time;
use undertone_message::{MessageHash, WakuMessage, message_hash};

use super::super::{
    Input, LightClient, LightConfig, LightDelivery, LightFilterRequest, Offence, Output,
    ServicePeer, Services,
};
use crate::history::HistoryQuery;
use crate::trust::Standing;
use crate::{PeerNo, RequestNo};

pub(super) use self::peers::{Episode, Server, Trouble};

pub(super) const UNIX_AT_ZERO: u64 = 1_700_000_000_000_000_000;
pub(super) const SHARD: &str = "/waku/2/rs/1/0";
const HOP: Duration = Duration::from_millis(50);

enum Event {
    ToClient(Input),
    Filter(usize, RequestNo, LightFilterRequest),
    History(usize, RequestNo, HistoryQuery),
    Connect(usize),
    Publish(WakuMessage),
    Begin(Episode),
    End(Episode),
}

pub(super) struct World {
    pub(super) now: Time,
    pub(super) client: LightClient,
    pub(super) servers: Vec<Server>,
    pub(super) loss_percent: u64,
    pub(super) delivered: BTreeMap<MessageHash, u32>,
    pub(super) deliveries: Vec<LightDelivery>,
    pub(super) published: BTreeSet<MessageHash>,
    pub(super) offences: Vec<(PeerNo, Offence)>,
    pub(super) health: BTreeMap<Arc<str>, usize>,
    pub(super) unchecked: u32,
    events: BTreeMap<(Time, u64), Event>,
    sequence: u64,
    rng: ChaCha8Rng,
    suspended: u32,
}

pub(super) fn services(filter: bool, store: bool) -> Services {
    Services {
        filter,
        lightpush: false,
        store,
    }
}

impl World {
    /// Creates a world with the given peers, which the client knows.
    pub(super) fn new(seed: u64, config: LightConfig, servers: &[Services]) -> Self {
        let client = LightClient::new(config, UNIX_AT_ZERO, ChaCha8Rng::seed_from_u64(seed ^ 1));
        let mut world = Self {
            now: Time::ZERO,
            client,
            servers: Vec::new(),
            loss_percent: 0,
            delivered: BTreeMap::new(),
            deliveries: Vec::new(),
            published: BTreeSet::new(),
            offences: Vec::new(),
            health: BTreeMap::new(),
            unchecked: 0,
            events: BTreeMap::new(),
            sequence: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
            suspended: 0,
        };
        for services in servers {
            let peer = PeerNo(world.servers.len() as u64);
            world.servers.push(Server {
                services: *services,
                ..Server::default()
            });
            world.tell(Input::PeerFound(ServicePeer {
                peer,
                services: *services,
                pubsub_topics: None,
                filters_all: false,
                standing: Standing::Known,
                network: None,
            }));
        }
        world
    }

    pub(super) fn subscribe(&mut self, contents: &[&str]) {
        let input = Input::Subscribe {
            pubsub_topic: SHARD.into(),
            content_topics: contents.iter().map(|topic| (*topic).into()).collect(),
            since_ns: None,
        };
        self.tell(input);
    }

    /// Passes the client an input now, and carries out its outputs.
    pub(super) fn tell(&mut self, input: Input) {
        self.client.handle(self.now, input);
        self.drain();
    }

    pub(super) fn trouble(&mut self, episode: Episode) {
        let from = Time::from_millis(episode.from_s * 1000);
        let to = from.after(Duration::from_secs(episode.len_s));
        self.schedule(from, Event::Begin(episode));
        self.schedule(to, Event::End(episode));
    }

    /// Publishes a message at a time; each peer of the relay network gets it, or loses it.
    pub(super) fn publish_at(&mut self, at: Time, content_topic: &str, number: u64) {
        let mut message = WakuMessage::new(number.to_be_bytes().to_vec(), content_topic);
        message.timestamp = Some((UNIX_AT_ZERO + at.as_nanos()) as i64);
        self.schedule(at, Event::Publish(message));
    }

    /// Runs the world until a time.
    pub(super) fn run_until(&mut self, end: Time) {
        let mut idle_turns = 0;
        loop {
            let event = self.events.keys().next().map_or(Time::MAX, |(at, _)| *at);
            let timer = match self.suspended {
                0 => self.client.next_timeout().unwrap_or(Time::MAX),
                _ => Time::MAX,
            };
            let next = event.min(timer);
            if next > end {
                self.now = end;
                return;
            }
            idle_turns = if next <= self.now { idle_turns + 1 } else { 0 };
            assert!(idle_turns < 10_000, "the client spins at {:?}", self.now);
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

    fn is_lost(&mut self) -> bool {
        self.rng.next_u64() % 100 < self.loss_percent
    }

    fn drain(&mut self) {
        while let Some(output) = self.client.poll() {
            let soon = self.now.after(HOP);
            match output {
                Output::Connect(peer) => self.schedule(soon, Event::Connect(peer.0 as usize)),
                Output::Filter {
                    peer,
                    request,
                    body,
                } if !self.is_lost() => {
                    self.schedule(soon, Event::Filter(peer.0 as usize, request, body));
                }
                Output::History {
                    peer,
                    request,
                    query,
                } if !self.is_lost() => {
                    self.schedule(soon, Event::History(peer.0 as usize, request, query));
                }
                Output::Filter { .. } | Output::History { .. } => {}
                Output::Deliver(delivery) => {
                    *self.delivered.entry(delivery.hash).or_default() += 1;
                    self.deliveries.push(delivery);
                }
                Output::Misbehaved { peer, offence } => self.offences.push((peer, offence)),
                Output::Health {
                    pubsub_topic,
                    filter_peers,
                } => {
                    self.health.insert(pubsub_topic, filter_peers);
                }
                Output::Unchecked { .. } => self.unchecked += 1,
                Output::SubscribeRefused { reason, .. } => panic!("{reason}"),
                Output::Forgotten(_) => {}
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::ToClient(input) => {
                if self.suspended == 0 {
                    self.tell(input);
                }
            }
            Event::Connect(server) => {
                let peer = PeerNo(server as u64);
                let is_up = self.servers[server].is_reachable();
                self.servers[server].is_connected |= is_up;
                self.schedule_soon(match is_up {
                    true => Input::Connected(peer),
                    false => Input::ConnectFailed(peer),
                });
            }
            Event::Filter(server, request, body) => self.serve_filter(server, request, body),
            Event::History(server, request, query) => self.serve_history(server, request, query),
            Event::Publish(message) => self.spread(message),
            Event::Begin(episode) => self.begin(episode),
            Event::End(episode) => {
                let troubles = &mut self.servers[episode.peer].troubles;
                if let Some(at) = troubles.iter().position(|t| *t == episode.trouble) {
                    troubles.swap_remove(at);
                }
                if episode.trouble == Trouble::Suspended {
                    self.suspended -= 1;
                    if self.suspended == 0 {
                        self.tell(Input::Tick);
                    }
                }
            }
        }
    }

    fn schedule_soon(&mut self, input: Input) {
        self.schedule(self.now.after(HOP), Event::ToClient(input));
    }

    fn begin(&mut self, episode: Episode) {
        let server = &mut self.servers[episode.peer];
        server.troubles.push(episode.trouble);
        match episode.trouble {
            Trouble::Vanished => {
                server.subscriptions.clear();
                let was_connected = std::mem::take(&mut server.is_connected);
                if was_connected {
                    self.schedule_soon(Input::Disconnected(PeerNo(episode.peer as u64)));
                }
            }
            Trouble::Forgets => server.subscriptions.clear(),
            Trouble::Suspended => self.suspended += 1,
            Trouble::Lies => {
                for number in 0..20 {
                    let message = WakuMessage::new(vec![number], "/lies/1/a/proto");
                    self.schedule_soon(Input::Pushed {
                        peer: PeerNo(episode.peer as u64),
                        pubsub_topic: SHARD.into(),
                        message,
                    });
                }
            }
            Trouble::Hangs
            | Trouble::Asleep
            | Trouble::Limits
            | Trouble::Late
            | Trouble::Hollow
            | Trouble::Forges => {}
        }
    }

    fn spread(&mut self, message: WakuMessage) {
        let hash = message_hash(SHARD, &message);
        self.published.insert(hash);
        for at in 0..self.servers.len() {
            if !self.servers[at].is_reachable() || self.is_lost() {
                continue;
            }
            let server = &mut self.servers[at];
            if server.services.store {
                let key = (message.timestamp_ns(), hash);
                server.archive.insert(key, message.clone());
            }
            let criterion = (Arc::from(SHARD), message.content_topic.clone());
            let is_subscribed = server
                .subscriptions
                .get(&criterion)
                .is_some_and(|until| *until > self.now);
            let pushes = server.is_connected && is_subscribed && !server.has(Trouble::Asleep);
            if pushes && !self.is_lost() {
                self.schedule_soon(Input::Pushed {
                    peer: PeerNo(at as u64),
                    pubsub_topic: SHARD.into(),
                    message: message.clone(),
                });
            }
        }
    }

    fn answer(&mut self, server: usize, input: Input) {
        let is_late = self.servers[server].has(Trouble::Late);
        let wait = if is_late {
            Duration::from_secs(15)
        } else {
            HOP
        };
        if !self.is_lost() {
            self.schedule(self.now.after(wait), Event::ToClient(input));
        }
    }

    /// Returns the hashes that any store has and the client should have: all that it subscribed to.
    pub(super) fn held(&self) -> BTreeSet<MessageHash> {
        let archives = self.servers.iter().flat_map(|server| server.archive.keys());
        archives.map(|(_, hash)| *hash).collect()
    }

    /// Returns what was not delivered although a store holds it, and what was delivered more than once.
    pub(super) fn faults(&self) -> (Vec<MessageHash>, Vec<MessageHash>) {
        let held = self.held();
        let missing = held
            .iter()
            .filter(|hash| !self.delivered.contains_key(*hash));
        let twice = self.delivered.iter().filter(|(_, count)| **count > 1);
        (
            missing.copied().collect(),
            twice.map(|(hash, _)| *hash).collect(),
        )
    }
}
