//! Connecting to the peers that the operator named and to those that a caller names.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::multiaddr::Protocol;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{ConnectionId, DialError, SwarmEvent};
use libp2p::{Multiaddr, PeerId};

use super::addresses::peer_id_of;
use super::dial_spans::DialSpans;
use super::fallbacks::{Fallback, Fallbacks};
use super::kept::KeptPeers;
use super::peers::PeerTable;
use super::waiting_dials::{ConnectReply, WaitingDials};
use crate::command::{AddressGiver, ConnectFailure};
use crate::swarm::{BehaviourEvent, NodeSwarm, TrustedNames};

/// A connection attempt in progress, and the caller that waits for it, if any.
struct PendingDial {
    address: Multiaddr,
    reply: Option<ConnectReply>,
}

/// Dials of the node: those in progress, the callers that wait for them, and the named peers.
pub(crate) struct Dialling {
    in_progress: BTreeMap<ConnectionId, PendingDial>,
    waiting: WaitingDials,
    /// Addresses that are dialled if the QUIC addresses of the same peer fail.
    fallbacks: Fallbacks,
    /// Named peers that this node stays connected to.
    kept: KeptPeers,
    /// Host names given by the operator.
    trusted_names: TrustedNames,
    spans: DialSpans,
}

impl Dialling {
    pub(crate) fn new(kept: KeptPeers, trusted_names: TrustedNames, spans: DialSpans) -> Self {
        Self {
            in_progress: BTreeMap::new(),
            waiting: WaitingDials::default(),
            fallbacks: Fallbacks::default(),
            kept,
            trusted_names,
            spans,
        }
    }

    /// Returns the known identities of the named peers.
    pub(super) fn kept_peers(&self) -> impl Iterator<Item = PeerId> {
        self.kept.identities()
    }

    /// Whether the operator named a peer.
    pub(super) fn is_kept(&self, peer: PeerId) -> bool {
        self.kept_peers().any(|named| named == peer)
    }

    /// Dials the named peers that are not connected.
    pub(super) fn redial(&mut self, swarm: &mut NodeSwarm, peers: &PeerTable) {
        let (here, missing): (Vec<_>, Vec<_>) = self
            .kept
            .addresses()
            .cloned()
            .partition(|address| self.is_kept_connected(address, swarm, peers));
        for address in here {
            if self.kept.connected(&address) {
                tracing::info!(%address, "a named peer is reached after all");
            }
        }
        let now = Instant::now();
        for address in missing {
            let mut dialled = self.in_progress.values();
            if self.kept.is_due(&address, now) && !dialled.any(|one| one.address == address) {
                self.dial(address, None, swarm);
            }
        }
    }

    /// Exempts the named peers from the connection limits, in both directions, and their host names from the
    /// restrictions.
    pub(super) fn exempt_kept_peers(&mut self, swarm: &mut NodeSwarm) {
        for address in self.kept.addresses() {
            self.trusted_names.trust(address);
        }
        for peer in self.kept_peers() {
            swarm.behaviour_mut().admission.slots().keep(peer);
        }
    }

    /// Replaces the static peers and dials new ones. Former ones stay connected, but get no special treatment.
    pub(super) fn set_static_peers(
        &mut self,
        statics: Vec<Multiaddr>,
        swarm: &mut NodeSwarm,
        peers: &PeerTable,
    ) {
        let released = self.kept.replace_statics(statics);
        let slots = swarm.behaviour_mut().admission.slots();
        released.into_iter().for_each(|peer| slots.release(peer));
        self.exempt_kept_peers(swarm);
        self.redial(swarm, peers);
    }

    /// Answers the caller of a dial that failed. Logs a named peer that cannot be reached, once until it is reached
    /// again.
    fn answer_failure(&mut self, PendingDial { address, reply }: PendingDial, reason: String) {
        if self.kept.failed(&address, Instant::now()) {
            tracing::warn!(
                %address,
                reason,
                "a named peer cannot be reached; it is dialled again and again: check its address, and that it runs"
            );
        }
        if let Some(reply) = reply {
            let _ = reply.send(Err(ConnectFailure::Dial { address, reason }));
        }
    }

    /// Dials an address that a caller names, and answers when the dial has ended.
    pub(super) fn connect(
        &mut self,
        address: Multiaddr,
        given_by: AddressGiver,
        reply: ConnectReply,
        swarm: &mut NodeSwarm,
    ) {
        if given_by == AddressGiver::Operator {
            self.trusted_names.trust(&address);
        }
        let tcp = address.iter().any(|part| matches!(part, Protocol::Tcp(_)));
        let quic = address.iter().any(|part| part == Protocol::QuicV1);
        if tcp || quic {
            self.dial(address, Some(reply), swarm);
        } else {
            let _ = reply.send(Err(ConnectFailure::Unsupported { address }));
        }
    }

    fn is_kept_connected(&self, address: &Multiaddr, swarm: &NodeSwarm, peers: &PeerTable) -> bool {
        match peer_id_of(address).or_else(|| self.kept.led_to(address)) {
            Some(peer) if swarm.is_connected(&peer) => true,
            // Another peer may be at the address by now.
            Some(_) | None => peer_id_of(address).is_none() && peers.is_connected_at(address),
        }
    }

    fn dial(&mut self, address: Multiaddr, reply: Option<ConnectReply>, swarm: &mut NodeSwarm) {
        let dial = PendingDial { address, reply };
        let address = &dial.address;
        let peer = peer_id_of(address);
        let dialled = match peer {
            Some(peer) => {
                let addresses = self.kept.addresses_of(peer, address);
                self.fallbacks.dial(swarm, peer, addresses)
            }
            None => {
                let options = DialOpts::unknown_peer_id().address(address.clone()).build();
                let connection = options.connection_id();
                swarm.dial(options).map(|()| connection)
            }
        };
        match dialled {
            Ok(connection) => {
                self.spans.dialling(connection, peer);
                self.in_progress.insert(connection, dial);
            }
            Err(DialError::DialPeerConditionFalse(_)) => {
                self.answer_when_dialled(peer, dial, swarm);
            }
            Err(error) => self.answer_failure(dial, error.to_string()),
        }
    }

    /// Dials a peer found by discovery.
    ///
    /// # Errors
    /// [`DialError`] if the swarm refuses to dial.
    pub(super) fn dial_found(
        &mut self,
        peer: PeerId,
        addresses: Vec<Multiaddr>,
        swarm: &mut NodeSwarm,
    ) -> Result<(), DialError> {
        let connection = self.fallbacks.dial(swarm, peer, addresses)?;
        self.spans.dialling(connection, Some(peer));
        Ok(())
    }

    /// Answers a caller whose peer is connected already, or as soon as another attempt to dial the peer has ended.
    fn answer_when_dialled(
        &mut self,
        peer: Option<PeerId>,
        PendingDial { address, reply }: PendingDial,
        swarm: &NodeSwarm,
    ) {
        let Some(reply) = reply else {
            return;
        };
        match peer {
            Some(peer) if !swarm.is_connected(&peer) => {
                self.waiting.wait(peer, address, reply);
            }
            // The caller may have given up.
            _ => drop(reply.send(Ok(()))),
        }
    }

    /// Dials the other addresses of a peer that was not reached over QUIC. Returns `true` if the failure does not count
    /// yet, because another attempt follows.
    pub(super) fn fall_back(
        &mut self,
        failed: ConnectionId,
        error: &DialError,
        swarm: &mut NodeSwarm,
    ) -> bool {
        let Some(Fallback { peer, addresses }) = self.fallbacks.take(failed) else {
            return false;
        };
        tracing::debug!(%peer, %error, "QUIC does not lead to the peer; dialling its other addresses");
        let pending = self.in_progress.remove(&failed);
        let options = DialOpts::peer_id(peer).addresses(addresses).build();
        let connection = options.connection_id();
        match swarm.dial(options) {
            Ok(()) => {
                self.spans.dialling(connection, Some(peer));
                self.in_progress
                    .extend(pending.map(|pending| (connection, pending)));
                true
            }
            // Connected or being dialled already; the outcome of that attempt counts.
            Err(DialError::DialPeerConditionFalse(_)) => {
                if let Some(pending) = pending {
                    self.answer_when_dialled(Some(peer), pending, swarm);
                }
                true
            }
            Err(_) => {
                self.in_progress
                    .extend(pending.map(|pending| (failed, pending)));
                false
            }
        }
    }

    /// Creates the span of a dial, if this event ends it.
    pub(super) fn trace(&mut self, event: &SwarmEvent<BehaviourEvent>) {
        self.spans.swarm(event);
    }

    /// Tells the callers that wait for a peer that it is connected.
    pub(super) fn connected(&mut self, connection: ConnectionId, peer: &PeerId) {
        self.fallbacks.connected(connection);
        self.waiting.connected(peer);
    }

    /// Ends a dial that reached a peer; returns whether the operator or a caller named the address. From then on, a
    /// peer named by the operator is known by its identity.
    pub(super) fn succeeded(
        &mut self,
        connection: ConnectionId,
        peer: PeerId,
        swarm: &mut NodeSwarm,
    ) -> bool {
        let Some(dialled) = self.in_progress.remove(&connection) else {
            return false;
        };
        if self.kept.reached(&dialled.address, peer) {
            swarm.behaviour_mut().admission.slots().keep(peer);
        }
        if let Some(reply) = dialled.reply {
            let _ = reply.send(Ok(()));
        }
        true
    }

    /// Tells the callers that wait for a peer why it was not reached; returns the dialled address if the operator or a
    /// caller named it.
    pub(super) fn unreached(
        &mut self,
        connection: ConnectionId,
        peer: &PeerId,
        error: &DialError,
    ) -> Option<&Multiaddr> {
        self.waiting.failed(peer, &error.to_string());
        let asked = self.in_progress.get(&connection)?;
        Some(&asked.address)
    }

    /// Ends a dial that failed.
    pub(super) fn failed(&mut self, connection: ConnectionId, error: &DialError) {
        if let Some(dial) = self.in_progress.remove(&connection) {
            let (address, reason) = (&dial.address, error.to_string());
            tracing::debug!(%address, %reason, "cannot connect");
            self.answer_failure(dial, reason);
        }
    }
}
