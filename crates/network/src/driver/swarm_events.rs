//! Events of the swarm, handed to the part of the node that they concern.

use std::time::{Duration, Instant};

use libp2p::swarm::{ListenError, SwarmEvent};

use super::event_loop::EventLoop;
use super::peer_news::PeerNews;
use crate::command::{ConnectFailure, PeerOrigin};
use crate::swarm::{AddressGroup, BehaviourEvent, NoPlace};

/// Time between two lines of the log about refused peers.
const REFUSALS_QUIET: Duration = Duration::from_secs(60);

impl EventLoop {
    pub(crate) fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        self.traces.swarm(&event);
        match event {
            SwarmEvent::Behaviour(BehaviourEvent::Pubsub(event)) => self.on_pubsub(event),
            SwarmEvent::Behaviour(BehaviourEvent::Identify(event)) => self.on_identify(event),
            SwarmEvent::Behaviour(BehaviourEvent::Metadata(event)) => self.on_metadata(event),
            SwarmEvent::Behaviour(BehaviourEvent::Ping(event)) => self.on_ping(event),
            SwarmEvent::Behaviour(BehaviourEvent::Passage(event)) => self.on_passage(event),
            SwarmEvent::NewListenAddr { address, .. } => {
                tracing::info!(%address, "listening");
            }
            SwarmEvent::ListenerClosed { listener_id, .. } => self.listener_closed(listener_id),
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                num_established,
                ..
            } => {
                self.totals.dials_succeeded += u64::from(endpoint.is_dialer());
                self.fallbacks.connected(connection_id);
                self.peers.connected(peer_id, &endpoint);
                self.waiting_dials.connected(&peer_id);
                if num_established.get() == 1 {
                    self.managed_connected(peer_id, &endpoint);
                    let network = AddressGroup::of(endpoint.get_remote_address()).network();
                    self.passage.observed.connected(peer_id, network);
                    self.tell_services(PeerNews::Connected {
                        peer: peer_id,
                        is_chosen: endpoint.is_dialer() || self.is_kept(peer_id),
                        network,
                    });
                }
                if let Some(dialling) = self.dialling.remove(&connection_id) {
                    self.learn_kept_peer(peer_id, &dialling.address);
                    self.peers.known(peer_id).origin = PeerOrigin::Static;
                    if let Some(reply) = dialling.reply {
                        let _ = reply.send(Ok(()));
                    }
                }
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                num_established: 0,
                ..
            } => {
                self.peers.disconnected(peer_id);
                self.passage.observed.forget(&peer_id);
                self.manage(undertone_peers::Input::Disconnected(peer_id));
                self.tell_services(PeerNews::Disconnected(peer_id));
            }
            SwarmEvent::IncomingConnectionError {
                error: ListenError::Denied { cause },
                ..
            } => {
                if let Some(reason) = cause.downcast_ref::<NoPlace>() {
                    self.refused_place(*reason);
                }
            }
            SwarmEvent::OutgoingConnectionError {
                peer_id,
                connection_id,
                error,
            } => {
                if self.fall_back(connection_id, &error) {
                    return;
                }
                self.totals.dials_failed += 1;
                // A further connection to a connected peer, such as one dialled for that peer, says nothing of it.
                let peer = peer_id.filter(|peer| !self.swarm.is_connected(peer));
                if let Some(peer) = peer {
                    self.waiting_dials.failed(&peer, &error.to_string());
                    let asked = self.dialling.get(&connection_id);
                    let address = asked.map(|dialling| &dialling.address);
                    self.peers.unreachable(peer, address);
                    self.manage(undertone_peers::Input::DialFailed(peer));
                    self.tell_services(PeerNews::DialFailed(peer));
                }
                if let Some(dialling) = self.dialling.remove(&connection_id) {
                    let (address, reason) = (dialling.address, error.to_string());
                    tracing::debug!(%address, %reason, "cannot connect");
                    self.tell_kept_failure(&address, &reason);
                    if let Some(reply) = dialling.reply {
                        let _ = reply.send(Err(ConnectFailure::Dial { address, reason }));
                    }
                }
            }
            _ => {}
        }
    }

    /// Counts a peer that dialled and found no place, and says so, but not more often than once a minute.
    pub(super) fn refused_place(&mut self, reason: NoPlace) {
        self.totals.connections_refused += 1;
        let now = Instant::now();
        if self.refusals_quiet_until.is_none_or(|until| until <= now) {
            self.refusals_quiet_until = Some(now + REFUSALS_QUIET);
            let refused = self.totals.connections_refused;
            tracing::warn!(%reason, refused, "refusing a peer that has dialled; see max-connections and max-clients");
        }
    }
}
