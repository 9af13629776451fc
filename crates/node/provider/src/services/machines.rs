//! State machines of the services that a configuration enables.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use undertone_services::filter::{FilterLimits, FilterServer};
use undertone_services::host::Machines;
use undertone_services::lightpush::{LightpushLimits, LightpushServer};
use undertone_services::peer_exchange::{PeerExchangeLimits, PeerExchangeServer};
use undertone_services::rendezvous::{RendezvousLimits, RendezvousServer};
use undertone_services::store::{ServerLimits, StoreServer};

use super::{SenderSettings, ServicesConfig};

/// Creates the machines of a node that may have `connections_max` connections.
pub(super) fn machines(
    config: &ServicesConfig,
    settings: &SenderSettings,
    connections_max: u32,
    mut rng: ChaCha8Rng,
) -> Machines {
    let sharding = settings.sharding;
    Machines {
        store: config
            .store
            .is_some()
            .then(|| StoreServer::new(ServerLimits::default())),
        filter: config.filter.then(|| {
            let mut limits = FilterLimits::default();
            // Disconnected peers give way, so every connected one finds a place.
            let connections_max = usize::try_from(connections_max).unwrap_or(usize::MAX);
            limits.max_peers = limits.max_peers.max(connections_max);
            FilterServer::new(sharding, limits)
        }),
        lightpush: config.lightpush.then(|| {
            let mut limits = LightpushLimits::default();
            limits.codec.message.max_message_bytes = settings.max_message_bytes;
            LightpushServer::new(sharding, limits)
        }),
        rendezvous: config.rendezvous.then(|| {
            let rng = ChaCha8Rng::from_rng(&mut rng);
            RendezvousServer::new(sharding.cluster, rng, RendezvousLimits::default())
        }),
        peer_exchange: config
            .peer_exchange
            .then(|| PeerExchangeServer::new(rng, PeerExchangeLimits::default())),
    }
}
