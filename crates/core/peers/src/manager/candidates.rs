//! Choice of the next peer to dial.

use std::collections::BTreeMap;

use multiaddr::PeerId;
use undertone_gossip::Time;

use super::ConnectionManager;
use crate::address::AddressNetwork;
use crate::facts::PeerSource;
use crate::io::PeerDemand;
use crate::store::{DialState, PeerEntry};

/// One in this many dials goes to any candidate instead of one of the best. Otherwise an attacker that always ranks
/// best would get every dial.
const ANY_ONE_IN: usize = 4;

/// Number of consecutive failures from which a peer is probed less often. If it is one of many unreachable peers, the
/// others get the probes meanwhile; if it is the only one, it is most likely gone.
const PROBED_LESS_FROM: u32 = 5;

/// Number of probe intervals between two probes of such a peer.
const PROBED_LESS_EVERY: u32 = 3;

impl ConnectionManager {
    /// Chooses a peer of a kind that may be dialled now, preferably one known to be of that kind, reached before, and
    /// without failures.
    pub(super) fn candidate(&mut self, now: Time, wanted: PeerDemand) -> Option<PeerId> {
        let crowds = self.crowds();
        let ready = self.store.iter().filter(|(_, entry)| {
            entry.next_dial <= now
                && self.is_dialable(now, entry, &crowds)
                && self.fits(entry, wanted)
        });
        let ranked: Vec<(u32, PeerId)> = ready
            .map(|(peer, entry)| (rank(entry, wanted), *peer))
            .collect();
        let best = ranked.iter().map(|(rank, _)| *rank).min()?;
        let takes_any = self.below(ANY_ONE_IN) == 0;
        let choice: Vec<PeerId> = ranked
            .into_iter()
            .filter(|(rank, _)| takes_any || *rank == best)
            .map(|(_, peer)| peer)
            .collect();
        choice.get(self.below(choice.len())).copied()
    }

    /// Chooses the peer that was tried least recently, whatever its failures, except those tried just now.
    pub(super) fn least_recently_tried(&self, now: Time) -> Option<PeerId> {
        let crowds = self.crowds();
        let interval = self.targets.probe_interval;
        let down = self.store.iter().filter(|(_, entry)| {
            let pause = match entry.failures {
                ..PROBED_LESS_FROM => interval,
                _ => interval.saturating_mul(PROBED_LESS_EVERY),
            };
            let is_rested = entry.last_tried == Time::ZERO || entry.last_tried.after(pause) <= now;
            is_rested && self.is_dialable(now, entry, &crowds) && self.is_of_use(entry)
        });
        down.min_by_key(|(_, entry)| entry.last_tried)
            .map(|(peer, _)| *peer)
    }

    /// Whether the peer relays one of this node's shards, or offers a service that the node wants.
    pub(super) fn is_of_use(&self, entry: &PeerEntry) -> bool {
        let relays = self
            .shards
            .iter()
            .any(|shard| entry.facts.may_relay(*shard));
        let mut services = self.services.iter();
        relays
            || services.any(|(service, _)| {
                self.is_wanted(PeerDemand::Service(*service)) && entry.facts.may_offer(*service)
            })
    }

    fn fits(&self, entry: &PeerEntry, wanted: PeerDemand) -> bool {
        match wanted {
            PeerDemand::Relay { shard } => entry.facts.may_relay(shard),
            PeerDemand::Service(service) => entry.facts.may_offer(service),
            PeerDemand::Outbound => self.is_of_use(entry),
        }
    }

    fn is_dialable(
        &self,
        now: Time,
        entry: &PeerEntry,
        crowds: &BTreeMap<AddressNetwork, usize>,
    ) -> bool {
        let Some(network) = entry.network() else {
            return false;
        };
        let crowd = crowds.get(&network).copied().unwrap_or_default();
        // The hosts of a fleet share a domain. That counts as a crowd only if strangers named them.
        let is_exempt = match network {
            AddressNetwork::Loopback => true,
            AddressNetwork::Named(_) => entry.source <= PeerSource::Dns,
            AddressNetwork::V4(_) | AddressNetwork::V6(_) => false,
        };
        let has_room = is_exempt || crowd < self.targets.per_network_max;
        entry.link == DialState::Down && has_room && self.host_time(entry) <= now
    }
}

/// Rank of a candidate; the lowest is the best.
fn rank(entry: &PeerEntry, wanted: PeerDemand) -> u32 {
    let is_known = match wanted {
        PeerDemand::Relay { shard } => entry.facts.relays(shard),
        PeerDemand::Service(service) => entry.facts.offers(service),
        PeerDemand::Outbound => true,
    };
    let unknown = u32::from(!is_known);
    let unreached = u32::from(!entry.was_reached);
    unknown * 4 + unreached + entry.failures.min(3) * 8
}
