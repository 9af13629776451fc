//! Network of connection managers in virtual time. They find peers through a discovery that knows all
//! nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use multiaddr::PeerId;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use undertone_gossip::{Direction, Time};

use crate::manager::{ConnectionManager, ManagerConfig};
use crate::tests::{address, peer};
use crate::{Input, Output, PeerDemand, PeerFacts, PeerOffer, PeerSource};

/// Time that a dial takes to succeed or to fail.
const DIAL: Duration = Duration::from_millis(200);

/// Number of peers named in a discovery answer.
const NAMED: usize = 8;

enum Event {
    Arrives { from: u32, to: u32 },
    Fails { from: u32, to: u32 },
}

/// Network of nodes that each have a manager.
pub(super) struct World {
    pub(super) now: Time,
    pub(super) nodes: Vec<ConnectionManager>,
    pub(super) dials: u64,
    events: BTreeMap<(Time, u64), Event>,
    links: BTreeSet<(u32, u32)>,
    /// Whether the network is cut between nodes with even and odd numbers.
    is_cut: bool,
    rng: ChaCha8Rng,
    order: u64,
}

impl World {
    /// Makes a network of nodes that all relay shard 0, and know only the first node.
    pub(super) fn new(nodes: u32, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let manager = |number: u32, rng: &mut ChaCha8Rng| {
            let config = ManagerConfig::new(peer(number), 1);
            ConnectionManager::new(config, ChaCha8Rng::seed_from_u64(rng.next_u64()))
        };
        let managers = (0..nodes).map(|n| manager(n, &mut rng)).collect();
        let mut world = Self {
            now: Time::ZERO,
            nodes: managers,
            dials: 0,
            events: BTreeMap::new(),
            links: BTreeSet::new(),
            is_cut: false,
            rng,
            order: 0,
        };
        for number in 0..nodes {
            world.input(number, Input::Shards(vec![0]));
            if number > 0 {
                world.input(number, Input::Offer(offer_of(0)));
            }
        }
        world
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, time: Duration) {
        let end = self.now.after(time);
        loop {
            let event = self.events.keys().next().map(|(at, _)| *at);
            let wakes = self.nodes.iter().map(ConnectionManager::next_timeout);
            let wake = wakes.fold(Time::MAX, Time::min);
            let next = wake.min(event.unwrap_or(Time::MAX));
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            while let Some(first) = self.events.first_entry() {
                if first.key().0 > self.now {
                    break;
                }
                let event = first.remove();
                self.happen(event);
            }
            for number in 0..self.nodes.len() {
                if self.nodes[number].next_timeout() <= self.now {
                    self.input(number as u32, Input::Tick);
                }
            }
        }
    }

    /// Cuts the network between even and odd nodes: connections between them end.
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
        for (a, b) in self.links.clone() {
            if a % 2 != b % 2 {
                self.unlink(a, b);
            }
        }
    }

    /// Reconnects the two parts of the network.
    pub(super) fn mend(&mut self) {
        self.is_cut = false;
    }

    /// Number of connections of a node.
    pub(super) fn degree(&self, number: u32) -> usize {
        let of = |link: &&(u32, u32)| link.0 == number || link.1 == number;
        self.links.iter().filter(of).count()
    }

    /// Whether every node can be reached from the first.
    pub(super) fn is_whole(&self) -> bool {
        let (mut seen, mut queue) = (BTreeSet::from([0]), vec![0]);
        while let Some(at) = queue.pop() {
            for (a, b) in &self.links {
                let other = match (*a == at, *b == at) {
                    (true, _) => *b,
                    (_, true) => *a,
                    _ => continue,
                };
                if seen.insert(other) {
                    queue.push(other);
                }
            }
        }
        seen.len() == self.nodes.len()
    }

    /// Ends a connection.
    pub(super) fn unlink(&mut self, a: u32, b: u32) {
        self.links.remove(&(a.min(b), a.max(b)));
        self.input(a, Input::Disconnected(peer(b)));
        self.input(b, Input::Disconnected(peer(a)));
    }

    pub(super) fn input(&mut self, number: u32, input: Input) {
        self.nodes[number as usize].handle(self.now, input);
        while let Some(output) = self.nodes[number as usize].poll() {
            self.output(number, output);
        }
    }

    fn output(&mut self, from: u32, output: Output) {
        match output {
            Output::Dial { peer: to, .. } => {
                self.dials += 1;
                let to = number_of(&to);
                let is_reachable = !self.is_cut || from % 2 == to % 2;
                let event = match is_reachable {
                    true => Event::Arrives { from, to },
                    false => Event::Fails { from, to },
                };
                self.order += 1;
                self.events
                    .insert((self.now.after(DIAL), self.order), event);
            }
            Output::Close { peer: to, .. } => self.unlink(from, number_of(&to)),
            Output::Discover(wanted) => {
                assert!(matches!(
                    wanted,
                    PeerDemand::Relay { shard: 0 } | PeerDemand::Outbound
                ));
                for _ in 0..NAMED {
                    let nodes = self.nodes.len() as u64;
                    let found = (self.rng.next_u64() % nodes) as u32;
                    if !self.is_cut || found % 2 == from % 2 {
                        self.input(from, Input::Offer(offer_of(found)));
                    }
                }
            }
            Output::Remember(_) | Output::Forget(_) | Output::Refused { .. } => {}
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            // The network was cut while the dial was on its way.
            Event::Arrives { from, to } if self.is_cut && from % 2 != to % 2 => {
                self.input(from, Input::DialFailed(peer(to)));
            }
            Event::Fails { from, to } => self.input(from, Input::DialFailed(peer(to))),
            Event::Arrives { from, to } => {
                let is_new = self.links.insert((from.min(to), from.max(to)));
                let connected = |peer, address, direction| Input::Connected {
                    peer,
                    address,
                    direction,
                };
                self.input(from, connected(peer(to), address(to), Direction::Outbound));
                if is_new {
                    let port = "/ip4/20.0.0.1/tcp/40000".parse().expect("an address");
                    self.input(to, connected(peer(from), port, Direction::Inbound));
                }
                self.tell(from, to);
                self.tell(to, from);
            }
        }
    }

    /// Passes `to` what metadata and identify report about `from`.
    fn tell(&mut self, from: u32, to: u32) {
        let facts = PeerFacts {
            cluster: Some(1),
            shards: Some(vec![0]),
            capabilities: None,
        };
        let (peer, listens_at) = (peer(from), vec![address(from)]);
        let learned = Input::Learned {
            peer,
            facts,
            listens_at,
        };
        self.input(to, learned);
    }
}

/// Offer of a node's true record.
pub(super) fn offer_of(number: u32) -> PeerOffer {
    let mut offer = PeerOffer::new(peer(number), PeerSource::Discv5);
    offer.addresses.push(address(number));
    offer.facts.cluster = Some(1);
    offer.facts.shards = Some(vec![0]);
    offer
}

pub(super) fn number_of(peer: &PeerId) -> u32 {
    match peer.to_bytes()[..] {
        [_, _, a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
        _ => unreachable!("the tests' identities have four bytes"),
    }
}
