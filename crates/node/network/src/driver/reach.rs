//! How others reach this node: reachability, NAT traversal, and the announced addresses.

use std::time::Instant;

use libp2p::autonat::v1::{Event as Autonat, NatStatus, OutboundProbeEvent};
use libp2p::core::transport::ListenerId;
use libp2p::multiaddr::Protocol;
use libp2p::relay::{self, client};
use libp2p::{Multiaddr, PeerId, dcutr};

use super::addresses::{ip_of, is_of_one_link, without_peer_id};
use super::observed_addrs::ObservedAddresses;
use super::opened_ports::OpenedPorts;
use super::peers::PeerTable;
use super::record::NodeRecord;
use super::reservations::Reservations;
use crate::command::{Connectedness, NatTotals, Reachable};
use crate::swarm::{
    CertificateWatch, HOP_PROTOCOL, NatBehaviourEvent, NodeSwarm, RelayClient, is_relayed,
};

/// How the node is reached: its addresses, ports, relays and certificate.
pub(crate) struct Reach {
    /// Setting for when the node is reached through relays.
    client: RelayClient,
    /// Reachability of this node, as its peers report it.
    reachable: Reachable,
    observed: ObservedAddresses,
    reservations: Reservations,
    totals: NatTotals,
    /// Ports opened by the router in front of the node.
    ports: OpenedPorts,
    /// Signed record (ENR) of the node.
    record: NodeRecord,
    /// Watch over the files of the WebSocket port's certificate.
    certificate: Option<CertificateWatch>,
    /// Whether only the addresses that the operator announces are told to others.
    hides_listening: bool,
}

impl Reach {
    pub(super) fn new(
        client: RelayClient,
        ports: OpenedPorts,
        record: NodeRecord,
        certificate: Option<CertificateWatch>,
        hides_listening: bool,
    ) -> Self {
        Self {
            client,
            reachable: Reachable::Unknown,
            observed: ObservedAddresses::default(),
            reservations: Reservations::default(),
            totals: NatTotals::default(),
            ports,
            record,
            certificate,
            hides_listening,
        }
    }

    pub(super) fn reachable(&self) -> Reachable {
        self.reachable
    }

    pub(super) fn totals(&self) -> NatTotals {
        self.totals.clone()
    }

    pub(super) fn observed(&mut self) -> &mut ObservedAddresses {
        &mut self.observed
    }

    pub(super) fn ports(&mut self) -> &mut OpenedPorts {
        &mut self.ports
    }

    pub(super) fn record(&self) -> &NodeRecord {
        &self.record
    }

    /// Returns when the certificate of the WebSocket port expires, Unix seconds.
    pub(super) fn certificate_expires_unix_s(&self) -> Option<i64> {
        let certificate = self.certificate.as_ref();
        certificate.map(CertificateWatch::expires_unix_s)
    }

    /// Reloads the certificate of the WebSocket port from its files if they have changed, or if `is_asked`.
    pub(super) fn check_certificate(&mut self, is_asked: bool) {
        if let Some(certificate) = &mut self.certificate {
            certificate.check(is_asked);
        }
    }

    /// Returns the addresses at which others reach the node: external addresses first, then those that it listens on.
    pub(super) fn announced_addresses(&self, swarm: &NodeSwarm) -> Vec<Multiaddr> {
        let mut external: Vec<_> = swarm.external_addresses().cloned().collect();
        // The library keeps them in no order. Sorting avoids a new record that differs only in order.
        external.sort();
        // Addresses at relays are external addresses too.
        let listening = swarm.listeners();
        let listening = listening.filter(|own| !self.hides_listening && !is_relayed(own));
        let listening = listening.filter(|own| !is_of_one_link(own));
        external.into_iter().chain(listening.cloned()).collect()
    }

    /// Whether the node currently wants to be reached through relays.
    fn wants_relays(&self) -> bool {
        match self.client {
            RelayClient::Never => false,
            RelayClient::IfUnreachable => self.reachable == Reachable::No,
            RelayClient::Always => true,
        }
    }

    /// Handles an event; returns whether the addresses at which others reach the node may have changed.
    pub(super) fn on_passage(
        &mut self,
        event: NatBehaviourEvent,
        swarm: &mut NodeSwarm,
        peers: &PeerTable,
    ) -> bool {
        match event {
            NatBehaviourEvent::Reachability(event) => return self.on_autonat(event, swarm, peers),
            NatBehaviourEvent::Relayed(event) => return self.on_reservation(event),
            NatBehaviourEvent::Circuits(event) => self.on_circuit(event),
            NatBehaviourEvent::HolePunching(event) => self.on_hole_punched(event),
        }
        false
    }

    fn on_autonat(&mut self, event: Autonat, swarm: &mut NodeSwarm, peers: &PeerTable) -> bool {
        match event {
            Autonat::OutboundProbe(OutboundProbeEvent::Response { peer, address, .. }) => {
                return self.on_reached(peer, without_peer_id(&address), swarm);
            }
            Autonat::StatusChanged { new, .. } => {
                let reachable = match new {
                    NatStatus::Public(_) => Reachable::Yes,
                    NatStatus::Private => Reachable::No,
                    NatStatus::Unknown => Reachable::Unknown,
                };
                self.reachable = reachable;
                match reachable {
                    Reachable::Yes => tracing::info!("peers can reach this node"),
                    Reachable::No => tracing::info!(
                        "peers cannot reach this node: it stands behind a NAT or a firewall; forward its ports, or set \
                         nat = any"
                    ),
                    Reachable::Unknown => {}
                }
                self.maintain(swarm, peers);
            }
            _ => {}
        }
        false
    }

    /// Handles a peer's claim that it has reached this node at an address. The peer may lie: the address counts only if
    /// the node listens on it, or if other peers see the node at its IP address.
    fn on_reached(&self, peer: PeerId, address: Multiaddr, swarm: &mut NodeSwarm) -> bool {
        let listens = swarm.listeners().any(|own| *own == address);
        let is_seen = ip_of(&address).is_some_and(|ip| self.observed.agree_on(ip));
        let is_told = swarm.external_addresses().any(|own| *own == address);
        if is_told || (!listens && !is_seen) || self.hides_listening {
            return false;
        }
        tracing::info!(%peer, %address, "a peer has reached this node");
        if !listens {
            swarm.add_external_address(address);
        }
        !listens
    }

    fn on_circuit(&mut self, event: relay::Event) {
        let totals = &mut self.totals;
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

    fn on_reservation(&mut self, event: client::Event) -> bool {
        match event {
            client::Event::ReservationReqAccepted {
                relay_peer_id,
                renewal: false,
                ..
            } => {
                tracing::info!(relay = %relay_peer_id, "this node is reached through a relay");
                return true;
            }
            client::Event::InboundCircuitEstablished { src_peer_id, .. } => {
                self.totals.relayed += 1;
                tracing::debug!(peer = %src_peer_id, "a peer has connected through a relay");
            }
            client::Event::OutboundCircuitEstablished { relay_peer_id, .. } => {
                self.totals.relayed += 1;
                tracing::debug!(relay = %relay_peer_id, "connected through a relay");
            }
            _ => {}
        }
        false
    }

    fn on_hole_punched(&mut self, event: dcutr::Event) {
        let peer = event.remote_peer_id;
        match event.result {
            Ok(_) => {
                self.totals.holes_punched += 1;
                tracing::info!(%peer, "a direct connection replaces the one through a relay");
            }
            Err(error) => {
                self.totals.holes_failed += 1;
                tracing::debug!(%peer, %error, "no direct connection in place of the one through a relay");
            }
        }
    }

    /// Asks relays for reservations while they are needed, gives up reservations that are not, and offers circuits
    /// while others can reach this node. Called at intervals and after changes.
    pub(super) fn maintain(&mut self, swarm: &mut NodeSwarm, peers: &PeerTable) {
        let is_reachable = self.reachable == Reachable::Yes || self.hides_listening;
        let is_reachable = is_reachable || self.ports.is_any_open();
        let behaviour = &mut swarm.behaviour_mut().nat;
        if let Some(circuits) = behaviour.circuits.as_mut() {
            circuits.set_status(Some(match is_reachable {
                true => relay::Status::Enable,
                false => relay::Status::Disable,
            }));
        }
        if !self.wants_relays() {
            for listener in self.reservations.listeners() {
                swarm.remove_listener(listener);
            }
            return;
        }
        let relays = known_relays(peers);
        let names = relays.iter().map(|(relay, _)| *relay);
        for chosen in self.reservations.choose(Instant::now(), names) {
            let Some((_, address)) = relays.iter().find(|(relay, _)| *relay == chosen) else {
                continue;
            };
            let through = address
                .clone()
                .with(Protocol::P2p(chosen))
                .with(Protocol::P2pCircuit);
            match swarm.listen_on(through) {
                Ok(listener) => self.reservations.begin(listener, chosen),
                Err(error) => tracing::debug!(relay = %chosen, %error, "cannot ask a relay"),
            }
        }
    }

    /// Records that a listener has ended; returns whether it was a reservation at a relay, which will be replaced by
    /// another.
    pub(super) fn listener_closed(&mut self, listener: ListenerId) -> bool {
        let lost = self.reservations.end(listener);
        if let Some(relay) = &lost {
            tracing::info!(%relay, "this node is not reached through that relay any more");
        }
        lost.is_some()
    }
}

/// Returns the connected peers that offer to relay, with the addresses at which others reach them.
fn known_relays(peers: &PeerTable) -> Vec<(PeerId, Multiaddr)> {
    let known = peers.iter().filter(|(_, known)| {
        known.connected == Connectedness::Connected
            && known.protocols.iter().any(|id| id == HOP_PROTOCOL)
    });
    let direct = known.filter_map(|(peer, known)| {
        let address = known.address.as_ref()?;
        (!address.is_empty() && !is_relayed(address)).then(|| (*peer, address.clone()))
    });
    direct.collect()
}
