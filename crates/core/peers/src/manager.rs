//! Connection manager: decides whom to dial and when, and which surplus connections to close.

use std::collections::{BTreeMap, VecDeque};

use multiaddr::{Multiaddr, PeerId};
use rand_chacha::ChaCha8Rng;
use rand_core::RngCore as _;
use undertone_gossip::{Direction, Time};

use crate::address::{AddressHost, AddressNetwork, AddressRules, host_of, without_peer};
use crate::facts::{Capabilities, PeerFacts, PeerOffer, PeerSource};
use crate::io::{CloseReason, Input, Output, PeerDemand};
use crate::store::{DialState, OfferRefusal, PeerEntry, PeerStore, PeerStoreLimits};

mod candidates;
mod given_up;
mod pruning;
mod targets;

#[cfg(test)]
mod tests;

pub use targets::ConnectionTargets;

use given_up::{GivenUpPeers, Standing};
use targets::Shortage;

/// Configuration of a connection manager.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ManagerConfig {
    /// Identity of this node.
    pub own: PeerId,
    /// Cluster of this node; peers of other clusters are neither dialled nor kept.
    pub cluster: u16,
    /// Numbers of connections wanted, and the rate of dialling.
    pub targets: ConnectionTargets,
    /// Rules for addresses received from others.
    pub addresses: AddressRules,
    /// Bounds of the peer store.
    pub store: PeerStoreLimits,
}

impl ManagerConfig {
    /// Returns the default configuration of the node `own` in `cluster`.
    pub fn new(own: PeerId, cluster: u16) -> Self {
        Self {
            own,
            cluster,
            targets: ConnectionTargets::default(),
            addresses: AddressRules::default(),
            store: PeerStoreLimits::default(),
        }
    }
}

/// Connection manager of a node, as a state machine.
///
/// Call [`handle`](Self::handle) with each event and [`poll`](Self::poll) until it returns `None`, and pass an
/// [`Input::Tick`] no later than [`next_timeout`](Self::next_timeout).
#[derive(Debug)]
pub struct ConnectionManager {
    cluster: u16,
    targets: ConnectionTargets,
    rules: AddressRules,
    store: PeerStore,
    given_up: GivenUpPeers,
    rng: ChaCha8Rng,
    shards: Vec<u16>,
    /// Shards whose mesh has too few members.
    thin: Vec<u16>,
    services: Vec<(Capabilities, usize)>,
    /// Earliest time of the next dial at the permitted rate.
    next_dial: Time,
    /// Time of the next probe of a peer that is not needed.
    next_probe: Time,
    /// Times from which recently dialled hosts may be dialled again.
    hosts: BTreeMap<AddressHost, Time>,
    /// Time of the next search for peers of each kind.
    next_discover: BTreeMap<PeerDemand, Time>,
    wake: Time,
    out: VecDeque<Output>,
}

impl ConnectionManager {
    /// Creates a manager that knows no peers; `rng` chooses between equally good peers.
    pub fn new(config: ManagerConfig, rng: ChaCha8Rng) -> Self {
        let store = PeerStore::new(config.own, config.cluster, config.store);
        Self {
            cluster: config.cluster,
            targets: config.targets,
            rules: config.addresses,
            store,
            given_up: GivenUpPeers::default(),
            rng,
            shards: Vec::new(),
            thin: Vec::new(),
            services: Vec::new(),
            next_dial: Time::ZERO,
            next_probe: Time::ZERO,
            hosts: BTreeMap::new(),
            next_discover: BTreeMap::new(),
            wake: Time::ZERO,
            out: VecDeque::new(),
        }
    }

    /// Handles an event that happened at `now`.
    pub fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Offer(offer) => self.offered(now, offer),
            Input::Connected {
                peer,
                address,
                direction,
            } => self.connected(now, peer, &address, direction),
            Input::Disconnected(peer) => self.disconnected(now, peer),
            Input::DialFailed(peer) => self.dial_failed(now, peer),
            Input::Learned {
                peer,
                facts,
                listens_at,
            } => self.learned(now, peer, facts, listens_at),
            Input::Protected { peer, is_protected } => {
                if let Some(entry) = self.store.get_mut(&peer) {
                    entry.is_protected = is_protected;
                }
            }
            Input::Shards(shards) => self.shards = shards,
            Input::ThinMeshes(shards) => self.thin = shards,
            Input::Services(services) => self.services = services,
            Input::OwnAddresses(addresses) => self.rules.own = addresses,
            Input::Tick => {}
        }
        self.drive(now);
    }

    /// Returns the next action for the driver.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// Returns the time at which [`Input::Tick`] is due, unless something happens before.
    pub fn next_timeout(&self) -> Time {
        self.wake
    }

    /// Peers that the node knows.
    pub fn store(&self) -> &PeerStore {
        &self.store
    }

    fn offered(&mut self, now: Time, offer: PeerOffer) {
        let peer = offer.peer;
        let is_named = offer.source == PeerSource::Static;
        let standing = match self.store.get(&peer).is_some() || is_named {
            true => Standing::Fresh,
            false => self.given_up.standing(&peer, &offer.addresses, now),
        };
        let offered = match standing {
            Standing::Fresh | Standing::OnTrial => self.store.offer(offer, &self.rules),
            Standing::GivenUp => Err(OfferRefusal::GivenUp),
        };
        let failures_max = self.store.limits().failures_max;
        if standing == Standing::OnTrial
            && let Some(entry) = self.store.get_mut(&peer)
        {
            // One more failure, and the peer is given up again.
            entry.failures = failures_max.saturating_sub(1);
        }
        match offered {
            Ok(true) => self.out.push_back(Output::Remember(peer)),
            Ok(false) => {}
            Err(reason) => self.out.push_back(Output::Refused { peer, reason }),
        }
    }

    fn connected(&mut self, now: Time, peer: PeerId, address: &Multiaddr, direction: Direction) {
        if peer == self.store.own() {
            return;
        }
        let source = match direction {
            Direction::Inbound => PeerSource::Inbound,
            Direction::Outbound => PeerSource::Static,
        };
        self.given_up.forgive(&peer);
        let entry = self.store.connected(peer, source);
        entry.link = DialState::Up {
            direction,
            since: now,
        };
        entry.last_tried = now;
        if direction == Direction::Outbound {
            // The address at which the peer was reached is tried first next time.
            let address = without_peer(address);
            entry.addresses.retain(|known| *known != address);
            entry.addresses.insert(0, address);
            entry.addresses.truncate(self.rules.per_peer_max);
            entry.was_reached = true;
            self.out.push_back(Output::Remember(peer));
        }
    }

    fn disconnected(&mut self, now: Time, peer: PeerId) {
        let targets = &self.targets;
        let Some(entry) = self.store.get_mut(&peer) else {
            return;
        };
        let DialState::Up { since, .. } = entry.link else {
            return;
        };
        entry.link = DialState::Down;
        entry.is_protected = false;
        entry.last_tried = now;
        // A peer that hangs up at once is full or refuses this node; dialling it again at once is useless.
        entry.failures = match now.since(since) < targets.stable_after {
            true => entry.failures.saturating_add(1),
            false => 0,
        };
        entry.next_dial = now.after(targets.backoff(entry.failures.max(1), &mut self.rng));
        // A peer that only dialled this node, and did not say where it listens, cannot be dialled.
        if entry.addresses.is_empty() || !self.store.has_room_for(&peer) {
            self.forget(&peer);
        }
    }

    fn dial_failed(&mut self, now: Time, peer: PeerId) {
        let failures_max = self.store.limits().failures_max;
        let Some(entry) = self.store.get_mut(&peer) else {
            return;
        };
        if !entry.is_dialling() {
            return;
        }
        entry.link = DialState::Down;
        entry.last_tried = now;
        entry.failures = entry.failures.saturating_add(1);
        entry.next_dial = now.after(self.targets.backoff(entry.failures, &mut self.rng));
        // Another address may work better, if there is one.
        entry.addresses.rotate_left(1);
        let is_hopeless = !entry.was_reached && entry.failures >= failures_max;
        if is_hopeless && entry.source != PeerSource::Static {
            let until = now.after(self.targets.backoff_max);
            self.given_up.note(peer, entry.addresses.clone(), until);
            self.forget(&peer);
        }
    }

    fn learned(&mut self, now: Time, peer: PeerId, facts: PeerFacts, listens_at: Vec<Multiaddr>) {
        let Some(entry) = self.store.get(&peer) else {
            return;
        };
        if facts.cluster.is_some_and(|cluster| cluster != self.cluster) {
            if entry.is_connected() {
                let reason = CloseReason::OtherCluster;
                self.out.push_back(Output::Close { peer, reason });
            }
            self.forget(&peer);
            return;
        }
        let source = entry.source;
        let offer = PeerOffer {
            addresses: listens_at,
            facts,
            ..PeerOffer::new(peer, source)
        };
        self.offered(now, offer);
    }

    fn forget(&mut self, peer: &PeerId) {
        if self.store.remove(peer) {
            self.out.push_back(Output::Forget(*peer));
        }
    }

    fn drive(&mut self, now: Time) {
        self.expire_dials(now);
        self.prune(now);
        let shortages = self.shortages();
        for shortage in &shortages {
            self.relieve(now, shortage);
        }
        self.probe(now);
        self.wake = self.next_wake(now, !shortages.is_empty());
    }

    /// Dials peers of a kind of which there are too few, or starts a search for them.
    fn relieve(&mut self, now: Time, shortage: &Shortage) {
        for _ in 0..shortage.missing {
            if !self.can_dial(now) {
                return;
            }
            let Some(peer) = self.candidate(now, shortage.wanted) else {
                let interval = self.targets.discover_interval;
                let next = self.next_discover.entry(shortage.wanted).or_default();
                if *next <= now {
                    *next = now.after(interval);
                    self.out.push_back(Output::Discover(shortage.wanted));
                }
                return;
            };
            self.dial(now, peer);
        }
    }

    /// Dials one peer that is not needed. This lets a partitioned network discover that it is connected again,
    /// although each part has enough connections, and shows the store which peers are alive.
    fn probe(&mut self, now: Time) {
        if now < self.next_probe {
            return;
        }
        let is_first = self.next_probe == Time::ZERO;
        self.next_probe = now.after(self.targets.probe_wait(&mut self.rng));
        if is_first || !self.can_dial(now) {
            return;
        }
        if let Some(peer) = self.least_recently_tried(now) {
            self.dial(now, peer);
        }
    }

    fn can_dial(&self, now: Time) -> bool {
        let dialling = self.store.iter().filter(|(_, entry)| entry.is_dialling());
        self.next_dial <= now && dialling.count() < self.targets.dials_max
    }

    fn dial(&mut self, now: Time, peer: PeerId) {
        let deadline = now.after(self.targets.dial_timeout);
        let Some(entry) = self.store.get_mut(&peer) else {
            return;
        };
        entry.link = DialState::Dialling { deadline };
        entry.last_tried = now;
        let addresses = entry.addresses.clone();
        self.next_dial = now.after(self.targets.dial_pause);
        self.hosts.retain(|_, next| *next > now);
        let again = now.after(self.targets.host_pause);
        for host in addresses.iter().filter_map(host_of) {
            self.hosts.insert(host, again);
        }
        self.out.push_back(Output::Dial { peer, addresses });
    }

    /// Fails dials that the driver has not reported on.
    fn expire_dials(&mut self, now: Time) {
        let is_late =
            |link: DialState| matches!(link, DialState::Dialling { deadline } if deadline <= now);
        let late = self.store.iter().filter(|(_, entry)| is_late(entry.link));
        let late: Vec<PeerId> = late.map(|(peer, _)| *peer).collect();
        for peer in late {
            self.dial_failed(now, peer);
        }
    }

    fn next_wake(&self, now: Time, is_short: bool) -> Time {
        let deadlines = self.store.iter().filter_map(|(_, entry)| match entry.link {
            DialState::Dialling { deadline } => Some(deadline),
            DialState::Down | DialState::Up { .. } => None,
        });
        let mut wake = deadlines.fold(self.next_probe, Time::min);
        if is_short {
            wake = wake.min(self.next_need(now));
        }
        wake
    }

    /// Returns when a shortage can next be reduced: the rate permits a dial, a peer may be dialled again, or a
    /// search is due. Times that have already passed are ignored: those steps wait for something other than
    /// time.
    fn next_need(&self, now: Time) -> Time {
        let down = self
            .store
            .iter()
            .filter(|(_, entry)| entry.link == DialState::Down && !entry.addresses.is_empty());
        let retries = down.map(|(_, entry)| entry.next_dial.max(self.host_time(entry)));
        let discover = self.next_discover.values().copied();
        let times = retries.chain(discover).chain([self.next_dial]);
        times.filter(|at| *at > now).fold(Time::MAX, Time::min)
    }

    /// Returns the time from which all hosts of a peer may be dialled again.
    fn host_time(&self, entry: &PeerEntry) -> Time {
        let addresses = entry.addresses.iter();
        let is_remote =
            |address: &&Multiaddr| AddressNetwork::of(address) != Some(AddressNetwork::Loopback);
        let hosts = addresses.filter(is_remote).filter_map(host_of);
        let times = hosts.filter_map(|host| self.hosts.get(&host).copied());
        times.fold(Time::ZERO, Time::max)
    }

    /// Returns a random number below `bound`; 0 if `bound` is 0.
    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        match bound {
            0 => 0,
            _ => usize::try_from(self.rng.next_u64() % bound).unwrap_or_default(),
        }
    }

    /// Returns the number of peers connected or being dialled, per network.
    fn crowds(&self) -> BTreeMap<AddressNetwork, usize> {
        let mut crowds = BTreeMap::new();
        for (_, entry) in self.store.iter() {
            if entry.link != DialState::Down
                && let Some(network) = entry.network()
            {
                *crowds.entry(network).or_default() += 1;
            }
        }
        crowds
    }
}
