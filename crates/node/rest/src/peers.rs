//! JSON form `WakuPeer` and the peer statistics of `/admin`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use undertone_message::{PubsubTopic, Shard};
use utoipa::ToSchema;

use undertone_network::command::{Connectedness, PeerOrigin, PeerSnapshot};
use undertone_provider::services::FilterSubscriber;

const RELAY: &str = "/vac/waku/relay/2.0.0";
pub(super) const FILTER_SUBSCRIBE: &str = "/vac/waku/filter-subscribe/2.0.0-beta1";
const FILTER_PUSH: &str = "/vac/waku/filter-push/2.0.0-beta1";
pub(super) const STORE: &str = "/vac/waku/store-query/3.0.0";
pub(super) const LIGHTPUSH_V2: &str = "/vac/waku/lightpush/2.0.0-beta1";
pub(super) const LIGHTPUSH_V3: &str = "/vac/waku/lightpush/3.0.0";
const PEER_EXCHANGE: &str = "/vac/waku/peer-exchange/2.0.0-alpha1";
const RECONCILIATION: &str = "/vac/waku/reconciliation/1.0.0";
const TRANSFER: &str = "/vac/waku/transfer/1.0.0";

/// Protocols listed as services, in nwaku's order.
const SERVICES: [&str; 8] = [
    RELAY,
    FILTER_SUBSCRIBE,
    STORE,
    LIGHTPUSH_V2,
    LIGHTPUSH_V3,
    PEER_EXCHANGE,
    RECONCILIATION,
    TRANSFER,
];

/// Protocols that the statistics count, in nwaku's order.
const COUNTED: [&str; 8] = [
    RELAY,
    FILTER_SUBSCRIBE,
    FILTER_PUSH,
    STORE,
    LIGHTPUSH_V3,
    LIGHTPUSH_V2,
    PEER_EXCHANGE,
    RECONCILIATION,
];

/// A peer known to the node.
#[derive(Serialize, ToSchema)]
pub(super) struct WakuPeer {
    /// Address with peer id; empty if none is known.
    multiaddr: String,
    protocols: Vec<String>,
    shards: Vec<u16>,
    /// `NotConnected`, `CannotConnect`, `CanConnect` or `Connected`.
    connected: &'static str,
    agent: String,
    /// `UnknownOrigin`, `Discv5`, `Static`, `PeerExchange` or `Dns`.
    origin: &'static str,
    /// Gossip score; only in lists of gossip peers.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

/// Gossip peers of a shard.
#[derive(Serialize, ToSchema)]
pub(super) struct PeersOfShard {
    shard: u16,
    peers: Vec<WakuPeer>,
}

/// A peer that is subscribed to messages at this node.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FilterSubscription {
    peer_id: String,
    filter_criteria: Vec<FilterTopic>,
}

/// Topics of messages that a peer is subscribed to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct FilterTopic {
    pubsub_topic: String,
    content_topic: String,
}

impl From<FilterSubscriber> for FilterSubscription {
    fn from(subscriber: FilterSubscriber) -> Self {
        let criteria = subscriber.criteria.into_iter();
        Self {
            peer_id: subscriber.peer.to_string(),
            filter_criteria: criteria
                .map(|criterion| FilterTopic {
                    pubsub_topic: criterion.pubsub_topic.to_string(),
                    content_topic: criterion.content_topic.to_string(),
                })
                .collect(),
        }
    }
}

/// How peers are grouped by topic.
#[derive(Clone, Copy)]
pub(super) enum Grouping {
    /// Peers subscribed to the topic.
    Relay,
    /// Peers in the topic's mesh.
    Mesh,
}

impl WakuPeer {
    /// Returns the entry for a list of peers, without a score.
    pub(super) fn listed(peer: &PeerSnapshot) -> Self {
        Self {
            multiaddr: peer
                .multiaddr
                .as_ref()
                .map(|address| format!("{address}/p2p/{}", peer.peer_id))
                .unwrap_or_default(),
            protocols: peer.protocols.clone(),
            shards: peer.shards.clone(),
            connected: connectedness(peer.connected),
            agent: peer.agent.clone(),
            origin: match peer.origin {
                PeerOrigin::UnknownOrigin => "UnknownOrigin",
                PeerOrigin::Discv5 => "Discv5",
                PeerOrigin::Static => "Static",
                PeerOrigin::PeerExchange => "PeerExchange",
                PeerOrigin::Dns => "Dns",
            },
            score: None,
        }
    }

    /// Returns the entry for a list of gossip peers, with the score.
    fn scored(peer: &PeerSnapshot) -> Self {
        Self {
            score: Some(peer.score),
            ..Self::listed(peer)
        }
    }
}

fn connectedness(connected: Connectedness) -> &'static str {
    match connected {
        Connectedness::NotConnected => "NotConnected",
        Connectedness::CannotConnect => "CannotConnect",
        Connectedness::CanConnect => "CanConnect",
        Connectedness::Connected => "Connected",
    }
}

fn is_on(peer: &PeerSnapshot, topic: &PubsubTopic, grouping: Grouping) -> bool {
    let topics = match grouping {
        Grouping::Relay => &peer.topics,
        Grouping::Mesh => &peer.in_mesh,
    };
    peer.connected == Connectedness::Connected && topics.contains(topic)
}

/// Gossip peers of one shard.
pub(super) fn on_shard(peers: &[PeerSnapshot], shard: Shard, grouping: Grouping) -> PeersOfShard {
    let topic = shard.into();
    let peers = peers.iter().filter(|peer| is_on(peer, &topic, grouping));
    PeersOfShard {
        shard: shard.index,
        peers: peers.map(WakuPeer::scored).collect(),
    }
}

/// Gossip peers of every shard among `topics`.
pub(super) fn by_shard(
    peers: &[PeerSnapshot],
    topics: &[PubsubTopic],
    grouping: Grouping,
) -> Vec<PeersOfShard> {
    topics
        .iter()
        .filter_map(PubsubTopic::shard)
        .map(|shard| on_shard(peers, shard, grouping))
        .collect()
}

/// Returns the peers that offer a service, each with its services only, ordered by their first service.
pub(super) fn with_services(peers: &[PeerSnapshot]) -> Vec<WakuPeer> {
    let mut by_first: BTreeMap<usize, Vec<WakuPeer>> = BTreeMap::new();
    for peer in peers {
        let offers = |service: &&str| peer.protocols.iter().any(|id| id == service);
        let Some(first) = SERVICES.iter().position(&offers) else {
            continue;
        };
        let protocols = SERVICES
            .iter()
            .copied()
            .filter(offers)
            .map(str::to_owned)
            .collect();
        let peer = WakuPeer {
            protocols,
            ..WakuPeer::listed(peer)
        };
        by_first.entry(first).or_default().push(peer);
    }
    by_first.into_values().flatten().collect()
}

/// Peer statistics: groups of counters, in nwaku's order.
pub(super) fn statistics(
    peers: &[PeerSnapshot],
    topics: &[PubsubTopic],
) -> Ordered<Ordered<usize>> {
    let connected = |state| peers.iter().filter(|peer| peer.connected == state).count();
    let states = [
        Connectedness::Connected,
        Connectedness::NotConnected,
        Connectedness::CannotConnect,
        Connectedness::CanConnect,
    ];
    let grouped = |grouping, total_name: &str| {
        let groups = by_shard(peers, topics, grouping);
        let mut counters: Vec<_> = groups
            .iter()
            .map(|group| (group.shard.to_string(), group.peers.len()))
            .collect();
        let total = counters.iter().map(|(_, count)| count).sum();
        counters.push((total_name.to_owned(), total));
        Ordered(counters)
    };
    let speaking = |id: &str| {
        let count = peers
            .iter()
            .filter(|peer| peer.protocols.iter().any(|own| own == id))
            .count();
        (id.to_owned(), count)
    };
    Ordered(vec![
        (
            "Sum".into(),
            Ordered(vec![("Total peers".into(), peers.len())]),
        ),
        (
            "By Connectedness".into(),
            Ordered(
                states
                    .map(|state| (connectedness(state).into(), connected(state)))
                    .into(),
            ),
        ),
        (
            "Relay peers".into(),
            grouped(Grouping::Relay, "Total relay peers"),
        ),
        (
            "Mesh peers".into(),
            grouped(Grouping::Mesh, "Total mesh peers"),
        ),
        ("By Protocols".into(), Ordered(COUNTED.map(speaking).into())),
    ])
}

/// A JSON object whose members keep their order.
pub(super) struct Ordered<T>(Vec<(String, T)>);

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
