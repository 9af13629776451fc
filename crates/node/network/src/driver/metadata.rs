//! Identify and metadata: who the peer is and whether it belongs to this node's cluster.

use libp2p::request_response::{Event, Message};
use libp2p::{PeerId, identify};
use undertone_message::WakuMetadata;
use undertone_services::metadata::{self, MetadataVerdict};

use super::addresses::ip_of;
use super::event_loop::EventLoop;
use super::peer_news::PeerNews;
use crate::command::Connectedness;
use crate::swarm::{METADATA_PROTOCOL, is_relayed};

/// Maximum number of protocol ids kept per peer; longer lists are not plausible.
const PROTOCOLS_MAX: usize = 64;

/// Maximum length of the agent version that is kept, bytes.
const AGENT_BYTES_MAX: usize = 128;

impl EventLoop {
    pub(crate) fn on_identify(&mut self, event: identify::Event) {
        let identify::Event::Received { peer_id, info, .. } = event else {
            return;
        };
        let asks = info.protocols.contains(&METADATA_PROTOCOL);
        let known = self.peers.known(peer_id);
        known.protocols = info
            .protocols
            .iter()
            .take(PROTOCOLS_MAX)
            .map(ToString::to_string)
            .collect();
        known.agent = info.agent_version.chars().take(AGENT_BYTES_MAX).collect();
        let seen = ip_of(&info.observed_addr).filter(|_| !is_relayed(&info.observed_addr));
        if let Some(seen) = seen {
            self.reach.observed().note(peer_id, seen);
        }
        self.peers.listens_at(peer_id, &info.listen_addrs);
        self.managed_identified(peer_id, &info.listen_addrs);
        let known = self.peers.known(peer_id);
        let announced = PeerNews::Announced {
            peer: peer_id,
            protocols: known.protocols.clone(),
            address: known.address.clone(),
        };
        self.outward.notify_services(announced);
        if asks && self.metadata_exchange.may_ask(self.clock.now(), peer_id) {
            let ours = self.shards.metadata();
            self.swarm
                .behaviour_mut()
                .metadata
                .send_request(&peer_id, ours);
        }
    }

    pub(crate) fn on_metadata(&mut self, event: Event<WakuMetadata, WakuMetadata>) {
        match event {
            Event::Message {
                peer,
                message:
                    Message::Request {
                        request, channel, ..
                    },
                ..
            } => {
                if !self.metadata_exchange.may_answer(self.clock.now(), peer) {
                    // The peer sees that its stream ends.
                    drop(channel);
                    self.totals.metadata_refused += 1;
                    return;
                }
                let ours = self.shards.metadata();
                // The peer may have closed the stream meanwhile.
                let _ = self
                    .swarm
                    .behaviour_mut()
                    .metadata
                    .send_response(channel, ours);
                self.learn_metadata(peer, &request);
            }
            Event::Message {
                peer,
                message: Message::Response { response, .. },
                ..
            } => {
                self.learn_metadata(peer, &response);
            }
            Event::OutboundFailure { peer, error, .. } => {
                tracing::debug!(%peer, %error, "metadata request failed");
                let shards = self.peers.known(peer).shards.clone();
                self.outward
                    .notify_services(PeerNews::Shards { peer, shards });
            }
            _ => {}
        }
    }

    /// Records a peer's shards; disconnects a peer of another cluster. A peer that announces no cluster stays
    /// connected, because it may be a light client.
    fn learn_metadata(&mut self, peer: PeerId, theirs: &WakuMetadata) {
        let shards = match metadata::judge(self.shards.cluster_id(), theirs) {
            MetadataVerdict::Shards(shards) => shards,
            MetadataVerdict::OtherCluster(cluster) => {
                // Both sides ask, so this happens twice, and the connection manager also closes the connection.
                if self.peers.begin_closing(peer) {
                    let ours = self.shards.cluster_id();
                    tracing::info!(%peer, cluster, ours, "disconnecting a peer of another cluster");
                    self.swarm.behaviour_mut().pubsub.disconnect(peer);
                }
                return self.managed_metadata(peer, theirs.cluster_id, &[]);
            }
        };
        self.managed_metadata(peer, theirs.cluster_id, &shards);
        self.peers.known(peer).shards.clone_from(&shards);
        self.outward
            .notify_services(PeerNews::Shards { peer, shards });
    }

    /// Asks the neighbours for metadata again if this node's shards have changed, because the request carries the new
    /// ones. Also tells the connection manager and the services which shards neighbours have joined and left since the
    /// last call.
    pub(super) fn publish_shard_changes(&mut self) {
        if self.shards.tell() {
            self.ask_all_for_metadata();
        }
        for peer in self.shards.take_changed_peers() {
            let shards = self.peers.known(peer).shards.clone();
            self.managed_metadata(peer, None, &shards);
            self.outward
                .notify_services(PeerNews::Shards { peer, shards });
        }
    }

    fn ask_all_for_metadata(&mut self) {
        let speaks = |protocols: &[String]| {
            let mut protocols = protocols.iter();
            protocols.any(|protocol| protocol == METADATA_PROTOCOL.as_ref())
        };
        let neighbours = self.peers.iter().filter(|(_, known)| {
            known.connected == Connectedness::Connected && speaks(&known.protocols)
        });
        let neighbours: Vec<PeerId> = neighbours.map(|(peer, _)| *peer).collect();
        for peer in neighbours {
            let ours = self.shards.metadata();
            let behaviour = self.swarm.behaviour_mut();
            behaviour.metadata.send_request(&peer, ours);
        }
    }
}
