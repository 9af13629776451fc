//! Ways through walls, as the event loop drives them: what peers say about reaching this node, and what follows.

use std::time::Instant;

use libp2p::autonat::v1::{Event as Autonat, NatStatus, OutboundProbeEvent};
use libp2p::core::transport::ListenerId;
use libp2p::multiaddr::Protocol;
use libp2p::relay::{self, client};
use libp2p::{Multiaddr, PeerId, dcutr};

use super::event_loop::EventLoop;
use super::observed::ObservedAddresses;
use super::peers::{ip_of, without_peer_id};
use super::reservations::Reservations;
use crate::command::{Connectedness, PassageTotals, Reachable};
use crate::swarm::{HOP_PROTOCOL, PassageEvent, RelayClient, is_relayed};

/// State of the ways through walls.
#[derive(Debug)]
pub(crate) struct PassageState {
    /// When the node is reached through relays.
    client: RelayClient,
    /// Reachability of this node, as peers tell it.
    pub(crate) reachable: Reachable,
    pub(crate) observed: ObservedAddresses,
    reservations: Reservations,
    pub(crate) totals: PassageTotals,
}

impl PassageState {
    pub(crate) fn new(client: RelayClient) -> Self {
        Self {
            client,
            reachable: Reachable::Unknown,
            observed: ObservedAddresses::default(),
            reservations: Reservations::default(),
            totals: PassageTotals::default(),
        }
    }

    /// Whether the node wants to be reached through relays now.
    fn wants_relays(&self) -> bool {
        match self.client {
            RelayClient::Never => false,
            RelayClient::IfUnreachable => self.reachable == Reachable::No,
            RelayClient::Always => true,
        }
    }
}

impl EventLoop {
    pub(super) fn on_passage(&mut self, event: PassageEvent) {
        match event {
            PassageEvent::Reachability(event) => self.on_autonat(event),
            PassageEvent::Circuits(event) => self.on_circuit(event),
            PassageEvent::Relayed(event) => self.on_reservation(event),
            PassageEvent::HolePunching(event) => self.on_hole_punched(event),
        }
    }

    fn on_autonat(&mut self, event: Autonat) {
        match event {
            Autonat::OutboundProbe(OutboundProbeEvent::Response { peer, address, .. }) => {
                self.on_reached(peer, without_peer_id(&address));
            }
            Autonat::StatusChanged { new, .. } => {
                let reachable = match new {
                    NatStatus::Public(_) => Reachable::Yes,
                    NatStatus::Private => Reachable::No,
                    NatStatus::Unknown => Reachable::Unknown,
                };
                self.passage.reachable = reachable;
                match reachable {
                    Reachable::Yes => tracing::info!("peers can reach this node"),
                    Reachable::No => tracing::info!(
                        "peers cannot reach this node: it stands behind a NAT or a firewall; forward its ports, or set \
                         nat = any"
                    ),
                    Reachable::Unknown => {}
                }
                self.look_after_passage();
            }
            _ => {}
        }
    }

    /// A peer says that it has reached this node at an address. It may lie, so others have to see the node at that IP
    /// address, unless the system says the same.
    fn on_reached(&mut self, peer: PeerId, address: Multiaddr) {
        let listens = self.swarm.listeners().any(|own| *own == address);
        let is_seen = ip_of(&address).is_some_and(|ip| self.passage.observed.agree_on(ip));
        let is_told = self.swarm.external_addresses().any(|own| *own == address);
        if is_told || (!listens && !is_seen) || self.hides_listening {
            return;
        }
        tracing::info!(%peer, %address, "a peer has reached this node");
        if !listens {
            self.swarm.add_external_address(address);
            self.tell_connections();
        }
    }

    fn on_circuit(&mut self, event: relay::Event) {
        let totals = &mut self.passage.totals;
        match event {
            relay::Event::ReservationReqAccepted {
                src_peer_id,
                renewed: false,
            } => {
                totals.reservations += 1;
                tracing::debug!(peer = %src_peer_id, "a peer can be reached through this node");
            }
            relay::Event::ReservationReqDenied { .. } => totals.reservations_denied += 1,
            relay::Event::CircuitReqAccepted {
                src_peer_id,
                dst_peer_id,
            } => {
                totals.circuits += 1;
                tracing::debug!(from = %src_peer_id, to = %dst_peer_id, "relaying a circuit");
            }
            relay::Event::CircuitReqDenied { .. } => totals.circuits_denied += 1,
            _ => {}
        }
    }

    fn on_reservation(&mut self, event: client::Event) {
        match event {
            client::Event::ReservationReqAccepted {
                relay_peer_id,
                renewal: false,
                ..
            } => {
                tracing::info!(relay = %relay_peer_id, "this node is reached through a relay");
                self.tell_connections();
            }
            client::Event::InboundCircuitEstablished { src_peer_id, .. } => {
                self.passage.totals.relayed += 1;
                tracing::debug!(peer = %src_peer_id, "a peer has connected through a relay");
            }
            client::Event::OutboundCircuitEstablished { relay_peer_id, .. } => {
                self.passage.totals.relayed += 1;
                tracing::debug!(relay = %relay_peer_id, "connected through a relay");
            }
            _ => {}
        }
    }

    fn on_hole_punched(&mut self, event: dcutr::Event) {
        let peer = event.remote_peer_id;
        match event.result {
            Ok(_) => {
                self.passage.totals.holes_punched += 1;
                tracing::info!(%peer, "a direct connection replaces the one through a relay");
            }
            Err(error) => {
                self.passage.totals.holes_failed += 1;
                tracing::debug!(%peer, %error, "no direct connection in place of the one through a relay");
            }
        }
    }

    /// Looks for places at relays while they are needed, gives up those that are not, and offers circuits while others
    /// can reach this node. Called at intervals and when something has changed.
    pub(super) fn look_after_passage(&mut self) {
        let is_reachable = self.passage.reachable == Reachable::Yes || self.hides_listening;
        let is_reachable = is_reachable || self.ports.is_any_open();
        let behaviour = &mut self.swarm.behaviour_mut().passage;
        if let Some(circuits) = behaviour.circuits.as_mut() {
            circuits.set_status(Some(match is_reachable {
                true => relay::Status::Enable,
                false => relay::Status::Disable,
            }));
        }
        if !self.passage.wants_relays() {
            for listener in self.passage.reservations.listeners() {
                self.swarm.remove_listener(listener);
            }
            return;
        }
        let relays = self.known_relays();
        let names = relays.iter().map(|(relay, _)| *relay);
        for chosen in self.passage.reservations.choose(Instant::now(), names) {
            let Some((_, address)) = relays.iter().find(|(relay, _)| *relay == chosen) else {
                continue;
            };
            let through = address
                .clone()
                .with(Protocol::P2p(chosen))
                .with(Protocol::P2pCircuit);
            match self.swarm.listen_on(through) {
                Ok(listener) => self.passage.reservations.begin(listener, chosen),
                Err(error) => tracing::debug!(relay = %chosen, %error, "cannot ask a relay"),
            }
        }
    }

    /// Connected peers that relay, with the addresses at which others reach them.
    fn known_relays(&self) -> Vec<(PeerId, Multiaddr)> {
        let known = self.peers.iter().filter(|(_, known)| {
            known.connected == Connectedness::Connected
                && known.protocols.iter().any(|id| id == HOP_PROTOCOL)
        });
        let direct = known.filter_map(|(peer, known)| {
            let address = known.address.as_ref()?;
            (!address.is_empty() && !is_relayed(address)).then(|| (*peer, address.clone()))
        });
        direct.collect()
    }

    /// A listener has ended; if it was a place at a relay, another one is looked for.
    pub(super) fn listener_closed(&mut self, listener: ListenerId) {
        if let Some(relay) = self.passage.reservations.end(listener) {
            tracing::info!(%relay, "this node is not reached through that relay any more");
            self.tell_connections();
        }
    }
}
