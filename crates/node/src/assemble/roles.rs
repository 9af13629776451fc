//! Services in a configuration: those that the node offers, and the peers that it keeps for those that it uses.

use libp2p::Multiaddr;
use undertone_peers::Capabilities;

use crate::config::NodeConfig;

/// Services that the node's record announces.
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

/// Peers of services that the node stays connected to: all that are named if it does not relay, and of a store that
/// synchronises the other stores.
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
    // One without a place to dial can only be used while it is connected.
    kept.retain(|address| address.iter().count() > 1);
    kept.into_iter().cloned().collect()
}
