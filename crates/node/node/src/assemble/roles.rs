//! Services and discovery as configured: their options, what the node offers, and the service peers that it stays
//! connected to.

use std::time::Duration;

use libp2p::Multiaddr;
use undertone_message::PubsubTopic;
use undertone_peers::Capabilities;
use undertone_relay::RelayConfig;
use undertone_services::sharding::Sharding;

use super::{NS_PER_MS, makes_proofs};
use crate::config::NodeConfig;
use undertone_provider::discovery::{DiscoveryConfig, DiscoveryOptions};
use undertone_provider::services::{PastProofs, SenderRateLimit, SenderSettings, ServicesOptions};

/// Returns the options of the services; `proofs` checks messages from other stores.
pub(super) fn services(
    config: &NodeConfig,
    relay: &RelayConfig,
    proofs: Option<PastProofs>,
) -> ServicesOptions {
    let services = &config.services;
    let connections = &config.connections;
    let topics = config.shards.iter().copied().map(PubsubTopic::Static);
    let rln = relay.rln.as_ref().filter(|_| makes_proofs(config));
    ServicesOptions {
        config: services.clone(),
        sender: SenderSettings {
            queue: services.send_queue.clone(),
            sharding: Sharding {
                cluster: config.network.cluster_id,
                num_shards: config.autosharding.then_some(config.network.num_shards),
            },
            max_message_bytes: config.network.max_message_bytes,
            fragment_bytes: config.gossip.fragment_bytes,
            relays: config.relay,
            rate_limit: rln.map(|rln| SenderRateLimit {
                epoch_s: rln.policy.epoch_size_s,
                max_clock_gap: Duration::from_nanos(rln.policy.max_clock_gap_ns),
            }),
            clock_ahead_ns: config.clock_ahead_ms.saturating_mul(NS_PER_MS),
        },
        topics: topics.map(|topic| topic.to_string().into()).collect(),
        connections_max: connections
            .total_max
            .saturating_add(connections.clients_max),
        needs_proof: config.rln.is_some() && !services.lightpush_proofs,
        proofs,
        data_dir: config.data_dir.clone(),
    }
}

/// Returns the options of discovery.
pub(super) fn discovery(config: &NodeConfig, discovery: &DiscoveryConfig) -> DiscoveryOptions {
    DiscoveryOptions {
        config: discovery.clone(),
        listen: config.listen_addresses.clone(),
        connections_max: config.connections.total_max,
        is_relay: config.relay,
        shards: config.shards.iter().map(|shard| shard.index).collect(),
    }
}

/// Returns the services that the node's record announces.
pub(super) fn capabilities(config: &NodeConfig) -> Capabilities {
    let services = &config.services;
    let offered = [
        (config.relay, Capabilities::RELAY),
        (services.store.is_some(), Capabilities::STORE),
        (
            services
                .store
                .as_ref()
                .is_some_and(|store| store.sync.is_some()),
            Capabilities::SYNC,
        ),
        (config.relay && services.filter, Capabilities::FILTER),
        (config.relay && services.lightpush, Capabilities::LIGHTPUSH),
    ];
    let offered = offered.into_iter().filter(|(is_offered, _)| *is_offered);
    offered.fold(Capabilities::NONE, |all, (_, one)| all.union(one))
}

/// Returns the service peers that the node stays connected to: all configured ones if it does not relay, and the
/// store peers if its store synchronises.
pub(super) fn kept_service_peers(config: &NodeConfig) -> Vec<Multiaddr> {
    let services = &config.services;
    let mut kept = Vec::new();
    let stores = services.store.as_ref();
    if !config.relay || stores.is_some_and(|store| store.sync.is_some()) {
        kept.extend(&services.store_peers);
    }
    if !config.relay {
        kept.extend(
            services
                .filter_peers
                .iter()
                .chain(&services.lightpush_peers),
        );
    }
    // An address with a peer id alone cannot be dialled.
    kept.retain(|address| address.iter().count() > 1);
    kept.into_iter().cloned().collect()
}
