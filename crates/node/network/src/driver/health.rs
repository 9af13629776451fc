//! Health of the node and its protocols.

use std::collections::BTreeSet;
use std::time::Instant;

use undertone_gossip::Topic;
use undertone_message::PubsubTopic;

use super::event_loop::EventLoop;
use super::rln::RlnService;
use crate::command::{ConnectionStatus, HealthReport, HealthStatus, ProtocolHealth, ShardHealth};

/// Protocols of the reference node (nwaku) that this node lacks, in the reference node's order.
const NOT_MOUNTED: [&str; 13] = [
    "Lightpush",
    "Legacy Lightpush",
    "Filter",
    "Store",
    "Legacy Store",
    "Peer Exchange",
    "Rendezvous",
    "Mix",
    "Lightpush Client",
    "Legacy Lightpush Client",
    "Store Client",
    "Legacy Store Client",
    "Filter Client",
];

impl EventLoop {
    pub(super) fn health(&self) -> HealthReport {
        let d_low = self.relay.router().config().degrees.d_low;
        let peers = self.relay_peers();
        let connection = match peers {
            0 => ConnectionStatus::Disconnected,
            n if n < d_low => ConnectionStatus::PartiallyConnected,
            _ => ConnectionStatus::Connected,
        };
        let trouble = self.relay_trouble(peers);
        let relay = ProtocolHealth {
            protocol: "Relay",
            status: match trouble {
                None => HealthStatus::Ready,
                Some(_) => HealthStatus::NotReady,
            },
            desc: trouble,
        };
        let rln = self.rln_health();
        // The entry of Relay says whether there are peers; a node without peers is still ready for
        // them.
        let node = match rln.status {
            status @ (HealthStatus::Synchronizing | HealthStatus::NotReady) => status,
            _ => HealthStatus::Ready,
        };
        let absent = NOT_MOUNTED.map(|protocol| ProtocolHealth {
            protocol,
            status: HealthStatus::NotMounted,
            desc: None,
        });
        HealthReport {
            node,
            connection,
            protocols: [relay, rln].into_iter().chain(absent).collect(),
            shards: self.shard_health(),
        }
    }

    fn shard_health(&self) -> Vec<ShardHealth> {
        let router = self.relay.router();
        let cut_off: BTreeSet<_> = self.shards.cut_off().map(ToString::to_string).collect();
        let health = |topic: &Topic| {
            let (mesh, subscribers) = (router.mesh(topic).len(), router.subscribers(topic).len());
            let trouble = match (subscribers, mesh) {
                (0, _) => Some("no connected peer relays it"),
                (_, 0) if router.keeps_mesh() => Some("no peer is in its mesh"),
                _ if cut_off.contains(topic.as_str()) => Some("no peer in its mesh answers"),
                _ => None,
            };
            ShardHealth {
                topic: topic.as_str().to_owned(),
                mesh,
                subscribers,
                trouble,
            }
        };
        router.joined().iter().map(health).collect()
    }

    fn rln_health(&self) -> ProtocolHealth {
        let protocol = "Rln Relay";
        let Some(rln) = &self.rln else {
            return ProtocolHealth {
                protocol,
                status: HealthStatus::NotMounted,
                desc: None,
            };
        };
        if let Some(trouble) = rln.disk_trouble() {
            return ProtocolHealth {
                protocol,
                status: HealthStatus::NotReady,
                desc: Some(format!("no message can be proved: {trouble}")),
            };
        }
        let empty = self.relay.roots().is_empty();
        let nobody = || empty.then(|| "the registry has no members yet".to_owned());
        let desc = RlnService::trouble(rln).or_else(nobody);
        let status = match desc {
            None => HealthStatus::Ready,
            Some(_) => HealthStatus::Synchronizing,
        };
        ProtocolHealth {
            protocol,
            status,
            desc,
        }
    }

    /// Returns the number of peers subscribed to a topic of this node; other connected peers carry
    /// no messages.
    pub(super) fn relay_peers(&self) -> usize {
        let router = self.relay.router();
        let joined = router.joined();
        let peers = joined.iter().flat_map(|topic| router.subscribers(topic));
        peers.collect::<BTreeSet<_>>().len()
    }

    /// Returns the reason why messages published now would reach nobody on at least one shard.
    fn relay_trouble(&self, peers: usize) -> Option<String> {
        let router = self.relay.router();
        let has_mesh = |topic: &Topic| !router.mesh(topic).is_empty();
        let joined = router.joined();
        let is_without_mesh =
            router.keeps_mesh() && !joined.is_empty() && !joined.iter().any(has_mesh);
        let at_once = match peers {
            0 => Some("No connected peers"),
            _ if is_without_mesh => Some("no peers in the mesh of any topic"),
            _ => None,
        };
        let cut_off = self.shards.cut_off().map(ToString::to_string);
        let cut_off = cut_off.collect::<Vec<_>>().join(", ");
        match (at_once, cut_off.is_empty()) {
            (at_once, true) => at_once.map(str::to_owned),
            (Some(at_once), false) => Some(format!("{at_once}; nothing is relayed on {cut_off}")),
            (None, false) => Some(format!(
                "nothing is relayed on {cut_off}: no peer in its mesh answers"
            )),
        }
    }

    /// Updates on which shards messages can be relayed now.
    pub(super) fn watch_shards(&mut self) {
        let (router, now) = (self.relay.router(), Instant::now());
        let answered = |topic: &PubsubTopic| {
            let topic = Topic::new(&topic.to_string());
            let mesh = match router.keeps_mesh() {
                true => router.mesh(&topic),
                false => router.subscribers(&topic),
            };
            let identities = mesh.iter().filter_map(|ix| self.peers.identity(*ix));
            identities
                .map(|peer| self.peers.answered(&peer).unwrap_or(now))
                .max()
        };
        self.shards.watch(now, answered);
    }
}
