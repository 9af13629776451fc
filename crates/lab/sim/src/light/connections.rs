//! Connections of a light client to the service nodes that it knows.

use undertone_link::{self as link, ConnIx};

use crate::light::LightEvent;
use crate::light::node::LightNode;
use crate::node::event::{Event, ServiceEvent, Step};
use crate::world::World;

/// Round trips from dialling to the first request: as between relays, TCP, the choice of security, its handshake, and
/// the choice of a muxer. The choice of the stream's protocol is not included; each request pays for it.
const CONNECTING_ROUND_TRIPS: u64 = 4;

/// Time after which a connection attempt counts as failed, nanoseconds.
pub(super) const CONNECT_NS: u64 = 15_000_000_000;

/// State of the connection to a service node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotState {
    Down,
    Dialling { conn: ConnIx, since_ns: u64 },
    Up { conn: ConnIx, remote_conn: ConnIx },
}

/// Service node that a client knows.
#[derive(Debug)]
pub(super) struct PeerSlot {
    pub(super) node: u32,
    pub(super) state: SlotState,
    /// Whether the service node has noticed the client's sleep and closed the connection.
    noticed: bool,
    /// Whether the service node has sent its metadata on the connection, or need not.
    pub(super) is_greeted: bool,
    /// Whether the state machines know the service node. One found by peer exchange is introduced to them once it has
    /// accepted a connection.
    pub(super) is_offered: bool,
    /// Whether the client has given up on a service node found by peer exchange.
    pub(super) is_given_up: bool,
}

impl PeerSlot {
    /// Service nodes that a client knows: consecutive ones starting from its number, so that all serve equally many
    /// clients. A client that floods has a single victim.
    pub(super) fn all(world: &World, number: u32) -> Vec<Self> {
        let Some(setup) = &world.scenario.services else {
            return Vec::new();
        };
        let honest = setup.honest_clients();
        let (first, count) = match number.checked_sub(honest) {
            None => (number, setup.peers_per_client.min(setup.service_nodes)),
            Some(flooder) => (flooder, 1),
        };
        let count = count.min(setup.known_peers.unwrap_or(count));
        let nodes = world.service_nodes();
        (0..count)
            .map(|offset| {
                let node = nodes.start + (first + offset) % setup.service_nodes.max(1);
                Self {
                    is_offered: true,
                    ..Self::named(node)
                }
            })
            .collect()
    }

    /// A service node found by peer exchange.
    pub(super) fn named(node: u32) -> Self {
        Self {
            node,
            state: SlotState::Down,
            noticed: false,
            is_greeted: false,
            is_offered: false,
            is_given_up: false,
        }
    }
}

impl LightNode {
    /// Connects to a peer, unless already connected or connecting. Returns whether there is a usable connection.
    pub(super) fn connect(&mut self, step: &mut Step<'_>, peer: usize) -> bool {
        let Some(slot) = self.peers.get_mut(peer) else {
            return false;
        };
        match slot.state {
            SlotState::Up { .. } => return slot.is_greeted,
            SlotState::Dialling { since_ns, .. } if step.now_ns < since_ns + CONNECT_NS => {
                return false;
            }
            SlotState::Dialling { conn, .. } => {
                self.conns.remove(&conn);
            }
            SlotState::Down => {}
        }
        let conn = ConnIx(self.next_conn);
        self.next_conn += 1;
        let since_ns = step.now_ns;
        slot.state = SlotState::Dialling { conn, since_ns };
        let node = slot.node;
        self.conns.insert(conn, peer);
        let there_ns = step.world.delay_ns(self.id, node);
        let round_trip_ns = there_ns + step.world.delay_ns(node, self.id);
        let at_ns = step.now_ns + (CONNECTING_ROUND_TRIPS - 1) * round_trip_ns + there_ns;
        let dial = ServiceEvent::Dial {
            client: self.id,
            conn,
        };
        self.schedule(step, at_ns, node, Event::Service(dial));
        false
    }

    pub(super) fn accepted(
        &mut self,
        step: &mut Step<'_>,
        node: u32,
        (conn, remote_conn): (ConnIx, ConnIx),
    ) {
        let dialled = self.conns.get(&conn).copied();
        let Some(peer) = dialled.filter(|at| self.is_dialling(*at, conn)) else {
            // Too late: the client has started another attempt or given up.
            let at_ns = step.now_ns + step.world.delay_ns(self.id, node);
            return self.schedule(step, at_ns, node, Event::Closed(remote_conn));
        };
        let slot = &mut self.peers[peer];
        slot.state = SlotState::Up { conn, remote_conn };
        slot.noticed = false;
        slot.is_greeted = false;
        let connect = link::Input::Connect {
            conn,
            remote: node,
            remote_conn,
            delay_ns: step.world.delay_ns(self.id, node),
            reverse_delay_ns: step.world.delay_ns(node, self.id),
            loss: step.world.loss(self.id, node),
            sent_before: step.world.sent_before(true),
        };
        self.host_input(step, connect);
        let setup = step.world.scenario.services.as_ref();
        if let Some(mean_ns) = setup.and_then(|setup| setup.connection_lost_every_ns) {
            let at_ns = step.now_ns + self.exponential_ns(mean_ns);
            let lost = LightEvent::ConnectionLost(conn);
            self.schedule_own(step, at_ns, Event::Light(lost));
        }
        self.greet(step, peer, conn);
    }

    fn is_dialling(&self, peer: usize, conn: ConnIx) -> bool {
        let state = self.peers.get(peer).map(|slot| slot.state);
        matches!(state, Some(SlotState::Dialling { conn: dialled, .. }) if dialled == conn)
    }

    pub(super) fn refused(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let Some(peer) = self.conns.remove(&conn) else {
            return;
        };
        if self.is_dialling(peer, conn) {
            self.peers[peer].state = SlotState::Down;
            self.connect_failed(step, peer);
        }
    }

    /// Loses a connection and informs the service node; does nothing in the calm at the end of the run.
    pub(super) fn connection_lost(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let peer = self.conns.get(&conn);
        let slot = peer.and_then(|at| self.peers.get(*at));
        if let Some(slot) = slot
            && let SlotState::Up { remote_conn, .. } = slot.state
            && !step.world.is_calm(step.now_ns)
        {
            let node = slot.node;
            let at_ns = step.now_ns + step.world.delay_ns(self.id, node);
            self.schedule(step, at_ns, node, Event::Closed(remote_conn));
            self.counters.connections_lost += 1;
            self.closed(step, conn);
        }
    }

    pub(super) fn closed(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        let Some(peer) = self.conns.remove(&conn) else {
            return;
        };
        if self.host.is_open(conn) {
            self.host_input(step, link::Input::Close(conn));
        }
        self.streams.retain(|_, stream| stream.conn != conn);
        let slot = &mut self.peers[peer];
        slot.state = SlotState::Down;
        match std::mem::take(&mut slot.is_greeted) {
            true => self.disconnected(step, peer),
            false => self.connect_failed(step, peer),
        }
    }

    /// Makes the service nodes notice, after `after_ns`, that this machine sleeps.
    pub(super) fn noticed(&mut self, step: &mut Step<'_>, after_ns: u64) {
        let mut closed = Vec::new();
        for slot in &mut self.peers {
            if let SlotState::Up { remote_conn, .. } = slot.state {
                slot.noticed = true;
                closed.push((slot.node, remote_conn));
            }
        }
        for (node, remote_conn) in closed {
            let at_ns = step.now_ns + after_ns.max(step.world.delay_ns(self.id, node));
            self.schedule(step, at_ns, node, Event::Closed(remote_conn));
        }
    }

    /// Closes the connections that service nodes closed while this machine slept.
    pub(super) fn drop_noticed(&mut self, step: &mut Step<'_>) {
        let mut closed = Vec::new();
        for slot in &mut self.peers {
            if let SlotState::Up { conn, .. } = slot.state
                && std::mem::take(&mut slot.noticed)
            {
                closed.push(conn);
            }
        }
        for conn in closed {
            self.closed(step, conn);
        }
    }
}
