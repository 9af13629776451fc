//! Choice of the surplus connections to close.

use std::cmp::Reverse;

use multiaddr::PeerId;
use undertone_gossip::Time;

use super::ConnectionManager;
use crate::facts::PeerSource;
use crate::io::{CloseReason, Output, PeerDemand};
use crate::store::{DialState, PeerEntry};

impl ConnectionManager {
    /// Closes the least useful connections beyond the maximum. Connections in use, young ones, those of
    /// configured peers, and those that a target needs stay.
    pub(super) fn prune(&mut self, now: Time) {
        let connected = self.store.iter().filter(|(_, entry)| entry.is_connected());
        let surplus = connected
            .count()
            .saturating_sub(self.targets.connections_max);
        for _ in 0..surplus {
            let Some(peer) = self.least_useful(now) else {
                return;
            };
            if let Some(entry) = self.store.get_mut(&peer) {
                entry.link = DialState::Down;
                entry.is_protected = false;
                entry.last_tried = now;
                entry.next_dial = now.after(self.targets.backoff(2, &mut self.rng));
            }
            let reason = CloseReason::TooMany;
            self.out.push_back(Output::Close { peer, reason });
        }
    }

    fn least_useful(&self, now: Time) -> Option<PeerId> {
        let crowds = self.crowds();
        let crowd = |entry: &PeerEntry| {
            let network = entry.network();
            let crowd = network.and_then(|network| crowds.get(&network));
            crowd.copied().unwrap_or_default()
        };
        let surplus = self.store.iter().filter_map(|(peer, entry)| {
            let DialState::Up { since, .. } = entry.link else {
                return None;
            };
            let is_young = now.since(since) < self.targets.stable_after;
            let is_named = entry.source == PeerSource::Static;
            let stays = entry.is_protected || is_young || is_named || self.is_needed(entry);
            (!stays).then_some((peer, entry, since))
        });
        let least = surplus.min_by_key(|(_, entry, since)| {
            (
                self.is_of_use(entry),
                Reverse(crowd(entry)),
                Reverse(*since),
            )
        });
        least.map(|(peer, ..)| *peer)
    }

    /// Whether a target would be missed without the peer.
    fn is_needed(&self, entry: &PeerEntry) -> bool {
        let (per_shard, outbound) = (self.targets.per_shard, self.targets.outbound_min);
        let is_scarce = |wanted, number| self.have(wanted) <= number;
        let mut shards = self.shards.iter();
        let mut services = self.services.iter();
        shards.any(|shard| {
            entry.facts.relays(*shard) && is_scarce(PeerDemand::Relay { shard: *shard }, per_shard)
        }) || services.any(|(service, number)| {
            entry.facts.offers(*service) && is_scarce(PeerDemand::Service(*service), *number)
        }) || (entry.is_outbound() && is_scarce(PeerDemand::Outbound, outbound))
    }
}
