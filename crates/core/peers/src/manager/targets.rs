//! Numbers of connections wanted, and how many are missing.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore as _;

use super::ConnectionManager;
use crate::facts::Capabilities;
use crate::io::PeerDemand;

/// Factor on the number of peers wanted on a shard while the node's mesh there is too small.
const THIN_MESH_FACTOR: usize = 2;

/// Numbers of connections wanted, and the rate of dialling.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionTargets {
    /// Number of peers wanted on each shard that the node relays.
    pub per_shard: usize,
    /// Number of peers wanted among those dialled by this node, which an attacker cannot choose.
    pub outbound_min: usize,
    /// Number of connections beyond which the least useful ones are closed.
    pub connections_max: usize,
    /// Maximum number of peers dialled in one network ([`AddressNetwork`](crate::address::AddressNetwork)), except
    /// loopback.
    pub per_network_max: usize,
    /// Maximum number of dials at a time.
    pub dials_max: usize,
    /// Minimum time between two dials.
    pub dial_pause: Duration,
    /// Minimum time between two dials to one host, except loopback, whatever identities are claimed there.
    pub host_pause: Duration,
    /// Time after which a dial that the driver does not answer counts as failed.
    pub dial_timeout: Duration,
    /// Delay after a first failed dial; it doubles with each further one.
    pub backoff_first: Duration,
    /// Maximum delay after a failed dial.
    pub backoff_max: Duration,
    /// Mean time between two probes of peers that are not needed.
    pub probe_interval: Duration,
    /// Minimum time between two searches for peers of one kind.
    pub discover_interval: Duration,
    /// Age from which a connection may be pruned, and from which its end does not count as the peer's failure.
    pub stable_after: Duration,
}

impl Default for ConnectionTargets {
    fn default() -> Self {
        Self {
            per_shard: 10,
            outbound_min: 6,
            connections_max: 135,
            per_network_max: 8,
            dials_max: 10,
            dial_pause: Duration::from_millis(100),
            host_pause: Duration::from_secs(5),
            dial_timeout: Duration::from_secs(20),
            backoff_first: Duration::from_secs(5),
            backoff_max: Duration::from_secs(600),
            probe_interval: Duration::from_secs(20),
            discover_interval: Duration::from_secs(2),
            stable_after: Duration::from_secs(30),
        }
    }
}

impl ConnectionTargets {
    /// Returns the delay after this many failures, varied by a quarter so that peers of one network do not all dial
    /// at once.
    pub(super) fn backoff(&self, failures: u32, rng: &mut ChaCha8Rng) -> Duration {
        let doublings = failures.saturating_sub(1).min(20);
        let wait = self.backoff_first.saturating_mul(1 << doublings);
        varied(wait.min(self.backoff_max), rng)
    }

    /// Returns the time until the next probe.
    pub(super) fn probe_wait(&self, rng: &mut ChaCha8Rng) -> Duration {
        varied(self.probe_interval, rng)
    }
}

/// Returns a duration between three and five quarters of `mean`.
fn varied(mean: Duration, rng: &mut ChaCha8Rng) -> Duration {
    mean.mul_f64(0.75 + f64::from(rng.next_u32()) / f64::from(u32::MAX) / 2.0)
}

/// Kind of peer of which the node has too few, with the number missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shortage {
    pub(super) wanted: PeerDemand,
    pub(super) missing: usize,
}

impl ConnectionManager {
    /// Returns the kinds of peers of which too few are connected or being dialled, the worst shortage first.
    pub(super) fn shortages(&self) -> Vec<Shortage> {
        let shards = self.shards.iter();
        let mut wanted: Vec<(PeerDemand, usize)> = shards
            .map(|shard| {
                (
                    PeerDemand::Relay { shard: *shard },
                    self.relays_wanted(*shard),
                )
            })
            .collect();
        let services = self.services.iter();
        wanted.extend(services.map(|(service, number)| (PeerDemand::Service(*service), *number)));
        if !self.shards.is_empty() {
            wanted.push((PeerDemand::Outbound, self.targets.outbound_min));
        }
        let shortages = wanted.into_iter().filter_map(|(wanted, number)| {
            let missing = number.saturating_sub(self.have(wanted));
            (missing > 0).then_some(Shortage { wanted, missing })
        });
        let mut shortages: Vec<_> = shortages.collect();
        shortages.sort_by_key(|shortage| std::cmp::Reverse(shortage.missing));
        shortages
    }

    /// Returns the number of peers wanted on a shard.
    fn relays_wanted(&self, shard: u16) -> usize {
        match self.thin.contains(&shard) {
            true => self.targets.per_shard.saturating_mul(THIN_MESH_FACTOR),
            false => self.targets.per_shard,
        }
    }

    /// Returns the number of peers of a kind that are connected or being dialled. Peers about which too little is
    /// known count as well, since metadata will soon show what they are.
    pub(super) fn have(&self, wanted: PeerDemand) -> usize {
        let linked = self.store.iter().filter(|(_, entry)| {
            let is_linked = entry.is_connected() || entry.is_dialling();
            is_linked
                && match wanted {
                    PeerDemand::Relay { shard } => entry.facts.may_relay(shard),
                    PeerDemand::Service(service) => entry.facts.may_offer(service),
                    PeerDemand::Outbound => entry.is_outbound() || entry.is_dialling(),
                }
        });
        linked.count()
    }

    /// Whether the node wants peers of this kind at all.
    pub(super) fn is_wanted(&self, wanted: PeerDemand) -> bool {
        match wanted {
            PeerDemand::Relay { shard } => self.shards.contains(&shard),
            PeerDemand::Service(service) => self.wants_service(service),
            PeerDemand::Outbound => true,
        }
    }

    fn wants_service(&self, service: Capabilities) -> bool {
        self.services
            .iter()
            .any(|(known, number)| *known == service && *number > 0)
    }
}
