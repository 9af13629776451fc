//! Discovery of peers: the connection manager of real nodes, with an offer service and dials in virtual time.
//!
//! In the world, every pair of nodes has a connection, which is closed until one of them dials.

use multiaddr::{Multiaddr, PeerId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use undertone_gossip::{Direction, Report, Time};
use undertone_link::ConnIx;
use undertone_peers::{
    ConnectionManager, Input, ManagerConfig, Output, PeerFacts, PeerOffer, PeerSource,
};

use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::seeds::{SeededRng, derive};
use crate::world::{CLUSTER, World};

/// Event of peer discovery.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FindEvent {
    /// The offer service answers.
    Answered,
    /// A node's dial arrives.
    Dialled { by: u32 },
    /// The dialled node has accepted.
    Accepted { by: u32 },
    /// The dialled node is away.
    Refused { by: u32 },
    /// The dead connections cut by the partition with this number are noticed.
    CutNoticed { partition: u32 },
    /// The node leaves, and comes back later.
    Leave,
}

/// Connection manager of a node, and state of its requests to the offer service.
#[derive(Debug)]
pub(crate) struct PeerFinder {
    manager: ConnectionManager,
    offers: SeededRng,
    is_asking: bool,
}

impl PeerFinder {
    fn new(world: &World, id: u32, started_ns: u64) -> Self {
        let seed = derive(world.seed, "manager", u64::from(id) ^ started_ns << 20);
        let config = ManagerConfig::new(identity(id), CLUSTER);
        Self {
            manager: ConnectionManager::new(config, ChaCha8Rng::from_seed(seed)),
            offers: SeededRng::new(world.seed, "offers", u64::from(id) ^ started_ns << 20),
            is_asking: false,
        }
    }

    pub(super) fn next_timeout(&self) -> u64 {
        self.manager.next_timeout().as_nanos()
    }
}

impl Node {
    /// Starts to look for peers.
    pub(super) fn start_finding(&mut self, step: &mut Step<'_>) {
        self.finder = Some(Box::new(PeerFinder::new(step.world, self.id, step.now_ns)));
        let shards = step.world.joined(self.id).collect();
        self.find(step, Input::Shards(shards));
    }

    pub(super) fn find_event(&mut self, step: &mut Step<'_>, event: FindEvent) {
        match event {
            FindEvent::Answered => self.answered(step),
            FindEvent::Dialled { by } => self.dialled(step, by),
            FindEvent::Accepted { by } => self.accepted(step, by),
            FindEvent::Refused { by } => self.find(step, Input::DialFailed(identity(by))),
            FindEvent::CutNoticed { partition } => {
                for remote in step.world.beyond(partition, self.id) {
                    self.hang_up(step, self.conn_to(remote));
                }
            }
            FindEvent::Leave => self.leave(step),
        }
    }

    /// Runs the manager's timer if it is due.
    pub(super) fn find_tick(&mut self, step: &mut Step<'_>) {
        let finder = self.finder.as_ref();
        if finder.is_some_and(|finder| finder.next_timeout() <= step.now_ns) {
            self.find(step, Input::Tick);
        }
    }

    /// Tells the manager that a connection has ended.
    pub(super) fn find_ended(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        if self.finder.is_some() {
            let remote = step.world.ends(self.id)[conn.0 as usize].remote;
            self.find(step, Input::Disconnected(identity(remote)));
        }
    }

    /// Tells the manager which connections are in a mesh.
    pub(super) fn find_reported(&mut self, step: &mut Step<'_>, report: &Report) {
        let (peer, is_protected) = match report {
            Report::Grafted { peer, .. } => (*peer, true),
            Report::Pruned { peer, .. } => (*peer, false),
            _ => return,
        };
        if self.finder.is_some() {
            let remote = step.world.ends(self.id)[peer.0 as usize].remote;
            let peer = identity(remote);
            self.find(step, Input::Protected { peer, is_protected });
        }
    }

    /// Passes an input to the manager and executes its outputs.
    fn find(&mut self, step: &mut Step<'_>, input: Input) {
        let Some(finder) = &mut self.finder else {
            return;
        };
        let manager = &mut finder.manager;
        manager.handle(Time::from_nanos(step.now_ns), input);
        let outputs: Vec<_> = std::iter::from_fn(|| manager.poll()).collect();
        for output in outputs {
            match output {
                Output::Dial { peer, .. } => self.dial(step, number(&peer)),
                Output::Close { peer, .. } => self.hang_up(step, self.conn_to(number(&peer))),
                Output::Discover(_) => self.ask(step),
                // Nothing survives a restart here, and the offer service names no strangers.
                Output::Remember(_) | Output::Forget(_) | Output::Refused { .. } => {}
            }
        }
    }

    fn ask(&mut self, step: &mut Step<'_>) {
        let Some(discovery) = step.world.scenario.topology.discovery() else {
            return;
        };
        let answer_ns = discovery.answer_ns;
        if let Some(finder) = &mut self.finder
            && !std::mem::replace(&mut finder.is_asking, true)
        {
            let at_ns = step.now_ns + answer_ns;
            self.schedule_own(step, at_ns, Event::Find(FindEvent::Answered));
        }
    }

    /// Passes the nodes that the service names to the manager. The service cannot name nodes beyond a cut.
    fn answered(&mut self, step: &mut Step<'_>) {
        let world = step.world;
        let offered = world.scenario.topology.discovery();
        let offered = offered.map_or(0, |discovery| discovery.offered);
        let Some(finder) = &mut self.finder else {
            return;
        };
        finder.is_asking = false;
        let nodes = u64::from(world.scenario.nodes);
        let named: Vec<_> = (0..offered)
            .map(|_| finder.offers.below(nodes) as u32)
            .collect();
        for node in named {
            let can_be_dialled = world.scenario.accepts_connections(node);
            if node != self.id
                && can_be_dialled
                && world.cut_until_ns(step.now_ns, self.id, node).is_none()
            {
                let mut offer = PeerOffer::new(identity(node), PeerSource::Discv5);
                offer.addresses.push(address(node));
                offer.facts = facts(world, node);
                self.find(step, Input::Offer(offer));
            }
        }
    }

    fn dial(&mut self, step: &mut Step<'_>, to: u32) {
        // A dial across a cut gets no answer; the manager gives up by itself.
        if step.world.cut_until_ns(step.now_ns, self.id, to).is_none() {
            let takes_ns = step.world.dial_ns(self.id, to);
            let dialled = FindEvent::Dialled { by: self.id };
            self.schedule(step, step.now_ns + takes_ns, to, Event::Find(dialled));
        }
    }

    fn dialled(&mut self, step: &mut Step<'_>, by: u32) {
        if step.world.cut_until_ns(step.now_ns, self.id, by).is_some() {
            return;
        }
        let at_ns = step.now_ns + step.world.delay_ns(self.id, by);
        if self.relay.is_none() || !step.world.scenario.accepts_connections(self.id) {
            let refused = FindEvent::Refused { by: self.id };
            return self.schedule(step, at_ns, by, Event::Find(refused));
        }
        // Scheduled before anything is sent, so that the other end is open when data arrives.
        let accepted = FindEvent::Accepted { by: self.id };
        self.schedule(step, at_ns, by, Event::Find(accepted));
        self.opened(step, by, Direction::Inbound);
    }

    fn accepted(&mut self, step: &mut Step<'_>, by: u32) {
        if self.relay.is_some() {
            return self.opened(step, by, Direction::Outbound);
        }
        // The node has left meanwhile.
        let conn = self.conn_to(by);
        let end = step.world.ends(self.id)[conn.0 as usize];
        let at_ns = step.now_ns + step.world.delay_ns(self.id, by);
        self.schedule(step, at_ns, by, Event::Closed(end.remote_conn));
    }

    fn opened(&mut self, step: &mut Step<'_>, remote: u32, direction: Direction) {
        let conn = self.conn_to(remote);
        // Two nodes that dial each other at once share one connection.
        if !self.host.is_open(conn) {
            self.open(step, conn, direction);
        }
        let (peer, address) = (identity(remote), address(remote));
        let connected = Input::Connected {
            peer,
            address: address.clone(),
            direction,
        };
        self.find(step, connected);
        let learned = Input::Learned {
            peer,
            facts: facts(step.world, remote),
            listens_at: vec![address],
        };
        self.find(step, learned);
    }

    /// Closes all connections and stops; the plan starts the node again.
    fn leave(&mut self, step: &mut Step<'_>) {
        self.finder = None;
        for conn in 0..step.world.ends(self.id).len() {
            self.hang_up(step, ConnIx(conn as u32));
        }
        self.stop(step);
    }

    /// Index of the connection to another node: every node has one to each other, in the order of their numbers.
    fn conn_to(&self, remote: u32) -> ConnIx {
        ConnIx(remote - u32::from(remote > self.id))
    }
}

fn facts(world: &World, node: u32) -> PeerFacts {
    PeerFacts {
        cluster: Some(CLUSTER),
        shards: Some(world.joined(node).collect()),
        capabilities: None,
    }
}

/// Peer id of a node, made from its number.
fn identity(node: u32) -> PeerId {
    let [a, b, c, d] = node.to_be_bytes();
    PeerId::from_bytes(&[0, 4, a, b, c, d]).expect("a multihash of four bytes")
}

fn number(peer: &PeerId) -> u32 {
    match peer.to_bytes()[..] {
        [0, 4, a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
        _ => unreachable!("the manager knows nobody but the nodes of the run"),
    }
}

/// Address of a node, each in a network of its own.
fn address(node: u32) -> Multiaddr {
    let (a, b) = ((node / 250) as u8, (node % 250) as u8);
    let host = std::net::Ipv4Addr::new(20, a, b, 1);
    Multiaddr::from(host).with(multiaddr::Protocol::Tcp(60_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nodes_number_is_its_identity() {
        for node in [0, 1, 255, 256, 70_000, u32::MAX] {
            assert_eq!(number(&identity(node)), node);
        }
    }
}
