//! Events of the swarm, handed to the part of the node that they concern.

use libp2p::swarm::{ListenError, SwarmEvent};

use super::event_loop::EventLoop;
use super::peer_news::PeerNews;
use crate::command::PeerOrigin;
use crate::swarm::{AddressGroup, BehaviourEvent, NoSlot};

impl EventLoop {
    pub(crate) fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        self.dialling.trace(&event);
        match event {
            SwarmEvent::Behaviour(BehaviourEvent::Pubsub(event)) => self.on_pubsub(event),
            SwarmEvent::Behaviour(BehaviourEvent::Identify(event)) => self.on_identify(event),
            SwarmEvent::Behaviour(BehaviourEvent::Metadata(event)) => self.on_metadata(event),
            SwarmEvent::Behaviour(BehaviourEvent::Ping(event)) => self.on_ping(event),
            SwarmEvent::Behaviour(BehaviourEvent::Nat(event)) => {
                let is_news = self.reach.on_passage(event, &mut self.swarm, &self.peers);
                if is_news {
                    self.publish_connections();
                }
            }
            SwarmEvent::NewListenAddr { address, .. } => {
                tracing::info!(%address, "listening");
            }
            SwarmEvent::ListenerClosed { listener_id, .. } => {
                let is_news = self.reach.listener_closed(listener_id);
                if is_news {
                    self.publish_connections();
                }
            }
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                num_established,
                ..
            } => {
                self.totals.dials_succeeded += u64::from(endpoint.is_dialer());
                self.peers.connected(peer_id, &endpoint);
                self.dialling.connected(connection_id, &peer_id);
                if num_established.get() == 1 {
                    self.managed_connected(peer_id, &endpoint);
                    let network = AddressGroup::of(endpoint.get_remote_address()).network();
                    self.reach.observed().connected(peer_id, network);
                    self.outward.notify_services(PeerNews::Connected {
                        peer: peer_id,
                        is_chosen: endpoint.is_dialer() || self.dialling.is_kept(peer_id),
                        network,
                    });
                }
                let dialling = &mut self.dialling;
                if dialling.succeeded(connection_id, peer_id, &mut self.swarm) {
                    self.peers.known(peer_id).origin = PeerOrigin::Static;
                }
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                num_established: 0,
                ..
            } => {
                self.peers.disconnected(peer_id);
                self.reach.observed().forget(&peer_id);
                self.manage(undertone_peers::Input::Disconnected(peer_id));
                self.outward
                    .notify_services(PeerNews::Disconnected(peer_id));
            }
            SwarmEvent::IncomingConnectionError {
                error: ListenError::Denied { cause },
                ..
            } => {
                if let Some(reason) = cause.downcast_ref::<NoSlot>() {
                    self.refused_place(*reason);
                }
            }
            SwarmEvent::OutgoingConnectionError {
                peer_id,
                connection_id,
                error,
            } => {
                let dialling = &mut self.dialling;
                if dialling.fall_back(connection_id, &error, &mut self.swarm) {
                    return;
                }
                self.totals.dials_failed += 1;
                // A failed additional connection to a connected peer does not mean that the peer is unreachable.
                let peer = peer_id.filter(|peer| !self.swarm.is_connected(peer));
                if let Some(peer) = peer {
                    let address = self.dialling.unreached(connection_id, &peer, &error);
                    self.peers.unreachable(peer, address);
                    self.manage(undertone_peers::Input::DialFailed(peer));
                    self.outward.notify_services(PeerNews::DialFailed(peer));
                }
                self.dialling.failed(connection_id, &error);
            }
            _ => {}
        }
    }

    /// Counts and logs a peer that dialled and was refused for lack of a place.
    pub(super) fn refused_place(&mut self, reason: NoSlot) {
        self.totals.connections_refused += 1;
        let refused = self.totals.connections_refused;
        self.outward.log_refusal(reason, refused);
    }
}
