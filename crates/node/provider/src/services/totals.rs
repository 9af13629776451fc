//! Totals of what peers ask of this node's services.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use undertone_services::host::ProtocolTotals;
use undertone_services::{filter, lightpush, peer_exchange, store};

use super::ServicesConfig;
use undertone_network::driver::without_peer_id;

/// Histogram of how long something took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    /// Times per bucket: of at most the bucket's bound in [`DurationHistogram::BOUNDS_MS`] and more than the bound
    /// before. The last entry counts those above all bounds.
    pub counts: [u64; Self::BOUNDS_MS.len() + 1],
    /// Sum of all times.
    pub sum: Duration,
}

impl DurationHistogram {
    /// Upper bounds of the buckets, milliseconds; the same as nwaku's.
    pub const BOUNDS_MS: [u64; 14] = [
        5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000,
    ];

    /// Counts one time.
    pub(crate) fn count(&mut self, took: Duration) {
        let is_below = |bound_ms: &u64| Duration::from_millis(*bound_ms) < took;
        self.counts[Self::BOUNDS_MS.partition_point(is_below)] += 1;
        self.sum = self.sum.saturating_add(took);
    }
}

/// Totals of this node as a rendezvous point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RendezvousTotals {
    /// Requests to register since the start, those that were refused included.
    pub register_requests: u64,
    /// Questions for registrations since the start, those that were refused included.
    pub discover_requests: u64,
    /// Registrations that are kept now.
    pub registrations: usize,
    /// Namespaces that have registrations now.
    pub namespaces: usize,
}

/// Totals of the services since the start, and what they hold now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceTotals {
    /// Totals by protocol id, of those that were ever used.
    pub protocols: BTreeMap<&'static str, ProtocolTotals>,
    /// Peers that the configuration names for services: the protocol, and the address without the peer's id.
    pub named_peers: BTreeSet<(&'static str, String)>,
    /// Peers that have filter subscriptions now; `None` without the service.
    pub filter_peers: Option<usize>,
    /// Node records given by peer exchange; `None` without the service.
    pub records_sent: Option<u64>,
    /// Totals of this node as a rendezvous point; `None` if it is none.
    pub rendezvous: Option<RendezvousTotals>,
    /// Times that the archive took for the queries of peers.
    pub query_times: DurationHistogram,
    /// Times for comparing a message with the filter subscriptions, and for handing it to the subscribers' queues; empty
    /// without the service.
    pub filter_times: DurationHistogram,
}

impl ServiceTotals {
    /// Makes the totals of a node to which nothing has happened yet.
    pub(super) fn new(config: &ServicesConfig) -> Self {
        let named = [
            (store::PROTOCOL_ID, &config.store_peers),
            (filter::SUBSCRIBE_PROTOCOL_ID, &config.filter_peers),
            (lightpush::PROTOCOL_ID, &config.lightpush_peers),
            (lightpush::legacy::PROTOCOL_ID, &config.lightpush_peers),
            (peer_exchange::PROTOCOL_ID, &config.exchange_peers),
        ];
        let named = named.into_iter().flat_map(|(protocol, peers)| {
            let address = |peer| without_peer_id(peer).to_string();
            peers.iter().map(move |peer| (protocol, address(peer)))
        });
        Self {
            named_peers: named.collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
#[path = "tests/totals.rs"]
mod tests;
