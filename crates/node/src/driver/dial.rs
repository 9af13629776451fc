//! Connecting to peers: configured ones and those that a caller names.

use std::time::Duration;

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
    /// Dials configured peers that are not connected.
    pub(crate) fn redial(&mut self) {
        let missing: Vec<_> = self
            .static_peers
            .iter()
            .filter(|address| !self.is_connected_or_dialled(address))
            .cloned()
            .collect();
        for address in missing {
            self.dial(address, None);
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

    /// Exempts static peers from the bounds on connections, in both directions, and from those on host names.
    pub(crate) fn keep_static_peers(&mut self) {
        for address in &self.static_peers {
            self.trusted_names.trust(address);
        }
        let known: Vec<_> = self.static_peers.iter().filter_map(peer_id_of).collect();
        for peer in known {
            self.swarm.behaviour_mut().admission.places().keep(peer);
        }
    }

    /// Replaces the static peers and dials new ones. Former ones stay connected as peers like all others.
    pub(crate) fn set_static_peers(&mut self, peers: Vec<Multiaddr>) {
        let learned = std::mem::take(&mut self.static_identities);
        let former: Vec<_> = self.static_peers.iter().filter_map(peer_id_of).collect();
        let places = self.swarm.behaviour_mut().admission.places();
        former
            .iter()
            .chain(learned.values())
            .for_each(|peer| places.release(*peer));
        let remain = |(address, _): &(Multiaddr, PeerId)| peers.contains(address);
        self.static_identities = learned.into_iter().filter(remain).collect();
        for peer in self.static_identities.values() {
            self.swarm.behaviour_mut().admission.places().keep(*peer);
        }
        self.static_failing
            .retain(|address| peers.contains(address));
        self.static_peers = peers;
        self.keep_static_peers();
        self.redial();
    }

    /// Records the identity of a dialled static peer whose address names none.
    pub(crate) fn learn_static_peer(&mut self, peer: PeerId, address: &Multiaddr) {
        if self.static_failing.remove(address) {
            tracing::info!(%address, "a static peer is reached after all");
        }
        if self.static_peers.contains(address) {
            self.static_identities.insert(address.clone(), peer);
            self.swarm.behaviour_mut().admission.places().keep(peer);
        }
    }

    /// Logs that a static peer cannot be reached, once until it is.
    pub(crate) fn tell_static_failure(&mut self, address: &Multiaddr, reason: &str) {
        if self.static_peers.contains(address) && self.static_failing.insert(address.clone()) {
            tracing::warn!(
                %address,
                reason,
                "a static peer cannot be reached; it is dialled again and again: check its address, and that it runs"
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

    fn is_connected_or_dialled(&self, address: &Multiaddr) -> bool {
        let connected = match peer_id_of(address) {
            Some(peer) => self.swarm.is_connected(&peer),
            // The peer may have dialled this node, or be connected at another of its configured addresses.
            None => {
                let led_to = self.static_identities.get(address);
                led_to.is_some_and(|peer| self.swarm.is_connected(peer))
                    || self.peers.is_connected_at(address)
            }
        };
        connected
            || self
                .dialling
                .values()
                .any(|dialling| dialling.address == *address)
    }

    /// All configured addresses of a static peer that is dialled at one of them; of another peer, only that one.
    fn addresses_of(&self, peer: PeerId, address: &Multiaddr) -> Vec<Multiaddr> {
        if !self.static_peers.contains(address) {
            return vec![address.clone()];
        }
        let all = self.static_peers.iter();
        all.filter(|known| peer_id_of(known) == Some(peer))
            .cloned()
            .collect()
    }

    pub(crate) fn dial(&mut self, address: Multiaddr, reply: Option<ConnectReply>) {
        let peer = peer_id_of(&address);
        let dialled = match peer {
            Some(peer) => {
                let addresses = self.addresses_of(peer, &address);
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
                self.tell_static_failure(&address, &reason);
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
