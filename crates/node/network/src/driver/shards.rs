//! Shards of the node: joined topics, their traffic, and changes while connections last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use libp2p::PeerId;
use undertone_gossip::{PeerIx, Topic};
use undertone_message::{PubsubTopic, WakuMetadata};

use super::peers::PeerTable;
use super::shard_watch::ShardWatch;
use crate::command::PayloadTotals;

/// Maximum number of shards kept per peer; more topics are not plausible.
const SHARDS_MAX: usize = 1_024;

/// Topics that the node has joined in its cluster, and neighbours whose shards have changed.
#[derive(Default)]
pub(crate) struct Shards {
    cluster_id: u16,
    joined: BTreeSet<PubsubTopic>,
    /// Payloads of valid messages per topic, for all topics that the node has ever joined.
    payloads: BTreeMap<PubsubTopic, PayloadTotals>,
    /// Detects shards on which no message can be relayed.
    watch: ShardWatch,
    /// Shards last announced to neighbours; `None` before the first time.
    told: Option<BTreeSet<u16>>,
    /// Peers whose subscriptions have changed since the connection manager was last told.
    changed_peers: BTreeSet<PeerId>,
}

impl Shards {
    pub(super) fn new(cluster_id: u16) -> Self {
        Self {
            cluster_id,
            ..Self::default()
        }
    }

    pub(super) fn cluster_id(&self) -> u16 {
        self.cluster_id
    }

    pub(super) fn joined(&self) -> &BTreeSet<PubsubTopic> {
        &self.joined
    }

    /// Records that a topic is joined; returns whether it was not joined before.
    pub(super) fn join(&mut self, topic: PubsubTopic) -> bool {
        self.joined.insert(topic)
    }

    /// Records that a topic is left; returns whether it was joined.
    pub(super) fn leave(&mut self, topic: &PubsubTopic) -> bool {
        self.joined.remove(topic)
    }

    /// Indices of the joined shards.
    pub(super) fn indices(&self) -> impl Iterator<Item = u16> {
        let shards = self.joined.iter().filter_map(PubsubTopic::shard);
        shards.map(|shard| shard.index)
    }

    /// Returns the node's answer to metadata requests.
    pub(super) fn metadata(&self) -> WakuMetadata {
        WakuMetadata {
            cluster_id: Some(u32::from(self.cluster_id)),
            shards: self.indices().map(u32::from).collect(),
        }
    }

    /// Counts a valid message.
    pub(super) fn count_payload(&mut self, topic: &PubsubTopic, payload_bytes: usize) {
        let payloads = self.payloads.entry(topic.clone()).or_default();
        payloads.count(payload_bytes);
    }

    /// Returns the payloads of valid messages on a topic.
    pub(super) fn payloads(&self, topic: &PubsubTopic) -> Option<PayloadTotals> {
        self.payloads.get(topic).copied()
    }

    /// Returns the shards on which nothing could be relayed for 20 s, because no peer in their mesh answered.
    pub(super) fn cut_off(&self) -> impl Iterator<Item = &PubsubTopic> {
        self.watch.cut_off(Instant::now())
    }

    /// Updates when a peer in the mesh of each shard last answered; `answered` returns `None` for an empty mesh.
    pub(super) fn watch(
        &mut self,
        now: Instant,
        answered: impl Fn(&PubsubTopic) -> Option<Instant>,
    ) {
        self.watch.note(now, &self.joined, answered);
    }

    /// Records the shards now announced to neighbours; returns whether different ones were announced before.
    pub(super) fn tell(&mut self) -> bool {
        let own: BTreeSet<u16> = self.indices().collect();
        let told = self.told.replace(own.clone());
        told.is_some_and(|told| told != own)
    }

    /// Returns and forgets the peers whose subscriptions have changed since the last call.
    pub(super) fn take_changed_peers(&mut self) -> BTreeSet<PeerId> {
        std::mem::take(&mut self.changed_peers)
    }

    /// Records that a peer subscribed to a topic or left it.
    pub(super) fn note_subscription(
        &mut self,
        peers: &mut PeerTable,
        ix: PeerIx,
        topic: &Topic,
        subscribed: bool,
    ) {
        let shard = PubsubTopic::parse(topic.as_str()).ok();
        let shard = shard.as_ref().and_then(PubsubTopic::shard);
        let (Some(peer), Some(shard)) = (peers.identity(ix), shard) else {
            return;
        };
        if shard.cluster != self.cluster_id {
            return;
        }
        let known = &mut peers.known(peer).shards;
        let is_listed = known.contains(&shard.index);
        match subscribed {
            true if !is_listed && known.len() < SHARDS_MAX => known.push(shard.index),
            false if is_listed => known.retain(|listed| *listed != shard.index),
            _ => return,
        }
        self.changed_peers.insert(peer);
    }
}
