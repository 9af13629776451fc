//! Connecting to peers: those that the operator named, and those that a caller names.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{ConnectionId, DialError};
use libp2p::{Multiaddr, PeerId};

use super::event_loop::EventLoop;
use super::fallbacks::Fallback;
use super::peers::peer_id_of;
use super::requests::PendingDial;
use super::waiting_dials::ConnectReply;
use crate::command::ConnectFailure;

/// Time for connections to be closed when the node stops.
const CLOSING: Duration = Duration::from_millis(100);

impl EventLoop {
    /// Dials the named peers that are not connected.
    pub(crate) fn redial(&mut self) {
        let (here, missing): (Vec<_>, Vec<_>) = self
            .kept
            .addresses()
            .cloned()
            .partition(|address| self.is_kept_connected(address));
        for address in here {
            if self.kept.connected(&address) {
                tracing::info!(%address, "a named peer is reached after all");
            }
        }
        let now = Instant::now();
        for address in missing {
            let mut dialled = self.dialling.values();
            if self.kept.is_due(&address, now) && !dialled.any(|one| one.address == address) {
                self.dial(address, None);
            }
        }
    }

    /// Closes all connections, so that peers need not wait for silence: the kernel ends those of TCP with the process,
    /// and those of QUIC are nothing to it.
    pub(crate) async fn close_connections(&mut self) {
        let connected: Vec<_> = self.swarm.connected_peers().copied().collect();
        for peer in connected {
            // It may have ended since.
            let _ = self.swarm.disconnect_peer_id(peer);
        }
        let closing = async {
            while self.swarm.connected_peers().next().is_some() {
                self.swarm.select_next_some().await;
            }
        };
        // A peer that does not read must not delay the stop.
        let _ = tokio::time::timeout(CLOSING, closing).await;
    }

    /// Exempts the named peers from the bounds on connections, in both directions, and from those on host names.
    pub(crate) fn exempt_kept_peers(&mut self) {
        for address in self.kept.addresses() {
            self.trusted_names.trust(address);
        }
        let known: Vec<_> = self.kept.identities().collect();
        for peer in known {
            self.swarm.behaviour_mut().admission.places().keep(peer);
        }
    }

    /// Replaces the static peers and dials new ones. Former ones stay connected as peers like all others.
    pub(crate) fn set_static_peers(&mut self, peers: Vec<Multiaddr>) {
        let released = self.kept.replace_statics(peers);
        let places = self.swarm.behaviour_mut().admission.places();
        released.into_iter().for_each(|peer| places.release(peer));
        self.exempt_kept_peers();
        self.redial();
    }

    /// Notes the identity of a peer that was dialled, if the operator named its address.
    pub(crate) fn learn_kept_peer(&mut self, peer: PeerId, address: &Multiaddr) {
        if self.kept.reached(address, peer) {
            self.swarm.behaviour_mut().admission.places().keep(peer);
        }
    }

    /// Logs that a named peer cannot be reached, once until it is.
    pub(crate) fn tell_kept_failure(&mut self, address: &Multiaddr, reason: &str) {
        if self.kept.failed(address, Instant::now()) {
            tracing::warn!(
                %address,
                reason,
                "a named peer cannot be reached; it is dialled again and again: check its address, and that it runs"
            );
        }
    }

    /// Tells the admission bounds the router's score of each peer.
    pub(crate) fn tell_scores(&mut self) {
        let router = self.relay.router();
        let scores: Vec<_> = self.peers.connected_scores(|ix| router.score(ix)).collect();
        let places = self.swarm.behaviour_mut().admission.places();
        for (peer, score) in scores {
            places.set_score(peer, score);
        }
    }

    fn is_kept_connected(&self, address: &Multiaddr) -> bool {
        match peer_id_of(address).or_else(|| self.kept.led_to(address)) {
            Some(peer) if self.swarm.is_connected(&peer) => true,
            // Another peer may be at the address by now.
            Some(_) | None => peer_id_of(address).is_none() && self.peers.is_connected_at(address),
        }
    }

    pub(crate) fn dial(&mut self, address: Multiaddr, reply: Option<ConnectReply>) {
        let peer = peer_id_of(&address);
        let dialled = match peer {
            Some(peer) => {
                let addresses = self.kept.addresses_of(peer, &address);
                self.fallbacks.dial(&mut self.swarm, peer, addresses)
            }
            None => {
                let options = DialOpts::unknown_peer_id().address(address.clone()).build();
                let connection = options.connection_id();
                self.swarm.dial(options).map(|()| connection)
            }
        };
        match dialled {
            Ok(connection) => {
                self.traces.dialling(connection, peer);
                self.dialling
                    .insert(connection, PendingDial { address, reply });
            }
            Err(DialError::DialPeerConditionFalse(_)) => {
                self.answer_when_dialled(peer, address, reply);
            }
            Err(error) => {
                let reason = error.to_string();
                self.tell_kept_failure(&address, &reason);
                if let Some(reply) = reply {
                    let _ = reply.send(Err(ConnectFailure::Dial { address, reason }));
                }
            }
        }
    }

    /// Answers a caller whose peer is connected already, or as soon as another attempt to dial the peer has ended.
    fn answer_when_dialled(
        &mut self,
        peer: Option<PeerId>,
        address: Multiaddr,
        reply: Option<ConnectReply>,
    ) {
        let Some(reply) = reply else {
            return;
        };
        match peer {
            Some(peer) if !self.swarm.is_connected(&peer) => {
                self.waiting_dials.wait(peer, address, reply);
            }
            // The caller may have given up.
            _ => drop(reply.send(Ok(()))),
        }
    }

    /// Dials the other addresses of a peer that was not reached over QUIC; returns whether there are any, so that the
    /// failure is not yet one of the peer.
    pub(crate) fn fall_back(&mut self, failed: ConnectionId, error: &DialError) -> bool {
        let Some(Fallback { peer, addresses }) = self.fallbacks.take(failed) else {
            return false;
        };
        tracing::debug!(%peer, %error, "QUIC does not lead to the peer; dialling its other addresses");
        let pending = self.dialling.remove(&failed);
        let options = DialOpts::peer_id(peer).addresses(addresses).build();
        let connection = options.connection_id();
        match self.swarm.dial(options) {
            Ok(()) => {
                self.traces.dialling(connection, Some(peer));
                self.dialling
                    .extend(pending.map(|pending| (connection, pending)));
                true
            }
            // Connected by now, or being dialled: that attempt tells how it ends.
            Err(DialError::DialPeerConditionFalse(_)) => {
                if let Some(pending) = pending {
                    self.answer_when_dialled(Some(peer), pending.address, pending.reply);
                }
                true
            }
            Err(_) => {
                self.dialling
                    .extend(pending.map(|pending| (failed, pending)));
                false
            }
        }
    }
}
