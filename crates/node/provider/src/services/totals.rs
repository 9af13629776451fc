//! Totals of peers' requests to this node's services.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use undertone_services::host::ProtocolTotals;
use undertone_services::{filter, lightpush, peer_exchange, store};

use super::ServicesConfig;
use undertone_network::driver::without_peer_id;

/// Histogram of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    /// Number of durations per bucket. A bucket holds durations above the previous bound in
    /// [`DurationHistogram::BOUNDS_MS`] and up to its own. The last entry counts those above all bounds.
    pub counts: [u64; Self::BOUNDS_MS.len() + 1],
    /// Sum of all durations.
    pub sum: Duration,
}

impl DurationHistogram {
    /// Upper bounds of the buckets, milliseconds; the same as nwaku's.
    pub const BOUNDS_MS: [u64; 14] = [
        5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000,
    ];

    /// Counts one duration.
    pub(crate) fn count(&mut self, took: Duration) {
        let is_below = |bound_ms: &u64| Duration::from_millis(*bound_ms) < took;
        self.counts[Self::BOUNDS_MS.partition_point(is_below)] += 1;
        self.sum = self.sum.saturating_add(took);
    }
}

/// Totals of this node as a rendezvous point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RendezvousTotals {
    /// Registration requests since the start, including refused ones.
    pub register_requests: u64,
    /// Requests for registrations since the start, including refused ones.
    pub discover_requests: u64,
    /// Current number of registrations.
    pub registrations: usize,
    /// Current number of namespaces with registrations.
    pub namespaces: usize,
}

/// Totals of the services since the start, and current gauges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceTotals {
    /// Totals by protocol id, for protocols used at least once.
    pub protocols: BTreeMap<&'static str, ProtocolTotals>,
    /// Peers that the configuration names for services: the protocol, and the address without the peer id.
    pub named_peers: BTreeSet<(&'static str, String)>,
    /// Current number of peers with filter subscriptions; `None` without the service.
    pub filter_peers: Option<usize>,
    /// Node records sent by peer exchange; `None` without the service.
    pub records_sent: Option<u64>,
    /// Totals of this node as a rendezvous point; `None` if it is not one.
    pub rendezvous: Option<RendezvousTotals>,
    /// Durations of the archive's answers to peers' queries.
    pub query_times: DurationHistogram,
    /// Durations of matching a message with the filter subscriptions and queueing it for the subscribers; empty without
    /// the service.
    pub filter_times: DurationHistogram,
}

impl ServiceTotals {
    /// Creates the initial totals of a node.
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
