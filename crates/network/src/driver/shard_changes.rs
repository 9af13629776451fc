//! Shards that change while connections last: neighbours hear of this node's, and this node takes note of theirs.

use std::collections::BTreeSet;

use libp2p::PeerId;
use undertone_gossip::{PeerIx, Topic};
use undertone_message::PubsubTopic;

use super::event_loop::EventLoop;
use super::peer_news::PeerNews;
use crate::command::Connectedness;
use crate::swarm::METADATA_PROTOCOL;

/// Shards kept of one peer at most; more topics are not plausible.
const SHARDS_MAX: usize = 1_024;

/// Shards of this node as its neighbours know them, and neighbours whose shards have changed.
#[derive(Debug, Default)]
pub(crate) struct ShardChanges {
    /// Shards of which neighbours were told last; `None` before the first time.
    told: Option<BTreeSet<u16>>,
    /// Peers whose subscriptions have changed since the connection manager was told.
    peers: BTreeSet<PeerId>,
}

impl EventLoop {
    /// Takes note that a peer subscribed to a topic, or left it.
    pub(super) fn note_subscription(&mut self, ix: PeerIx, topic: &Topic, subscribed: bool) {
        let shard = PubsubTopic::parse(topic.as_str()).ok();
        let shard = shard.as_ref().and_then(PubsubTopic::shard);
        let (Some(peer), Some(shard)) = (self.peers.identity(ix), shard) else {
            return;
        };
        if shard.cluster != self.cluster_id {
            return;
        }
        let known = &mut self.peers.known(peer).shards;
        let is_listed = known.contains(&shard.index);
        match subscribed {
            true if !is_listed && known.len() < SHARDS_MAX => known.push(shard.index),
            false if is_listed => known.retain(|listed| *listed != shard.index),
            _ => return,
        }
        self.shard_changes.peers.insert(peer);
    }

    /// Asks the neighbours for metadata again if this node's shards have changed, as the question tells them the new ones; and
    /// tells the connection manager and the services which shards neighbours have joined and left since the last time.
    pub(super) fn tell_shard_changes(&mut self) {
        let own = self.joined.iter().filter_map(PubsubTopic::shard);
        let own: BTreeSet<u16> = own.map(|shard| shard.index).collect();
        let told = self.shard_changes.told.replace(own.clone());
        if told.is_some_and(|told| told != own) {
            self.ask_all_for_metadata();
        }
        for peer in std::mem::take(&mut self.shard_changes.peers) {
            let shards = self.peers.known(peer).shards.clone();
            self.managed_metadata(peer, None, &shards);
            self.tell_services(PeerNews::Shards { peer, shards });
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
            let ours = self.metadata();
            let behaviour = self.swarm.behaviour_mut();
            behaviour.metadata.send_request(&peer, ours);
        }
    }
}
