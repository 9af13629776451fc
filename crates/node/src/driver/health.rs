//! Health of the node and its protocols.

use std::collections::BTreeSet;

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
            desc: trouble.map(str::to_owned),
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

    /// Reason why a message published now would reach nobody.
    fn relay_trouble(&self, peers: usize) -> Option<&'static str> {
        let router = self.relay.router();
        let has_mesh = |topic: &undertone_gossip::Topic| !router.mesh(topic).is_empty();
        let joined = router.joined();
        let keeps_meshes = router.keeps_mesh();
        if peers == 0 {
            Some("No connected peers")
        } else if keeps_meshes && !joined.is_empty() && !joined.iter().any(has_mesh) {
            Some("no peers in the mesh of any topic")
        } else {
            None
        }
    }
}
