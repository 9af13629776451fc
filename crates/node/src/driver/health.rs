//! Health of the node and its protocols.

use std::collections::BTreeSet;
use std::time::Instant;

use undertone_message::PubsubTopic;

use super::event_loop::EventLoop;
use super::rln::RlnService;
use crate::command::{ConnectionStatus, HealthReport, HealthStatus, ProtocolHealth};

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
        // The relay's entry says whether there are peers; a node without peers is ready for them.
        let node = match rln.status {
            HealthStatus::Synchronizing => HealthStatus::Synchronizing,
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
        }
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

    /// Peers subscribed to a topic of this node; other connected peers carry no messages.
    pub(super) fn relay_peers(&self) -> usize {
        let router = self.relay.router();
        let joined = router.joined();
        let peers = joined.iter().flat_map(|topic| router.subscribers(topic));
        peers.collect::<BTreeSet<_>>().len()
    }

    /// Reason why messages published now would reach nobody, on some shard at least.
    fn relay_trouble(&self, peers: usize) -> Option<String> {
        let router = self.relay.router();
        let has_mesh = |topic: &undertone_gossip::Topic| !router.mesh(topic).is_empty();
        let joined = router.joined();
        let keeps_meshes = router.keeps_mesh();
        if peers == 0 {
            return Some("No connected peers".to_owned());
        }
        if !keeps_meshes || joined.is_empty() {
            return None;
        }
        if !joined.iter().any(has_mesh) {
            return Some("no peers in the mesh of any topic".to_owned());
        }
        let cut_off = self.shards.cut_off(Instant::now());
        let cut_off: Vec<_> = cut_off.map(ToString::to_string).collect();
        (!cut_off.is_empty()).then(|| format!("no peers in the mesh of {}", cut_off.join(", ")))
    }

    /// Notes on which shards messages can be relayed now.
    pub(super) fn watch_shards(&mut self) {
        let router = self.relay.router();
        let has_mesh = |topic: &PubsubTopic| {
            let topic = undertone_gossip::Topic::new(&topic.to_string());
            !router.mesh(&topic).is_empty()
        };
        self.shards.note(Instant::now(), &self.joined, has_mesh);
    }
}
